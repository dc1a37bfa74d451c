"""xmine browse: the terminal app."""

from pathlib import Path
from typing import Annotated

import typer

from xmine.cli.console import Console
from xmine.cli.from_options import with_console


@with_console
def browse(
    console: Console,
    path: Annotated[
        Path | None,
        typer.Argument(metavar="RUN", help="A run, or a file of pairs.", show_default="home"),
    ] = None,
) -> None:
    """Look at mined pairs in the terminal: neighbours, scores, the threshold; judge them.

    Example: xmine browse run/
    """
    from xmine.tui.app import XmineApp

    app = XmineApp(path)
    app.run()
    if app.failure is not None:
        raise app.failure
