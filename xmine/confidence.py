"""Chosen pairs and neighbours -> how likely each pair is a translation, found without gold pairs.

A pair is judged by its gap: how far it stands above its best rival, the nearest other cell of its
row and column. Without a translation, the best three cells are the top of one pool; where its tail
is exponential their gap is exponential too, and the next spacing has half its mean (Rényi, 1953,
"On the theory of order statistics"). So the files themselves show how far wrong pairs stand out,
while the gaps of translations are normal around a mean several times as far. Fitting both gives
each pair a probability. docs/threshold.md has the derivation, what else was tried, and where it
fails.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmine.neighbours import Neighbours
from xmine.pairing import ChosenPairs

Floats = NDArray[np.float64]

# A pair, two rivals and one to spare. More do not help; with two there is no spacing to measure.
NEIGHBOURS = 4
# Gaps of translations before any are seen: their mean is so many times that of wrong pairs, their
# standard deviation this share of it; and how many translations weigh as much as this belief.
_MEAN, _WEIGHT_OF_MEAN = 8.0, 5.0
_SPREAD, _WEIGHT_OF_SPREAD = 1 / 3, 30.0
# Nearer than that they could not be told apart from the tail of the wrong ones.
_LEAST_MEAN = 3.0
# Cosines of fp16 vectors say nothing below this; keeps ties from making the scale zero.
_LEAST_SCALE = 1e-4
# Gaps that a first guess takes for those of translations, as multiples of a typical wrong one.
_FIRST_GUESSES = (1, 2, 4)
# Log likelihood that translations must add to be believed in: Akaike's price of three parameters.
_LEAST_GAIN = 3.0
# Gaps are measured for so many pairs at a time: a pair takes about 300 bytes meanwhile.
_PAIRS_AT_ONCE = 16_384


@dataclass(frozen=True, slots=True)
class Confidence:
    """How likely each pair is a translation.

    Attributes:
        chances: float64 [pairs], probabilities. Of two pairs that are each other's best, the one
            with the wider gap never has the lower one; other pairs have 0, and so have those that
            are known to be wrong.
        translations: expected number of them in the files, those that are not among the pairs
            included.
        any_at_all: probability that there is any.
    """

    chances: Floats
    translations: float
    any_at_all: float

    def of(self, rows: NDArray[np.intp]) -> "Confidence":
        """Keep the probabilities of some pairs."""
        return replace(self, chances=self.chances[rows])


def estimate(
    pairs: ChosenPairs, neighbours: Neighbours, known: NDArray[np.int8] | None = None
) -> Confidence | None:
    """Estimate how likely each pair is a translation.

    Args:
        pairs: chosen by whatever margin and retrieval, or given.
        neighbours: nearest rows both ways. The first NEIGHBOURS are read, however many the margin
            used: search for at least that many. Two are unreliable.
        known: [pairs], 1 for pairs known to be right, 0 for wrong ones, -1 for the others.

    Returns:
        None where no pair has two rivals to compare it with: with one neighbour, or too few lines.
    """
    gaps, spacings = _gaps(pairs, neighbours)
    seen = np.isfinite(spacings)
    if not seen.any():
        return None
    mutual = seen & (gaps >= 0)
    # A pair that is not the best of its row and column is wrong.
    labels = np.full(len(pairs), -1, dtype=np.int8) if known is None else known
    chances, found, any_at_all = _chances(gaps[mutual], spacings[mutual], labels[mutual])
    everywhere = np.zeros(len(pairs))
    everywhere[mutual] = chances
    everywhere[labels == 1] = 1
    total = float(everywhere.sum())
    return Confidence(everywhere, total / found, any_at_all)


def _gaps(pairs: ChosenPairs, neighbours: Neighbours) -> tuple[Floats, Floats]:
    """Measure how far each pair stands above its best rival, and that one above the next.

    Half the mean of either side's neighbourhood is taken off the cosines, as in the distance
    margin, but without the nearest: a translation would raise the mean and hide itself.

    Returns:
        float64 [pairs] twice; infinite where there is no rival, or no second one.
    """
    near = neighbours.first(NEIGHBOURS)
    left, right = _half_mean(near.target_cosines), _half_mean(near.source_cosines)
    gaps, spacings = np.empty(len(pairs)), np.full(len(pairs), np.inf)
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        some = slice(start, start + _PAIRS_AT_ONCE)
        x, y = pairs.sources[some], pairs.targets[some]
        targets, sources = near.targets[x], near.sources[y]  # [some, k]
        # The halves are added first, so that both orders of the two files round alike.
        row = near.target_cosines[x] - (left[x, None] + right[targets])
        column = near.source_cosines[y] - (right[y, None] + left[sources])
        row[targets == y[:, None]] = -np.inf
        column[sources == x[:, None]] = -np.inf
        rivals = np.sort(np.concatenate([row, column], axis=1), axis=1)  # [some, 2k], rising
        second, third = rivals[:, -1], rivals[:, -2]
        gaps[some] = pairs.cosines[some] - (left[x] + right[y]) - second
        np.subtract(second, third, out=spacings[some], where=np.isfinite(third))
    return gaps, spacings


def _half_mean(cosines: NDArray[np.float32]) -> Floats:
    half: Floats = cosines[:, 1:].sum(axis=1, dtype=np.float64)
    half /= 2 * max(cosines.shape[1] - 1, 1)
    return half


def _chances(
    gaps: Floats, spacings: Floats, known: NDArray[np.int8]
) -> tuple[Floats, float, float]:
    """Estimate the probability that each pair is a translation; it never falls as the gap grows.

    Returns:
        probabilities, the share of translations that have a gap at all, and the probability that
        there are any.
    """
    rows = len(gaps)
    # What is known to be wrong may stand far out, as a copy does: it would blow up the scale.
    used = known != 0
    if not used.any():
        return np.zeros(rows), 1.0, 0.0
    sure = known == 1
    fit = _fit(gaps[used], spacings[used], sure[used])
    if fit.gain <= 0 and not sure.any():  # all wrong explains the files as well
        return np.zeros(rows), 1.0, 0.0
    any_at_all = 1.0 if sure.any() else 1 / (1 + math.exp(min(_LEAST_GAIN - fit.gain, 700)))
    odds = _log_normal(gaps, fit.mean, fit.spread) - _log_exponential(gaps, fit.scale)
    odds += math.log(fit.share / (1 - fit.share))
    order = np.argsort(gaps)
    chances = np.empty(rows)
    chances[order] = np.maximum.accumulate(1 / (1 + np.exp(-np.clip(odds[order], -50, 50))))
    chances = np.where(known == -1, any_at_all * chances, known)
    return chances, _above_zero(fit.mean, fit.spread), any_at_all


class _Mixture(NamedTuple):
    """What the pairs are made of.

    Attributes:
        share: of translations.
        scale: mean gap of wrong pairs.
        mean, spread: of the translations' gaps, before those below zero are cut off.
        gain: log likelihood above that of wrong pairs alone.
    """

    share: float
    scale: float
    mean: float
    spread: float
    gain: float


def _fit(gaps: Floats, spacings: Floats, sure: NDArray[np.bool_]) -> _Mixture:
    """Fit the mixture; some pairs are sure to be translations.

    Of several first guesses which pairs are translations, the one that leads highest is taken.
    """
    typical = max(2 * float(np.median(spacings)), _LEAST_SCALE)
    ends = [_climb(gaps, spacings, sure, gaps > times * typical) for times in _FIRST_GUESSES]
    return max(ends, key=lambda mixture: mixture.gain)


def _climb(
    gaps: Floats, spacings: Floats, sure: NDArray[np.bool_], guess: NDArray[np.bool_]
) -> _Mixture:
    """Fit the mixture by expectation maximisation from a first guess.

    Wrong: gap ~ exponential(scale), spacing ~ exponential(scale / 2). Translation: gap ~
    normal(mean, spread) above zero, spacing ~ exponential(scale), its rivals being the top two of
    a pool.
    """
    rows, known = len(gaps), int(sure.sum())
    scale = max(float((gaps + 2 * spacings).mean()) / 2, _LEAST_SCALE)
    alone = _log_exponential(gaps, scale) + _log_exponential(spacings, scale / 2)
    belief = np.where(guess, 0.95, 0.05)  # that a pair is a translation
    mean, spread = _MEAN * scale, _SPREAD * _MEAN * scale
    before, after = -math.inf, -math.inf
    for _ in range(300):
        belief[sure] = 1
        found = float(belief.sum())
        # Of those not known: the share that an unknown pair belongs to.
        share = min(max((found - known) / max(rows - known, 1), 1e-6), 1 - 1e-6)
        parts = (1 - belief) * (gaps + 2 * spacings) + belief * spacings
        scale = max(float(parts.sum()) / (2 * rows - found), _LEAST_SCALE)
        sums = found, float((belief * gaps).sum()), float((belief * gaps**2).sum())
        mean, spread = _normal(*sums, mean, spread, scale)
        wrong = _log_exponential(gaps, scale) + _log_exponential(spacings, scale / 2)
        right = _log_normal(gaps, mean, spread) + _log_exponential(spacings, scale)
        wrong, right = wrong + math.log(1 - share), right + math.log(share)
        both = np.logaddexp(wrong, right)
        belief = np.exp(right - both)
        before, after = after, float(both.sum())
        # The second limit is for many pairs: a step of one in the log is far from the end.
        if abs(after - before) < min(1e-6 * rows, 0.01):
            break
    return _Mixture(share, scale, mean, spread, after - float(alone.sum()))


def _normal(
    found: float, total: float, squares: float, mean: float, spread: float, scale: float
) -> tuple[float, float]:
    """Improve mean and spread of the translations' gaps; `scale` is that of the wrong ones.

    The sums are over translations that were found, those with a gap above zero; the moments of
    the others follow from the mean and the spread so far.
    """
    above = _above_zero(mean, spread)
    edge = found / above * math.exp(-((mean / spread) ** 2) / 2) / math.sqrt(2 * math.pi)
    lost = found * (1 - above) / above
    total += lost * mean - spread * edge
    squares += lost * (mean**2 + spread**2) - mean * spread * edge
    rows = found + lost
    mean = (total + _WEIGHT_OF_MEAN * _MEAN * scale) / (rows + _WEIGHT_OF_MEAN)
    mean = max(mean, _LEAST_MEAN * scale)
    squares += -2 * mean * total + rows * mean**2 + _WEIGHT_OF_SPREAD * (_SPREAD * mean) ** 2
    variance = squares / (rows + _WEIGHT_OF_SPREAD)
    return mean, min(max(math.sqrt(max(variance, 0)), 0.1 * mean), mean)


def _above_zero(mean: float, spread: float) -> float:
    """Tell which share of a normal distribution lies above zero."""
    return 0.5 * math.erfc(-mean / spread / math.sqrt(2))


def _log_exponential(values: Floats, mean: float) -> Floats:
    return -math.log(mean) - values / mean


def _log_normal(values: Floats, mean: float, spread: float) -> Floats:
    """Take the logarithm of a normal density that is cut off below zero."""
    constant = math.log(spread * math.sqrt(2 * math.pi) * _above_zero(mean, spread))
    logs: Floats = -(((values - mean) / spread) ** 2) / 2 - constant
    return logs
