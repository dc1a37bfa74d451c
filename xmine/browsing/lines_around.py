"""A sentence -> the sentences that stand before and after it in its file."""

from functools import lru_cache

import numpy as np

from xmine.browsing.opened import TextSide

_FAR = 3  # lines: some may be blank, or said before


@lru_cache(maxsize=2)  # of both files; a look at a million lines takes 2 ms, and a key four looks
def _ascends(side: TextSide) -> bool:
    return bool((np.diff(side.lines) >= 0).all())


def lines_around(side: TextSide, row: int) -> tuple[int | None, int | None]:
    """Find the rows of `side` that stand before and after a sentence; None where none is near.

    A file of pairs has only the lines that are in some pair.
    """
    line = int(side.lines[row])
    if _ascends(side):
        near = np.arange(*np.searchsorted(side.lines, (line - _FAR, line + _FAR + 1)))
    else:
        near = np.flatnonzero(np.abs(side.lines - line) <= _FAR)
    here, places = side.place(row), {side.place(each): each for each in near.tolist()}
    before = max((place for place in places if place < here), default=None)
    after = min((place for place in places if place > here), default=None)
    return (
        None if before is None else places[before],
        None if after is None else places[after],
    )
