"""Boosted trees, as the folder of an encoder keeps them -> what the leaves add to a score.

A tree is a line of text: its cuts, and the values of its leaves from left to right, in thousandths.
A cut `missing 0.031 3` says that candidates with `missing` above 0.031 cannot be in the leaves
whose bits are set in 3. The first leaf that is left over counts (QuickScorer: Lucchese et al.,
2015, "QuickScorer: a fast algorithm to rank documents with additive ensembles of regression
trees"). So numpy looks up all trees at once, and the sums of whole numbers are exact.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_LEAVES = 8
PARTS = 1000  # of a whole value
_CANDIDATES_AT_ONCE = 4096

Floats = NDArray[np.float64]


class Cut(NamedTuple):
    """Takes leaves from candidates with a figure above a threshold."""

    figure: str
    above: float
    leaves: int  # a bit for each


class Trees(NamedTuple):
    """Trees in the order in which they are looked up.

    Attributes:
        cuts: for each figure its thresholds, rising, and uint8 [thresholds + 1, trees], the leaves
            that are left where so many of these are exceeded.
        values: int32 [trees * 256], the value by the bits of the leaves that are left.
    """

    cuts: Mapping[str, tuple[Floats, NDArray[np.uint8]]]
    values: NDArray[np.int32]

    def add(self, figures: Mapping[str, Floats]) -> Floats:
        """Sum up the leaves of candidates: float64 [...], the shape of each figure."""
        first = next(iter(figures.values()))
        flat = {name: figures[name].ravel() for name in self.cuts}
        firsts = np.arange(0, len(self.values), 256)
        total = np.empty(first.size)
        for start in range(0, first.size, _CANDIDATES_AT_ONCE):
            some = slice(start, start + _CANDIDATES_AT_ONCE)
            left = np.full((len(total[some]), len(firsts)), 255, np.uint8)
            for name, (thresholds, masks) in self.cuts.items():
                left &= masks[np.searchsorted(thresholds, flat[name][some])]
            total[some] = self.values[left + firsts].sum(axis=1) / PARTS
        return total.reshape(first.shape)


def tree_line(cuts: Sequence[Cut], values: Sequence[int]) -> str:
    """Write a tree."""
    words = (f"{cut.figure} {cut.above!r} {cut.leaves}" for cut in cuts)
    return f"{', '.join(words)}: {' '.join(map(str, values))}"


@cache
def read_trees(lines: tuple[str, ...]) -> Trees:
    """Read trees.

    Raises:
        ValueError: a line is no tree.
    """
    cuts: dict[str, list[tuple[float, int, int]]] = {}
    values = np.zeros((len(lines), 256), np.int32)
    lowest = [(bits & -bits).bit_length() - 1 for bits in range(1, 256)]
    for tree, line in enumerate(lines):
        given, leaves = line.split(":")
        numbers = np.array([*map(int, leaves.split())], np.int32)
        if len(numbers) > MOST_LEAVES:
            raise ValueError(line)
        values[tree, 1:] = np.pad(numbers, (0, MOST_LEAVES - len(numbers)))[lowest]
        for cut in given.split(","):
            name, above, bits = cut.split()
            if not math.isfinite(float(above)):
                raise ValueError(cut)
            cuts.setdefault(name, []).append((float(above), tree, 255 & ~int(bits)))
    found = {}
    for name, each in cuts.items():
        each.sort()
        masks = np.full((len(each) + 1, len(lines)), 255, np.uint8)
        for place, (_, tree, left) in enumerate(each):
            masks[place + 1 :, tree] &= left
        found[name] = np.array([above for above, _, _ in each]), masks
    return Trees(found, values.ravel())
