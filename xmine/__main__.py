"""python -m xmine."""

from xmine.cli import run

run()
