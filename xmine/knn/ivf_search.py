"""Two sides and the centroids of lists -> most of the nearest both ways, by searching few lists.

A sample of rows tells how many lists reach the wanted recall: a pair is found if either row probes
the list of the other, so the ranks of these lists decide.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from xmine.files.digests import HashedRows
from xmine.hardware import blas_threads
from xmine.knn.cosines import Floats
from xmine.knn.exact import SPARE, search_few
from xmine.knn.inverted_lists import Tick, assign_lists, distances_of, most_probed, number_type
from xmine.knn.ivf_products import Listed, multiply_lists
from xmine.knn.recall import CHOSEN_ON, enough, lowest, sample
from xmine.knn.rescoring import Direction, rescore_certain
from xmine.knn.state_files import SearchFiles, SearchState
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
    files: SearchFiles,
    state: SearchState,
    memory: int,
    tick: Callable[[float], None],
) -> float:
    """Fill both directions; return the mean number of lists that a row probed.

    Args:
        forward, backward: rows that look for neighbours, and arrays for these.
        centroids: [lists, dim].
        recall: share of the k nearest to be found, in each direction.
        files: make arrays and save keys.
        state: settings and steps that an earlier run finished.
        memory: bytes for the blocks of exact searches.
        tick: called several times a second with the share that is done.
    """
    count, n = len(centroids), len(forward.queries)
    if "reach" not in state.known:
        reach, most = choose_reach(forward, backward, centroids, recall, memory, lambda: tick(0.0))
        state.note(reach=reach, most=most, assigned=0)
    rows = n + len(backward.queries)
    lists = files.array("lists", (rows, state.known["most"]), number_type(count))
    best: Keys = files.array("best", (rows, max(forward.k, backward.k) + SPARE), np.int64)
    given = HashedRows(lists)
    if files.fresh or not given.are(state.known["assigned"], state.known.get("lists")):
        if files.folder and not files.fresh and state.known["assigned"]:
            files.watch.changed(files.folder / "lists.npy.partial")
        state.note(assigned=0)
    left = Listed(forward.queries, lists[:n], best[:n])
    right = Listed(backward.queries, lists[n:], best[n:])
    parts = range(0, rows, _ASSIGNED_AT_ONCE)
    with WorkerPool(blas_threads()) as pool:
        _assign(left, right, centroids, state, given, pool, tick)
        start = files.restore(best, lambda _: given.digest(rows))
        if not start:
            best[:] = EMPTY

        def share(done: float, low: float = _MULTIPLIED, high: float = 1.0) -> None:
            tick(low + (high - low) * done)

        multiply_lists(
            left,
            right,
            count,
            start,
            pool,
            lambda done: share(done, _ASSIGNED, _MULTIPLIED),
            lambda step: files.save(step, best, lambda _: given.digest(rows)),
        )
        settle(forward, left.best, memory, pool, lambda done: share(done / 2))
        settle(backward, right.best, memory, pool, lambda done: share((1 + done) / 2))
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
        lambda step: all(enough(each <= steps[step], recall) for each in distances),
        -1,
        len(steps) - 1,
    )
    reach = float(steps[step])
    return reach, max(most_probed(centroids, rows, reach) for rows in samples)


def _assign(
    left: Listed,
    right: Listed,
    centroids: Floats,
    state: SearchState,
    given: HashedRows,
    pool: WorkerPool,
    tick: Callable[[float], None],
) -> None:
    """Find the lists that all rows probe, sources first."""
    total = len(left.lists) + len(right.lists)
    before = 0
    for each in (left, right):
        for start in range(0, len(each.lists), _ASSIGNED_AT_ONCE):
            share = _ASSIGNED * (before + start) / total
            stop = min(start + _ASSIGNED_AT_ONCE, len(each.lists))
            if state.known["assigned"] < before + stop:
                some = each.lists[start:stop]
                reach = state.known["reach"]
                assign_lists(centroids, each.side, start, reach, some, pool, partial(tick, share))
                state.note(assigned=before + stop, lists=given.digest(before + stop))
        before += len(each.lists)


def settle(
    way: Direction, best: Keys, memory: int, pool: WorkerPool, tick: Callable[[float], None]
) -> None:
    """Fill the k nearest of all rows; rows that found fewer than k are searched exactly.

    So are rows whose spare cells all lie within the error of the k-th: other blocks of the product
    might have kept others of these.
    """
    rows = rescore_certain(way, best, 0, pool, tick)
    for start in range(0, len(rows), _SEARCHED_AT_ONCE):
        some = rows[start : start + _SEARCHED_AT_ONCE]
        found = search_few(way.queries, some, way.others, way.k, memory, lambda: tick(1.0))
        way.ids[some], way.cosines[some] = found
