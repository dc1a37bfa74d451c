"""Two sides in lists -> the best cells of every row, from products of lists and queries.

One matrix product compares a list and all queries that probe the list (the idea is that of
`faiss.contrib.big_batch_search`; FAISS scans lists for one query after the other), and the cosines
serve the rows of the list as well. So a pair is found if either row probes the list of the other:
with 32 probes in each direction 98.7 % of the four nearest are found, from one direction alone
95.7 % (English and Chinese, 200,000 rows each).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine import native
from xmine.knn.cosines import Floats, Rows, require_units, widen
from xmine.knn.duplicates import Distinct
from xmine.knn.fused import barred, in_tiles
from xmine.knn.inverted_lists import Members
from xmine.knn.topk import CLOSED, EMPTY, GROUP, BlockMaxima, Keys, floors, merge, pack
from xmine.knn.workers import WorkerPool, lent

# Queries and rows of a block: 4 MB of cosines for a worker where lists are long.
_QUERIES_AT_ONCE, _ROWS_AT_ONCE = 1024, 1024
# Multiply-adds of a batch: 0.7 s on two cores. Within a batch, queries are compared with their best
# cells before the batch.
_BATCH = 2**36
# Queries and lists of a round, in 4 bytes each.
_PROBES_AT_ONCE = 2**24


@dataclass(frozen=True, slots=True)
class Listed:
    """One side, the lists of its rows, and their best cells so far.

    Attributes:
        side: its distinct rows.
        lists: [rows, most], the lists that each probes, its own first; see `inverted_lists`.
        best: keys [rows, kept], to be filled; columns are rows of the other side.
    """

    side: Distinct
    lists: NDArray[Any]
    best: Keys

    def parts(self) -> list[range]:
        """Cut the rows so that those of each list take no more than 64 MB."""
        step = max(_QUERIES_AT_ONCE, _PROBES_AT_ONCE // self.lists.shape[1])
        return [range(i, min(i + step, len(self.lists))) for i in range(0, len(self.lists), step)]


class ListRound:
    """The rows of one side, and some queries of the other that probe their lists.

    Attributes:
        queries, others: the sides.
        again: whether some of the pairs were compared before, and are left out.
        lock: held while best cells of queries change.
        weight: lists that all queries probe, which tells how long it takes.
    """

    def __init__(
        self, queries: Listed, part: range, others: Listed, ranks: slice, *, again: bool
    ) -> None:
        """Take some queries, which probe their nearest lists of some ranks."""
        self.queries, self.others, self.again = queries, others, again
        self.part, self.ranks = part, ranks
        self.lock = Lock()
        self.weight = len(part) * len(range(queries.lists.shape[1])[ranks])

    def sort(self, count: int) -> None:
        """Sort rows and queries by lists."""
        probes = self.queries.lists[self.part.start : self.part.stop, self.ranks]
        self.probing = Members(probes, count, self.part.start)
        self.members = Members(self.others.lists[:, :1], count)

    def forget(self) -> None:
        """Free the memory of `sort`."""
        del self.probing, self.members

    def batches(self) -> Iterator[range]:
        """Cut the lists into batches."""
        dim, start = self.queries.side.vectors.shape[1], 0
        work = self.probing.sizes * self.members.sizes * dim
        while start < len(work):
            done = np.cumsum(work[start:])
            stop = min(start + 1 + int(np.searchsorted(done, _BATCH)), len(work))
            yield range(start, stop)
            start = stop


def rounds(left: Listed, right: Listed) -> list[ListRound]:
    """Cut the work so that all pairs are compared once.

    First sources and targets of the same list, so that each row has a bar that few others pass;
    then sources and further lists of targets; then targets and further lists of sources, without
    the pairs of the second round.
    """
    rest = slice(1, None)
    return [
        ListRound(queries, part, others, ranks, again=queries is right)
        for queries, others, ranks in (
            (left, right, slice(1)),
            (left, right, rest),
            (right, left, rest),
        )
        for part in queries.parts()
    ]


def multiply_lists(
    left: Listed,
    right: Listed,
    count: int,
    pool: WorkerPool,
    tick: Callable[[float], None],
    *,
    fused: bool | None = None,
) -> None:
    """Fill in the best cells of both sides.

    Args:
        left, right: the sides.
        count: number of lists.
        pool: its workers multiply.
        tick: called several times a second with the share that is done.
        fused: whether the kernels multiply, if they are there at all.
    """
    fused = native.kernels is not None if fused is None else fused
    multipliers: list[ListMultiplier | FusedLists] = [
        FusedLists() if fused else ListMultiplier(left.side.vectors.shape[1])
        for _ in range(pool.workers)
    ]
    todo = rounds(left, right)
    total = sum(each.weight for each in todo)
    before = 0
    for now in todo:
        now.sort(count)
        for batch in now.batches():
            done = (before + now.weight * batch.start / count) / total
            _multiply_batch(now, batch, multipliers, pool, partial(tick, done))
        now.forget()
        before += now.weight


def compare_again(ours: Listed, rows: Rows, theirs: Listed, count: int, pool: WorkerPool) -> Keys:
    """Find the best cells of some rows among those that they met, by float32: [rows, kept]."""
    side = Distinct(ours.side.at(rows), apart=True)
    best: Keys = np.full((len(rows), ours.best.shape[1]), EMPTY)
    closed: Keys = np.full((len(theirs.lists), 1), CLOSED)
    some, others = Listed(side, ours.lists[rows], best), Listed(theirs.side, theirs.lists, closed)
    multiply_lists(some, others, count, pool, lambda _: None, fused=False)
    return best


def _multiply_batch(
    now: ListRound,
    batch: range,
    multipliers: list["ListMultiplier | FusedLists"],
    pool: WorkerPool,
    tick: Callable[[], None],
) -> None:
    """Multiply some lists and their queries; each worker then merges the keys of some queries."""
    found: list[tuple[Rows, Keys]] = []

    def work(number: int) -> None:
        with lent(multipliers) as multiplier:
            found.extend(multiplier.multiply(now, number, pool))

    pool.run(work, batch, tick)
    if not found:
        return
    best = now.queries.best
    where, keys = (np.concatenate(part) for part in zip(*found, strict=True))
    step = -(-len(best) // pool.workers)

    def merge_some(start: int) -> None:
        mine = (where >= start) & (where < start + step)
        merge(best, where[mine], keys[mine])

    pool.run(merge_some, range(0, len(best), step), tick)


class ListMultiplier:
    """The arrays of one worker: room for a block, made once."""

    def __init__(self, dim: int) -> None:
        self.left = np.empty((_QUERIES_AT_ONCE, dim), dtype=np.float32)
        self.right = np.empty((_ROWS_AT_ONCE, dim), dtype=np.float32)
        self.cells = np.empty(_QUERIES_AT_ONCE * _ROWS_AT_ONCE, dtype=np.float32)
        self.maxima = BlockMaxima(_QUERIES_AT_ONCE * _ROWS_AT_ONCE)

    def multiply(self, now: ListRound, number: int, pool: WorkerPool) -> list[tuple[Rows, Keys]]:
        """Multiply a list and the queries that probe it; give queries and their new keys.

        The keys of the rows are merged at once: no other worker has these rows.
        """
        found: list[tuple[Rows, Keys]] = []
        members, probing = now.members.of(number), now.probing.of(number)
        for row in range(0, len(members) if len(probing) else 0, _ROWS_AT_ONCE):
            rows = members[row : row + _ROWS_AT_ONCE]
            right = _gathered(now.others.side, rows, self.right)
            own = now.others.best[rows]
            for query in range(0, len(probing), _QUERIES_AT_ONCE):
                if pool.stopped:
                    return found
                asking = probing[query : query + _QUERIES_AT_ONCE]
                left = _gathered(now.queries.side, asking, self.left)
                block = self.cells[: len(left) * len(right)].reshape(len(left), len(right))
                np.matmul(left, right.T, out=block)
                block[len(asking) :] = -np.inf
                block[:, len(rows) :] = -np.inf
                self.maxima.reduce(block)
                self._offer_columns(now, asking, rows, own)
                found += self._of_rows(now, asking, rows)
            now.others.best[rows] = own
        return found

    def _offer_columns(self, now: ListRound, asking: Rows, rows: Rows, own: Keys) -> None:
        """Let the cells of the block into the best of its columns."""
        floor = floors(own, self.maxima.block.shape[1])
        for query, column, values in self.maxima.above_columns(floor, own.shape[1]):
            new = _new(now, asking[query], rows[column])
            merge(own, column[new], pack(values[new], asking[query][new]))

    def _of_rows(self, now: ListRound, asking: Rows, rows: Rows) -> Iterator[tuple[Rows, Keys]]:
        """Give the cells that may be among the best of the rows of the block."""
        best = now.queries.best[asking]
        floor = floors(best, self.maxima.block.shape[0])
        for query, column, values in self.maxima.above_rows(floor, best.shape[1]):
            new = _new(now, asking[query], rows[column])
            yield asking[query][new], pack(values[new], rows[column][new])


class FusedLists:
    """What `ListMultiplier` does, by the fused product; best cells of queries are merged, too."""

    def multiply(self, now: ListRound, number: int, pool: WorkerPool) -> list[tuple[Rows, Keys]]:
        """Multiply a list and the queries that probe it; nothing is left to merge.

        Pairs that were compared before have equal keys, and are let in once.
        """
        members, probing = now.members.of(number), now.probing.of(number)
        dim, best = now.queries.side.vectors.shape[1], now.queries.best
        for row in range(0, len(members) if len(probing) else 0, _ROWS_AT_ONCE):
            rows = members[row : row + _ROWS_AT_ONCE]
            right, own = in_tiles(now.others.side, rows, is_left=False), now.others.best[rows]
            for query in range(0, len(probing), _QUERIES_AT_ONCE):
                if pool.stopped:
                    return []
                asking = probing[query : query + _QUERIES_AT_ONCE]
                left = in_tiles(now.queries.side, asking, is_left=True)
                with now.lock:
                    found = barred(best, asking)
                native.kernels.scan(left, asking, found, right, rows, own, dim, now.again)
                with now.lock:
                    native.kernels.merge(best, best.shape[1], asking, found)
            now.others.best[rows] = own
        return []


def _gathered(side: Distinct, rows: Rows, out: Floats) -> Floats:
    """Read rows to float32, and fill up a group with zeros."""
    out = out[: -(-len(rows) // GROUP) * GROUP]
    require_units(widen(side.at(rows), out[: len(rows)]))
    out[len(rows) :] = 0
    return out


def _new(now: ListRound, queries: Rows, rows: Rows) -> NDArray[np.bool_] | slice:
    """Tell which pairs are new: their row did not probe the list of the query."""
    if not now.again:
        return slice(None)
    homes = now.queries.lists[queries, :1]
    new: NDArray[np.bool_] = (now.others.lists[rows] != homes).all(axis=1)
    return new
