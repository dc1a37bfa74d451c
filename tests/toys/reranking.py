"""Candidates reranked by their tokens, as the definitions read: one pair, one token at a time."""

import math

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.reranking import RerankingWeights

Cell = tuple[int, int]
Texts = tuple[list[str], list[str]]
Vectors = tuple[NDArray[np.floating], NDArray[np.floating]]


def slow_log_odds(
    encoder: SentenceEncoder,
    texts: Texts,
    vectors: Vectors,
    nearest: int,
    k: int = 4,
    weights: RerankingWeights | None = None,
) -> dict[Cell, float]:
    """Score each pair of lines of which one is among the nearest of the other.

    Args:
        encoder: static.
        texts, vectors: of both sides, unit rows.
        nearest: lines of the other side that are candidates.
        k: nearest lines that the margins are over.
        weights: of the reranking, where they are not the defaults.
    """
    weights = weights or RerankingWeights()
    wide = slow_nearest(vectors, max(nearest, k))
    near = [[row[:nearest] for row in side] for side in wide]
    cosines = vectors[0].astype(np.float64) @ vectors[1].astype(np.float64).T
    of_source = [np.mean([cosines[i, j] for j in row[:k]]) for i, row in enumerate(wide[0])]
    of_target = [np.mean([cosines[i, j] for i in row[:k]]) for j, row in enumerate(wide[1])]
    tokens = [[_tokens(encoder, text) for text in side] for side in texts]
    assert isinstance(encoder.body, StaticEmbedding)
    heaviest = float(np.linalg.norm(encoder.body.vectors, axis=1).max())
    margins: dict[Cell, float] = {}
    matches: dict[Cell, tuple[float, float, float]] = {}
    cells = {(i, j) for i, row in enumerate(near[0]) for j in row}
    cells |= {(i, j) for j, row in enumerate(near[1]) for i in row}
    for i, j in cells:
        margins[i, j] = float(cosines[i, j]) / max((of_source[i] + of_target[j]) / 2, 1e-6)
        matches[i, j] = slow_match(tokens[0][i], tokens[1][j], heaviest)
    means = {cell: match for cell, (match, _, _) in matches.items()}
    scores = {}
    for i, j in cells:
        rivals = {(i, other) for other in near[0][i]} | {(other, j) for other in near[1][j]}
        rivals -= {(i, j)}
        _, order, missing = matches[i, j]
        scores[i, j] = (
            weights.bias
            + weights.log_margin * math.log(max(margins[i, j], 1e-3))
            + weights.missing * missing
            + weights.order * order
            + weights.match_lead * _lead(means, (i, j), rivals)
            + weights.margin_lead * _lead(margins, (i, j), rivals)
        )
    return scores


def slow_nearest(vectors: Vectors, k: int) -> tuple[list[list[int]], list[list[int]]]:
    """Find the nearest targets of each source, and the nearest sources of each target."""
    cosines = np.round(vectors[0].astype(np.float64) @ vectors[1].astype(np.float64).T, 7).tolist()
    turned = [list(column) for column in zip(*cosines, strict=True)]
    by_row, by_column = (
        [_first(dict(enumerate(row)), k) for row in side] for side in (cosines, turned)
    )
    return by_row, by_column


def slow_lines(
    encoder: SentenceEncoder,
    texts: Texts,
    vectors: Vectors,
    k: int = 4,
    nearest: int = 10,
    weights: RerankingWeights | None = None,
) -> tuple[list[int], list[int]]:
    """Choose the best of the nearest lines of each source, and of each target."""
    scores = slow_log_odds(encoder, texts, vectors, nearest, k, weights)
    near = slow_nearest(vectors, nearest)
    return (
        [_first({j: scores[i, j] for j in row})[0] for i, row in enumerate(near[0])],
        [_first({i: scores[i, j] for i in row})[0] for j, row in enumerate(near[1])],
    )


def _first(figures: dict[int, float], k: int = 1) -> list[int]:
    """Find the k rows with the highest figures; of equal ones those with the lower number."""
    return sorted(figures, key=lambda row: (-figures[row], row))[:k]


def slow_match(
    source: list[NDArray[np.float64]], target: list[NDArray[np.float64]], heaviest: float
) -> tuple[float, float, float]:
    """Measure match, order, and what the side that misses more misses.

    Args:
        source, target: the vectors of tokens.
        heaviest: the length of the longest vector of the encoder.
    """
    if not source or not target:
        return 0, 0, 0
    there, back = _counterparts(source, target), _counterparts(target, source)
    one = _one_way(source, there, back, heaviest)
    other = _one_way(target, back, there, heaviest)
    return (one[0] + other[0]) / 2, (one[1] + other[1]) / 2, max(one[2], other[2])


def _counterparts(
    own: list[NDArray[np.float64]], others: list[NDArray[np.float64]]
) -> list[tuple[float, int]]:
    """Find the largest cosine of each token, and the token that has it; -1 if none is above 0."""
    found = []
    for token in own:
        best, where = 0.0, -1
        for at, other in enumerate(others):
            cosine = round(float(token @ other) / math.sqrt((token @ token) * (other @ other)), 7)
            if cosine > best:
                best, where = cosine, at
        found.append((best, where))
    return found


def _one_way(
    own: list[NDArray[np.float64]],
    counterparts: list[tuple[float, int]],
    back: list[tuple[float, int]],
    heaviest: float,
) -> tuple[float, float, float]:
    found, total, missing, placed = 0.0, 0.0, 0.0, []
    for place, (token, (best, where)) in enumerate(zip(own, counterparts, strict=True)):
        weight = math.sqrt(token @ token) / heaviest
        total += weight
        missing += (weight * (1 - best)) ** 2
        if where < 0:
            continue
        placed.append((weight, place, where))
        if back[where][1] == place:
            found += weight * best
    return found / total, _correlation(placed), missing / total


def _correlation(placed: list[tuple[float, int, int]]) -> float:
    """Correlate places with weights; 0 where one side does not vary."""
    total = sum(weight for weight, _, _ in placed)
    if not total:
        return 0
    x = sum(weight * one for weight, one, _ in placed) / total
    y = sum(weight * other for weight, _, other in placed) / total
    across = sum(weight * (one - x) * (other - y) for weight, one, other in placed)
    of_x = sum(weight * (one - x) ** 2 for weight, one, _ in placed)
    of_y = sum(weight * (other - y) ** 2 for weight, _, other in placed)
    return across / math.sqrt(of_x * of_y) if min(of_x, of_y) > 1e-9 else 0


def _tokens(encoder: SentenceEncoder, text: str) -> list[NDArray[np.float64]]:
    """Look up the vectors of a text's tokens, without those that have none."""
    assert isinstance(encoder.body, StaticEmbedding)
    ids, _ = encoder.body.pieces.ids([text])
    return [row for row in encoder.body.vectors[ids].astype(np.float64) if row.any()]


def _lead(values: dict[Cell, float], cell: Cell, rivals: set[Cell]) -> float:
    return values[cell] - max(values[rival] for rival in rivals) if rivals else 0
