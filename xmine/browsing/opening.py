"""A path -> a run or a file of pairs that can be looked at."""

from pathlib import Path

from xmine.browsing.opened import Opened
from xmine.run.folder import RUN_FILE


def open_pairs(path: Path) -> Opened:
    """Open a mining run or a file of pairs."""
    # Both make what this module describes, and so import it.
    if (path / RUN_FILE).is_file():
        from xmine.browsing.run_reader import open_run

        return open_run(path)
    from xmine.browsing.pair_file import open_file

    return open_file(path)
