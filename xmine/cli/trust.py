"""xmine trust: let a file of options that is found do all that a named one may."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from xmine.cli.console import Console
from xmine.cli.found_file import mark_of, nearest_file
from xmine.cli.from_options import with_flags
from xmine.errors import FileError
from xmine.files.atomic import writing
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
    if (path := nearest_file(folder)) is None:
        hint = "a file of another user counts only where it is named: --options FILE"
        raise FileError(f"{folder}: no xmine.toml of yours is there or above", hint)
    with writing(mark := mark_of(path)):
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.write_bytes(os.fsencode(path.absolute()) + b"\n")  # for who looks what is trusted
    table = load_toml(path)
    told = json.dumps(table.get("tool", {}).get("xmine", table), ensure_ascii=False, default=str)
    console.summary(f"{path} is trusted as it is now: {told}", {"file": str(path)})
