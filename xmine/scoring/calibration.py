"""Reranked scores and a first estimate -> probabilities that rise with the score, without gold.

The first estimate judges a pair by how far its cosine stands above its rivals
(`xmine.scoring.probability`), and so takes no notice of tokens. Two things are learnt from it. A
logistic curve through its probabilities says what a score is worth in these files. From there,
expectation maximisation fits a mixture to the scores themselves: those of translations are normal,
and those of wrong pairs above a high quantile exponential, as the excesses over a threshold of
most distributions are (Pickands, 1975, "Statistical inference using extreme order statistics").
A logistic curve gives the probabilities. Its slope is the mean of theirs, since the mean of two
curves that cross even odds apart is flatter than both, and it expects as many translations as both
do in the mean. Where the mixture finds a tenth fewer translations than the first estimate, the
first estimate alone counts.
"""

import math
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.reranking import RerankingWeights
from xmine.files.scratch import filled, slices, stored, summed, taken
from xmine.scoring.probability import Confidence, Floats

# The share of n wrong pairs that lies in the exponential tail: 2.4 n^(-1/3), and a fifth at most.
# The further out, the more exponential a tail is; n^(2/3) pairs are the best compromise between
# that and too few pairs (Hall, 1982, "On some simple estimates of an exponent of regular
# variation").
_MOST_IN_TAIL, _IN_TAIL = 0.2, 2.4
# The tail begins at most so many deviations below the mean of translations, unless a fifth does.
_FEW_BELOW = 2.5
# How many translations the mean and deviation of their scores are believed in before any are seen.
# The mean excess of wrong pairs is believed in as well, as a share of that deviation; beyond the
# last share the tail might take the translations.
_BELIEF, _TAIL_BELIEF, _TAIL, _LONGEST_TAIL = 10.0, 50.0, 0.3, 0.6
# Of the translations that the first estimate expects, the share that the mixture finds at least if
# these are so large a share of the pairs: it takes translations for the tail where many stand far
# out, or many lower than usual.
_LEAST_FOUND, _MANY = 0.9, 0.1
LEAST_PROB = 5e-5  # half the last decimal of a probability
# Judged pairs move the log-odds of all pairs by one number, which is normal around 0 with this
# deviation before any is judged. Pairs further from even odds say nothing of the cut.
_SHIFT, _NEAR = 1.0, 3.0
# How many pairs the slope of 1 is believed in, with which scores are log-odds.
_SLOPE_BELIEF, _LEAST_SLOPE = 1.0, 1e-3


def calibrate(
    scores: NDArray[np.float32],
    first: Confidence,
    known: NDArray[np.int8],
    weights: RerankingWeights,
) -> Confidence:
    """Estimate how likely each pair is a translation by its reranked score.

    Args:
        scores: float32 [pairs], log-odds.
        first: the estimate by cosines, of the same pairs.
        known: [pairs], 1 for pairs known to be right, 0 for wrong ones, -1 for the others.
        weights: that gave the scores.
    """
    open_pairs = stored(np.flatnonzero(known == -1))
    values = stored(scores[open_pairs].astype(np.float64))
    labels = taken(first.probs, open_pairs)
    if not labels.any():
        return first
    beyond = first.translations - float(first.probs.sum())  # those that are not among the pairs
    slope, height = fit_logistic(values, labels)
    tail, found = _tail_mixture(values, _on_curve(values, slope, height), weights)
    expected = float(labels.sum())
    if expected > _MANY * len(labels) and float(tail.sum()) < _LEAST_FOUND * expected:
        tail, found = labels, expected + beyond
    slope = (fit_logistic(values, tail)[0] + slope) / 2
    total = (float(tail.sum()) + expected) / 2
    height = _height(values, slope, total, height)
    probs = filled(len(first.probs), lambda some: first.probs[some])
    probs[open_pairs] = _on_curve(values, slope, height)
    beaten = (found - float(tail.sum()) + beyond) / 2
    total = float(probs.sum()) + beaten
    np.round(probs, 4, out=probs)
    return replace(first, probs=probs, translations=round(total, 4))


def corrected(confidence: Confidence, judged: NDArray[np.int8]) -> Confidence:
    """Correct an estimate by pairs that were judged: the log-odds of all pairs move by one number.

    The number is the most probable one a posteriori. It does not matter which pairs were chosen to
    be judged, as long as their probabilities alone decided that.

    Args:
        confidence: estimated without a look at the judgements.
        judged: [pairs], 1 for accepted pairs, 0 for rejected ones, -1 for the others.
    """
    inside = np.clip(confidence.probs, LEAST_PROB, 1 - LEAST_PROB)
    odds = np.log(inside / (1 - inside))
    near = (judged >= 0) & (np.abs(odds) <= _NEAR)
    shift = 0.0
    for _ in range(50):
        chances = sigmoid(odds[near] + shift)
        down = float((chances - judged[near]).sum()) + shift / _SHIFT**2
        step = down / (float((chances * (1 - chances)).sum()) + 1 / _SHIFT**2)
        shift -= step
        if abs(step) < 1e-9:
            break
    probs: Floats = np.where(confidence.probs > 0, sigmoid(odds + shift), 0.0)
    probs[judged >= 0] = judged[judged >= 0]
    before, after = float(confidence.probs.sum()), float(probs.sum())
    beyond = max(confidence.translations - before, 0) * after / max(before, LEAST_PROB)
    return replace(confidence, probs=np.round(probs, 4), translations=round(after + beyond, 4))


def _on_curve(values: Floats, slope: float, height: float) -> Floats:
    return filled(len(values), lambda some: sigmoid(slope * values[some] + height))


def _height(values: Floats, slope: float, total: float, height: float) -> float:
    """Find the height at which a curve of this slope expects so many translations in all."""

    def chances(some: slice) -> Floats:
        return sigmoid(slope * values[some] + height)

    def rising(some: slice) -> Floats:
        return chances(some) * (1 - chances(some))

    for _ in range(200):
        up = summed(len(values), chances) - total
        step = min(max(up / max(summed(len(values), rising), 1e-9), -1.0), 1.0)
        height -= step
        if abs(step) < 1e-9:
            break
    return height


def fit_logistic(values: Floats, labels: Floats) -> tuple[float, float]:
    """Fit a rising logistic curve to labels from 0 to 1, by Newton's method: slope and height."""
    curve = np.array([1.0, _logit(float(labels.mean())) - float(values.mean())])  # slope and height
    loss = _loss(curve, values, labels)
    for _ in range(100):
        down, bend = _slopes(curve, values, labels)
        step = np.linalg.solve(bend + 1e-9 * np.eye(2), down)
        share, before = 1.0, loss
        while share > 1e-6:  # far from the end, a whole step may lead up
            there = np.array(
                [max(curve[0] - share * step[0], _LEAST_SLOPE), curve[1] - share * step[1]]
            )
            loss = _loss(there, values, labels)
            if loss <= before:
                break
            share /= 2
        if loss > before - 1e-9:
            break
        curve = there
    return float(curve[0]), float(curve[1])


def _slopes(curve: Floats, values: Floats, labels: Floats) -> tuple[Floats, Floats]:
    """Take the first and second derivatives of the loss, [2] and [2, 2]."""
    probs = np.empty(len(values))
    for some in slices(len(values)):
        probs[some] = sigmoid(curve[0] * values[some] + curve[1])

    def errors(some: slice) -> Floats:
        return probs[some] - labels[some]

    def bends(some: slice) -> Floats:
        return probs[some] * (1 - probs[some])

    add = partial(summed, len(values))
    down = np.array([add(lambda some: errors(some) * values[some]), add(errors)])
    down[0] += _SLOPE_BELIEF * (curve[0] - 1)
    across = add(lambda some: bends(some) * values[some])
    along = add(lambda some: bends(some) * values[some] ** 2) + _SLOPE_BELIEF
    return down, np.array([[along, across], [across, add(bends)]])


def _loss(curve: Floats, values: Floats, labels: Floats) -> float:
    def losses(some: slice) -> Floats:
        heights = curve[0] * values[some] + curve[1]
        lost: Floats = np.logaddexp(0, heights) - labels[some] * heights
        return lost

    loss = summed(len(values), losses)
    return loss + _SLOPE_BELIEF / 2 * float(curve[0] - 1) ** 2


def _tail_mixture(
    values: Floats, belief: Floats, weights: RerankingWeights
) -> tuple[Floats, float]:
    """Fit translations and the tail of wrong pairs; give probabilities and translations."""
    order = stored(np.argsort(values, kind="stable"))
    mean, variance = weights.right_mean, weights.right_deviation**2
    reach = weights.right_mean - _FEW_BELOW * weights.right_deviation
    first, start = belief, -math.inf
    for _ in range(200):
        before = belief
        lowest, start = _tail_starts(values, order, belief)
        if lowest > mean - math.sqrt(variance):  # hardly a pair is wrong: there is no tail to see
            return first, float(first.sum())
        # Below the tail no translation is found, so no more than a few may lie there.
        start = min(start, max(lowest, reach))
        above = values > start
        excess = values[above] - start
        believed = _TAIL_BELIEF * _TAIL * weights.right_deviation
        wrong = 1 - belief[above]
        scale = float((wrong * excess).sum()) + believed
        scale /= float(wrong.sum()) + _TAIL_BELIEF
        scale = min(scale, _LONGEST_TAIL * weights.right_deviation)
        right = belief[above]
        count = float(right.sum())
        mean = float((right * values[above]).sum()) + _BELIEF * weights.right_mean
        mean /= count + _BELIEF
        variance = float((right * (values[above] - mean) ** 2).sum())
        variance = (variance + _BELIEF * weights.right_deviation**2) / (count + _BELIEF)
        # Far out the exponential has the heavier tail; a higher score is no reason to doubt.
        high = np.minimum(values[above], mean + variance / scale)
        odds = _logit(count / max(len(excess), 1)) - (high - mean) ** 2 / (2 * variance)
        odds += math.log(scale / math.sqrt(2 * math.pi * variance)) + (high - start) / scale
        belief = np.zeros(len(values))
        belief[above] = sigmoid(odds)
        if all(np.abs(belief[some] - before[some]).max() < 1e-5 for some in slices(len(values))):
            break
    seen = 0.5 * math.erfc((start - mean) / math.sqrt(2 * variance))
    return belief, float(belief.sum()) / max(seen, 0.1)


def _tail_starts(values: Floats, order: NDArray[np.int64], belief: Floats) -> tuple[float, float]:
    """Find the scores where the largest tail of wrong pairs that may be begins, and where theirs.

    Args:
        values: scores [pairs].
        order: of rising scores.
        belief: [pairs], how likely each pair is a translation.
    """
    wrong = np.empty(len(values))
    for some in slices(len(values)):
        wrong[some] = 1 - belief[order[some]]
    np.cumsum(wrong, out=wrong)
    share = min(_MOST_IN_TAIL, _IN_TAIL * max(float(wrong[-1]), 1.0) ** (-1 / 3))
    below = (1 - np.array([_MOST_IN_TAIL, share])) * wrong[-1]
    lowest, start = values[order[np.searchsorted(wrong, below)]].tolist()
    return lowest, start


def _logit(share: float) -> float:
    share = min(max(share, 1e-6), 1 - 1e-6)
    return math.log(share / (1 - share))


def sigmoid(values: Floats) -> Floats:
    """Turn log-odds into probabilities."""
    probs: Floats = 1 / (1 + np.exp(-np.clip(values, -700, 700)))
    return probs
