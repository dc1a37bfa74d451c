"""Probabilities of pairs -> the threshold below which pairs are dropped, and the pairs above.

The cut is a given probability, the one of the highest expected F1 (`auto`), or the lowest from one
half on whose pairs are expected to be as precise as is wanted. Where there is no estimate, the cut
is a score.
docs/explanation/sure.md has the derivation and how good it is.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.scoring.probability import Confidence, Floats

_NINE_TENTHS = 1.645  # so many deviations to each side hold nine tenths of a normal distribution
# Whoever asks for a precision wants no less, also where all log-odds are too high by so many of
# their deviations.
_PRUDENCE = 0.9
# No pair below this is kept for the sake of a wanted precision: it would let the precision fall.
# Nor does `auto` keep one where no translation is expected, since the best F1 of hardly any
# translations is low, and so is its cut; the nearer their share of the pairs is to _SPARSE, the
# less this counts.
LIKELY, _SPARSE = 0.5, 0.08
UNLIKELY_LEFT_OUT = f", without pairs below {LIKELY:g}; --min-prob takes them in"
# With fewer translations than this one must not rely on the estimate, nor where their gaps are less
# than so many times as wide as those of wrong pairs, as among short lines.
FEW, CLOSE = 50, 5.0
# What the summary offers besides the cut: the two probabilities below it, and the two above.
_OTHERS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
_HELP = "; --seed-pairs with some known pairs helps; --min-prob, or --threshold, cuts by hand"


@dataclass(frozen=True, slots=True)
class Kept:
    """The pairs that a cut is expected to keep.

    Attributes:
        cut: the lowest probability that is kept; the lowest score where nothing is estimated.
        pairs: the number of pairs that are kept.
        precision: expected share of translations among them; None if not estimated, or none kept.
        interval: holds the true precision nine times in ten; None as above.
    """

    cut: float
    pairs: int
    precision: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Threshold:
    """The threshold and its consequences.

    Attributes:
        value: the lowest probability that is kept, a multiple of 0.0001; the lowest score where
            nothing is estimated.
        how: `given`, `auto`, `precision 0.95`, or the reason for another choice.
        kept: the pairs that it keeps.
        others: the same for other cuts, the lowest first.
        translations: expected number of them in the files; None if not estimated.
        weakness: the reason not to rely on the estimate; empty if there is none.
    """

    value: float
    how: str
    kept: Kept
    others: tuple[Kept, ...] = ()
    translations: float | None = None
    weakness: str = ""


def choose_threshold(
    scores: NDArray[np.float32],
    confidence: Confidence | None,
    lowest: float | None = None,
    precision: float | None = None,
) -> Threshold:
    """Choose the cut through pairs, best first.

    Args:
        scores: [pairs], falling where nothing is estimated.
        confidence: probabilities of the pairs, falling; None if they cannot be estimated: all pairs
            are kept then, or none if a precision is wanted.
        lowest: the cut itself; the one of the highest expected F1 if left out.
        precision: keep the most pairs that are expected to be so precise, with a small reserve,
            each of a probability of one half or more, in place of the highest expected F1.
    """
    ranks = scores.astype(np.float64) if confidence is None else confidence.probs
    if lowest is not None:
        value, how = lowest, "given"
    elif not len(ranks):
        value, how = 0.0, "no pair is left to choose from"
    elif confidence is None:
        value, how = floored(float(ranks[-1])), "too few lines to compare, all kept"
        if precision is not None:
            value, how = above_all(ranks), "too few lines to estimate a precision, no pair kept"
    elif precision is not None:
        value, how = _most_precise(ranks, confidence.doubt, precision)
    else:
        value, how = _best_f1(ranks, confidence)
    kept = expected(ranks, confidence, value)
    return Threshold(
        value,
        how,
        kept,
        () if confidence is None else _others(ranks, confidence, kept),
        None if confidence is None else confidence.translations,
        weakness_of(confidence, _HELP) if len(ranks) else "",
    )


def expected(ranks: Floats, confidence: Confidence | None, cut: float) -> Kept:
    """Count the pairs that a cut keeps, by falling ranks [pairs], and expect their precision."""
    kept = len(ranks) - int(np.searchsorted(ranks[::-1], cut))
    if confidence is None:
        return Kept(cut, kept)
    return Kept(cut, kept, *precision_of(confidence.probs[:kept], confidence.doubt))


def precision_of(
    probs: Floats | None, doubt: float
) -> tuple[float | None, tuple[float, float] | None]:
    """Expect the precision of pairs with these probs, and an interval for it."""
    if probs is None:
        return None, None
    return expected_of(len(probs), float(probs.sum()), float((probs * (1 - probs)).sum()), doubt)


def expected_of(
    pairs: int, right: float, variance: float, doubt: float
) -> tuple[float | None, tuple[float, float] | None]:
    """Expect the precision of so many pairs, of sums of their probs p and of p (1 - p).

    The number of right pairs varies by chance, and as all log-odds do together: by p (1 - p) times
    as much for each pair.
    """
    if not pairs:
        return None, None
    deviation = math.hypot(math.sqrt(variance), doubt * max(variance, 0.5))
    fewest, most = right - _NINE_TENTHS * deviation, right + _NINE_TENTHS * deviation
    return right / pairs, (max(fewest, 0.0) / pairs, min(most, pairs) / pairs)


def _best_f1(probs: Floats, confidence: Confidence) -> tuple[float, str]:
    kept, right = _curve(probs)
    translations = confidence.translations
    least = LIKELY * (1 - translations / (_SPARSE * len(probs)))
    enough = int(np.searchsorted(-probs[kept - 1], -least, side="right"))
    if not enough:
        return above_all(probs), "auto: no pair stands out, none kept"
    best = int(np.argmax(2 * right[:enough] / (kept[:enough] + translations)))
    how = "auto" if translations >= 1 else "auto: hardly any pair stands out"
    return float(probs[kept[best] - 1]), how


def _most_precise(probs: Floats, doubt: float, precision: float) -> tuple[float, str]:
    kept, right = _curve(probs)
    right = right - _PRUDENCE * doubt * np.cumsum(probs * (1 - probs))[kept - 1]
    enough = np.flatnonzero(right >= precision * kept)
    if not len(enough):
        return above_all(probs), f"precision {precision:g} is not to be expected, no pair kept"
    value, how = float(probs[kept[enough[-1]] - 1]), f"precision {precision:g}"
    if value < LIKELY:
        likely, how = probs[probs >= LIKELY], how + UNLIKELY_LEFT_OUT
        value = float(likely[-1]) if len(likely) else above_all(probs)
    return value, how


def _curve(probs: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Follow every cut, the highest first: the pairs it keeps, and the right ones of them."""
    kept = np.flatnonzero(np.append(probs[1:] != probs[:-1], True)) + 1  # equal ones together
    return kept, np.cumsum(probs)[kept - 1]


def above_all(ranks: Floats) -> float:
    """Give a cut above all pairs, by their falling ranks."""
    return round(floored(float(ranks[0])) + 1e-4, 4) if len(ranks) else 1.0


def floored(score: float) -> float:
    """Cut the digits behind the fourth off a score, so that printed it is the same cut."""
    return math.floor(score * 1e4) / 1e4 if math.isfinite(score * 1e4) else score


def _others(ranks: Floats, confidence: Confidence, chosen: Kept) -> tuple[Kept, ...]:
    """Count the pairs that two lower cuts and two higher ones keep, where the counts differ."""
    cuts = [expected(ranks, confidence, each) for each in _OTHERS]
    below = [each for each in cuts if each.cut < chosen.cut and each.pairs > chosen.pairs]
    above = [each for each in cuts if each.cut > chosen.cut and 0 < each.pairs < chosen.pairs]
    return (*below[-2:], *above[:2])


def weakness_of(confidence: Confidence | None, advice: str = "") -> str:
    """Say why an estimate is not to be relied on, with advice behind; empty if it is."""
    if confidence is None:
        return "too few lines to estimate how precise the pairs are"
    found = confidence.translations
    if found < 1:
        return f"no pair stands out from the others{advice}"
    if found < FEW:
        return f"fewer than {FEW} translations are expected: only labels tell{advice}"
    if confidence.apart < CLOSE:
        return f"a weak estimate: translations hardly stand out from other pairs{advice}"
    return ""
