"""xmine help: the help of a command."""

from typing import Annotated

import typer

from xmine.cli.app import app


def manual(
    command: Annotated[list[str] | None, typer.Argument(metavar="[COMMAND]...")] = None,
) -> None:
    """Show the help of a command.

    Example: xmine help pairs list

    Args:
        command: Words of a command.
    """
    words = command or []
    app("".join(words[:1]))([*words, "--help"], prog_name="xmine")
