"""A sentence -> the sentences that stand before and after it in its file."""

import numpy as np

from xmine.browsing.opened import TextSide

_FAR = 3  # lines: some may be blank, or said before


def lines_around(side: TextSide, row: int) -> tuple[int | None, int | None]:
    """Find the rows of `side` that stand before and after a sentence; None where none is near.

    A file of pairs has only the lines that are in some pair.
    """
    near = np.flatnonzero(np.abs(side.lines - side.lines[row]) <= _FAR)
    here, places = side.place(row), {side.place(each): each for each in near.tolist()}
    before = max((place for place in places if place < here), default=None)
    after = min((place for place in places if place > here), default=None)
    return before and places[before], after and places[after]
