"""Chosen pairs -> what makes each of them suspicious, as names joined by commas.

docs/flags.md says what each flag means and how it was measured.
"""

import numpy as np
from numpy.typing import NDArray

# A hub is among the neighbours of this many lines at least, of this many times as many as a line is
# on average, and of this many times as many as the tenth of lines that is neighbour most often.
_FEWEST_LISTS = 20
_TIMES_MEAN = 10.0
_TIMES_TENTH = 5.0


def hubs(
    ids: NDArray[np.int64], size: int, groups: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find rows that are among the nearest of very many rows of the other matrix.

    At most a tenth of the rows can reach ten times the mean, so hubs, however many, do not move
    the mean (it depends on sizes alone) nor the ninth decile, which the limit is made of.

    Args:
        ids: int64 [rows, k], the nearest rows of the other matrix.
        size: rows of the other matrix.
        groups: int64 [size], equal numbers from 0 for rows that count as one line, such as the
            variants of a boilerplate line, which share out the lists they fill; None if each row
            is its own.

    Returns:
        int64 [hubs], rows of the other matrix, highest count first, then by row; and int64 [hubs],
        how many of the `rows` have the hub, or a row of its group, among their nearest.
    """
    alone = np.bincount(ids.ravel(), minlength=size)  # [size]
    limit = max(
        _FEWEST_LISTS, _TIMES_MEAN * float(alone.mean()), _TIMES_TENTH * np.quantile(alone, 0.9)
    )
    counts = alone if groups is None else _lists_of_groups(groups[ids], size)[groups]
    rows = np.flatnonzero(counts >= limit)
    rows = rows[np.argsort(-counts[rows], kind="stable")]
    return rows, counts[rows]


def _lists_of_groups(lists: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Count the lists that each group stands in; a list with several of its rows counts once."""
    lists = np.sort(lists, axis=1)  # [rows, k]
    first = np.ones(lists.shape, dtype=bool)
    first[:, 1:] = lists[:, 1:] != lists[:, :-1]
    return np.bincount(lists[first], minlength=size)
