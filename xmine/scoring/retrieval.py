"""Margin scores -> chosen pairs: which neighbours count, and one pair per sentence.

fwd takes the best target of each source, bwd the best source of each target, intersect the pairs
that both take, and max walks through what either takes, best first, and keeps a pair when both
its sentences are still free. So intersect and max are one-to-one.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.files import scratch
from xmine.files.scratch import taken
from xmine.knn.neighbours import Neighbours
from xmine.scoring.margin import MarginScores

# Four rounds decided all of the 125,000 pairs of 96,000 x 92,000 lines of web text.
_ROUNDS = 8


@dataclass(frozen=True, slots=True)
class ChosenPairs:
    """Pairs of rows, best first; equal ones by source row, then by target row.

    Attributes:
        sources: int64 [pairs], rows of the source matrix.
        targets: int64 [pairs], rows of the target matrix.
        scores: float32 [pairs].
        cosines: float32 [pairs].
        margins: float32 [pairs], ratio margins where the scores are not margins.
        evidence: float32 [pairs], what a second model adds to the log-odds, where one is asked.
    """

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    scores: NDArray[np.float32]
    cosines: NDArray[np.float32]
    margins: NDArray[np.float32] | None = None
    evidence: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.sources)

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> "ChosenPairs":
        """Keep some pairs, in the order of `rows`."""
        columns = self._columns().items()
        return ChosenPairs(**{name: taken(column, rows) for name, column in columns})

    def joined(self, others: "ChosenPairs") -> "ChosenPairs":
        """Add other pairs, and sort."""
        more = others._columns()
        columns = self._columns().items()
        both = {name: scratch.joined([column, more[name]]) for name, column in columns}
        return _sorted(ChosenPairs(**both))

    def _columns(self) -> dict[str, NDArray[Any]]:
        """Give the columns that are there, by name."""
        columns = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: column for name, column in columns.items() if column is not None}


def choose_pairs(
    neighbours: Neighbours, scores: MarginScores, retrieval: str = "max"
) -> ChosenPairs:
    """Choose pairs among the neighbours.

    Args:
        neighbours: the k nearest rows both ways.
        scores: their scores.
        retrieval: `max`, `fwd`, `bwd` or `intersect`.
    """
    fwd, turned = best_both_ways(neighbours, scores)
    if retrieval == "fwd":
        return _sorted(fwd)
    bwd = ChosenPairs(turned.targets, turned.sources, turned.scores, turned.cosines)
    if retrieval == "bwd":
        return _sorted(bwd)
    both = bwd.sources[fwd.targets] == fwd.sources  # [sources]: the target's best is the source
    if retrieval == "intersect":
        return _sorted(fwd.take(both))
    only_bwd = np.ones(len(bwd), dtype=bool)
    only_bwd[fwd.targets[both]] = False
    return _one_to_one(fwd.joined(bwd.take(only_bwd)))


def best_both_ways(neighbours: Neighbours, scores: MarginScores) -> tuple[ChosenPairs, ChosenPairs]:
    """Take each source's best target, and each target's best source, as a target of its own."""
    return (
        _best_neighbours(neighbours.targets, scores.targets, neighbours.target_cosines),
        _best_neighbours(neighbours.sources, scores.sources, neighbours.source_cosines),
    )


def _best_neighbours(
    ids: NDArray[np.int64], scores: NDArray[np.float32], cosines: NDArray[np.float32]
) -> ChosenPairs:
    """Take each row's best-scored neighbour; of equal ones that with the lower number."""
    types = np.int64, np.int64, np.float32, np.float32
    found = ChosenPairs(*(scratch.empty(len(ids), each) for each in types))
    for rows in scratch.slices(len(ids)):
        found.sources[rows] = at = np.arange(rows.start, rows.stop)
        best = np.lexsort((ids[rows], -scores[rows]))[:, 0]
        found.targets[rows], found.scores[rows] = ids[at, best], scores[at, best]
        found.cosines[rows] = cosines[at, best]
    return found


def _sorted(pairs: ChosenPairs) -> ChosenPairs:
    return pairs.take(np.lexsort((pairs.targets, pairs.sources, -pairs.scores)))


def _one_to_one(pairs: ChosenPairs) -> ChosenPairs:
    """Walk down the sorted pairs and keep one when neither of its sentences is taken.

    A pair that comes before all others of both its sentences is kept by this walk, whatever else
    is, and the others are not; without all of these the same holds of the rest. So a round decides
    many pairs at once. Since chains of pairs may need as many rounds as they have pairs, what some
    rounds leave is walked through.
    """
    kept = np.zeros(len(pairs), dtype=bool)
    left, source, target = np.arange(len(pairs)), pairs.sources, pairs.targets
    for _ in range(_ROUNDS):
        first = _comes_first(source) & _comes_first(target)
        kept[left[first]] = True
        taken_now = np.isin(source, source[first], kind="table")
        taken_now |= np.isin(target, target[first], kind="table")
        left, source, target = (taken(each, ~taken_now) for each in (left, source, target))
    gone = set[tuple[str, int]]()
    for row, x, y in zip(left.tolist(), source.tolist(), target.tolist(), strict=True):
        if gone.isdisjoint(both := {("source", x), ("target", y)}):
            gone |= both
            kept[row] = True
    return pairs.take(kept)


def _comes_first(rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark where a number stands for the first time."""
    places = np.full(rows.max(initial=-1) + 1, len(rows))
    first = np.empty(len(rows), dtype=bool)
    for some in scratch.slices(len(rows)):
        order = np.arange(some.start, some.stop)
        np.minimum.at(places, rows[some], order)
        first[some] = places[rows[some]] == order
    return first
