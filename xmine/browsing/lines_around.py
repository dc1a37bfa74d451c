"""A sentence -> the sentences that stand before and after it in its file."""

from functools import lru_cache

import numpy as np

from xmine.browsing.opened import TextSide

_FAR = 3  # lines: some may be blank, or said before


@lru_cache(maxsize=2)  # of both files: a look at all lines at each key would double the key's time
def _ascends(side: TextSide) -> bool:
    return bool((np.diff(side.lines) >= 0).all())


def lines_around(side: TextSide, row: int) -> tuple[int | None, int | None]:
    """Find the rows of `side` that stand before and after a sentence; None where none is near.

    A file of pairs has only the lines that are in some pair.
    """
    line, offset = side.place(row)
    if _ascends(side):
        start, stop = np.searchsorted(side.lines, (line - _FAR, line + _FAR + 1)).tolist()
        near = list(range(start, stop))
    else:
        near = np.flatnonzero(np.abs(side.lines - line) <= _FAR).tolist()
    places = {(int(side.lines[each]), side.place(each)[1] or 0): each for each in near}
    here = line, offset or 0
    before = max((place for place in places if place < here), default=None)
    after = min((place for place in places if place > here), default=None)
    return (
        None if before is None else places[before],
        None if after is None else places[after],
    )
