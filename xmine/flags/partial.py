"""The loosest stretches of pairs -> which pairs have a side that the other side translates in part.

A stretch without counterparts says the more, the longer its side is for the other side: where half
of a text is missing, the other one is twice as long as usual.
"""

import numpy as np
from numpy.typing import NDArray

from xmine.files import scratch
from xmine.flags.flag_set import FEWEST_CONFIDENT, Bools, middle_and_spread
from xmine.scoring.alignment import Looseness

# Less than 3 % of right pairs are flagged (bench/flags.py).
_LOOSEST = 0.55
# In a text that is cut otherwise than its translation a clause is moved more often than lost.
_LOOSEST_THERE = 1.2
_WORTH_OF_LENGTH = 0.6
# No more than what a missing half does to a length.
_MOST = float(np.log(2))
_FARTHEST = 3.0  # robust standard deviations of the confident pairs

Floats = NDArray[np.float64]


def is_partial(loose: Looseness, sure: Bools, *, cut_otherwise: bool = False) -> Bools:
    """Mark pairs of which a stretch of one side has no counterpart, bool [pairs].

    Args:
        loose: the stretches of all pairs.
        sure: bool [pairs], the confident pairs; they show usual lengths and usual stretches.
        cut_otherwise: whether lines beside complete many pairs, see `xmine.flags.beside`.
    """
    enough = sure.sum() >= FEWEST_CONFIDENT
    usual = usual_ratio(loose.take(np.flatnonzero(sure))) if enough else 0
    highest = scratch.empty(len(sure), np.float64)
    limit = _LOOSEST_THERE if cut_otherwise else _LOOSEST
    for some in scratch.slices(len(sure)):
        highest[some] = evidence_of(loose.take(some), usual).max(axis=0)
    if enough:
        middle, spread = middle_and_spread(highest[sure])
        limit = max(limit, middle + _FARTHEST * spread)
    partial: Bools = highest > limit
    return partial


def usual_ratio(loose: Looseness) -> float:
    """Give the median of the log ratios of weights, source by target."""
    return float(np.median(_log_ratios(loose)))


def evidence_of(loose: Looseness, usual: float) -> Floats:
    """Weigh the stretches of the sources and of the targets by how long each side is.

    `usual` is the log ratio of weights that pairs have as a rule. Returns float64 [2, pairs].
    """
    excess = np.clip(_log_ratios(loose) - usual, -_MOST, _MOST)
    evidence: Floats = loose.values + _WORTH_OF_LENGTH * np.stack([excess, -excess])
    return evidence


def _log_ratios(loose: Looseness) -> Floats:
    ours, theirs = np.maximum(loose.weights.astype(np.float64), 1)
    ratios: Floats = np.log(ours / theirs)
    return ratios
