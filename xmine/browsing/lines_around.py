"""A sentence -> the sentences that stand before and after it in its file."""

import numpy as np

from xmine.browsing.opened import TextSide

_FAR = 3  # lines: some may be blank, or said before


def lines_around(side: TextSide, row: int) -> tuple[int | None, int | None]:
    """Find the rows of `side` that stand before and after a sentence; None where none is near.

    A file of pairs has only the lines that are in some pair.
    """
    line, offset = side.place(row)
    near = np.flatnonzero(np.abs(side.lines - line) <= _FAR)
    offsets = np.zeros_like(side.lines) if side.offsets is None else side.offsets
    places = {(int(side.lines[each]), int(offsets[each])): each for each in near.tolist()}
    here = line, offset or 0
    before = max((place for place in places if place < here), default=None)
    after = min((place for place in places if place > here), default=None)
    return (
        None if before is None else places[before],
        None if after is None else places[after],
    )
