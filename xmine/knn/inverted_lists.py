"""Rows and the centroids of lists -> the lists that each row is near to, and the rows of each list.

A list holds the rows whose nearest centroid is its own; a row probes the lists nearest to it.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.knn.cosines import Floats, Rows, Vectors, widen
from xmine.knn.duplicates import Side
from xmine.knn.workers import WorkerPool

Tick = Callable[[], None]

_ROWS_AT_ONCE = 1024
_GROUPED_AT_ONCE = 2**15
# A tail of a few rows would take another code path of the product and differ in the last bit.
_PAD = 64


def number_type(count: int) -> type[np.generic]:
    """Choose the type of the numbers of lists, 0 to count - 1, with `count` for no list."""
    return np.uint16 if count < 2**16 else np.uint32


def assign_lists(
    centroids: Floats,
    side: Side,
    start: int,
    reach: float,
    out: NDArray[Any],
    pool: WorkerPool,
    tick: Tick,
) -> None:
    """Fill `out` [rows, most] with the lists that rows of a side from `start` probe, nearest first.

    Lists up to the distance `reach` are probed, see `distances_of`; the number of lists follows.
    """
    right = _filled(centroids)
    count, most = len(centroids), out.shape[1]
    roots = np.sqrt(np.arange(1, most + 1, dtype=np.float32))

    def work(first: int) -> None:
        part = out[first : first + _ROWS_AT_ONCE]
        rows = side.rows(start + first, start + first + len(part))
        cosines = (_filled(rows) @ right.T)[: len(part), :count]
        some = np.argpartition(cosines, count - most, axis=1)[:, -most:]
        near = np.take_along_axis(cosines, some, axis=1)
        order = np.lexsort((some, -near))
        near = np.take_along_axis(near, order, axis=1)
        far = (near[:, :1] - near) * roots > reach
        part[:] = np.where(far, count, np.take_along_axis(some, order, axis=1))

    pool.run(work, range(0, len(out), _ROWS_AT_ONCE), tick)


def distances_of(centroids: Floats, queries: Vectors, wanted: Vectors) -> Floats:
    """Tell how far each query must look to find its wanted row.

    The distance of a list is how much nearer the nearest one is, in cosines, times the square root
    of its rank. Up to the same distance, rows between lists probe many and others few. For the same
    recall that scans a quarter less than equally many lists for all (IVF2048, a million rows).

    Args:
        centroids: [lists, dim].
        queries, wanted: [queries, dim].

    Returns:
        float32 [queries].
    """
    distances = np.empty(len(queries), dtype=np.float32)
    for some, cosines in _cosines(centroids, queries):
        home = (_filled(wanted[some]) @ _filled(centroids).T)[: len(cosines), : len(centroids)]
        cosine = np.take_along_axis(cosines, home.argmax(axis=1)[:, None], axis=1)
        ranks = 1 + np.count_nonzero(cosines > cosine, axis=1)
        distances[some] = (cosines.max(axis=1) - cosine[:, 0]) * np.sqrt(ranks)
    return distances


def most_probed(centroids: Floats, queries: Vectors, reach: float) -> int:
    """Count the lists within reach of the query that has most of them."""
    most, roots = 0, np.sqrt(np.arange(1, len(centroids) + 1, dtype=np.float32))
    for _, cosines in _cosines(centroids, queries):
        near = -np.sort(-cosines, axis=1)
        within = (near[:, :1] - near) * roots <= reach
        most = max(most, int(np.count_nonzero(within, axis=1).max()))
    return most


def _cosines(centroids: Floats, queries: Vectors) -> Iterator[tuple[slice, Floats]]:
    """Give cosines of queries and centroids, some queries at a time."""
    right = _filled(centroids)
    for start in range(0, len(queries), _ROWS_AT_ONCE):
        rows = queries[start : start + _ROWS_AT_ONCE]
        cosines = (_filled(rows) @ right.T)[: len(rows), : len(centroids)]
        yield slice(start, start + len(rows)), cosines


def _filled(block: Vectors) -> Floats:
    """Copy to float32, and fill up with rows of zeros: then no row's bits depend on the others."""
    filled = np.empty((-(-len(block) // _PAD) * _PAD, block.shape[1]), dtype=np.float32)
    widen(block, filled[: len(block)])
    filled[len(block) :] = 0
    return filled


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
