"""Chosen pairs -> the score below which pairs are dropped: a given number, or found without gold.

`auto` asks how far each pair stands above its best rival, the nearest other cell of its row and
column. Without a translation, best and second best are the top two of one pool; where its tail is
exponential their gap is exponential too, and the next spacing has half its mean (Rényi, 1953, "On
the theory of order statistics"). A translation stands further out. So the gaps are a mixture of a
shape whose scale the files themselves show and a broad one further right: fitting it gives each
pair a probability, and the cut is where the expected F1 is highest.

It assumes that a wrong pair is no more than the best of its pool. Near-translations (one number
differs; texts that tell the same story) stand out as translations do and are counted as such. A
sentence with two translations, or repeated lines not folded, have a rival as good as they are and
are not counted. A handful of translations in a large file can be overlooked; out of files without
any, a few pairs for every hundred lines are kept. docs/evaluation.md has what this costs.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.neighbours import Neighbours
from xmine.pairing import ChosenPairs

Floats = NDArray[np.float64]

# A pair, two rivals and one to spare. More do not help; with two there is no spacing to measure.
NEIGHBOURS = 4
# Gaps of translations as a gamma distribution of this shape, which is broader than those seen on
# held-out text. Fitted freely it wanders off on small files.
_SHAPE = 4.0
# Their mean gap is at least this many times that of wrong pairs; on held-out text it was more.
_LEAST_MEAN = 3.0
# Cosines of fp16 vectors say nothing below this; keeps ties from making the scale zero.
_LEAST_SCALE = 1e-4
# Below this nothing is kept. A higher bar loses files where one line in a hundred is translated.
_LEAST_PRECISION = 1e-3


@dataclass(frozen=True, slots=True)
class Threshold:
    """The cut: a pair is kept when its score, as float64, is at least `value`.

    Attributes:
        value: from `auto` a multiple of 0.0001, so that giving it as a number is the same cut.
        how: a clause for the summary line.
        translations: expected number of them among all pairs; None if not estimated.
        precision: expected share of them among the kept pairs; None if not estimated or if nothing
            is kept. Within a few points where a tenth of the lines or more have a translation, far
            off where fewer have (docs/evaluation.md).
    """

    value: float
    how: str
    translations: float | None = None
    precision: float | None = None


def choose_threshold(
    pairs: ChosenPairs, neighbours: Neighbours, wanted: float | str = "auto"
) -> Threshold:
    """Choose the cut on the scores of the chosen pairs.

    Args:
        pairs: chosen by whatever margin and retrieval, best first.
        neighbours: nearest rows both ways. `auto` reads the first NEIGHBOURS, however many the
            margin used: search for at least that many. Two are unreliable; with one it keeps all.
        wanted: the cut itself, or `auto`.

    Raises:
        ValueError: `wanted` is neither.
    """
    if wanted != "auto":
        return Threshold(float(wanted), "given")
    gaps, spacings = _gaps(pairs, neighbours)
    cuts = np.floor(pairs.scores[::-1].astype(np.float64) * 1e4) / 1e4  # rising
    seen = np.isfinite(spacings)
    if not seen.any():
        lowest = float(cuts[0]) if len(cuts) else 0.0
        return Threshold(lowest, "auto: too few lines to compare")
    mutual = seen & (gaps >= 0)
    chances = np.zeros(len(pairs))  # a pair that is not the best of its row and column is wrong
    chances[mutual] = _chances(gaps[mutual], spacings[mutual])
    total = float(chances.sum())
    kept = len(pairs) - np.searchsorted(pairs.scores[::-1].astype(np.float64), cuts)  # [cuts]
    right = np.cumsum(chances)[kept - 1]  # expected among the kept
    best = int(np.argmax(2 * right / (kept + total)))
    precision = float(right[best] / kept[best])
    if precision < _LEAST_PRECISION:
        return Threshold((round(cuts[-1] * 1e4) + 1) / 1e4, "auto: no pair stands out", total)
    how = f"auto: about {total:,.0f} translations, precision about {precision:.0%}"
    if total < 1:
        how = "auto: hardly any pair stands out, the best kept"
    return Threshold(float(cuts[best]), how, total, precision)


def _gaps(pairs: ChosenPairs, neighbours: Neighbours) -> tuple[Floats, Floats]:
    """Measure how far each pair stands above its best rival, and that one above the next.

    Half the mean of either side's neighbourhood is taken off the cosines, as in the distance
    margin, but without the nearest: a translation would raise the mean and hide itself.

    Returns:
        float64 [pairs] twice; infinite where there is no rival, or no second one.
    """
    targets, sources = neighbours.targets[:, :NEIGHBOURS], neighbours.sources[:, :NEIGHBOURS]
    forward = neighbours.target_cosines[:, :NEIGHBOURS].astype(np.float64)  # [sources, k]
    backward = neighbours.source_cosines[:, :NEIGHBOURS].astype(np.float64)  # [targets, k]
    left, right = _half_mean(forward), _half_mean(backward)  # [sources], [targets]
    # The halves are added first, so that both orders of the two files round alike.
    forward = forward - (left[:, None] + right[targets])
    backward = backward - (right[:, None] + left[sources])
    x, y = pairs.sources, pairs.targets
    own = pairs.cosines - (left[x] + right[y])  # [pairs]
    row = np.where(targets[x] == y[:, None], -np.inf, forward[x])
    column = np.where(sources[y] == x[:, None], -np.inf, backward[y])
    rivals = np.sort(np.concatenate([row, column], axis=1), axis=1)  # [pairs, 2k], rising
    second, third = rivals[:, -1], rivals[:, -2]
    spacings = np.full(len(own), np.inf)
    np.subtract(second, third, out=spacings, where=np.isfinite(third))
    return own - second, spacings


def _half_mean(cosines: Floats) -> Floats:
    half: Floats = cosines[:, 1:].sum(axis=1) / (2 * max(cosines.shape[1] - 1, 1))
    return half


def _chances(gaps: Floats, spacings: Floats) -> Floats:
    """Estimate the probability that each pair is a translation; it never falls as the gap grows."""
    rows = len(gaps)
    share, scale, mean, gain = _fit(gaps, spacings) if rows else (0.0, 0.0, 0.0, 0.0)
    if gain <= 0:  # all wrong explains the files as well
        return np.zeros(rows)
    # Are there translations at all? Even odds before, BIC for the two parameters that they cost.
    any_at_all = 1 / (1 + math.exp(min(math.log(rows) - gain, 700)))
    odds = _log_gamma(gaps, mean) + math.log(share / (1 - share)) - _log_exponential(gaps, scale)
    order = np.argsort(gaps)
    chances = np.empty(rows)
    chances[order] = np.maximum.accumulate(1 / (1 + np.exp(-np.clip(odds[order], -50, 50))))
    return any_at_all * chances


def _fit(gaps: Floats, spacings: Floats) -> tuple[float, float, float, float]:
    """Fit the mixture by expectation maximisation.

    Wrong: gap ~ exponential(scale), spacing ~ exponential(scale / 2). Translation: gap ~
    gamma(_SHAPE, mean), spacing ~ exponential(scale), its rivals being the top two of a pool.

    Returns:
        share of translations, scale, their mean gap, and the log likelihood gained over all wrong.
    """
    rows = len(gaps)
    scale = max(float((gaps + 2 * spacings).mean()) / 2, _LEAST_SCALE)
    all_wrong = (_log_exponential(gaps, scale) + _log_exponential(spacings, scale / 2)).sum()
    # Belief that a pair is a translation. From a stricter first guess (5 times the typical gap) a
    # single pair far out becomes the only translation.
    typical = max(2 * float(np.median(spacings)), _LEAST_SCALE)
    belief = np.where(gaps > 2 * typical, 0.95, 0.05)
    before, after = -math.inf, -math.inf
    for _ in range(300):
        found = float(belief.sum())
        share = min(max(found / rows, 1e-6), 1 - 1e-6)
        parts = (1 - belief) * (gaps + 2 * spacings) + belief * spacings
        scale = max(float(parts.sum()) / (2 * rows - found), _LEAST_SCALE)
        mean = max(float((belief * gaps).sum()) / max(found, 1e-9), _LEAST_MEAN * scale)
        wrong = _log_exponential(gaps, scale) + _log_exponential(spacings, scale / 2)
        right = _log_gamma(gaps, mean) + _log_exponential(spacings, scale)
        wrong, right = wrong + math.log(1 - share), right + math.log(share)
        both = np.logaddexp(wrong, right)
        belief = np.exp(right - both)
        before, after = after, float(both.sum())
        if after - before < 1e-6 * rows:
            break
    return share, scale, mean, after - float(all_wrong)


def _log_exponential(values: Floats, mean: float) -> Floats:
    return -math.log(mean) - values / mean


def _log_gamma(values: Floats, mean: float) -> Floats:
    rate = _SHAPE / mean
    constant = _SHAPE * math.log(rate) - math.lgamma(_SHAPE)
    logs: Floats = constant + (_SHAPE - 1) * np.log(np.maximum(values, 1e-9)) - rate * values
    return logs
