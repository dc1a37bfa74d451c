"""Queries and the inverted lists of an index -> the best rows in the lists that each query probes.

FAISS scans lists for one query after the other. Here all queries that probe a list meet it at once,
in one matrix product (the idea is that of `faiss.contrib.big_batch_search`).
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from xmine.knn.crew import Crew
from xmine.knn.topk import EMPTY, Keys, columns_of, merge, pack, values_of
from xmine.neighbours import Vectors, widen

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Tick = Callable[[], None]

# Queries of one product, and rows: 4 + 1 bytes for each of its cells in each worker.
_QUERIES_AT_ONCE = 1024
_MOST_ROWS = 4096
_BYTES_PER_CELL = 5
# A tail of a few rows would take another code path of the product and differ in the last bit.
_PAD = 64
# Lists are searched in rounds, the nearest first: what a round finds is a bar that few rows of the
# next pass. Every round reads all lists: five rounds took a third longer for 17,000 queries.
_ROUNDS = (0, 4, 24)


class Lists(Protocol):
    """Rows of a matrix, each in one numbered list."""

    def size(self, number: int) -> int:
        """Count the rows of a list."""

    def read(self, number: int, start: int, stop: int) -> tuple[Vectors, Rows]:
        """Give some vectors of a list, [rows, dim], and which rows they are, int64 [rows]."""


class Blocks:
    """A whole matrix as lists of neighbouring rows: to search them all is exact."""

    def __init__(self, vectors: Vectors) -> None:
        """Take a matrix [rows, dim]."""
        self.vectors = vectors

    def __len__(self) -> int:
        """Count the blocks."""
        return -(-len(self.vectors) // _MOST_ROWS)

    def size(self, number: int) -> int:
        """Count the rows of a block."""
        return min(_MOST_ROWS, len(self.vectors) - number * _MOST_ROWS)

    def read(self, number: int, start: int, stop: int) -> tuple[Vectors, Rows]:
        """Give some vectors of a block and which rows they are."""
        rows = np.arange(start, stop, dtype=np.int64) + number * _MOST_ROWS
        return self.vectors[rows[0] : rows[-1] + 1], rows


def search_all(
    vectors: Vectors, queries: Floats, k: int, memory: int, crew: Crew, tick: Tick
) -> Rows:
    """Find the k best rows of a whole matrix for a few queries: int64 [queries, k], best first."""
    blocks, everyone = Blocks(vectors), np.arange(len(queries))
    best = np.full((len(queries), k), EMPTY, dtype=np.int64)
    for first, last in zip(_ROUNDS, (*_ROUNDS[1:], len(blocks)), strict=True):
        pieces = ((number, everyone) for number in range(first, min(last, len(blocks))))
        _offer(best, blocks, queries, pieces, memory, crew, tick)
    return columns_of(best)[:, ::-1]


def search_lists(
    lists: Lists,
    centroids: Floats,
    queries: Floats,
    k: int,
    probes: int,
    memory: int,
    crew: Crew,
    tick: Tick,
) -> Rows:
    """Find the k best rows in the lists of the nearest centroids of each query.

    Args:
        lists: what is searched.
        centroids: float32 [lists, dim].
        queries: float32 [queries, dim].
        k: rows per query.
        probes: lists per query.
        memory: bytes for products, all workers together.
        crew: who multiplies.
        tick: called now and then.

    Returns:
        int64 [queries, k], best first; -1 where the lists hold fewer than k.
    """
    ranked = probed(centroids, queries, probes, crew, tick)
    best = np.full((len(queries), k), EMPTY, dtype=np.int64)
    for first, last in zip(_ROUNDS, (*_ROUNDS[1:], probes), strict=True):
        _offer(best, lists, queries, _grouped(ranked[:, first:last]), memory, crew, tick)
    return np.where(best == EMPTY, -1, columns_of(best))[:, ::-1]


def probed(
    centroids: Floats, queries: Vectors, probes: int, crew: Crew, tick: Tick
) -> NDArray[np.int32]:
    """Give the lists of the nearest centroids, int32 [queries, probes], nearest first."""
    ranked = np.empty((len(queries), probes), dtype=np.int32)
    right = _filled(centroids)

    def work(start: int) -> None:
        block = queries[start : start + _QUERIES_AT_ONCE]
        cosines = (_filled(block) @ right.T)[: len(block), : len(centroids)]
        part = ranked[start : start + _QUERIES_AT_ONCE]
        if probes == 1:
            part[:, 0] = cosines.argmax(axis=1)
            return
        some = np.argpartition(cosines, len(centroids) - probes, axis=1)[:, -probes:]
        order = np.argsort(-np.take_along_axis(cosines, some, axis=1), axis=1)
        part[:] = np.take_along_axis(some, order, axis=1)

    crew.run(work, range(0, len(queries), _QUERIES_AT_ONCE), tick)
    return ranked


def ranks_of(
    centroids: Floats, queries: Floats, vectors: Floats, crew: Crew, tick: Tick
) -> NDArray[np.int64]:
    """Tell how many lists a query must probe to meet some rows.

    Args:
        centroids: float32 [lists, dim].
        queries: float32 [queries, dim].
        vectors: float32 [queries, k, dim], the rows that each is to meet.

    Returns:
        int64 [queries, k], from 1.
    """
    lists = probed(centroids, vectors.reshape(-1, vectors.shape[-1]), 1, crew, tick)
    lists = lists.reshape(len(vectors), -1)
    ranks = np.empty(lists.shape, dtype=np.int64)
    right = _filled(centroids)

    def work(start: int) -> None:
        part = slice(start, start + _QUERIES_AT_ONCE)
        cosines = (_filled(queries[part]) @ right.T)[: len(lists[part]), : len(centroids)]
        wanted = np.take_along_axis(cosines, lists[part], axis=1)
        for column in range(ranks.shape[1]):
            nearer = cosines > wanted[:, column, None]
            ranks[part, column] = 1 + np.count_nonzero(nearer, axis=1)

    crew.run(work, range(0, len(queries), _QUERIES_AT_ONCE), tick)
    return ranks


def _filled(block: Vectors) -> Floats:
    """Copy to float32, and fill up with rows of zeros: then no row's bits depend on the others."""
    filled = np.empty((-(-len(block) // _PAD) * _PAD, block.shape[1]), dtype=np.float32)
    widen(block, filled[: len(block)])
    filled[len(block) :] = 0
    return filled


def _grouped(ranked: NDArray[np.int32]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Turn the lists of each query into the queries of each list."""
    cells = ranked.ravel()
    if not len(cells):
        return
    order = np.argsort(cells, kind="stable")
    order //= ranked.shape[1]
    end = 0
    for number, count in enumerate(np.bincount(cells).tolist()):
        start, end = end, end + count
        if count:
            yield number, order[start:end]


def _offer(
    best: Keys,
    lists: Lists,
    queries: Floats,
    pieces: Iterable[tuple[int, NDArray[np.intp]]],
    memory: int,
    crew: Crew,
    tick: Tick,
) -> None:
    """Let the rows of lists into the best of the queries that want them."""
    floors = values_of(best[:, 0])
    cells = memory // (crew.workers * _BYTES_PER_CELL)
    rows_at_once = max(_PAD, min(_MOST_ROWS, cells // _QUERIES_AT_ONCE))
    found: list[tuple[NDArray[np.intp], Keys]] = []

    def work(piece: tuple[int, NDArray[np.intp]]) -> None:
        number, wanting = piece
        for row in range(0, size := lists.size(number), rows_at_once):
            vectors, rows = lists.read(number, row, min(row + rows_at_once, size))
            right = _filled(vectors)
            for start in range(0, len(wanting), _QUERIES_AT_ONCE):
                some = wanting[start : start + _QUERIES_AT_ONCE]
                found.append(_passing(queries, some, floors[some], right, rows, best.shape[1]))

    crew.run(work, pieces, tick)
    if not found:
        return
    where, keys = (np.concatenate(part) for part in zip(*found, strict=True))
    step = -(-len(best) // crew.workers)

    def merge_some(start: int) -> None:
        mine = (where >= start) & (where < start + step)
        merge(best, where[mine], keys[mine])

    crew.run(merge_some, range(0, len(best), step), tick)


def _passing(
    queries: Floats, some: NDArray[np.intp], floors: Floats, right: Floats, rows: Rows, k: int
) -> tuple[NDArray[np.intp], Keys]:
    """Give the cells above the floors of some queries: whose, and their keys."""
    left = np.empty((-(-len(some) // _PAD) * _PAD, queries.shape[1]), dtype=np.float32)
    np.take(queries, some, axis=0, out=left[: len(some)], mode="clip")
    left[len(some) :] = 0
    cosines = (left @ right.T)[: len(some), : len(rows)]
    bare = np.flatnonzero(np.isneginf(floors))
    if len(bare) and k < len(rows):  # nothing found yet: the k best of this list suffice
        kth = np.partition(cosines[bare], -k, axis=1)[:, -k]
        floors[bare] = np.nextafter(kth, np.float32(-np.inf))
    hits = np.flatnonzero(cosines > floors[:, None])
    where, cells = np.divmod(hits, len(rows))
    return some[where], pack(cosines[where, cells], rows[cells])
