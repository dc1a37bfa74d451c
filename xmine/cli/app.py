"""The commands' table of contents; each command's file loads what is heavy only when it runs."""

from typing import Annotated

import typer

import xmine
from xmine.cli.ablate import OfAblation, ablate
from xmine.cli.browse import browse
from xmine.cli.cache import cache
from xmine.cli.convert import convert
from xmine.cli.encode import encode
from xmine.cli.evaluate import evaluate
from xmine.cli.mine import mine
from xmine.cli.model import model
from xmine.cli.of_method import OfMethod
from xmine.cli.pairs import pairs
from xmine.cli.score import score
from xmine.cli.search import search
from xmine.cli.train import train

app = typer.Typer(
    help="Find translations: two text files in, pairs of parallel sentences out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # plain help: half the start-up time, and [brackets] stay text
)
app.command("mine")(mine)
app.command("browse")(browse)
app.command("score")(score)
app.command("search")(search)
app.command("encode")(encode)
app.command("convert")(convert)
app.add_typer(pairs, name="pairs")
app.command("train", cls=OfMethod)(train)
app.command("ablate", cls=OfAblation)(ablate)
app.add_typer(evaluate, name="eval", short_help="Measure an encoder on benchmarks.")
app.add_typer(model, name="model")
app.add_typer(cache, name="cache")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"xmine {xmine.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Find translations: two text files in, pairs of parallel sentences out.

    Example: xmine mine en.txt zh.txt --threshold auto
    """
