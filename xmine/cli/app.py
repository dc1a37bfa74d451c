"""The commands' table of contents; a command's file is loaded when the command is called or listed.

Heavy libraries are loaded only when the command runs.
"""

from collections.abc import Iterable
from importlib import import_module
from typing import Annotated

import typer

from xmine.version import __version__

# In the order of the help: the module of each, where it has the module's name. It is a function, or
# a `typer.Typer` with commands of its own. A module may name the class of its command: COMMAND.
_MODULES = {
    "mine": "mine",
    "browse": "browse",
    "score": "score",
    "search": "search",
    "encode": "encode",
    "convert": "convert",
    "train": "train",
    "adapt": "adapt",
    "pairs": "pairs",
    "eval": "evaluate",
    "model": "model",
    "cache": "cache",
}


def app(called: str = "") -> typer.Typer:
    """Put `xmine` together.

    Args:
        called: the word behind `xmine`. If it is a command, only that one is loaded: all of them
            take a tenth of a second.
    """
    whole = typer.Typer(
        help="Find translations: two text files in, pairs of parallel sentences out.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,  # plain help: half the start-up time, and [brackets] stay text
    )
    whole.callback()(_main)
    for name in _listed(called):
        module = import_module(f"xmine.cli.{_MODULES[name]}")
        command = getattr(module, _MODULES[name].rpartition(".")[2])
        if isinstance(command, typer.Typer):
            whole.add_typer(command, name=name)
        else:
            whole.command(name, cls=getattr(module, "COMMAND", None))(command)
    return whole


def _listed(called: str) -> Iterable[str]:
    if called == "--version":
        return ()
    return (called,) if called in _MODULES else _MODULES


def _version(wanted: bool) -> None:
    if wanted:
        print(f"xmine {__version__}")
        raise typer.Exit


def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find translations: two text files in, pairs of parallel sentences out.

    Example: xmine mine en.txt zh.txt --threshold auto
    """
