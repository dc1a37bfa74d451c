"""The best cells of each row, as float32 found them -> its k nearest, exactly.

Float32 sums of products err by at most `error(dim)`. Whatever was not kept is at most the last kept
cell and that error; where the k-th exact cosine is above it, nothing is missing. Source of the
bound: N. Higham, Accuracy and Stability of Numerical Algorithms, section 3.1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine import native
from xmine.files import scratch
from xmine.knn.cosines import Floats, Rows, all_cosines, exact_cosines, ordered, widen
from xmine.knn.duplicates import Distinct
from xmine.knn.topk import EMPTY, Keys, columns_of, values_of
from xmine.knn.workers import WorkerPool

_ROWS_AT_ONCE = 512
# A second search: rows and columns of a block, and pairs that are rescored at once.
_AGAIN_ROWS, _AGAIN_COLUMNS, _AGAIN_PAIRS = 256, 512, 2**14
_MANY = 1 / 8  # above this share of near pairs in a block, all its pairs are rescored faster


@dataclass(frozen=True, slots=True)
class Direction:
    """Rows that look for their nearest others, and where these are put.

    Attributes:
        queries, others: their distinct rows.
        ids: int64 [queries, k], to be filled.
        cosines: float32 [queries, k], to be filled.
        is_mixed: whether any machine may have made the keys, by whichever product.
        found: the same for all rows, not the distinct ones alone; None if that is all of them.
    """

    queries: Distinct
    others: Distinct
    ids: Rows
    cosines: Floats
    found: tuple[Rows, Floats] | None = None
    is_mixed: bool = False

    @property
    def k(self) -> int:
        """Neighbours per row."""
        return int(self.ids.shape[1])

    def result(self) -> tuple[Rows, Floats]:
        """Give every row the neighbours of its distinct row, and all rows equal to these."""
        if self.found is None:
            return self.ids, self.cosines
        ids, cosines = self.found
        step = max(1, 2**20 // ids.shape[1] ** 2)
        for start in range(0, len(ids), step):
            row = self.queries.distinct(np.arange(start, min(start + step, len(ids))))
            some = slice(start, start + step)
            near = self.others.spread(self.ids[row], self.cosines[row], ids.shape[1])
            ids[some], cosines[some] = near
        return ids, cosines


def directions(left: Distinct, right: Distinct, k: int) -> tuple[Direction, Direction]:
    """Make the arrays that a search fills, for sources and for targets."""

    def direction(queries: Distinct, others: Distinct) -> Direction:
        found = _empty(len(queries.vectors), min(k, len(others.vectors)))
        if left.first is None and right.first is None:
            return Direction(queries, others, *found)
        return Direction(queries, others, *_empty(len(queries), min(k, len(others))), found)

    return direction(left, right), direction(right, left)


def _empty(rows: int, k: int) -> tuple[Rows, Floats]:
    return scratch.empty((rows, k), np.int64), scratch.empty((rows, k), np.float32)


def error(dim: int) -> float:
    """Bound the error of a float32 inner product of unit rows, whatever the order of summation.

    The sum of the products' magnitudes is at most 1, or a little more as fp16 rounds lengths.
    """
    return (dim + 64) * 2.0**-24


def key_error(way: Direction) -> float:
    """Bound the error of the cosine of a key.

    The fused product rounds every number of two rows by up to half of 1/32,000: by Cauchy and
    Schwarz that moves a cosine by sqrt(dim)/32,000 at most, if rows are no longer than one; and
    float32 rounds the products with 32,000 and the sum.
    """
    dim = way.queries.vectors.shape[1]
    if not way.is_mixed and native.kernels is None:
        return error(dim)
    return 1.03 * math.sqrt(dim) / 32_000 + 2.0**-20


def rescore(
    way: Direction, keys: Keys, start: int, pool: WorkerPool, tick: Callable[[], None]
) -> None:
    """Fill the k nearest of rows from `start`, out of the keys of their best cells [rows, kept]."""
    every = np.arange(start, start + len(keys))
    rows = rescore_certain(way, keys, every, key_error(way), pool, lambda _: tick())
    pieces = [rows[i : i + _AGAIN_ROWS] for i in range(0, len(rows), _AGAIN_ROWS)]
    pool.run(lambda piece: _search_again(way, piece, pool), pieces, tick)


def rescore_certain(
    way: Direction,
    keys: Keys,
    rows: Rows,
    margin: float,
    pool: WorkerPool,
    tick: Callable[[float], None],
) -> Rows:
    """Do so for some rows, rising, where the keys are enough; give the others, rising.

    Args:
        way, keys, pool: see `rescore`.
        rows: int64 [rows].
        margin: by how much the cosines of keys err at most.
        tick: is told the share that is done.
    """
    doubtful: list[Rows] = [rows[:0]]

    def rescore_some(first: int) -> None:
        some = keys[first : first + _ROWS_AT_ONCE]
        of = rows[first : first + _ROWS_AT_ONCE]
        doubtful.append(of[~_rescore_rows(way, some, of, margin)])

    starts = range(0, len(keys), _ROWS_AT_ONCE)
    pool.run(rescore_some, starts, lambda: tick((len(doubtful) - 1) / len(starts)))
    return np.sort(np.concatenate(doubtful))


def _rescore_rows(way: Direction, keys: Keys, rows: Rows, margin: float) -> NDArray[np.bool_]:
    """Fill the k nearest of some rows out of their best cells; tell which rows are certain."""
    keys = np.sort(keys, axis=1)[:, ::-1]
    values = values_of(keys).astype(np.float64)  # [rows, kept], falling
    # Below this, k others are nearer for certain; values above 1 will be cut to 1 and are tied.
    bar = np.minimum(values[:, way.k - 1] - 2 * margin, 1 - margin)
    near = (values >= bar[:, None]) & (keys != EMPTY)
    width = max(way.k, int(near.any(axis=0).sum()))
    ids = np.where(near, columns_of(keys), -1)[:, :width]
    queries = way.queries.at(rows)
    cosines = exact_cosines(queries, way.others.vectors, way.others.in_place(ids))
    way.ids[rows], way.cosines[rows] = ordered(ids, cosines, way.k)
    certain: NDArray[np.bool_] = way.cosines[rows, -1] > values[:, -1] + margin
    if keys.shape[1] == len(way.others):
        certain |= keys[:, -1] != EMPTY
    return certain


def _search_again(way: Direction, rows: Rows, pool: WorkerPool) -> None:
    """Rescore all others that come within the error of the k-th best of some rows so far."""
    dim = way.queries.vectors.shape[1]
    are_halves = way.queries.vectors.dtype == way.others.vectors.dtype == np.float16
    queries = way.queries.at(rows)
    left = widen(queries, np.empty((len(rows), dim), dtype=np.float32))
    bar = (way.cosines[rows, -1].astype(np.float64) - error(dim)).astype(np.float32)
    bar = np.nextafter(bar, np.float32(-np.inf))[:, None]
    ids = np.full((len(rows), way.k), len(way.others), dtype=np.int64)
    cosines = np.full((len(rows), way.k), -np.inf, dtype=np.float32)
    for start in range(0, len(way.others), _AGAIN_COLUMNS):
        if pool.stopped:
            return
        stop = min(start + _AGAIN_COLUMNS, len(way.others))
        right = way.others.wide(start, stop, np.empty((stop - start, dim), dtype=np.float32))
        near = left @ right.T >= bar
        if near.mean() > _MANY:  # as where all vectors are nearly equal
            exact = np.where(near, all_cosines(left, right, are_halves=are_halves), -np.inf)
            every = np.broadcast_to(np.arange(start, stop), exact.shape)
            both = np.hstack([ids, every]), np.hstack([cosines, exact])
            ids, cosines = ordered(*both, way.k)
            continue
        at, other = np.nonzero(near)
        for first in range(0, len(at), _AGAIN_PAIRS):
            row, column = at[first : first + _AGAIN_PAIRS], other[first : first + _AGAIN_PAIRS]
            column = column + start
            exact = exact_cosines(
                queries[row], way.others.vectors, way.others.in_place(column)[:, None]
            )
            ids, cosines = _with(ids, cosines, row, column, exact[:, 0])
    way.ids[rows], way.cosines[rows] = ids, cosines


def _with(
    ids: Rows, cosines: Floats, row: Rows, column: Rows, exact: Floats
) -> tuple[Rows, Floats]:
    """Let cells (row, column, cosine) into the k nearest of each row."""
    rows, k = ids.shape
    row = np.concatenate([np.repeat(np.arange(rows), k), row])
    column = np.concatenate([ids.ravel(), column])
    exact = np.concatenate([cosines.ravel(), exact])
    order = np.lexsort((column, -exact, row))
    kept = order[np.searchsorted(row[order], np.arange(rows))[:, None] + np.arange(k)]
    return column[kept], exact[kept]
