"""The page reference/commands.md: `--help` of every command, as the program prints it.

mkdocs loads this file as a hook (mkdocs.yml) and calls `on_page_markdown` for each page.
"""

from collections.abc import Iterator
from typing import Any

import typer.main
from typer.testing import CliRunner

from xmine.cli.app import app
from xmine.trainer.methods import METHODS

_PAGE = "reference/commands.md"
_WIDTH = "96"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:  # noqa: ANN401
    """Append the reference to its page; leave other pages alone."""
    return markdown + reference() if page.file.src_uri == _PAGE else markdown


def reference() -> str:
    """Write a section with the help for each command."""
    whole, runner = app(), CliRunner()
    parts = []
    for words in [*_commands(), *(["train", "--method", name] for name in METHODS)]:
        shown = runner.invoke(whole, [*words, "--help"], prog_name="xmine", env={"COLUMNS": _WIDTH})
        if shown.exit_code:
            raise RuntimeError(f"xmine {' '.join(words)} --help: {shown.output}")
        parts.append(f"\n## xmine {' '.join(words)}\n\n```text\n{shown.output.rstrip()}\n```\n")
    return "".join(parts)


def _commands() -> Iterator[list[str]]:
    """Give the words of every command, those of groups first."""
    waiting: list[tuple[list[str], Any]] = [([], typer.main.get_command(app()))]
    while waiting:
        words, command = waiting.pop(0)
        if words:
            yield words
        each = getattr(command, "commands", {}).items()
        waiting = [([*words, name], below) for name, below in each if not below.hidden] + waiting
