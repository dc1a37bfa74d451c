"""Chosen pairs and neighbours -> how likely each pair is a translation, found without gold pairs.

A pair is judged by its gap: how far it stands above its best rival, the nearest other cell of its
row and column. Without a translation, the best three cells are the top of one pool; where its tail
is exponential their gap is exponential too, and the next spacing has half its mean (Rényi, 1953,
"On the theory of order statistics"). So the files themselves show how far wrong pairs stand out.
The gaps of translations are normal around a mean several times as far, which falls where rivals are
close. Fitting both gives each pair a probability. docs/explanation/sure.md has the
derivation and says where the estimate fails.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmine.files import scratch
from xmine.files.scratch import filled, slices, summed, taken
from xmine.knn.neighbours import Neighbours
from xmine.scoring.retrieval import ChosenPairs

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
# Rows x and y of pairs, and neighbours -> which targets near x are kin of y, bool [pairs, k], and
# which sources near y are kin of x: near-copies, no rivals.
Kindred = Callable[[NDArray[np.int64], NDArray[np.int64], Neighbours], tuple[Bools, Bools]]

# A pair, two rivals and one to spare. More do not help; with two there is no spacing to measure.
NEIGHBOURS = 4
# Gaps of translations before any are seen: they reach from the best rival to this cosine, on
# average, but their mean is so many times that of wrong pairs, at least and at most; their standard
# deviation is this share of their mean, and their mean falls by this share of what the best rival
# gains; and how many translations weigh as much as each belief.
_COSINE, _MEANS, _WEIGHT_OF_MEAN = 0.8, (5.0, 8.0), 5.0
_SPREAD, _WEIGHT_OF_SPREAD = 1 / 3, 30.0
_SLOPE, _WEIGHT_OF_SLOPE = 0.5, 20.0
# Nearer than that they could not be told apart from the tail of the wrong ones.
_LEAST_MEAN = 2.0
# Rivals may be so close that hardly a translation beats them: no smaller share is believed in.
_LEAST_SEEN = 0.1
# Cosines of fp16 vectors say nothing below this; keeps ties from making the scale zero.
_LEAST_SCALE = 1e-4
# Gaps that a first guess takes for those of translations, as multiples of a typical wrong one; and
# the share of the highest cosines that another guess takes.
_FIRST_GUESSES, _HIGHEST = (1, 2, 4), 0.1
# Log likelihood that translations must add to be believed in: Akaike's price of three parameters;
# the fourth, the slope, is all but given while few are seen.
_LEAST_GAIN = 3.0
# So many pairs show which first guess is best.
_ENOUGH = 50_000
# How far all log-odds may be wrong together where nothing tells that: with this deviation, nine in
# ten intervals and more held the true precision on held-out text.
DOUBT = 0.9
# Gaps are measured for so many pairs at a time: a pair takes about 300 bytes meanwhile.
PAIRS_AT_ONCE = 16_384
# The standard normal distribution function, looked up between these points: numpy has none.
_POINTS = np.linspace(-6, 6, 2_401)
_BELOW = np.array([0.5 * math.erfc(-each / math.sqrt(2)) for each in _POINTS])


def sigmoid(values: Floats) -> Floats:
    """Turn log-odds into probabilities."""
    probs: Floats = 1 / (1 + np.exp(-np.clip(values, -700, 700)))
    return probs


@dataclass(frozen=True, slots=True)
class Confidence:
    """How likely each pair is a translation.

    Attributes:
        probs: float64 [pairs], probabilities with four decimals, as they are printed. Of two
            pairs that are each other's best and have rivals of the same cosine, the one with the
            wider gap never has the lower one; pairs that are not each other's best have 0, and so
            have those that are known to be wrong.
        translations: expected number of them in the files, those that are not among the pairs
            included.
        apart: mean gap of the translations, as a multiple of that of wrong pairs.
        doubt: standard deviation of the one number by which all log-odds may be wrong together.
    """

    probs: Floats
    translations: float
    apart: float = math.inf
    doubt: float = DOUBT

    def of(self, rows: NDArray[np.intp]) -> "Confidence":
        """Keep the probabilities of some pairs."""
        return replace(self, probs=taken(self.probs, rows))

    def where_known(self, probs: Floats) -> "Confidence":
        """Take the probabilities of some pairs from elsewhere, [pairs]; NaN leaves one."""
        given = ~np.isnan(probs)
        more = float((probs[given] - self.probs[given]).sum())
        probs = np.where(given, probs, self.probs)
        return replace(self, probs=probs, translations=self.translations + more)


def estimate(
    pairs: ChosenPairs,
    neighbours: Neighbours,
    known: NDArray[np.int8] | None = None,
    kin: Kindred | None = None,
) -> Confidence | None:
    """Estimate how likely each pair is a translation.

    Args:
        pairs: chosen by whatever margin and retrieval, or given.
        neighbours: nearest rows both ways. The first NEIGHBOURS are read, and with `kin` all:
            search for at least that many, however many the margin uses. Two are unreliable.
        known: [pairs], 1 for pairs known to be right, 0 for wrong ones, -1 for the others.
        kin: tells which neighbours are near-copies of a pair's own sentence, and so no rivals.

    Returns:
        None where no pair has two rivals to compare it with: with one neighbour, or too few lines.
    """
    gaps, spacings = _gaps(pairs, neighbours, kin)
    if not np.isfinite(spacings).any():
        return None
    # A pair that is not the best of its row and column is wrong.
    mutual = np.isfinite(spacings) & (gaps >= 0)
    labels = np.full(len(pairs), -1, dtype=np.int8) if known is None else known
    cosines, gaps, spacings = (taken(each, mutual) for each in (pairs.cosines, gaps, spacings))
    heights = filled(len(gaps), lambda some: cosines[some] - gaps[some])
    judged = _judged(gaps, spacings, heights, labels[mutual])
    everywhere = scratch.empty(len(pairs), np.float64)
    everywhere[:] = 0
    everywhere[mutual] = judged.probs
    beaten = float((judged.probs * (1 / judged.seen - 1)).sum())
    everywhere[labels == 1] = 1
    total = float(everywhere.sum()) + beaten
    np.round(everywhere, 4, out=everywhere)
    return Confidence(everywhere, round(total, 4), judged.apart)


def _gaps(
    pairs: ChosenPairs, neighbours: Neighbours, kin: Kindred | None = None
) -> tuple[Floats, Floats]:
    """Measure how far each pair stands above its best rival, and that one above the next.

    Half the mean of either side's neighbourhood is taken off the cosines, as in the distance
    margin, but without the nearest: a translation would raise the mean and hide itself.

    Returns:
        float64 [pairs] twice; infinite where there is no rival, or no second one.
    """
    near = neighbours.first(NEIGHBOURS)
    cells = neighbours if kin else near  # behind near-copies, rivals may stand further down
    left, right = (
        each[:, 1:].sum(axis=1, dtype=np.float64) / (2 * max(each.shape[1] - 1, 1))
        for each in (near.target_cosines, near.source_cosines)
    )
    gaps, spacings = (scratch.empty(len(pairs), np.float64) for _ in range(2))
    spacings[:] = np.inf
    for some in slices(len(pairs), PAIRS_AT_ONCE):
        x, y = pairs.sources[some], pairs.targets[some]
        targets, sources = cells.targets[x], cells.sources[y]  # [some, k]
        # The halves are added first, so that both orders of the two files round alike.
        row = cells.target_cosines[x] - (left[x, None] + right[targets])
        column = cells.source_cosines[y] - (right[y, None] + left[sources])
        row[targets == y[:, None]] = -np.inf
        column[sources == x[:, None]] = -np.inf
        if kin:
            of_row, of_column = kin(x, y, cells)
            row[of_row] = column[of_column] = -np.inf
        rivals = np.sort(np.concatenate([row, column], axis=1), axis=1)  # [some, 2k], rising
        second, third = rivals[:, -1], rivals[:, -2]
        gaps[some] = pairs.cosines[some] - (left[x] + right[y]) - second
        np.subtract(second, third, out=spacings[some], where=np.isfinite(third))
    return gaps, spacings


class _Judged(NamedTuple):
    """Pairs that are each other's best, judged.

    Attributes:
        probs: float64 [pairs], the probability that each is a translation.
        seen: float64 [pairs], which share of the translations with such rivals beats them.
        any_at_all: probability that there is any translation.
        apart: as in Confidence.
    """

    probs: Floats
    seen: Floats
    any_at_all: float
    apart: float


def _judged(gaps: Floats, spacings: Floats, heights: Floats, known: NDArray[np.int8]) -> _Judged:
    """Estimate the probability that each pair is a translation.

    Args:
        gaps, spacings: float64 [pairs], see `_gaps`.
        heights: float64 [pairs], how high the best rival stands: the cosine less the gap.
        known: [pairs], as in `estimate`.
    """
    rows = len(gaps)
    # What is known to be wrong may stand far out, as a copy does: it would blow up the scale.
    used = known != 0
    nothing = _Judged(np.zeros(rows), np.ones(rows), 0.0, 0.0)
    if not used.any():
        return nothing
    sure = known == 1
    middle = float(heights[used].mean())
    heights = np.subtract(heights, middle, out=scratch.empty(rows, np.float64))
    own = taken(gaps, used), taken(spacings, used), taken(heights, used)
    fit = _fit(*own, sure[used], _COSINE - middle)
    if fit.gain <= 0 and not sure.any():  # all wrong explains the files as well
        return nothing
    any_at_all = 1.0 if sure.any() else 1 / (1 + math.exp(min(_LEAST_GAIN - fit.gain, 700)))
    # Far out the exponential has the heavier tail; a wider gap is no reason to doubt, though.
    probs, seen = (scratch.empty(rows, np.float64) for _ in range(2))
    for some in slices(rows):
        means = fit.mean - fit.slope * heights[some]
        wide = np.minimum(gaps[some], np.maximum(means, 0) + fit.spread**2 / fit.scale)
        right = 1 / (1 + np.exp(-np.clip(fit.log_odds(wide, heights[some]), -50, 50)))
        probs[some] = np.where(known[some] == -1, any_at_all * right, known[some])
        seen[some] = fit.seen(heights[some])
    return _Judged(probs, seen, any_at_all, fit.mean / fit.scale)


class _Mixture(NamedTuple):
    """The mixture of wrong pairs and translations.

    Attributes:
        share: of translations.
        scale: mean gap of wrong pairs.
        mean: of the translations' gaps, before those below zero are cut off, where the best rival
            is of mean height.
        slope: the fall of their mean as the best rival rises, 0 to 1.
        spread: standard deviation of their gaps among rivals of one height.
        variance: of the heights.
        gain: log likelihood above that of wrong pairs alone.
    """

    share: float
    scale: float
    mean: float
    slope: float
    spread: float
    variance: float
    gain: float = -math.inf

    def seen(self, heights: Floats) -> Floats:
        """Tell which share of the translations with such rivals has a gap above zero, [pairs]."""
        ratios = (self.mean - self.slope * heights) / self.spread
        seen: Floats = np.maximum(np.interp(ratios, _POINTS, _BELOW), _LEAST_SEEN)
        return seen

    def log_right(self, gaps: Floats, heights: Floats) -> Floats:
        """Take the log likelihood of gaps and heights of translations, [pairs].

        That of heights is relative to wrong pairs. The best rival of a translation is the largest
        of its pool, that of a wrong pair the second largest, lower by `scale` on average.
        """
        variance = max(self.variance, self.scale**2)  # of a pool's largest values, at least
        errors = (gaps - self.mean + self.slope * heights) / self.spread
        logs = -(errors**2) / 2 - math.log(self.spread * math.sqrt(2 * math.pi))
        middle = (0.5 - self.share) * self.scale  # between both kinds, from the mean of all
        higher: Floats = logs + self.scale * (heights - middle) / variance
        return higher

    def log_odds(self, gaps: Floats, heights: Floats) -> Floats:
        """Take the logarithm of the odds that pairs are translations, [pairs]."""
        odds = self.log_right(gaps, heights) - _log_exponential(gaps, self.scale)
        odds += math.log(self.share / (1 - self.share))
        return odds


def _fit(
    gaps: Floats, spacings: Floats, heights: Floats, sure: NDArray[np.bool_], likely: float
) -> _Mixture:
    """Fit the mixture; some pairs are sure to be translations, whose mean gap is likely so wide.

    Of several first guesses which pairs are translations, the one that leads highest is taken; of
    many pairs on some of them, to save time.
    """
    if len(gaps) >= 2 * _ENOUGH:
        some = slice(None, None, len(gaps) // _ENOUGH)
        fit = _fit(gaps[some], spacings[some], heights[some], sure[some], likely)
        blocks = [fit.log_odds(gaps[some], heights[some]) > 0 for some in slices(len(gaps))]
        guess = np.concatenate(blocks)
        return _climb(gaps, spacings, heights, sure, likely, guess)
    typical = max(2 * float(np.median(spacings)), _LEAST_SCALE)
    guesses = [gaps > times * typical for times in _FIRST_GUESSES]
    cosines = gaps + heights
    guesses.append((gaps > typical / 2) & (cosines > np.quantile(cosines, 1 - _HIGHEST)))
    ends = [_climb(gaps, spacings, heights, sure, likely, guess) for guess in guesses]
    return max(ends, key=lambda mixture: mixture.gain)


def _climb(
    gaps: Floats,
    spacings: Floats,
    heights: Floats,
    sure: NDArray[np.bool_],
    likely: float,
    guess: NDArray[np.bool_],
) -> _Mixture:
    """Fit the mixture by expectation maximisation from a first guess.

    Wrong: gap ~ exponential(scale), spacing ~ exponential(scale / 2). Translation: gap ~
    normal(mean - slope x height, spread) above zero, spacing ~ exponential(scale), its rivals being
    the top two of a pool.
    """
    rows, known = len(gaps), int(sure.sum())

    def apart(some: slice) -> Floats:
        return gaps[some] + 2 * spacings[some]

    def of_scale(some: slice) -> Floats:
        return (1 - belief[some]) * apart(some) + belief[some] * spacings[some]

    def of_wrong(scale: float, some: slice) -> Floats:
        return _log_exponential(gaps[some], scale) + _log_exponential(spacings[some], scale / 2)

    def among_seen(fit: _Mixture, some: slice) -> Floats:
        return belief[some] / fit.seen(heights[some])

    scale = max(summed(rows, apart) / rows / 2, _LEAST_SCALE)
    alone = summed(rows, partial(of_wrong, scale))
    variance = max(float(heights.var()), _LEAST_SCALE**2)
    mean = _believed(likely, scale)
    fit = _Mixture(0.5, scale, mean, _SLOPE, _SPREAD * mean, variance)
    belief = np.where(guess, 0.95, 0.05)  # that a pair is a translation
    both = np.empty(rows)
    before, after = -math.inf, -math.inf
    for _ in range(300):
        belief[sure] = 1
        found = float(belief.sum())
        # Of those not known: the share that an unknown pair belongs to.
        share = min(max((found - known) / max(rows - known, 1), 1e-6), 1 - 1e-6)
        scale = max(summed(rows, of_scale) / (2 * rows - found), _LEAST_SCALE)
        fit = fit._replace(share=share, scale=scale)
        fit = _of_right(gaps, heights, belief, fit, _believed(likely, scale))
        # The density among the translations that are seen.
        unseen = math.log(found / summed(rows, partial(among_seen, fit)))
        for some in slices(rows):
            wrong = of_wrong(scale, some) + math.log(1 - share)
            right = fit.log_right(gaps[some], heights[some]) - unseen
            right = right + _log_exponential(spacings[some], scale) + math.log(share)
            both[some] = np.logaddexp(wrong, right)
            # All of them 0 would divide by it.
            belief[some] = np.maximum(np.exp(right - both[some]), 1e-12)
        before, after = after, float(both.sum())
        # The second limit is for many pairs: a step of one in the log is far from the end.
        if abs(after - before) < min(1e-6 * rows, 0.01):
            break
    return fit._replace(gain=after - alone)


def _believed(likely: float, scale: float) -> float:
    """Give the mean gap of translations that is believed in before any are seen."""
    return min(max(likely, _MEANS[0] * scale), _MEANS[1] * scale)


def _of_right(
    gaps: Floats, heights: Floats, belief: Floats, fit: _Mixture, believed: float
) -> _Mixture:
    """Improve mean, slope and spread of the translations' gaps; their mean is believed to be such.

    The translations that are believed in are those with a gap above zero; the moments of the
    others, beaten by a rival, follow from the fit so far.
    """
    rows = len(gaps)
    lost, below, within = np.empty((3, rows))
    for some in slices(rows):
        means, seen = fit.mean - fit.slope * heights[some], fit.seen(heights[some])
        # Beaten translations with such rivals; more than are seen would lead the fit astray.
        lost[some] = belief[some] * np.minimum(1 / seen - 1, 1)
        ratios = means / fit.spread
        hazard = np.exp(-(ratios**2) / 2) / math.sqrt(2 * math.pi) / np.maximum(1 - seen, 1e-12)
        below[some] = means - fit.spread * hazard  # the mean gap of the beaten ones
        within[some] = fit.spread**2 * np.clip(1 + ratios * hazard - hazard**2, 0, 1)

    def weights(some: slice) -> Floats:
        return belief[some] + lost[some]

    def covariances(some: slice) -> Floats:
        parts = belief[some] * (gaps[some] - gap) + lost[some] * (below[some] - gap)
        return (heights[some] - height) * parts

    def squares_of(some: slice) -> Floats:
        means = mean - slope * (heights[some] - height)
        seen = belief[some] * (gaps[some] - means) ** 2
        return seen + lost[some] * ((below[some] - means) ** 2 + within[some])

    total = summed(rows, weights)
    height = summed(rows, lambda some: weights(some) * heights[some]) / total
    gap = summed(rows, lambda some: belief[some] * gaps[some] + lost[some] * below[some]) / total
    covariance = summed(rows, covariances)
    variance = summed(rows, lambda some: weights(some) * (heights[some] - height) ** 2)
    held = _WEIGHT_OF_SLOPE * fit.variance
    slope = (_SLOPE * held - covariance) / (held + variance)
    slope = min(max(slope, 0.0), 1.0)
    believed -= slope * height
    mean = (total * gap + _WEIGHT_OF_MEAN * believed) / (total + _WEIGHT_OF_MEAN)
    mean = max(mean, _LEAST_MEAN * fit.scale)  # at the height of the translations
    squares = summed(rows, squares_of) + _WEIGHT_OF_SPREAD * (_SPREAD * mean) ** 2
    spread = math.sqrt(squares / (total + _WEIGHT_OF_SPREAD))
    spread = min(max(spread, 0.1 * mean), mean)
    return fit._replace(mean=mean + slope * height, slope=slope, spread=spread)


def _log_exponential(values: Floats, mean: float) -> Floats:
    return -math.log(mean) - values / mean
