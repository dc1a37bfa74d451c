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
Values = NDArray[Any]
Interval = tuple[float, float]


def f1_of_counts(counts: Values) -> float:
    """Compute F1 from counts of pairs kept, right and gold, [lines, 3]; 0 if there are none.

    F1 is not a mean over lines: precision and recall are of all that was drawn.
    """
    kept, right, gold = counts.sum(axis=0).tolist()
    return float(2 * right / (kept + gold)) if kept + gold else 0.0


def rank_correlation(values: Values) -> float:
    """Compute Spearman's correlation of cosines and scores, [pairs, 2]; NaN if there is none."""
    if (np.ptp(values, axis=0) == 0).any():
        return float("nan")
    return spearman(values[:, 0], values[:, 1], "a resample")


STATISTICS: dict[str, Callable[[Values], float]] = {
    "mean": lambda values: float(values.mean(axis=0).mean()),  # of hits both ways, [pairs, 2]
    "f1": f1_of_counts,
    "spearman": rank_correlation,
}


def intervals(
    encoders: Sequence[Values],
    statistic: Callable[[Values], float],
    *,
    resamples: int = 1000,
    seed: int = 1,
) -> list[tuple[Interval, Interval]]:
    """Draw the items of some encoders again and again: 95 % percentile intervals.

    Of each encoder there is what the figure needs of each item, [items, ...] in the same order. The
    statistic makes their figure of some items, NaN where they have none: such a resample, as one
    that drew one item only, is drawn again. Gives for each encoder the interval of its figure, and
    that of its gain over the first encoder.
    """
    items = len(encoders[0])
    if any(len(values) != items for values in encoders):
        raise ValueError(f"{', '.join(str(len(x)) for x in encoders)} items: they come in pairs")
    random, found = np.random.default_rng(seed), np.full((resamples, len(encoders)), np.nan)
    for at in range(resamples):
        while np.isnan(found[at]).any():
            drawn = random.integers(items, size=items)
            found[at] = [statistic(values[drawn]) for values in encoders]
    ends = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    of_figures = np.quantile(found, ends, axis=0).T.tolist()
    of_gains = np.quantile(found - found[:, :1], ends, axis=0).T.tolist()
    return [((a, b), (c, d)) for (a, b), (c, d) in zip(of_figures, of_gains, strict=True)]
