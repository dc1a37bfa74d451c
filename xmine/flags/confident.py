"""The confident pairs of a run -> what is usual among them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Pairs that are right with this chance show what pairs of this run look like, if there are enough.
CONFIDENT = 0.9
FEWEST_CONFIDENT = 30
TO_DEVIATION = (
    0.6745  # median of absolute deviations / standard deviation, of a normal distribution
)


def middle_and_spread(values: NDArray[Any]) -> tuple[float, float]:
    """Give the median of some values, and their robust standard deviation."""
    middle = float(np.median(values))
    return middle, float(np.median(np.abs(values - middle))) / TO_DEVIATION
