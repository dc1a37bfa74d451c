"""Nearest neighbours -> hubs, lines that are among the nearest of very many lines.

Such a line (a title, a formula, boilerplate) is found by whatever has no translation, and takes the
place of a true neighbour.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.display import count
from xmine.flags.flag_set import Bools
from xmine.flags.line_features import LineFeatures

# A hub is among the neighbours of this many lines at least, of this many times as many as a line is
# on average, and of this many times as many as the tenth of lines that is neighbour most often.
_FEWEST_LISTS = 25
_TIMES_MEAN = 10.0
_TIMES_TENTH = 5.0
_LISTS_AT_ONCE = 65_536


def hubs(
    ids: NDArray[np.int64], size: int, groups: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Find rows that are among the nearest of very many rows of the other matrix.

    At most a tenth of the rows can reach ten times the mean, so hubs, however many, move neither
    the mean, which depends on sizes alone, nor the ninth decile: the limit is made of both.

    Args:
        ids: int64 [rows, k], the nearest rows of the other matrix.
        size: rows of the other matrix.
        groups: int64 [size], equal numbers from 0 for rows that count as one line, such as variants
            of a boilerplate line; None if each row is its own.

    Returns:
        int64 [hubs], rows of the other matrix, ascending.
    """
    alone = np.zeros(size, dtype=np.int64)
    for column in ids.T:
        alone += np.bincount(column, minlength=size)
    limit = max(
        _FEWEST_LISTS, _TIMES_MEAN * float(alone.mean()), _TIMES_TENTH * np.quantile(alone, 0.9)
    )
    counts = alone if groups is None else _lists_of_groups(ids, groups)[groups]
    return np.flatnonzero(counts >= limit)


def _lists_of_groups(ids: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the lists that each group stands in; a list with several of its rows counts once."""
    counts = np.zeros(len(groups), dtype=np.int64)
    for start in range(0, len(ids), _LISTS_AT_ONCE):
        lists = np.sort(groups[ids[start : start + _LISTS_AT_ONCE]], axis=1)  # [lists, k]
        first = np.ones(lists.shape, dtype=bool)
        first[:, 1:] = lists[:, 1:] != lists[:, :-1]
        counts += np.bincount(lists[first], minlength=len(groups))
    return counts


def is_hub(ids: NDArray[np.int64], side: LineFeatures) -> Bools:
    """Mark the lines of a side that are hubs, and boilerplate, which shares its lists.

    Args:
        ids: int64 [rows of the other side, k], neighbours among the lines of this side.
        side: this side.
    """
    marked = side.boilerplate.copy()
    marked[hubs(ids, len(marked), side.groups)] = True
    return marked


def hub_reason(
    sides: Sequence[tuple[str, NDArray[np.int64], LineFeatures, NDArray[np.int64]]],
) -> Callable[[int], str]:
    """Say which side of a pair is a neighbour of how many lines.

    `sides` are the name of each side, the neighbours among its lines, their features, and the row
    of each pair.
    """

    @cache
    def counted() -> list[tuple[NDArray[Any], ...]]:
        found = list[tuple[NDArray[Any], ...]]()
        for _, ids, side, _ in sides:
            alone = np.bincount(ids.ravel(), minlength=len(side.groups))
            variants = np.bincount(side.groups)[side.groups]
            found.append((alone, variants, _lists_of_groups(ids, side.groups)[side.groups]))
        return found

    def told(pair: int) -> str:
        said = []
        for (name, _, _, rows), numbers in zip(sides, counted(), strict=True):
            lists, variants, every = (int(each[rows[pair]]) for each in numbers)
            text = f"the {name} is a neighbour of {count(lists, 'line')}"
            text += f", its {variants:,} variants of {every:,}" * (variants > 1)
            said.append((lists * variants, text))
        most = max(lists for lists, _ in said)
        return "; ".join(text for lists, text in said if lists * 5 >= most)

    return told
