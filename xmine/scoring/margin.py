"""Nearest neighbours -> margin scores: a cosine compared with those of its neighbourhood.

With a = cos(x, y) and b the mean of x's cosines to its k neighbours and of y's to its own:
ratio a / b, distance a - b, absolute a (Artetxe & Schwenk, 2019, "Margin-based parallel corpus
mining with multilingual sentence embeddings"; dual momentum contrast, eq. 4).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.files import scratch
from xmine.knn.neighbours import Neighbours

# Below this a neighbourhood says nothing and the ratio would be huge or change its sign.
SMALLEST_MEAN = 1e-6


@dataclass(frozen=True, slots=True)
class MarginScores:
    """The score of every neighbour, in the shapes of `Neighbours`.

    Attributes:
        targets: float32 [sources, k], scores of each source's nearest targets.
        sources: float32 [targets, k], scores of each target's nearest sources.
        clamped: cells whose neighbourhood mean was below SMALLEST_MEAN and was raised to it.
    """

    targets: NDArray[np.float32]
    sources: NDArray[np.float32]
    clamped: int

    def first(self, k: int) -> "MarginScores":
        """Keep those of the k nearest of each row."""
        return MarginScores(self.targets[:, :k], self.sources[:, :k], self.clamped)


def margin_scores(
    neighbours: Neighbours, margin: str = "ratio", k: int | None = None
) -> MarginScores:
    """Score every neighbour both ways.

    Args:
        neighbours: the nearest rows both ways.
        margin: `ratio`, `distance` or `absolute`.
        k: the neighbours that the means are of; all if left out.
    """
    few = neighbours.first(k) if k else neighbours
    sizes = len(neighbours.targets), len(neighbours.sources)
    rows, columns = (np.arange(size)[:, None] for size in sizes)
    ours = pair_scores(rows, neighbours.targets, neighbours.target_cosines, few, margin)
    theirs = pair_scores(neighbours.sources, columns, neighbours.source_cosines, few, margin)
    return MarginScores(ours[0], theirs[0], ours[1] + theirs[1])


def pair_scores(
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    cosines: NDArray[np.float32],
    neighbours: Neighbours,
    margin: str = "ratio",
) -> tuple[NDArray[np.float32], int]:
    """Score any pairs, whether they are neighbours or not.

    Args:
        sources, targets: int64, rows of both matrices; [pairs], or shapes that go together.
        cosines: float32 [pairs], or [rows, k].
        neighbours: the k nearest rows both ways.
        margin: `ratio`, `distance` or `absolute`.

    Returns:
        float32, as the cosines are, and how many means were raised, as in `MarginScores`.
    """
    source_means, target_means = (
        each.mean(axis=1, dtype=np.float64)
        for each in (neighbours.target_cosines, neighbours.source_cosines)
    )
    scores, clamped = scratch.empty(cosines.shape, np.float32), 0
    for some in scratch.slices(len(scores)):
        means = (source_means[sources[some]] + target_means[targets[some]]) / 2
        clamped += int((means < SMALLEST_MEAN).sum())
        scores[some] = _score(cosines[some], means, margin)
    return scores, clamped if margin == "ratio" else 0


def scores_near(
    neighbours: Neighbours, rows: NDArray[np.int64], margin: str, k: int
) -> NDArray[np.float32]:
    """Score the targets near a few sources, as `margin_scores` does it for all.

    Nothing else is read, so that the arrays may be files of any size.

    Args:
        neighbours: those that are known of each row, perhaps more than k.
        rows: int64 [rows], of the source matrix.
        margin: `ratio`, `distance` or `absolute`.
        k: the neighbours that the means are of.

    Returns:
        float32 [rows, known], also of neighbours beyond the k-th.
    """
    ids, own = neighbours.targets[rows], np.asarray(neighbours.target_cosines[rows])
    theirs = neighbours.source_cosines[ids][..., :k].mean(axis=-1, dtype=np.float64)
    means = (own[:, :k].mean(axis=1, dtype=np.float64)[:, None] + theirs) / 2  # [rows, known]
    return _score(own, means, margin)


def _score(
    cosines: NDArray[np.float32], means: NDArray[np.float64], margin: str
) -> NDArray[np.float32]:
    if margin == "ratio":
        return (cosines / np.maximum(means, SMALLEST_MEAN)).astype(np.float32)
    if margin == "distance":
        return (cosines - means).astype(np.float32)
    return cosines
