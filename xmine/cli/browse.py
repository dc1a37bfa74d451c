"""xmine browse: the terminal app, in this terminal or in a web browser."""

import gc
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from xmine.cli.arguments import switch, value
from xmine.cli.console import Console
from xmine.cli.from_options import with_flags
from xmine.errors import FileError, OptionError

_HOST, _PORT = "127.0.0.1", 8000


@with_flags
def browse(
    console: Console,
    path: Annotated[Path | None, typer.Argument(metavar="RUN", show_default="home")] = None,
    serve: Annotated[bool, switch("--serve")] = False,
    host: Annotated[str | None, value(shown=_HOST)] = None,
    port: Annotated[int | None, value(shown=str(_PORT), min=1, max=65535)] = None,
    judge: Annotated[str | None, value(shown="XMINE_JUDGE, or the login name")] = None,
    sample: Annotated[bool, switch("--sample")] = False,
    read_only: Annotated[bool, switch("--read-only")] = False,
) -> None:
    """Look at mined pairs in the terminal, and judge them.

    Example: xmine browse run/

    Args:
        path: A run, or a file of pairs.
        host: Address to serve at. Whoever has the token of the printed address can read and write
            your files with the app.
        judge: Name to keep with the verdicts; visitors of --serve are asked for theirs.
        serve: Show the app in a web browser, at the printed address.
        port: Port to serve at.
        sample: Begin with the judging of pairs drawn at random.
        read_only: Show RUN and write nothing; no other file can be opened.
    """
    if not serve and (host, port) != (None, None):
        raise OptionError("--host and --port are for --serve", "add --serve, or leave them out")
    is_place = path is not None and any(sign in path.name for sign in ":,")  # pairs.tsv:2,3
    if path is not None and not path.exists() and not is_place:
        raise FileError(f"{path}: no such file or folder", "mine one: xmine mine A B -o run/")
    if path is None and read_only:
        raise OptionError("--read-only shows RUN, and none is named", "name it")
    if judge is not None:
        os.environ["XMINE_JUDGE"] = judge
    if read_only and not serve:
        os.environ["XMINE_STATE"] = os.devnull  # nor is written where one was
    if serve:
        from xmine.cli.web_server import serve_app

        serve_app(path, host or _HOST, port or _PORT, console, read_only=read_only)
    elif not _served() and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise OptionError(
            "xmine browse needs a terminal",
            "xmine pairs list prints what it shows, with --json too",
        )
    else:
        _show(path, sample=sample, read_only=read_only)


def _show(path: Path | None, *, sample: bool = False, read_only: bool = False) -> None:
    gc.disable()  # until the first screen is there: nothing that is loaded is garbage
    # polars gives memory back at once: of 400,000 pairs it holds 25 MB less while these are read.
    os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")
    from xmine.cli.fields import fields_of
    from xmine.cli.web_server import be_window
    from xmine.run.folder import RUN_FILE
    from xmine.tui.app import XmineApp
    from xmine.tui.background import leave_readers

    if path and path.is_dir() and not (path / RUN_FILE).is_file() and not read_only:
        os.chdir(path)  # what is there
        path = None
    app = XmineApp(path, sample=sample, read_only=read_only, fields=fields_of)
    if _served():
        be_window()
    else:
        app.ending.hear_signals()
    try:
        app.run()
    finally:
        if app.ending.code:  # no terminal may be left to take what Python would say at its end
            os._exit(app.ending.code)
    if app.failure is not None:
        raise app.failure
    leave_readers(app.return_code or 0)
    sys.exit(app.return_code)


def _served() -> bool:
    """Tell whether a web server runs this process for a browser window."""
    return "WebDriver" in os.environ.get("TEXTUAL_DRIVER", "")
