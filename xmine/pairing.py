"""Margin scores -> chosen pairs: which neighbours count, and one pair per sentence.

fwd takes the best target of each source, bwd the best source of each target, intersect the pairs
that both take, and max walks through what either takes, best first, and keeps a pair when both
its sentences are still free. So intersect and max are one-to-one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.margin import MarginScores
from xmine.neighbours import Neighbours


@dataclass(frozen=True, slots=True)
class ChosenPairs:
    """Pairs of rows, best score first; equal scores by source row, then by target row.

    Attributes:
        sources: int64 [pairs], rows of the source matrix.
        targets: int64 [pairs], rows of the target matrix.
        scores: float32 [pairs].
        cosines: float32 [pairs].
    """

    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    scores: NDArray[np.float32]
    cosines: NDArray[np.float32]

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.sources)

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_] | slice) -> "ChosenPairs":
        """Keep some pairs, in the order of `rows`."""
        return ChosenPairs(
            self.sources[rows], self.targets[rows], self.scores[rows], self.cosines[rows]
        )


def choose_pairs(
    neighbours: Neighbours, scores: MarginScores, retrieval: str = "max"
) -> ChosenPairs:
    """Choose pairs among the neighbours.

    Args:
        neighbours: the k nearest rows both ways.
        scores: their scores.
        retrieval: `max`, `fwd`, `bwd` or `intersect`.
    """
    fwd = _best(neighbours.targets, scores.targets, neighbours.target_cosines)
    if retrieval == "fwd":
        return _sorted(fwd)
    turned = _best(neighbours.sources, scores.sources, neighbours.source_cosines)
    bwd = ChosenPairs(turned.targets, turned.sources, turned.scores, turned.cosines)
    if retrieval == "bwd":
        return _sorted(bwd)
    both = bwd.sources[fwd.targets] == fwd.sources  # [sources]: the target's best is the source
    if retrieval == "intersect":
        return _sorted(fwd.take(both))
    only_bwd = np.ones(len(bwd), dtype=bool)
    only_bwd[fwd.targets[both]] = False
    return _one_to_one(_sorted(_joined(fwd, bwd.take(only_bwd))))


def _best(
    ids: NDArray[np.int64], scores: NDArray[np.float32], cosines: NDArray[np.float32]
) -> ChosenPairs:
    """Take each row's best-scored neighbour; of equal ones that with the lower number."""
    rows = np.arange(len(ids))
    highest = scores.max(axis=1, keepdims=True)
    best = np.where(scores == highest, ids, np.iinfo(np.int64).max).argmin(axis=1)
    return ChosenPairs(rows, ids[rows, best], scores[rows, best], cosines[rows, best])


def _joined(first: ChosenPairs, second: ChosenPairs) -> ChosenPairs:
    return ChosenPairs(
        np.concatenate([first.sources, second.sources]),
        np.concatenate([first.targets, second.targets]),
        np.concatenate([first.scores, second.scores]),
        np.concatenate([first.cosines, second.cosines]),
    )


def _sorted(pairs: ChosenPairs) -> ChosenPairs:
    return pairs.take(np.lexsort((pairs.targets, pairs.sources, -pairs.scores)))


def _one_to_one(pairs: ChosenPairs) -> ChosenPairs:
    """Walk down the sorted pairs and keep one when neither of its sentences is taken."""
    taken_sources: set[int] = set()
    taken_targets: set[int] = set()
    kept = []
    rows = zip(pairs.sources.tolist(), pairs.targets.tolist(), strict=True)
    for row, (source, target) in enumerate(rows):
        if source not in taken_sources and target not in taken_targets:
            taken_sources.add(source)
            taken_targets.add(target)
            kept.append(row)
    return pairs.take(np.array(kept, dtype=np.intp))
