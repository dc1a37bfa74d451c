"""Pairs in the order of their texts -> how many rise together, and blocks of wrong rows."""

import math
from array import array
from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from xmine.files.scratch import slices

# A block has at least so many rows; so rarely is one of them right by chance.
_SHORTEST, _STRAY = 5, 0.001
# The rates of wrong rows that are believed in: in a clean corpus a block shall be as dense as in
# others, and a file that is shifted as a whole shall be a block, too.
_RATES = 0.1, 0.9
# Of corpora in which rows are wrong at random, at most this share has a block.
_BY_CHANCE = 0.05


def rising_share(sources: NDArray[np.int64], targets: NDArray[np.int64]) -> float:
    """Give the share of pairs on the longest chain that rises on both sides; equal rows do not.

    Args:
        sources, targets: int64 [pairs], rows in the order of the text.
    """
    ends = array("q")  # of the chains of 1, 2, ... pairs so far, the lowest last target
    order = np.lexsort((-targets, sources))
    for some in slices(len(order)):
        for target in targets[order[some]].tolist():
            at = bisect_left(ends, target)
            ends[at : at + 1] = array("q", (target,))
    return len(ends) / max(len(targets), 1)


def wrong_blocks(wrong: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Find runs of rows that are nearly all wrong, in a corpus in which fewer are.

    A row counts by the log of how much more probable it is in a block, where all but a few are
    wrong, than at the corpus's own rate of wrong rows. A block ends where the sum is highest, and
    the sum must be one that random rows of that rate hardly reach (Karlin and Altschul, 1990,
    "Methods for assessing the statistical significance of molecular sequence features by using
    general scoring schemes"): wrong rows that are scattered make no block.

    Args:
        wrong: bool [rows].

    Returns:
        first row and the one behind the last of each block, in the order of the rows.
    """
    if not wrong.any():
        return []
    rate = float(np.clip(wrong.mean(), *_RATES))
    needed = math.log(len(wrong) / _BY_CHANCE)
    steps = np.where(wrong, math.log((1 - _STRAY) / rate), math.log(_STRAY / (1 - rate)))
    blocks, start, stop, total, highest = [], 0, 0, 0.0, 0.0
    for row, step in enumerate([*steps.tolist(), -math.inf]):
        total += step
        if total > highest:
            stop, highest = row + 1, total
        elif total <= max(0, highest - needed):  # no sum of rows since then is above zero
            if highest >= needed and stop - start >= _SHORTEST:
                blocks.append((start, stop))
            start, total, highest = row + 1, 0.0, 0.0
    return blocks
