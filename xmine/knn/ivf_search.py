"""Two sides and the centroids of lists -> most of the nearest both ways, by searching few lists.

A sample of rows tells how many lists reach the wanted recall: a pair is found if either row probes
the list of the other, so the ranks of these lists decide.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from xmine.files import scratch
from xmine.hardware import blas_threads
from xmine.knn.cosines import Floats, Rows
from xmine.knn.exact import SPARE, search_few
from xmine.knn.inverted_lists import Tick, assign_lists, distances_of, most_probed, number_type
from xmine.knn.ivf_products import Listed, compare_again, multiply_lists
from xmine.knn.recall import CHOSEN_ON, enough, lowest, sample
from xmine.knn.rescoring import Direction, error, key_error, rescore_certain
from xmine.knn.topk import EMPTY, Keys
from xmine.knn.workers import WorkerPool

# Shares of the work, for the progress: lists are assigned, then multiplied.
_ASSIGNED, _MULTIPLIED = 0.1, 0.95
_ASSIGNED_AT_ONCE = 32768
_SEARCHED_AT_ONCE = 1024


def search_lists(
    forward: Direction,
    backward: Direction,
    centroids: Floats,
    recall: float,
    memory: int,
    tick: Callable[[float], None],
) -> float:
    """Fill both directions; return the mean number of lists that a row probed.

    Args:
        forward, backward: rows that look for neighbours, and arrays for these.
        centroids: [lists, dim].
        recall: share of the k nearest to be found, in each direction.
        memory: bytes for the blocks of exact searches.
        tick: called several times a second with the share that is done.
    """
    count, n = len(centroids), len(forward.queries)
    reach, most = choose_reach(forward, backward, centroids, recall, memory, lambda: tick(0.0))
    rows = n + len(backward.queries)
    lists = scratch.empty((rows, most), number_type(count))
    best: Keys = scratch.empty((rows, max(forward.k, backward.k) + SPARE), np.int64)
    best[:] = EMPTY
    left = Listed(forward.queries, lists[:n], best[:n])
    right = Listed(backward.queries, lists[n:], best[n:])
    parts = range(0, rows, _ASSIGNED_AT_ONCE)

    def share(done: float, low: float = _MULTIPLIED, high: float = 1.0) -> None:
        tick(low + (high - low) * done)

    with WorkerPool(blas_threads()) as pool:
        for before, each in ((0, left), (n, right)):
            for start in range(0, len(each.lists), _ASSIGNED_AT_ONCE):
                some = each.lists[start : start + _ASSIGNED_AT_ONCE]
                told = partial(tick, _ASSIGNED * (before + start) / rows)
                assign_lists(centroids, each.side, start, reach, some, pool, told)
        multiply_lists(left, right, count, pool, lambda done: share(done, _ASSIGNED, _MULTIPLIED))
        for low, way, ours, theirs in ((0, forward, left, right), (1, backward, right, left)):
            again = partial(compare_again, ours, theirs=theirs, count=count, pool=pool)
            settled = partial(lambda low, done: share((low + done) / 2), low)
            settle(way, ours.best, again, memory, pool, settled)
    probes = sum(np.count_nonzero(lists[i : i + _ASSIGNED_AT_ONCE] < count) for i in parts)
    return float(probes) / rows


def choose_reach(
    forward: Direction,
    backward: Direction,
    centroids: Floats,
    recall: float,
    memory: int,
    tick: Tick,
) -> tuple[float, int]:
    """Choose the shortest reach for the recall in both directions; count the most lists within."""
    distances, samples = [], []
    for way in (forward, backward):
        chosen = sample(way, CHOSEN_ON, 1, memory, tick)
        queries = way.queries.at(np.repeat(chosen.rows, way.k))
        near = way.others.at(chosen.ids.ravel())
        there, back = distances_of(centroids, queries, near), distances_of(centroids, near, queries)
        distances.append(np.minimum(there, back).reshape(chosen.ids.shape))
        samples.append(way.queries.at(chosen.rows))
        tick()
    steps = np.unique(np.concatenate([each.ravel() for each in distances]))
    step = lowest(
        lambda step: all(enough(each <= steps[step], recall) for each in distances), len(steps) - 1
    )
    reach = float(steps[step])
    return reach, max(most_probed(centroids, rows, reach) for rows in samples)


def settle(
    way: Direction,
    best: Keys,
    again: Callable[[Rows], Keys],
    memory: int,
    pool: WorkerPool,
    tick: Callable[[float], None],
) -> None:
    """Fill the k nearest of all rows; rows that found fewer than k are searched exactly.

    Where the spare cells all lie within the error of the k-th, the pairs that met are compared
    `again`; and where they lie within that of float32, too, other blocks of the product might have
    kept others of these: such rows are searched exactly.
    """
    dim = way.queries.vectors.shape[1]
    rows = rescore_certain(way, best, np.arange(len(best)), key_error(way), pool, tick)
    if len(rows):
        rows = rescore_certain(way, again(rows), rows, error(dim), pool, lambda _: tick(1.0))
    for start in range(0, len(rows), _SEARCHED_AT_ONCE):
        some = rows[start : start + _SEARCHED_AT_ONCE]
        found = search_few(way.queries, some, way.others, way.k, memory, lambda: tick(1.0))
        way.ids[some], way.cosines[some] = found
