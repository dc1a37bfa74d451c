"""The commands' table of contents; a command's file is loaded when the command is called.

Heavy libraries are loaded only when the command runs.
"""

import os
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core
import typer.main
from typer._completion_classes import completion_init

from xmine.extras import plugin_names
from xmine.version import __version__

# The groups of the help, with commands and summaries. Each command has a module of its name, but
# for two. In it is a function of that name, or a `typer.Typer` with commands of its own.
_GROUPS = {
    "Find pairs": {
        "mine": "Find the parallel sentences of two text files.",
        "mine-all": "Mine each two languages of a folder.",
        "align": "Pair the lines of two versions of one document.",
        "documents": "Pair the documents of two folders: each file is a document.",
    },
    "Look at pairs, and use them": {
        "browse": "Look at mined pairs in the terminal, and judge them.",
        "pairs": "Look into a run or a file of pairs.",
        "convert": "Convert a file of pairs to another format.",
        "score": "Score the line pairs of files that are aligned already.",
        "search": "Find the nearest sentences of a corpus, in either language.",
    },
    "Make an encoder of your own": {
        "train": "Train an encoder of your own.",
        "adapt": "Train the encoder of a run on its pairs, and mine again.",
        "eval": "Measure an encoder on benchmarks.",
        "model": "Tell what an encoder is, give it a pack, or export it.",
    },
    "More, which xmine help COMMAND explains": {
        "encode": "Turn a text file into a matrix of sentence vectors.",
        "cache": "Show the vectors kept for later runs, or remove them.",
        "trust": "Let the xmine.toml of a folder write, connect and load.",
        "completion": "Print the script that completes words of xmine in a shell.",
        "help": "Show the help of a command.",
    },
}
_COMMANDS = {name: said for group in _GROUPS.values() for name, said in group.items()}


class Whole(typer.core.TyperGroup):
    """The command `xmine`, which has all commands, and loads those that are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - Typer's own
        """Name the commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - Typer's own
        """Load a command, if there is one of that name."""
        if cmd_name in self.commands or cmd_name not in {*_COMMANDS, *plugin_names("commands")}:
            return self.commands.get(cmd_name)
        return typer.main.get_group(app(cmd_name)).commands[cmd_name]

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer's own
        """List the commands from the table, whole on one screen; to load them takes 0.1 s."""
        *usual, more = _GROUPS
        rows = [""]
        for title in usual:
            rows += [f"{title}:", *(f"  {name:10} {said}" for name, said in _GROUPS[title].items())]
        rows += [f"{more}:", f"  {', '.join(_GROUPS[more])}"]
        if others := [name for name in plugin_names("commands") if name not in _COMMANDS]:
            rows += ["Of packages:", f"  {', '.join(others)}"]
        rows += ["  -h, --help; -V, --version, with -v also what computes"]
        formatter.write("\n".join(rows) + "\n")


def app(called: str | None = None) -> typer.Typer:
    """Put `xmine` together.

    If the word behind `xmine` that is `called` is a command, only that one is loaded; none if it is
    a flag, or empty.
    """
    whole = typer.Typer(
        cls=Whole,
        help="Find translations: two text files in, pairs of parallel sentences out.",
        no_args_is_help=True,
        add_completion=False,  # `xmine completion` takes the place of two options
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,  # plain help: half the start-up time, and [brackets] stay text
    )
    whole.callback()(_main)
    if "_XMINE_COMPLETE" in os.environ:
        completion_init()
    if called is not None and called[:1] in ("", "-"):
        return whole
    from xmine.cli.from_options import Command

    if called not in _COMMANDS and called in plugin_names("commands"):
        from xmine.cli.added import added

        whole.command(called, cls=Command)(added(called))
        return whole
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
    """Take what stands before a command."""
