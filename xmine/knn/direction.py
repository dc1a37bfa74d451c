"""Queries and an index over the other side -> what is near to each, and how much of it is found."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.errors import OptionError
from xmine.knn.crew import Crew, blas_threads
from xmine.knn.exchange import Found
from xmine.knn.indexes import SearchedIndex
from xmine.knn.lists import Rows, ranks_of, search_all
from xmine.neighbours import Vectors, ordered, rescored, widen

# Queries on which the setting is chosen, and others on which the recall is measured.
_SAMPLE = 3000
_FRESH = 1000
# The recall of the sample must exceed what is wanted by so many of its standard errors.
_ERRORS = 1.5
# A setting twice as high that finds no more than this shows that the codes lose the rest.
_LEAST_GAIN = 5e-4
_LOWEST = 8
_MOST_QUERIES = 32768
# Bytes for each query of a chunk: of its probes while they are sorted, and of what is found.
_BYTES_PER_PROBE = 32
_BYTES_FOUND = 4096
_RESCORED_AT_ONCE = 1024
# Half of what one direction misses is found by the other (`xmine.knn.exchange`), where both sides
# are about as long; so one alone may miss half as much again as is allowed.
_RECOVERED = 1.5
_ALIKE = 2


class Direction:
    """The search of all rows of one side in an index over the other."""

    def __init__(
        self,
        queries: Vectors,
        others: Vectors,
        found: Found,
        k: int,
        memory: int,
        report: Callable[[int], None],
    ) -> None:
        """Take queries and others [rows, dim], and the arrays [queries, k and a few] to fill."""
        self.queries, self.others, self.memory, self.report = queries, others, memory, report
        self.ids, self.cosines = found
        self.k, self.done = k, 0

    def tick(self) -> None:
        """Say that work goes on."""
        self.report(self.done)

    def run(
        self, index: SearchedIndex, known: dict[str, Any], save: Callable[[], None], recall: float
    ) -> None:
        """Choose the setting, and search all queries; `known` is saved, or comes from a kill."""
        if "setting" not in known:
            known |= {"setting": self.choose(index, recall), "knob": index.knob, "done": 0}
            save()
        chunk = self.chunk(index, known["setting"])
        for start in range(known["done"], len(self.queries), chunk):
            self.done = start
            rows = slice(start, start + chunk)
            found = self.search(index, self.queries[rows], known["setting"])
            self.ids[rows], self.cosines[rows] = found
            known["done"] = min(start + chunk, len(self.queries))
            save()

    def measure(self, cosines: NDArray[np.float32]) -> float:
        """Tell which share of the k nearest is among what was found: cosines [queries, k]."""
        fresh = self.sample(_FRESH, 2)
        _, true = self.truth(self.queries[fresh])
        return float((cosines[fresh] >= true[:, self.k - 1 : self.k]).mean())

    def chunk(self, index: SearchedIndex, setting: int) -> int:
        """Tell how many queries are searched at once."""
        probes = setting if index.by_lists else 0
        each: int = 8 * self.queries.shape[1] + _BYTES_PER_PROBE * probes + _BYTES_FOUND
        return max(_RESCORED_AT_ONCE, min(_MOST_QUERIES, self.memory // 2 // each))

    def choose(self, index: SearchedIndex, wanted: float) -> int:
        """Find the lowest setting that reaches the recall on a sample.

        Lists that lose nothing tell it at once: a row is found if its list is probed. Of other
        indexes, the setting is doubled and then halved, to an eighth.
        """
        rows = self.sample(_SAMPLE, 1)
        queries = self.queries[rows]
        ids, cosines = self.truth(queries)
        if index.by_lists:
            sizes = len(self.queries), len(self.others)
            if max(sizes) <= _ALIKE * min(sizes):
                wanted = 1 - _RECOVERED * (1 - wanted)
            ids = ids[:, : self.k]
            met = _widened(self.others[ids.ravel()]).reshape(*ids.shape, -1)
            with Crew(blas_threads()) as crew:
                ranks = ranks_of(index.centroids, _widened(queries), met, crew, self.tick)
            return _lowest(lambda probes: _enough(ranks <= probes, wanted), 0, int(index.most))
        low, high, before = 0, int(min(_LOWEST, index.most)), -1.0
        while not _enough(found := self.found(index, queries, high, cosines), wanted):
            if high == index.most or float(found.mean()) - before < _LEAST_GAIN:
                return int(high)
            low, high, before = high, min(2 * high, index.most), float(found.mean())
        return _lowest(
            lambda setting: _enough(self.found(index, queries, setting, cosines), wanted),
            low,
            high,
            step=max(1, high // 8),
        )

    def found(
        self, index: SearchedIndex, queries: Vectors, setting: int, truth: NDArray[np.float32]
    ) -> NDArray[np.bool_]:
        """Search with a setting and tell which of the k nearest are as near as the true ones."""
        found = self.search(index, queries, setting)[1][:, : self.k]
        return found >= truth[:, self.k - 1 : self.k]

    def sample(self, size: int, seed: int) -> NDArray[np.int64]:
        """Draw rows of queries, rising."""
        rows = np.random.default_rng(seed).permutation(len(self.queries))[:size]
        return np.sort(rows)

    def truth(self, queries: Vectors) -> tuple[Rows, NDArray[np.float32]]:
        """Search everything for a few queries: rows and cosines, [queries, k and a few]."""
        return self.settled(queries, self.everything(_widened(queries)))

    def search(
        self, index: SearchedIndex, queries: Vectors, setting: int
    ) -> tuple[Rows, NDArray[np.float32]]:
        """Search a chunk of queries: rows and cosines, [queries, k and a few]."""
        wide = _widened(queries)
        count = min(index.shortlist(self.k), len(self.others))
        rows = index.search(wide, count, setting, self.tick)
        if rows.shape != (len(queries), count) or rows.max(initial=-1) >= len(self.others):
            raise OptionError(f"--index {index.name}: FAISS returns rows that are not there")
        few = np.flatnonzero((rows >= 0).sum(axis=1) < self.k)
        for start in range(0, len(few), _SAMPLE):
            some = few[start : start + _SAMPLE]
            rows[some] = -1
            rows[some, : self.ids.shape[1]] = self.everything(wide[some])
        return self.settled(queries, rows)

    def everything(self, queries: NDArray[np.float32]) -> Rows:
        """Find the nearest rows of a few queries, all of them and a few more than k."""
        count = self.ids.shape[1]
        with Crew(blas_threads()) as crew:
            return search_all(self.others, queries, count, self.memory // 2, crew, self.tick)

    def settled(self, queries: Vectors, rows: Rows) -> tuple[Rows, NDArray[np.float32]]:
        """Compute cosines anew, sort by them, and keep k."""
        cosines = np.empty(rows.shape, dtype=np.float32)

        def work(start: int) -> None:
            part = slice(start, start + _RESCORED_AT_ONCE)
            cosines[part] = rescored(queries[part], self.others, rows[part])

        with Crew(blas_threads()) as crew:
            crew.run(work, range(0, len(queries), _RESCORED_AT_ONCE), self.tick)
        return ordered(rows, cosines, self.ids.shape[1])


def _widened(vectors: Vectors) -> NDArray[np.float32]:
    return widen(vectors, np.empty(vectors.shape, dtype=np.float32))


def _enough(found: NDArray[np.bool_], wanted: float) -> bool:
    """Tell whether queries found the share that is wanted, [queries, k], with some certainty."""
    shares = found.mean(axis=1)
    error = float(shares.std()) / math.sqrt(len(shares))
    return float(shares.mean()) - _ERRORS * error >= wanted


def _lowest(enough: Callable[[int], bool], low: int, high: int, step: int = 1) -> int:
    """Find the lowest number above `low` that is enough, to a step; `high` is, or is the last."""
    while high - low > step:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high
