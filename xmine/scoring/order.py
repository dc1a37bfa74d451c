"""Pairs in the order of their texts -> how many rise together, blocks of wrong rows; one order."""

import math
from array import array
from bisect import bisect_left
from collections.abc import Sequence

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

# Lines of a text that are looked at; correlation of log lengths of translations; chances that are
# compared; what a line must gain beyond them, and all together. Of NTREX in eleven languages, 400
# lines gain 0.4, or 0.2 without a fifth of each side; shuffled, or odd lines with even, below 0.1.
_LOOKED_AT, _ALIKE, _CHANCES, _GAIN, _FEW = 400, 0.95, 16, 0.1, 6.0
_SORTED = 0.5  # surplus of longer lines after shorter ones, or the other way round, in sorted texts


def in_one_order(source: Sequence[str], target: Sequence[str], gain: float = _GAIN) -> bool:
    """Tell whether two texts seem to be versions of one document, by the lengths of their lines.

    A pair gains what lines of such lengths are more probable as translations. The best chain of
    pairs that rises on both sides is compared with those of the target read backwards.
    """
    sides = [np.log([len(text) + 1 for text in each[:_LOOKED_AT]]) for each in (source, target)]
    for steps in (np.sign(np.diff(each)) for each in sides):
        if abs(steps.sum()) >= _SORTED * np.abs(steps).sum():  # or all are alike
            return False
    first, second = ((each - each.mean()) / each.std() for each in sides)
    shifts = np.linspace(0, len(second), _CHANCES, endpoint=False).astype(int)
    chances = [_best_chain(first, np.roll(second[::-1], shift)) for shift in shifts]
    enough = gain * min(len(first), len(second)) + _FEW
    return _best_chain(first, second) - float(np.mean(chances)) > enough


def _best_chain(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Sum up the gains of the best chain of places that rises on both sides."""
    rest = 1 - _ALIKE**2
    best = np.zeros(len(second) + 1)
    for length in first:
        gains = second**2 / 2 - (second - _ALIKE * length) ** 2 / (2 * rest) - math.log(rest) / 2
        best[1:] = np.maximum.accumulate(np.maximum(best[1:], best[:-1] + gains))
    return float(best[-1])


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
