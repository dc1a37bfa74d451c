"""xmine cache: the vectors that are kept for later runs, and how to be rid of them."""

from datetime import datetime
from typing import Annotated

import typer

from xmine.cli.arguments import switch, value
from xmine.cli.console import Console
from xmine.cli.from_options import with_flags
from xmine.display import count
from xmine.errors import FileError, OptionError

cache = typer.Typer(
    help="Show the vectors kept for later runs, or remove them.", no_args_is_help=True
)


@cache.command("ls", short_help="Show how much room cached vectors take.")
@with_flags
def show(console: Console) -> None:
    """Show how many blocks of vectors are cached, how much room they take, and their last use.

    Blocks that are also part of a run take no room of their own.
    The folder is $XMINE_CACHE; without it xmine in $XDG_CACHE_HOME or in ~/.cache.

    Example: xmine cache ls
    """
    from xmine.files.cache import cache_folder, cached

    try:
        states = [each.stat() for each in cached()]
    except OSError as error:
        raise FileError(f"{error.filename}: cannot be read: {error.strerror}") from error
    total, used = sum(each.st_size for each in states), [each.st_mtime for each in states]
    own = sum(each.st_size for each in states if each.st_nlink == 1)
    days = [datetime.fromtimestamp(each).date() for each in sorted(used)]
    since = f", last used {days[0]} to {days[-1]}" if days else ""
    console.summary(
        f"{cache_folder()}: {count(len(states), 'block')}, {total:,} bytes, "
        f"{own:,} of them in no run{since}",
        {"folder": str(cache_folder()), "blocks": len(states), "bytes": total, "in_no_run": own},
    )


@cache.command("rm", short_help="Remove blocks that were not used lately, or all.")
@with_flags
def remove(
    console: Console,
    all: Annotated[bool, switch("--all", "Remove everything.")] = False,
    older_than: Annotated[float | None, value(min=0, metavar="<days>")] = None,
) -> None:
    """Remove cached vectors; runs keep theirs.

    Example: xmine cache rm --older-than 30

    Args:
        older_than: Remove blocks not used for so many days.
    """
    from xmine.files.cache import remove_cached

    if all == (older_than is not None):
        raise OptionError("say what to remove, in one way", "give --all or --older-than DAYS")
    try:
        files, freed, kept = remove_cached(older_than)
    except OSError as error:
        raise FileError(f"{error.filename}: cannot be removed: {error.strerror}") from error
    also = f"; {kept:,} bytes more are still in runs" if kept else ""
    console.summary(
        f"{count(files, 'block')} removed, {freed:,} bytes freed{also}",
        {"removed": files, "freed": freed, "in_runs": kept},
    )
