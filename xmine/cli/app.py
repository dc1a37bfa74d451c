"""The commands' table of contents; a command's file is loaded when the command is called.

Heavy libraries are loaded only when the command runs.
"""

from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from xmine.version import __version__

# In the order of the help, with their summaries. Each has a module of its name, but for two. In it
# is a function of that name, or a `typer.Typer` with commands of its own.
_COMMANDS = {
    "mine": "Find the parallel sentences of two text files.",
    "mine-all": "Mine each two languages of a folder.",
    "align": "Pair the lines of two versions of one document.",
    "documents": "Pair the documents of two folders: each file is a document.",
    "browse": "Look at mined pairs in the terminal, and judge them.",
    "score": "Score the line pairs of files that are aligned already.",
    "search": "Find the nearest sentences of a corpus, in either language.",
    "encode": "Turn a text file into a matrix of sentence vectors.",
    "convert": "Convert a file of pairs to another format.",
    "adapt": "Train the encoder of a run on its pairs, and mine again.",
    "help": "Show the help of a command.",
    "train": "Train an encoder of your own.",
    "pairs": "Look into a run or a file of pairs.",
    "eval": "Measure an encoder on benchmarks.",
    "model": "Tell what an encoder is, give it a pack, or export it.",
    "cache": "Show the vectors kept for later runs, or remove them.",
    "trust": "Let the xmine.toml of a folder write, connect and load.",
}


class Whole(typer.core.TyperGroup):
    """The command `xmine`, which has all commands, and loads those that are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - Typer's own
        """Name the commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - Typer's own
        """Load a command, if there is one of that name."""
        if cmd_name in self.commands or cmd_name not in _COMMANDS:
            return self.commands.get(cmd_name)
        return typer.main.get_group(app(cmd_name)).commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer's own
        """List the commands from the table; to load all of them takes a tenth of a second."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


def app(called: str | None = None) -> typer.Typer:
    """Put `xmine` together.

    If the word behind `xmine` that is `called` is a command, only that one is loaded; none if it is
    a flag, or empty.
    """
    whole = typer.Typer(
        cls=Whole,
        help="Find translations: two text files in, pairs of parallel sentences out.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,  # plain help: half the start-up time, and [brackets] stay text
    )
    whole.callback()(_main)
    if called is not None and called[:1] in ("", "-"):
        return whole
    from xmine.cli.from_options import Command

    for name in (called,) if called in _COMMANDS else _COMMANDS:
        own = {"eval": "evaluate", "help": "manual"}.get(name, name).replace("-", "_")
        module = import_module(f"xmine.cli.{own}")
        command = getattr(module, own)
        if isinstance(command, typer.Typer):
            for each in command.registered_commands:
                each.cls = Command
            whole.add_typer(command, name=name)
        else:
            whole.command(name, cls=Command)(command)
    return whole


def _version(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        print(f"xmine {__version__}")
        if ctx.params["verbose"]:
            from xmine.native import used

            print(used)
        raise typer.Exit


def _main(
    version: Annotated[
        bool,
        typer.Option("-V", "--version", callback=_version, help="Print the version and exit."),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", is_eager=True, help="With it: what computes, too.")
    ] = False,
) -> None:
    """Find translations: two text files in, pairs of parallel sentences out.

    Example: xmine mine en.txt zh.txt --threshold auto
    """
