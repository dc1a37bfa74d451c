"""A path -> a run or a file of pairs that can be looked at."""

from contextlib import suppress
from pathlib import Path

from xmine.browsing.opened import Opened
from xmine.errors import XmineError
from xmine.pairs.paths import paths_to_read
from xmine.run.folder import CANDIDATES_FILE, RUN_FILE, SUMMARY_FILE


def open_pairs(path: Path) -> Opened:
    """Open a mining run or a file of pairs."""
    # Both make what this module describes, and so import it.
    if (path / RUN_FILE).is_file():
        from xmine.browsing.run_reader import open_run

        return open_run(path)
    from xmine.browsing.pair_file import open_file

    return open_file(path)


def stamp(path: Path) -> list[tuple[int, int]] | None:
    """Tell one state of the pairs of a run or a file from another; None where none can be told."""
    with suppress(OSError, XmineError):
        in_run = [path / name for name in (CANDIDATES_FILE, SUMMARY_FILE)]
        files = in_run if path.is_dir() else map(Path, paths_to_read(path).paths)
        return [(found.st_ino, found.st_mtime_ns) for found in (each.stat() for each in files)]
    return None
