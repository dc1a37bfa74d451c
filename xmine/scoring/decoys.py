"""Scores of chosen pairs and of decoys -> how likely each pair is a translation, without gold.

A decoy is what would be chosen if the chosen pairs did not exist: wrong, whatever the text is like.
Decoys show how wrong pairs of these files score, and what candidates have beyond them are
translations. Scores are log-odds up to a slope and a shift: p = sigmoid(slope score + shift). The
likelihood of both is that with which they tell candidates from decoys (an exponential tilt of two
samples: Qin, 1998, "Inferences for case-control and semiparametric two-sample density ratio
models"), and the probability is the mean over all of them. So no fit decides alone whether there
are any translations, and a few lines more or less move a probability little.

Where a sentence has no translation its decoy is only the second best of the wrong ones. The share
of wrong pairs above a score is the share of such decoys to a power, which is measured where weights
are fitted (`RerankingWeights.decoy_power`). docs/explanation/sure.md has what this is worth.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from xmine.files.scratch import filled, slices
from xmine.scoring.probability import Confidence, Floats, sigmoid
from xmine.scoring.retrieval import ChosenPairs

# On text with known translations the shift is the log-odds of their share among the candidates and
# this, on average and in its deviation; it is 0.6 on German news and 4 on Chinese scripture.
USUAL, _SPREAD = 2.0, 1.3
# The shift is normal around 0 with this deviation where the files say nothing, and the logarithm of
# the slope with that one: scores of short strings say less than they claim, those of news more.
_WIDE, _STEEP = 4.0, 0.3
# The share of the likelihood that counts, since no file has quite the odds that scores stand for;
# and how far all log-odds may be wrong together however many pairs there are.
_TRUST, _MODEL = 0.8, 0.4
_SHIFTS, _SLOPES = np.arange(-8, 9.01, 0.25), np.exp(np.arange(-0.6, 0.61, 0.2))
# Scores are looked at in bins, so that any number of pairs takes the same time.
_LEFT, _RIGHT, _BIN = -16.0, 16.0, 0.1
_BINS = np.arange(_LEFT + _BIN / 2, _RIGHT, _BIN)
# Margins as log-odds: those of half of all decoys are below -_BELOW, and a tenth _RISE above that;
# and the power of such decoys.
_BELOW, _RISE, POWER = 4.0, 2.0, 0.7
_ROUNDS = 3  # of probabilities, which tell the decoys that are second best


def estimate_by_decoys(
    pairs: ChosenPairs,
    less: Floats,
    decoys: ChosenPairs,
    power: float,
    labels: NDArray[np.int8],
    given: Floats,
) -> Confidence:
    """Estimate how likely each pair is a translation.

    Args:
        pairs: chosen by their scores, log-odds up to a shift.
        less: float64 [pairs], what has been taken off the scores since the pairs were chosen.
        decoys: chosen and scored as the pairs were, without their cells.
        power: see above.
        labels: [pairs], 1 for pairs that people accepted, 0 for rejected ones, -1 for the others:
            terms of the same likelihood.
        given: float64 [pairs], probabilities that are known, of pairs that take no part; NaN for
            the others.
    """
    counts, accepted, rejected = (
        _counted(pairs.scores + less, rows) for rows in (np.isnan(given), labels == 1, labels == 0)
    )
    slopes, shifts = (each.ravel() for each in np.meshgrid(_SLOPES, _SHIFTS))
    odds = slopes[:, None] * _BINS + shifts[:, None]  # [curves, bins]
    chances = sigmoid(odds)
    wrong, total = _sums(1 - chances, counts), max(counts.sum(), 1)
    share = np.clip(1 - wrong / total, 1e-9, 1 - 1e-9)
    believed = -((shifts - np.log(share / (1 - share)) - USUAL) ** 2) / (2 * _SPREAD**2)
    believed -= shifts**2 / (2 * _WIDE**2) + np.log(slopes) ** 2 / (2 * _STEEP**2)
    believed -= _sums(np.logaddexp(0, -odds), accepted) + _sums(np.logaddexp(0, odds), rejected)

    def probs_of(curve: Floats) -> Floats:
        """Look up the probability of each pair's score; what is given or judged stays."""

        def some_of(some: slice) -> Floats:
            found = np.interp(pairs.scores[some], _BINS, curve)
            found = np.where(np.isnan(given[some]), found, given[some])
            return np.where(labels[some] >= 0, labels[some], found)

        return filled(len(pairs), some_of)

    curve = np.zeros(len(_BINS))
    probs, posterior = probs_of(curve), np.empty(0)
    for _ in range(_ROUNDS):
        null = _null(pairs, probs, decoys, power)
        # Candidates are the null, raised by the odds of translations.
        raised = np.log(np.maximum(wrong, 1e-9) / max(null.sum(), 1e-9))[:, None] + np.logaddexp(
            0, odds
        )
        fit = _sums(np.logaddexp(0, -raised), counts) + _sums(np.logaddexp(0, raised), null)
        logs = believed - _TRUST * fit
        posterior = np.exp(logs - logs.max())
        posterior /= posterior.sum()
        curve = np.einsum("c,cb->b", posterior, chances)
        probs = probs_of(curve)
    np.round(probs, 4, out=probs)
    varies = math.sqrt(float((posterior * (wrong - (posterior * wrong).sum()) ** 2).sum()))
    doubt = math.hypot(varies / max(float((curve * (1 - curve) * counts).sum()), 0.5), _MODEL)
    return Confidence(probs, round(float(probs.sum()), 4), doubt=round(doubt, 4))


def as_odds(pairs: ChosenPairs, decoys: ChosenPairs) -> ChosenPairs:
    """Scale the margins of pairs by those of decoys to numbers like log-odds up to a shift."""
    middle, far = np.quantile(decoys.scores, (0.5, 0.9)).tolist()
    odds = (pairs.scores - middle) * _RISE / max(far - middle, 1e-6) - _BELOW
    return replace(pairs, scores=odds.astype(np.float32))


def joined(first: Confidence, second: Confidence) -> Confidence:
    """Take the quadratic mean of an estimate by gaps and of one by decoys, of the same pairs.

    Either errs where the other does not: gaps of translations and of wrong pairs may look like one
    kind, and margins, and weights that were learnt without gold, tell less than log-odds. So
    neither alone may say that there is nothing, and the surer one counts more.
    """
    probs: Floats = np.sqrt((first.probs**2 + second.probs**2) / 2)
    np.round(probs, 4, out=probs)
    more = float(probs.sum() - first.probs.sum())
    return replace(first, probs=probs, translations=round(first.translations + more, 4))


def _null(pairs: ChosenPairs, probs: Floats, decoys: ChosenPairs, power: float) -> Floats:
    """Weigh the decoys, so that their scores are spread as those of wrong pairs: float64 [bins]."""
    if not len(decoys):
        return np.zeros(len(_BINS))
    spoken_for = []
    for rows, places in ((pairs.sources, decoys.sources), (pairs.targets, decoys.targets)):
        of_row = np.zeros(int(max(rows.max(initial=0), places.max())) + 1)
        np.maximum.at(of_row, rows, probs)
        spoken_for.append(of_row[places])
    best_of_wrong = float((1 - (1 - spoken_for[0]) * (1 - spoken_for[1])).mean())
    power += (1 - power) * best_of_wrong
    order = np.argsort(-decoys.scores, kind="stable")
    share = (np.arange(len(decoys)) + 0.5) / len(decoys)  # of decoys above each
    weights = power * share ** (power - 1)
    weights *= len(decoys) / weights.sum()
    places = _places(decoys.scores[order])
    null: Floats = np.bincount(places, weights, len(_BINS)).astype(np.float64)
    return null


def _places(scores: NDArray[np.floating]) -> NDArray[np.int64]:
    """Find the bins of scores; those beyond the last bins are in these."""
    inside = np.clip(scores.astype(np.float64), _LEFT, _RIGHT - _BIN / 2)
    return ((inside - _LEFT) / _BIN).astype(np.int64)


def _counted(scores: NDArray[np.floating], rows: NDArray[np.bool_]) -> Floats:
    """Count the scores of some rows in each bin."""
    counts = np.zeros(len(_BINS))
    for some in slices(len(scores)):
        counts += np.bincount(_places(scores[some][rows[some]]), minlength=len(_BINS))
    return counts


def _sums(values: Floats, counts: Floats) -> Floats:
    """Sum up values [curves, bins] over bins, in an order that no number of threads changes."""
    sums: Floats = np.einsum("cb,b->c", values, counts)
    return sums
