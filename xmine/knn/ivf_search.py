"""Two sides and the centroids of lists -> most of the nearest both ways, by probing few lists.

How many is chosen on a sample for a wanted recall: a pair is found if either row probes the list of
the other, so the ranks of these lists tell it at once.
"""

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from xmine.files.digests import HashedRows
from xmine.knn.cosines import ordered, rescored
from xmine.knn.exact import search_few
from xmine.knn.inverted_lists import Floats, Tick, distances_of, most_probed, numbers_of, probed
from xmine.knn.ivf_products import Listed, meet
from xmine.knn.recall import CHOSEN_ON, enough, lowest, sample
from xmine.knn.rescoring import Direction
from xmine.knn.state import SearchState
from xmine.knn.state_files import SearchFiles
from xmine.knn.topk import EMPTY, Keys, columns_of
from xmine.knn.workers import Crew, blas_threads

# Cells kept beyond k, for the last bits of the product.
SPARE = 4
# State is saved after as many seconds, or later, when saving is a fiftieth of the work since then.
_SAVE_SECONDS = 2.0
_SAVE_SHARE = 0.02
# Shares of the work, for those who wait: rows get their lists, lists meet.
_ASSIGNED, _MET = 0.1, 0.95
_ASSIGNED_AT_ONCE = 32768
_SETTLED_AT_ONCE = 1024


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
    """Fill both directions.

    Args:
        forward, backward: what is filled.
        centroids: [lists, dim].
        recall: which share of the k nearest is to be found, in each direction.
        files: where arrays are made, and keys are saved.
        state: what is known from before.
        memory: bytes for the blocks of exact searches.
        tick: called several times a second with the share that is done.

    Returns:
        How many lists a row has probed, on average.
    """
    count, n = len(centroids), len(forward.queries)
    if "reach" not in state.known:
        reach, most = _reach(forward, backward, centroids, recall, memory, lambda: tick(0.0))
        state.note(reach=reach, most=most, assigned=0)
    rows = n + len(backward.queries)
    lists = files.array("lists", (rows, state.known["most"]), numbers_of(count))
    best: Keys = files.array("best", (rows, max(forward.k, backward.k) + SPARE), np.int64)
    given = HashedRows(lists)
    if files.fresh or not given.are(state.known["assigned"], state.known.get("lists")):
        if files.folder and not files.fresh and state.known["assigned"]:
            files.watch.changed(files.folder / "lists.npy.partial")
        state.note(assigned=0)
    left = Listed(forward.queries, lists[:n], best[:n])
    right = Listed(backward.queries, lists[n:], best[n:])
    parts = range(0, rows, _ASSIGNED_AT_ONCE)
    with Crew(blas_threads()) as crew:
        _assign(left, right, centroids, state, given, crew, tick)
        start = files.restore(best, lambda _: given.digest(rows))
        if not start:
            best[:] = EMPTY
        save = _saving(files, best, given.digest(rows))
        meet(left, right, count, start, crew, lambda s: tick(_between(_ASSIGNED, _MET, s)), save)
        _settle(forward, left.best, memory, crew, lambda s: tick(_between(_MET, 1, s / 2)))
        _settle(backward, right.best, memory, crew, lambda s: tick(_between(_MET, 1, (1 + s) / 2)))
    probes = sum(np.count_nonzero(lists[i : i + _ASSIGNED_AT_ONCE] < count) for i in parts)
    return float(probes) / rows


def _between(low: float, high: float, share: float) -> float:
    return low + (high - low) * share


def _reach(
    forward: Direction,
    backward: Direction,
    centroids: Floats,
    recall: float,
    memory: int,
    tick: Tick,
) -> tuple[float, int]:
    """Choose the shortest reach for the recall in both directions; and the most lists within it."""
    distances, samples = [], []
    for way in (forward, backward):
        chosen = sample(way, CHOSEN_ON, 1, memory, tick)
        queries = way.queries.at(np.repeat(chosen.rows, way.k))
        met = way.others.at(chosen.ids.ravel())
        there, back = distances_of(centroids, queries, met), distances_of(centroids, met, queries)
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
    crew: Crew,
    tick: Callable[[float], None],
) -> None:
    """Find the lists that rows probe; those of the sources come first."""
    total = len(left.lists) + len(right.lists)
    before = 0
    for each in (left, right):
        for start in range(0, len(each.lists), _ASSIGNED_AT_ONCE):
            share = _ASSIGNED * (before + start) / total
            stop = min(start + _ASSIGNED_AT_ONCE, len(each.lists))
            if state.known["assigned"] < before + stop:
                some = each.lists[start:stop]
                reach = state.known["reach"]
                probed(centroids, each.side, start, reach, some, crew, partial(tick, share))
                state.note(assigned=before + stop, lists=given.digest(before + stop))
        before += len(each.lists)


def _saving(files: SearchFiles, best: Keys, proof: str) -> Callable[[int], None]:
    """Make what saves the keys now and then."""
    saved, pause = time.monotonic(), _SAVE_SECONDS

    def save(done: int) -> None:
        nonlocal saved, pause
        before = time.monotonic()
        if files.folder is not None and before - saved > pause:
            files.save(done, best, proof)
            saved = time.monotonic()
            pause = max(_SAVE_SECONDS, (saved - before) / _SAVE_SHARE)

    return save


def _settle(
    way: Direction, best: Keys, memory: int, crew: Crew, tick: Callable[[float], None]
) -> None:
    """Fill the k nearest of all rows; those that have met too few are searched for among all."""
    finished: list[int] = []
    few: list[NDArray[np.int64]] = []

    def work(start: int) -> None:
        keys = best[start : start + _SETTLED_AT_ONCE]
        rows = slice(start, start + len(keys))
        ids = np.where(keys == EMPTY, -1, columns_of(keys))[:, ::-1]
        queries = way.queries.rows(start, start + len(keys))
        cosines = rescored(queries, way.others.vectors, way.others.in_place(ids))
        way.ids[rows], way.cosines[rows] = ordered(ids, cosines, way.k)
        few.append(start + np.flatnonzero(ids[:, way.k - 1] < 0))
        finished.append(len(keys))

    def share() -> None:
        tick(sum(finished) / len(best))

    crew.run(work, range(0, len(best), _SETTLED_AT_ONCE), share)
    rows = np.sort(np.concatenate(few))
    for start in range(0, len(rows), _SETTLED_AT_ONCE):
        some = rows[start : start + _SETTLED_AT_ONCE]
        found = search_few(way.queries, some, way.others, way.k, memory, share)
        way.ids[some], way.cosines[some] = found
