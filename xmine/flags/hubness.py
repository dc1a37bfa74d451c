"""Nearest neighbours -> hubs, lines that are among the nearest of very many lines.

Such a line (a title, a formula) is found by whatever has no translation, and takes the place of a
true neighbour.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from xmine.display import count
from xmine.flags.flag_set import Bools

# A hub is among the neighbours of this many lines at least, of this many times as many as a line is
# on average, and of this many times as many as the tenth of lines that is neighbour most often.
_FEWEST_LISTS = 25
_TIMES_MEAN = 10.0
_TIMES_TENTH = 5.0


def is_hub(ids: NDArray[np.int64], size: int) -> Bools:
    """Mark rows that are among the nearest of very many rows of the other matrix, bool [size].

    At most a tenth of the rows can reach ten times the mean, so hubs, however many, move neither
    the mean, which depends on sizes alone, nor the ninth decile: the limit is made of both.

    Args:
        ids: int64 [rows, k], the nearest rows of the other matrix, a row not twice in a list.
        size: rows of the other matrix.
    """
    counts = np.bincount(ids.ravel(), minlength=size)
    limit = max(
        _FEWEST_LISTS, _TIMES_MEAN * float(counts.mean()), _TIMES_TENTH * np.quantile(counts, 0.9)
    )
    return np.asarray(counts >= limit)


def hub_reason(
    sides: Sequence[tuple[str, NDArray[np.int64], NDArray[np.int64]]],
) -> Callable[[int], str]:
    """Say which side of a pair is a neighbour of how many lines.

    `sides` are the name of each side, the neighbours among its lines, and the row of each pair.
    """

    @cache
    def counted() -> list[NDArray[np.int64]]:
        return [np.bincount(ids.ravel(), minlength=rows.max() + 1)[rows] for _, ids, rows in sides]

    def told(pair: int) -> str:
        lists = [int(each[pair]) for each in counted()]
        return "; ".join(
            f"the {name} is a neighbour of {count(number, 'line')}"
            for number, (name, *_) in zip(lists, sides, strict=True)
            if number * 5 >= max(lists)
        )

    return told
