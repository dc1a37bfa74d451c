"""Queries and a FAISS index over the other side -> the rows that FAISS finds near each query.

For indexes that `ivf_products` cannot multiply: graphs, codes.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from xmine.errors import OptionError
from xmine.hardware import blas_threads
from xmine.knn.cosines import Floats, Rows, exact_cosines, ordered, widen
from xmine.knn.exact import search_few
from xmine.knn.faiss_index import SearchedIndex
from xmine.knn.inverted_lists import Tick
from xmine.knn.recall import CHOSEN_ON, enough, lowest, sample
from xmine.knn.rescoring import Direction
from xmine.knn.workers import WorkerPool

# A setting twice as high that finds no more than this shows that the codes lose the rest.
_LEAST_GAIN = 5e-4
_LOWEST = 8
_QUERIES_AT_ONCE = 8192
_RESCORED_AT_ONCE = 1024


def search_direction(
    way: Direction,
    index: SearchedIndex,
    recall: float,
    memory: int,
    tick: Callable[[float], None],
) -> int:
    """Choose how far to look for the wanted recall, and search for all rows of a direction.

    Args:
        way: the queries, and arrays for their neighbours.
        index: over the others of the direction.
        recall: share of the k nearest to be found.
        memory: bytes for blocks of exact searches.
        tick: called now and then with the share that is done.

    Returns:
        the setting of the index.
    """
    setting = _chosen(way, index, recall, memory, lambda: tick(0.0))
    for start in range(0, len(way.ids), _QUERIES_AT_ONCE):
        rows = np.arange(start, min(start + _QUERIES_AT_ONCE, len(way.ids)))

        def share(start: int = start) -> None:
            tick(start / len(way.ids))

        way.ids[rows], way.cosines[rows] = _search(way, index, rows, setting, memory, share)
    return setting


def _chosen(way: Direction, index: SearchedIndex, recall: float, memory: int, tick: Tick) -> int:
    """Find the lowest setting that reaches the recall: doubled, and then halved to an eighth."""
    true = sample(way, CHOSEN_ON, 1, memory, tick)

    def found(setting: int) -> NDArray[np.bool_]:
        return true.found(_search(way, index, true.rows, setting, memory, tick)[1])

    low, high, before = 0, min(_LOWEST, index.most), -1.0
    while not enough(now := found(high), recall):
        if high == index.most or float(now.mean()) - before < _LEAST_GAIN:
            return high
        low, high, before = high, min(2 * high, index.most), float(now.mean())
    return lowest(lambda setting: enough(found(setting), recall), low, high, max(1, high // 8))


def _search(
    way: Direction, index: SearchedIndex, rows: Rows, setting: int, memory: int, tick: Tick
) -> tuple[Rows, Floats]:
    """Search for some rows: their k nearest and cosines; among all where FAISS finds too few."""
    queries = way.queries.at(rows)
    count = min(index.shortlist(way.k), len(way.others))
    wide = widen(queries, np.empty(queries.shape, dtype=np.float32))
    ids = index.search(wide, count, setting, tick)
    if ids.shape != (len(rows), count) or ids.max(initial=-1) >= len(way.others):
        raise OptionError(f"--index {index.name}: FAISS returns rows that are not there")
    cosines = np.empty(ids.shape, dtype=np.float32)

    def work(start: int) -> None:
        part = slice(start, start + _RESCORED_AT_ONCE)
        places = way.others.in_place(ids[part])
        cosines[part] = exact_cosines(queries[part], way.others.vectors, places)

    with WorkerPool(blas_threads()) as pool:
        pool.run(work, range(0, len(rows), _RESCORED_AT_ONCE), tick)
    few = (ids >= 0).sum(axis=1) < way.k
    ids, cosines = ordered(ids, cosines, way.k)
    if few.any():
        found = search_few(way.queries, rows[few], way.others, way.k, memory, tick)
        ids[few], cosines[few] = found
    return ids, cosines
