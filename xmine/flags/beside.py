"""Chosen pairs and the lines beside them -> how much each pair looks like half of a translation.

Where a line is translated by two, mining pairs it with one of these. The other one stands beside:
together the two fit better, the pair's lengths become usual, and that line fits none of the lines
beside its counterpart.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xmine.files.scratch import slices
from xmine.flags.flag_set import Bools
from xmine.scoring.probability import Floats
from xmine.scoring.retrieval import ChosenPairs

# Pairs that are likelier right than not show usual lengths; less likely ones are not looked at.
_RIGHT, _LIKELY = 0.5, 0.01
# By logistic regression on the dev sets of MAC and Text+Berg, rounded.
_GAIN, _LENGTH, _TAKEN = 2.0, 0.5, 0.4
# A text is cut otherwise than its translation where lines beside complete such a share of pairs.
_OTHERWISE = 0.03
_LEAST, _LEAST_THERE = 0.25, 0.08

Rows = NDArray[np.int64]
# How much better each pair is with the line beside that fits best, float64 [pairs], -inf where none
# was looked at; and which line that is, int8 [pairs]: 0 and 1 before and behind the source, 2 and 3
# the target.
Beside = tuple[Floats, NDArray[np.int8]]
Vectors = Sequence[NDArray[np.float16]]  # unit vectors of both sides, [lines, dim]


def completed_beside(
    chosen: ChosenPairs, probs: Floats, vectors: Vectors, characters: Sequence[NDArray[np.int32]]
) -> tuple[Bools, bool]:
    """Mark pairs that a line beside completes.

    Args:
        chosen: the pairs.
        probs: float64 [pairs], estimated probabilities that they are right.
        vectors: of both sides; a line counts as much as it has characters where two are added up.
        characters: int32 [lines] of both sides.

    Returns:
        bool [pairs]; and whether these are so many that the texts are cut otherwise.
    """
    found, _ = fits_beside(chosen, probs, vectors, characters)
    right = probs >= _RIGHT
    cut_otherwise = bool(right.any() and np.mean(found[right] > _LEAST) >= _OTHERWISE)
    return found > (_LEAST_THERE if cut_otherwise else _LEAST), cut_otherwise


def fits_beside(
    chosen: ChosenPairs, probs: Floats, vectors: Vectors, characters: Sequence[NDArray[np.int32]]
) -> Beside:
    """Find the line beside that fits each pair best; see `completed_beside`."""
    which = np.zeros(len(chosen), np.int8)
    pairs = chosen.sources, chosen.targets
    found = np.full(len(chosen), -np.inf)
    right, likely = probs >= _RIGHT, np.flatnonzero(probs >= _LIKELY)
    if not right.any():
        return found, which
    lengths = [np.maximum(each, 1).astype(np.float64) for each in characters]
    ratios = np.log(lengths[0][pairs[0]] / lengths[1][pairs[1]])
    ratios -= np.median(ratios[right])
    best = [np.zeros(len(each)) for each in lengths]  # the probability of a line's best pair
    for side in (0, 1):
        np.maximum.at(best[side], pairs[side], probs)
    for some in slices(len(likely)):
        rows = likely[some]
        for side, sign in ((0, 1), (1, -1)):
            both, sizes = (vectors[side], vectors[1 - side]), lengths[side]
            at, across = pairs[side][rows], pairs[1 - side][rows]
            for by in (-1, 1):
                fits, shares = _fits(both, at, across, by, sizes)
                odd = np.abs(sign * ratios[rows])
                fits += _LENGTH * (odd - np.abs(sign * ratios[rows] + np.log1p(shares)))
                fits -= _TAKEN * best[side][(at + by).clip(0, len(sizes) - 1)]
                better = fits > found[rows]
                found[rows[better]], which[rows[better]] = fits[better], 2 * side + (by > 0)
    return found, which


def _fits(both: Vectors, at: Rows, across: Rows, by: int, lengths: Floats) -> tuple[Floats, Floats]:
    """Compare lines, those beside, and their counterparts across: what is gained, and lengths."""
    ours, theirs = both
    beside, rival = (at + by).clip(0, len(ours) - 1), (across + by).clip(0, len(theirs) - 1)
    line, more, other = (
        vectors[rows].astype(np.float32)
        for vectors, rows in ((ours, at), (ours, beside), (theirs, across))
    )
    own, new, alike, theirs_beside = (
        np.einsum("ij,ij->i", left, right).astype(np.float64)
        for left, right in (
            (line, other),
            (more, other),
            (line, more),
            (more, theirs[rival].astype(np.float32)),
        )
    )
    shares = lengths[beside] / lengths[at]
    merged = (own + shares * new) / np.sqrt(1 + shares**2 + 2 * shares * alike)
    fits = _GAIN * (merged - own) + new - np.where(rival == across, 0, theirs_beside)
    return np.where(beside == at, -np.inf, fits), shares
