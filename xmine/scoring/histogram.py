"""Scores or probabilities of pairs -> a histogram: counts, expected right pairs, and precision.

The precision is the estimated one of every cut. The bins suit a reader: round edges, few enough to
be seen at once. A few scores far from the rest share an open bin at the end; probabilities have
bins from 0 to 1.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from xmine.scoring.probability import Floats

# Scores print with four decimals: a narrower bin could not be named.
_NARROWEST = 1e-4
# Where bars are cut off, the longest one at or above the cut gets one part in four of the room, ...
_LONGER = 4
# ... and they are where without that it would get less than one part in eight.
_MUCH_LONGER = 8


@dataclass(frozen=True, slots=True)
class Histogram:
    """Scores or probabilities in bins, from low to high: edge <= value < next edge.

    The last bin of probabilities holds 1 as well.

    Attributes:
        edges: float64 [bins + 1], rising; -inf or inf where the first or last bin is open.
        counts: int64 [bins], pairs. They add up to all pairs.
        right: float64 [bins], how many of them are expected to be right; None without an estimate.
        precision: float64 [bins], expected share of right ones among all pairs at or above the
            bin's lower edge, NaN if there are none; None without an estimate.
        decimals: how many an edge needs.
        cut: the lowest value that is kept, None if nothing is cut.
        kept: pairs with a value of at least `cut`; all of them if there is none.
        kept_precision: expected share of right ones among these; None if there are none, or without
            an estimate.
        name: of what is counted: `score`, or `prob` for probabilities.
    """

    edges: Floats
    counts: NDArray[np.int64]
    right: Floats | None
    precision: Floats | None
    decimals: int
    cut: float | None
    kept: int
    kept_precision: float | None
    name: str = "score"

    @property
    def at_or_above(self) -> NDArray[np.int64]:
        """Pairs at or above each bin's lower edge, int64 [bins]."""
        return self.counts[::-1].cumsum()[::-1]

    @property
    def reach(self) -> int:
        """How many pairs the longest bar should stand for.

        Where few lines have a translation, bars of wrong pairs are so long that those of the kept
        ones could not be seen beside them: they are cut off.
        """
        longest = int(self.counts.max(initial=0))
        if not self.kept or self.cut is None:
            return longest
        kept = (self.edges[1:] > self.cut) | (self.edges[:-1] >= self.cut)
        above = int(self.counts[kept].max(initial=1))
        if longest <= _MUCH_LONGER * above:
            return longest
        return max(_LONGER * above, longest // _MUCH_LONGER)

    @property
    def is_uneven(self) -> bool:
        """Whether some bar is longer than the longest one should be."""
        return int(self.counts.max(initial=0)) > self.reach

    def split_at_cut(self) -> "Histogram":
        """Make two bins of the one that the cut falls into, so that a line can stand at it."""
        total = int(self.counts.sum())
        if self.cut is None or self.cut in self.edges[:-1] or self.kept in (0, total):
            return self
        at = int(np.searchsorted(self.edges[:-1], self.cut, side="right")) - 1
        above = self.kept - int(self.counts[at + 1 :].sum())
        counts = np.insert(self.counts, at + 1, above)
        counts[at] -= above
        right, precision = self.right, self.precision
        if right is not None and precision is not None and self.kept_precision is not None:
            upper = self.kept_precision * self.kept - float(right[at + 1 :].sum())
            upper = min(max(upper, 0.0), float(right[at]))  # sums in another order
            right = np.insert(right, at + 1, upper)
            right[at] -= upper
            precision = np.insert(precision, at + 1, self.kept_precision)
        edges = np.insert(self.edges, at + 1, self.cut)
        return replace(self, edges=edges, counts=counts, right=right, precision=precision)

    def facts(self) -> list[dict[str, float | None]]:
        """Tell each bin, from low to high, for JSON; an open end, or no estimate, is None."""

        def told(values: Floats | None, digits: int) -> list[float | None]:
            some = [math.nan] * len(self.counts) if values is None else values.tolist()
            return [round(each, digits) if math.isfinite(each) else None for each in some]

        edges, names = told(self.edges, 99), ("from", "to", "pairs", "right", "precision")
        columns = edges[:-1], edges[1:], self.counts.tolist(), told(self.right, 3)
        rows = zip(*columns, told(self.precision, 4), strict=True)
        return [dict(zip(names, row, strict=True)) for row in rows]


def bin_scores(
    scores: NDArray[np.floating],
    probs: NDArray[np.floating] | None = None,
    cut: float | None = None,
    most: int = 15,
    name: str = "score",
) -> Histogram:
    """Count scores, or probabilities, in bins of a round width (1, 2 or 5 times a power of ten).

    Args:
        scores: [pairs], in any order; infinite ones are in an open bin.
        probs: [pairs], the probability that each pair is right, 0 to 1; None if not estimated.
        cut: a pair is kept when its score, as float64, is at least this.
        most: bins at most, five or more, open ones among them. Few pairs get fewer.
        name: of what is counted: `score`, or `prob` for probabilities.
    """
    values = np.asarray(scores, dtype=np.float64)
    if np.isnan(values).any():
        raise ValueError("a score is not a number")
    if probs is not None and len(probs) != len(values):
        raise ValueError(f"{len(probs)} probs for {len(values)} scores")
    keeps = values >= (-math.inf if cut is None else cut)  # [pairs]
    kept = int(keeps.sum())
    # As many bins as pairs would be a row of single pairs.
    few = min(most, max(5, math.ceil(2 * math.sqrt(len(values)))))
    if name == "prob" and len(values):
        width, decimals = next(
            each for each in _round_widths(1 / few) if math.isclose(1 / each[0], round(1 / each[0]))
        )
        edges = np.linspace(0, 1, round(1 / width) + 1).round(decimals)
    else:
        edges, decimals = _edges(np.sort(values), few)
    at = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(len(edges) - 2, 0))
    counts = np.bincount(at, minlength=len(edges) - 1).astype(np.int64)
    found = Histogram(edges, counts, None, None, decimals, cut, kept, None, name)
    if probs is None:
        return found
    weights, pairs = np.asarray(probs, dtype=np.float64), found.at_or_above
    right: Floats = np.bincount(at, weights, len(edges) - 1).astype(np.float64)  # [bins]
    precision = np.full(len(counts), np.nan)
    np.divide(right[::-1].cumsum()[::-1], pairs, out=precision, where=pairs > 0)
    sure = float(weights[keeps].mean()) if kept else None
    return replace(found, right=right, precision=precision, kept_precision=sure)


def _edges(scores: Floats, most: int) -> tuple[Floats, int]:
    """Choose round edges for sorted scores, and how many decimals they have.

    A few scores at either end, which may lie far from the others, share an open bin.
    """
    finite = scores[np.isfinite(scores)]
    if not len(finite):
        return (np.array([-np.inf, 0.0, np.inf]) if len(scores) else np.zeros(1)), 0
    few = max(len(finite) // 200, min(3, len(finite) // 10))
    low, high = float(finite[few]), float(finite[-1 - few])
    if low == high:
        low, high = float(finite[0]), float(finite[-1])
    least = max(
        (high - low) / max(most - 3, 1) or 0.01, _NARROWEST, 1e-12 * max(abs(low), abs(high))
    )
    width, decimals = next(_round_widths(least))
    bins = range(math.floor(low / width) - 1, math.floor(high / width) + 3)
    below, *edges, above = [round(at * width, decimals) + 0.0 for at in bins]  # no "-0.00"
    if scores[0] < edges[0]:
        edges.insert(0, below if scores[0] >= below else -math.inf)
    if scores[-1] >= edges[-1]:
        edges.append(above if scores[-1] < above else math.inf)
    return np.array(edges), decimals


def _round_widths(least: float) -> Iterator[tuple[float, int]]:
    """Give 1, 2, 5, 10 ... times a power of ten, from `least` upwards, and the decimals of each."""
    for exponent in itertools.count(math.floor(math.log10(least))):
        for digit in (1, 2, 5):
            width = round(digit * 10.0**exponent, max(-exponent, 0))
            if width >= least * (1 - 1e-9):
                yield width, max(-exponent, 0)
