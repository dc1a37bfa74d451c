"""The commands' table of contents; a command's file is loaded when the command is called or listed.

Heavy libraries are loaded only when the command runs.
"""

from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from xmine.version import __version__

# In the order of the help. Each has a module of its name, but for two. In it is a function of
# that name, or a `typer.Typer` with commands of its own.
_COMMANDS = (
    "mine mine-all align documents browse score search encode convert adapt help train pairs eval "
    "reproduce model cache trust"
).split()


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


def app(called: str = "") -> typer.Typer:
    """Put `xmine` together.

    Args:
        called: the word behind `xmine`. If it is a command, only that one is loaded: all of them
            take a tenth of a second.
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
    listed = (
        () if called in ("--version", "-V") else (called,) if called in _COMMANDS else _COMMANDS
    )
    if listed:  # xmine --version needs none of that
        from xmine.cli.from_options import Command
    for name in listed:
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


def _version(wanted: bool) -> None:
    if wanted:
        print(f"xmine {__version__}")
        raise typer.Exit


def _main(
    version: Annotated[
        bool,
        typer.Option(
            "-V", "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Find translations: two text files in, pairs of parallel sentences out.

    Example: xmine mine en.txt zh.txt --threshold auto
    """
