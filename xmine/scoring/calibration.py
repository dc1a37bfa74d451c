"""Reranked scores and a first estimate -> probabilities that rise with the score, without gold.

The first estimate judges a pair by how far its cosine stands above its rivals
(`xmine.scoring.probability`), and so takes no notice of tokens. Two things are learnt from it. A
logistic curve through its probabilities says what a score is worth in these files. From there,
expectation maximisation fits a mixture to the scores themselves: those of translations are normal,
and those of wrong pairs above a high quantile exponential, as the excesses over a threshold of
most distributions are (Pickands, 1975, "Statistical inference using extreme order statistics").
A logistic curve through the mean of both gives the probabilities.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.reranking import RerankingWeights
from xmine.scoring.probability import Confidence, Floats

# The share of the wrong pairs that lies below the exponential tail.
_BELOW = 0.8
# How many translations the mean and deviation of their scores are believed in before any are seen,
# and how many wrong pairs the mean excess, as a share of that deviation.
_BELIEF, _TAIL_BELIEF, _TAIL = 30.0, 5.0, 0.6
# How many pairs the slope of 1 is believed in, with which scores are log-odds.
_SLOPE_BELIEF = 1.0


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
    open_pairs = np.flatnonzero(known == -1)
    values, labels = scores[open_pairs].astype(np.float64), first.probs[open_pairs]
    if not labels.any():
        return first
    tail, found = _tail_mixture(values, _logistic(values, labels), weights)
    probs = first.probs.copy()
    probs[open_pairs] = _logistic(values, (labels + tail) / 2)
    beyond = first.translations - float(first.probs.sum())  # those that are not among the pairs
    total = float(probs.sum()) + (beyond + found - float(tail.sum())) / 2
    return replace(first, probs=np.round(probs, 4), translations=round(total, 4))


def _logistic(values: Floats, labels: Floats) -> Floats:
    """Fit a rising logistic curve to labels from 0 to 1, by Newton's method; give its values."""
    slope, height = 1.0, _logit(float(labels.mean())) - float(values.mean())
    for _ in range(100):
        probs = _sigmoid(slope * values + height)
        errors, bends = probs - labels, np.maximum(probs * (1 - probs), 1e-12)
        down = np.array([(errors * values).sum() + _SLOPE_BELIEF * (slope - 1), errors.sum()])
        across = float((bends * values).sum())
        bend = np.array(
            [
                [float((bends * values**2).sum()) + _SLOPE_BELIEF, across],
                [across, float(bends.sum())],
            ]
        )
        step = np.linalg.solve(bend, down)
        step *= min(1.0, 2 / max(abs(step[0]) * 4, abs(step[1]), 1e-12))
        slope, height = max(slope - step[0], 1e-3), height - step[1]
        if np.abs(step).max() < 1e-9:
            break
    return _sigmoid(slope * values + height)


def _tail_mixture(
    values: Floats, belief: Floats, weights: RerankingWeights
) -> tuple[Floats, float]:
    """Fit translations and the tail of wrong pairs; give probabilities and translations."""
    order = np.argsort(values, kind="stable")
    mean, variance = weights.right_mean, weights.right_deviation**2
    start = -math.inf
    for _ in range(200):
        before, wrong = belief, 1 - belief
        below = np.cumsum(wrong[order])
        start = float(values[order[np.searchsorted(below, _BELOW * below[-1])]])
        above = values > start
        excess = values[above] - start
        believed = _TAIL_BELIEF * _TAIL * weights.right_deviation
        scale = float((wrong[above] * excess).sum()) + believed
        scale /= float(wrong[above].sum()) + _TAIL_BELIEF
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
        belief[above] = _sigmoid(odds)
        if np.abs(belief - before).max() < 1e-5:
            break
    seen = 0.5 * math.erfc((start - mean) / math.sqrt(2 * variance))
    return belief, float(belief.sum()) / max(seen, 0.1)


def _logit(share: float) -> float:
    share = min(max(share, 1e-6), 1 - 1e-6)
    return math.log(share / (1 - share))


def _sigmoid(values: Floats) -> Floats:
    probs: Floats = 1 / (1 + np.exp(-np.clip(values, -700, 700)))
    return probs
