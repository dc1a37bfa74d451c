"""Scores and chances of pairs -> the score below which pairs are dropped, and what is kept then.

The cut is a given number, the one of the highest expected F1 (`auto`), or the lowest whose pairs
are expected to be as precise as is wanted. docs/threshold.md has the derivation and how good it is.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.confidence import Confidence, Floats

# Below this nothing is kept. A higher bar loses files where one line in a hundred is translated.
_LEAST_PRECISION = 1e-3
# Standard deviation of the estimated number of wrong pairs, or of right ones if they are fewer, as
# a share of it; and how many deviations hold nine tenths of a normal distribution. With these nine
# in ten intervals and more held the true precision on held-out text (docs/threshold.md).
_DOUBT, _NINE_TENTHS = 0.6, 1.645
# Whoever asks for a precision wants no less: wrong pairs are counted so many times, since on
# held-out text there are more near-translations than the model expects (docs/threshold.md).
_PRUDENCE = 1.15
# With fewer translations than this one must not rely on the estimate (docs/threshold.md).
FEW = 50


@dataclass(frozen=True, slots=True)
class Kept:
    """What a cut is expected to keep.

    Attributes:
        cut: the lowest score that is kept.
        pairs: how many are kept.
        precision: expected share of translations among them; None if not estimated, or none kept.
        interval: where the true precision lies, nine times in ten; None as above.
    """

    cut: float
    pairs: int
    precision: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Threshold:
    """The cut and what follows from it.

    Attributes:
        value: from `auto` a multiple of 0.0001, so that giving it as a number is the same cut.
        how: `given`, `auto` or `precision 0.95`, or what was done because that could not be.
        kept: what it keeps, expected precision included.
        others: the same for neighbouring cuts, the lowest first.
        translations: expected number of them in the files; None if not estimated.
        weakness: why the estimate is not to be relied on; empty if it is.
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
    wanted: float | str = "auto",
    precision: float | None = None,
) -> Threshold:
    """Choose the cut on the scores of pairs.

    Args:
        scores: [pairs], falling.
        confidence: how likely each pair is a translation; None if that cannot be estimated, and
            then `auto` keeps all pairs, and a wanted precision none.
        wanted: the cut itself, or `auto`.
        precision: keep the most pairs that are expected to be so precise, with a small reserve, in
            place of `auto`.

    Raises:
        ValueError: `wanted` is neither.
    """
    falling = scores.astype(np.float64)
    if not len(scores):
        value, how = 0.0, "no pair is left to choose from"
    elif wanted != "auto":
        value, how = float(wanted), "given"
    elif confidence is None:
        value, how = _floor(falling[-1:]), "auto: too few lines to compare, all pairs kept"
        if precision is not None:
            value, how = _above(falling), "too few lines to estimate a precision, no pair kept"
    elif precision is not None:
        value, how = _most_precise(falling, confidence.chances, precision)
    else:
        value, how = _best_f1(falling, confidence)
    others = tuple(
        expected(falling, confidence, cut) for cut in _neighbouring(falling, value, confidence)
    )
    return Threshold(
        value,
        how,
        expected(falling, confidence, value),
        others,
        None if confidence is None else confidence.translations,
        weakness_of(confidence),
    )


def expected(scores: Floats, confidence: Confidence | None, cut: float) -> Kept:
    """Tell what a cut is expected to keep of pairs with these scores, [pairs], falling."""
    kept = len(scores) - int(np.searchsorted(scores[::-1], cut))
    chances = None if confidence is None else confidence.chances[:kept]
    return Kept(cut, kept, *precision_of(chances))


def precision_of(chances: Floats | None) -> tuple[float | None, tuple[float, float] | None]:
    """Expect the precision of pairs with these chances, and an interval for it."""
    if chances is None:
        return None, None
    return expected_of(len(chances), float(chances.sum()), float((chances * (1 - chances)).sum()))


def expected_of(
    pairs: int, right: float, variance: float
) -> tuple[float | None, tuple[float, float] | None]:
    """Expect the precision of so many pairs, of sums of their chances p and of p (1 - p)."""
    if not pairs:
        return None, None
    # Of few right pairs among many wrong ones no more can be mistaken than there are.
    unsure = max(min(pairs - right, right), 0.5)
    doubt = math.sqrt(variance + (_DOUBT * unsure) ** 2)
    fewest, most = right - _NINE_TENTHS * doubt, right + _NINE_TENTHS * doubt
    return right / pairs, (max(fewest, 0.0) / pairs, min(most, pairs) / pairs)


def _best_f1(scores: Floats, confidence: Confidence) -> tuple[float, str]:
    cuts, kept, right = _curve(scores, confidence.chances)
    best = int(np.argmax(2 * right / (kept + confidence.translations)))
    if right[best] / kept[best] < _LEAST_PRECISION:
        return _above(scores), "auto: no pair stands out, none kept"
    how = "auto" if confidence.translations >= 1 else "auto: hardly any pair stands out"
    return float(cuts[best]), how


def _most_precise(scores: Floats, chances: Floats, precision: float) -> tuple[float, str]:
    cuts, kept, right = _curve(scores, chances)
    enough = np.flatnonzero(kept - _PRUDENCE * (kept - right) >= precision * kept)
    if not len(enough):
        return _above(scores), f"precision {precision:g} is not to be expected, no pair kept"
    return float(cuts[enough[0]]), f"precision {precision:g}"


def _curve(scores: Floats, chances: Floats) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Follow every cut, the lowest first: its value, the pairs it keeps, the right ones of them."""
    cuts = np.floor(scores[::-1] * 1e4) / 1e4
    kept = len(scores) - np.searchsorted(scores[::-1], cuts)
    return cuts, kept, np.cumsum(chances)[kept - 1]


def _above(scores: Floats) -> float:
    """Give a cut above all scores."""
    return (round(_floor(scores[:1]) * 1e4) + 1) / 1e4


def _floor(score: Floats) -> float:
    return math.floor(float(score[0]) * 1e4) / 1e4 if len(score) else 0.0


def _neighbouring(scores: Floats, cut: float, confidence: Confidence | None) -> Sequence[float]:
    """Choose two round cuts below and two above, from which on the cut makes a difference.

    They are at most a quarter as far apart as the ninth decile of the kept scores is from the cut.
    """
    kept = scores[scores >= cut]
    if confidence is None or len(kept) < 2:
        return ()
    cut = max(cut, float(scores[-1]))  # it may be far below all scores, or -inf
    spread = float(np.quantile(kept, 0.9) - cut)
    if spread <= 0:
        return ()
    widest = max(spread / 4, 1e-4)
    step: float = 10 ** math.floor(math.log10(widest))
    step *= max((nice for nice in (1, 2, 5) if nice * step <= widest), default=1)
    place = round(cut / step, 6)  # 1.2 / 0.1 is not quite 12
    near = [
        math.ceil(place) - 2,
        math.ceil(place) - 1,
        math.floor(place) + 1,
        math.floor(place) + 2,
    ]
    return [round(each * step, 4) for each in near]


def weakness_of(confidence: Confidence | None) -> str:
    """Say why an estimate is not to be relied on; empty if it is."""
    if confidence is None:
        return "too few lines to estimate how precise the pairs are"
    found = confidence.translations
    if found < 1:
        return "no pair stands out from the others: there may be no translations at all"
    if found < FEW:
        return f"fewer than {FEW} translations stand out: a weak estimate"
    return ""
