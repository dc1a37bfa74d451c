"""A sample of rows and their true neighbours -> how far to look for a wanted recall."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.knn.cosines import Floats, Rows
from xmine.knn.exact import search_few
from xmine.knn.rescoring import Direction

# Rows on which the setting is chosen, and others on which the recall is measured. Their neighbours
# are searched for among all: 5 s for a thousand among a million of 512 dimensions.
CHOSEN_ON, MEASURED_ON = 2000, 1000
RECALL = 0.98  # that a search by lists is to reach, unless asked for another
# The recall of the sample must exceed the wanted one by so many standard errors.
_ERRORS = 1.5


@dataclass(frozen=True, slots=True)
class Sampled:
    """Some rows and their true neighbours.

    Attributes:
        rows: int64 [rows], rising.
        ids: int64 [rows, k].
        cosines: float32 [rows, k].
    """

    rows: Rows
    ids: Rows
    cosines: Floats

    def found(self, cosines: Floats) -> NDArray[np.bool_]:
        """Tell which cosines, [rows, k], are as high as those of true neighbours."""
        return cosines >= self.cosines[:, -1:]


def sample(way: Direction, size: int, seed: int, memory: int, tick: Callable[[], None]) -> Sampled:
    """Draw rows of a direction and search for their neighbours among all."""
    rows = np.sort(np.random.default_rng(seed).permutation(len(way.queries))[:size])
    return Sampled(rows, *search_few(way.queries, rows, way.others, way.k, memory, tick))


def measure_recall(way: Direction, memory: int, tick: Callable[[], None]) -> float:
    """Tell which share of the k nearest a direction has found, on rows that chose nothing."""
    fresh = sample(way, MEASURED_ON, 2, memory, tick)
    return float(fresh.found(way.cosines[fresh.rows]).mean())


def enough(found: NDArray[np.bool_], wanted: float) -> bool:
    """Tell whether rows found the share that is wanted, [rows, k], with some certainty."""
    shares = found.mean(axis=1)
    error = float(shares.std()) / math.sqrt(len(shares))
    return float(shares.mean()) - _ERRORS * error >= wanted


def lowest(is_enough: Callable[[int], bool], high: int) -> int:
    """Find the lowest number from 0 that is enough; `high` is, or is the last."""
    low = -1
    while high - low > 1:
        middle = (low + high) // 2
        if is_enough(middle):
            high = middle
        else:
            low = middle
    return high
