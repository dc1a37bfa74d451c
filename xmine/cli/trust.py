"""xmine trust: let a file of options that is found do all that a named one may."""

from pathlib import Path
from typing import Annotated

import typer

from xmine.cli import found_file
from xmine.cli.console import Console
from xmine.cli.from_options import with_flags
from xmine.errors import FileError
from xmine.options import load_toml


@with_flags
def trust(
    console: Console,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", show_default="here")] = Path(),
) -> None:
    """Let the xmine.toml of a folder write, connect and load.

    It counts as long as the file stays as it is. Without it a file that is found may choose how to
    work, and what to read in its own folder, and no more: it may have come with a stranger's texts.

    Example: xmine trust

    Args:
        folder: Where xmine.toml, or pyproject.toml with [tool.xmine], is, or below there.
    """
    path = found_file.nearest_file(folder)
    if path is None:
        hint = "a file of another user counts only where it is named: --options FILE"
        raise FileError(f"{folder}: no xmine.toml of yours is there or above", hint)
    table = load_toml(path)
    if path.name != found_file.FILES[0]:
        table = table["tool"]["xmine"]
    found = list(found_file.doubtful(table))
    found_file.trust(path)
    told = ", ".join(found) or "nothing that needs it"
    console.summary(
        f"{path} is trusted as it is now: {told}", {"file": str(path), "options": found}
    )
