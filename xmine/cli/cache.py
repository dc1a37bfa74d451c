"""xmine cache: the vectors that are kept for later runs, and how to be rid of them."""

import time
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from xmine.cli.arguments import switch, value
from xmine.cli.console import Console, write_rows
from xmine.cli.from_options import with_console
from xmine.errors import FileError, OptionError

if TYPE_CHECKING:
    from xmine.vectors.cache import Entry

cache = typer.Typer(
    help="List the vectors kept for later runs, or remove them.", no_args_is_help=True
)

_DAY = 24 * 60 * 60
_SHOWN = 8  # digits of a key


@cache.command("ls", short_help="List the cached vectors.")
@with_console
def show(console: Console) -> None:
    """List the cached vectors: key, bytes, rows x dim, last use, encoder, text input.

    Vectors that are also part of a run take no room of their own: `shared` stands behind them.
    The folder is $XMINE_CACHE; without it xmine in $XDG_CACHE_HOME or in ~/.cache.

    Example: xmine cache ls
    """
    from xmine.vectors.cache import folder

    found = _entries()
    total = sum(entry.bytes for entry in found)
    if console.as_json:
        rows = [_facts(entry) for entry in found]
        console.summary("", {"folder": str(folder()), "entries": rows, "bytes": total})
        return
    write_rows(f"{_row(entry)}\n" for entry in found)
    console.say(f"{folder()}: {_count(found)}, {total:,} bytes")


@cache.command("rm", short_help="Remove some entries, or all.")
@with_console
def remove(
    console: Console,
    keys: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY...", help="First digits of the keys to remove.", show_default="none"
        ),
    ] = None,
    all: Annotated[bool, switch("--all", "Remove everything.")] = False,
    older_than: Annotated[
        float | None,
        value(
            "Remove entries not used for so many days, and unusable entries.", min=0, metavar="DAYS"
        ),
    ] = None,
) -> None:
    """Remove cached vectors; runs keep their own copies.

    Example: xmine cache rm --older-than 30
    """
    from xmine.vectors.cache import chosen, clear
    from xmine.vectors.cache import remove as remove_entry

    if [bool(keys), all, older_than is not None].count(True) != 1:
        raise OptionError(
            "say what to remove, in one way", "give KEY..., or --all, or --older-than DAYS"
        )
    try:
        found = chosen(keys) if keys else _entries()
        if older_than is not None:
            before = time.time() - older_than * _DAY
            found = [entry for entry in found if entry.used < before or entry.wrong]
        for entry in found:
            remove_entry(entry)
        if all:
            clear()
    except OSError as error:
        raise FileError(f"{error.filename}: cannot be removed: {error.strerror}") from error
    freed = sum(entry.freed for entry in found)
    kept = sum(entry.bytes for entry in found) - freed
    also = f"; {kept:,} bytes more are still in runs" if kept else ""
    console.summary(
        f"{_count(found)} removed, {freed:,} bytes freed{also}",
        {"removed": [entry.key for entry in found], "freed": freed, "in_runs": kept},
    )


def _entries() -> "list[Entry]":
    from xmine.vectors.cache import entries

    try:
        return entries()
    except OSError as error:
        raise FileError(f"{error.filename}: cannot be read: {error.strerror}") from error


def _count(found: "list[Entry]") -> str:
    return f"{len(found):,} {'entry' if len(found) == 1 else 'entries'}"


def _facts(entry: "Entry") -> dict[str, object]:
    about = entry.about
    return {
        "key": entry.key,
        "bytes": entry.bytes,
        "rows": about.rows,
        "dim": about.dim,
        "used": _time(entry.used),
        "made": about.made or None,
        "encoder": about.encoder or None,
        "text": about.text or None,
        "shared": bool(entry.bytes and not entry.freed),
        "wrong": entry.wrong or None,
    }


def _row(entry: "Entry") -> str:
    about = entry.about
    shared = "shared" if entry.bytes and not entry.freed else ""
    size = f"{about.rows:,} x {about.dim:,}"
    wrong = f"  ({entry.wrong})" if entry.wrong else ""
    return (
        f"{entry.key[:_SHOWN]}  {entry.bytes:>13,} {shared:<6}  {size:>15}  "
        f"{_time(entry.used)[:10]}  {about.encoder or '?'}  {about.text or '?'}{wrong}"
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "minutes")[:16]
