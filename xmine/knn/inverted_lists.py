"""Rows and the centroids of lists -> the lists that each row is near to, and the rows of each list.

A list holds the rows whose nearest centroid is its own; a row probes the lists nearest to it. Both
follow from exact cosines, so that every processor gives a row the same lists.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.knn.cosines import Floats, Rows, Vectors, exact_cosines, widen
from xmine.knn.duplicates import Distinct
from xmine.knn.rescoring import error
from xmine.knn.workers import WorkerPool

Tick = Callable[[], None]

_ROWS_AT_ONCE = 1024
_SETTLED_AT_ONCE = 2**14
_GROUPED_AT_ONCE = 2**15


def number_type(count: int) -> type[np.generic]:
    """Choose the type of the numbers of lists, 0 to count - 1, with `count` for no list."""
    return np.uint16 if count < 2**16 else np.uint32


def assign_lists(
    centroids: Floats,
    side: Distinct,
    start: int,
    reach: float,
    out: NDArray[Any],
    pool: WorkerPool,
    tick: Tick,
) -> None:
    """Fill `out` [rows, most] with the lists that rows of a side from `start` probe.

    A row's own list comes first, others by rising number. Lists up to the distance `reach` are
    probed, see `distances_of`; the number of lists follows.
    """
    count, most = len(centroids), out.shape[1]

    def work(first: int) -> None:
        part = out[first : first + _ROWS_AT_ONCE]
        rows = side.rows(start + first, start + first + len(part))
        cosines, lowest = _decided(rows, centroids, reach, most)
        homes = cosines.argmax(axis=1)
        probed = cosines >= lowest
        probed[np.arange(len(rows)), homes] = False
        row, number = np.nonzero(probed)
        place = 1 + np.arange(len(row)) - np.searchsorted(row, row)
        fits = place < most  # equal cosines may be too many
        part[:] = count
        part[:, 0] = homes
        part[row[fits], place[fits]] = number[fits]

    pool.run(work, range(0, len(out), _ROWS_AT_ONCE), tick)


def distances_of(centroids: Floats, queries: Vectors, wanted: Vectors) -> Floats:
    """Tell how far each query must look to find its wanted row.

    The distance of a list is how much nearer the nearest one is, in cosines, times the square root
    of its rank. Up to the same distance, rows between lists probe many and others few. For the same
    recall that scans a quarter less than equally many lists for all (IVF2048, a million rows).

    Args:
        centroids: [lists, dim], numbers of float16.
        queries, wanted: [queries, dim].

    Returns:
        float32 [queries].
    """
    distances = np.empty(len(queries), dtype=np.float32)
    margin = 2 * error(centroids.shape[1])
    for some in _parts(queries):
        homes = _decided(wanted[some], centroids, 0.0, 1)[0].argmax(axis=1)
        cosines = _compare(queries[some], centroids)
        doubtful = cosines >= cosines.max(axis=1, keepdims=True) - margin
        doubtful |= np.abs(cosines - _at(cosines, homes)) <= margin
        _settle(cosines, doubtful, queries[some], centroids)
        home = _at(cosines, homes)
        ranks = 1 + np.count_nonzero(cosines > home, axis=1)
        distances[some] = (cosines.max(axis=1) - home[:, 0]) * np.sqrt(ranks, dtype=np.float32)
    return distances


def most_probed(centroids: Floats, queries: Vectors, reach: float) -> int:
    """Count the lists within reach of the query that has most of them."""
    most = 0
    for some in _parts(queries):
        cosines, lowest = _decided(queries[some], centroids, reach, len(centroids))
        most = max(most, int(np.count_nonzero(cosines >= lowest, axis=1).max()))
    return most


def _parts(rows: Vectors) -> list[slice]:
    return [slice(i, i + _ROWS_AT_ONCE) for i in range(0, len(rows), _ROWS_AT_ONCE)]


def _decided(rows: Vectors, centroids: Floats, reach: float, most: int) -> tuple[Floats, Floats]:
    """Compare rows and centroids so that all processors agree which lists are within reach.

    Cosines err by at most `error`, and so does the n-th highest one of a row. Where the nearest
    list or the last one within reach is in doubt, the cosines of all that it may be are made exact.

    Returns:
        Cosines [rows, lists], and the lowest one of each row that is within reach [rows, 1].
    """
    cosines = _compare(rows, centroids)
    near = _highest(cosines, most)
    margin = 2 * error(centroids.shape[1])
    surely, perhaps = (_within(near, reach, more) for more in (margin, -margin))
    doubtful = cosines >= _at(near, perhaps - 1) - margin
    doubtful &= cosines <= _at(near, np.minimum(surely, most - 1)) + margin
    doubtful |= cosines >= near[:, :1] - margin
    rough = np.count_nonzero(doubtful, axis=1) > 1
    doubtful[~rough] = False  # of the nearest list alone
    _settle(cosines, doubtful, rows, centroids)
    near[rough] = _highest(cosines[rough], most)
    return cosines, _at(near, _within(near, reach) - 1)


def _compare(rows: Vectors, centroids: Floats) -> Floats:
    """Give the cosines of rows and centroids, [rows, lists], which err by at most `error`."""
    cosines: Floats = widen(rows, np.empty(rows.shape, dtype=np.float32)) @ centroids.T
    return np.minimum(cosines, 1, out=cosines)


def _settle(cosines: Floats, doubtful: NDArray[np.bool_], rows: Vectors, centroids: Floats) -> None:
    """Make doubtful cosines exact."""
    at, number = np.nonzero(doubtful)
    for start in range(0, len(at), _SETTLED_AT_ONCE):
        row, column = (each[start : start + _SETTLED_AT_ONCE] for each in (at, number))
        cosines[row, column] = exact_cosines(rows[row], centroids, column[:, None])[:, 0]


def _highest(cosines: Floats, most: int) -> Floats:
    """Give the highest cosines of each row, falling, [rows, most]."""
    highest: Floats
    if most == 1:
        highest = cosines.max(axis=1, keepdims=True)
        return highest
    highest = np.partition(cosines, -most, axis=1)[:, -most:]
    highest.sort(axis=1)
    return highest[:, ::-1]


def _within(near: Floats, reach: float, more: float = 0.0) -> Rows:
    """Count the falling cosines [rows, most] within reach, if each were lower by `more`."""
    roots = np.sqrt(np.arange(1, near.shape[1] + 1, dtype=np.float32))
    within = (near[:, :1] - near + more) * roots <= reach
    count: Rows = np.maximum(1, np.count_nonzero(within, axis=1))
    return count


def _at(values: Floats, places: Rows) -> Floats:
    """Take one value of each row, [rows, 1]."""
    return np.take_along_axis(values, places[:, None], axis=1)


class Members:
    """The rows of each list, rising; in 4 bytes for each row and list that it is in."""

    def __init__(self, lists: NDArray[Any], count: int, start: int = 0) -> None:
        """Sort rows by their lists.

        Args:
            lists: [rows, some], the lists that each row is in; `count` where it is in none.
            count: of lists.
            start: number of the first row.
        """
        parts = [slice(i, i + _GROUPED_AT_ONCE) for i in range(0, len(lists), _GROUPED_AT_ONCE)]
        sizes = np.zeros(count + 1, dtype=np.int64)
        for part in parts:
            sizes += np.bincount(lists[part].ravel(), minlength=count + 1)
        self.sizes = sizes[:count]
        self._ends = np.concatenate([[0], np.cumsum(self.sizes)])
        self._rows = np.empty(self._ends[-1], dtype=np.uint32)
        free = self._ends[:-1].copy()
        for part in parts:
            cells = lists[part].ravel()
            counts = np.bincount(cells, minlength=count + 1)[:count]
            order = np.argsort(cells, kind="stable")[: counts.sum()]
            places = np.repeat(free - (np.cumsum(counts) - counts), counts)
            places += np.arange(len(places))
            self._rows[places] = order // max(1, lists.shape[1]) + (start + part.start)
            free += counts

    def of(self, number: int) -> Rows:
        """Give the rows of a list."""
        return self._rows[self._ends[number] : self._ends[number + 1]].astype(np.int64)
