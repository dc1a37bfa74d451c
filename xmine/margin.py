"""Nearest neighbours -> margin scores: a cosine compared with those of its neighbourhood.

With a = cos(x, y) and b the mean of x's cosines to its k neighbours and of y's to its own:
ratio a / b, distance a - b, absolute a (Artetxe & Schwenk, 2019, "Margin-based parallel corpus
mining with multilingual sentence embeddings"; dual momentum contrast, eq. 4).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.neighbours import Neighbours

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


def margin_scores(neighbours: Neighbours, margin: str = "ratio") -> MarginScores:
    """Score every neighbour both ways.

    Args:
        neighbours: the k nearest rows both ways.
        margin: `ratio`, `distance` or `absolute`.
    """
    source_means, target_means = _means(neighbours)
    forward = (source_means[:, None] + target_means[neighbours.targets]) / 2  # [sources, k]
    backward = (target_means[:, None] + source_means[neighbours.sources]) / 2  # [targets, k]
    clamped = int((forward < SMALLEST_MEAN).sum() + (backward < SMALLEST_MEAN).sum())
    return MarginScores(
        _score(neighbours.target_cosines, forward, margin),
        _score(neighbours.source_cosines, backward, margin),
        clamped if margin == "ratio" else 0,
    )


def pair_scores(
    sources: NDArray[np.int64],
    targets: NDArray[np.int64],
    cosines: NDArray[np.float32],
    neighbours: Neighbours,
    margin: str = "ratio",
) -> tuple[NDArray[np.float32], int]:
    """Score any pairs, whether they are neighbours or not.

    Args:
        sources: int64 [pairs], rows of the source matrix.
        targets: int64 [pairs], rows of the target matrix.
        cosines: float32 [pairs].
        neighbours: the k nearest rows both ways.
        margin: `ratio`, `distance` or `absolute`.

    Returns:
        float32 [pairs], and how many means were raised, as in `MarginScores`.
    """
    source_means, target_means = _means(neighbours)
    means = (source_means[sources] + target_means[targets]) / 2  # [pairs]
    clamped = int((means < SMALLEST_MEAN).sum())
    return _score(cosines, means, margin), clamped if margin == "ratio" else 0


def _means(neighbours: Neighbours) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Average the cosines of each row's neighbourhood: float64 [sources] and [targets]."""
    return (
        neighbours.target_cosines.mean(axis=1, dtype=np.float64),
        neighbours.source_cosines.mean(axis=1, dtype=np.float64),
    )


def _score(
    cosines: NDArray[np.float32], means: NDArray[np.float64], margin: str
) -> NDArray[np.float32]:
    if margin == "ratio":
        return (cosines / np.maximum(means, SMALLEST_MEAN)).astype(np.float32)
    if margin == "distance":
        return (cosines - means).astype(np.float32)
    return cosines
