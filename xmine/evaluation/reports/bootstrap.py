"""What figures are made of -> their intervals, and those of the gains of encoders over the first.

The paired bootstrap: items are drawn with replacement, the same ones for all encoders, and the
figures are computed again from what was drawn (Efron & Tibshirani, 1993, "An Introduction to the
Bootstrap", chapter 13; Koehn, 2004, "Statistical significance tests for machine translation
evaluation").
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.evaluation.similarity.correlation import spearman

CONFIDENCE = 0.95
_AT_ONCE = 2**22  # numbers of items drawn
Values = NDArray[Any]
Interval = tuple[float, float]
# What the figure needs of each item, [items, ...], and how often each is drawn, [resamples, items]
# -> the figure of each resample, NaN where there is none.
Statistic = Callable[[Values, NDArray[np.int64]], NDArray[np.float64]]


def mean_of_hits(values: Values, times: NDArray[np.int64]) -> NDArray[np.float64]:
    """Compute the mean over items and what was measured of each, such as hits both ways."""
    means: NDArray[np.float64] = _sums(values, times).mean(axis=1) / times.sum(axis=1)
    return means


def f1_of_counts(counts: Values, times: NDArray[np.int64]) -> NDArray[np.float64]:
    """Compute F1 from counts of pairs kept, right and gold, [lines, 3]; 0 if there are none.

    F1 is not a mean over lines: precision and recall are of all that was drawn.
    """
    kept, right, gold = _sums(counts, times).T
    found: NDArray[np.float64] = 2 * right / np.maximum(kept + gold, 1)
    return found


def rank_correlation(values: Values, times: NDArray[np.int64]) -> NDArray[np.float64]:
    """Compute Spearman's correlation of cosines and scores, [pairs, 2]; NaN if there is none."""
    found = np.full(len(times), np.nan)
    for at, each in enumerate(times):
        cosines, scores = np.repeat(values, each, axis=0).T
        if np.ptp(cosines) and np.ptp(scores):
            found[at] = spearman(cosines, scores, "a resample")
    return found


STATISTICS: dict[str, Statistic] = {
    "mean": mean_of_hits,
    "f1": f1_of_counts,
    "spearman": rank_correlation,
}


def figure_of(statistic: Statistic, values: Values) -> float:
    """Compute the figure of all items, each once."""
    return float(statistic(values, np.ones((1, len(values)), np.int64))[0])


def _sums(values: Values, times: NDArray[np.int64]) -> NDArray[np.float64]:
    """Add up the values of items as often as they are drawn: [resamples, values]."""
    flat = values.reshape(len(values), -1).astype(np.float64)
    summed: NDArray[np.float64] = times.astype(np.float64) @ flat
    return summed


def intervals(
    encoders: Sequence[Values], statistic: Statistic, *, resamples: int = 1000, seed: int = 1
) -> list[tuple[Interval, Interval]]:
    """Draw the items of some encoders again and again: 95 % percentile intervals.

    Of each encoder there is what the figure needs of each item, in the same order. A resample
    without a figure, as one that drew one item only, is drawn again. Gives for each encoder the
    interval of its figure, and that of its gain over the first encoder.
    """
    items = len(encoders[0])
    if any(len(values) != items for values in encoders):
        raise ValueError(f"{', '.join(str(len(x)) for x in encoders)} items: they come in pairs")
    random, found = np.random.default_rng(seed), np.full((resamples, len(encoders)), np.nan)
    while (left := np.flatnonzero(np.isnan(found).any(axis=1))).size:
        rows = left[: max(1, _AT_ONCE // items)]
        drawn = random.integers(items, size=(len(rows), items))
        cells = (drawn + items * np.arange(len(rows))[:, None]).ravel()
        times = np.bincount(cells, minlength=drawn.size).reshape(drawn.shape)
        found[rows] = np.stack([statistic(values, times) for values in encoders], axis=1)
    ends = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    of_figures = np.quantile(found, ends, axis=0).T.tolist()
    of_gains = np.quantile(found - found[:, :1], ends, axis=0).T.tolist()
    return [((a, b), (c, d)) for (a, b), (c, d) in zip(of_figures, of_gains, strict=True)]
