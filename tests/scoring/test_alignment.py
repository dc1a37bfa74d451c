"""Counterparts of tokens and the loosest stretches, against loops over tokens."""

from math import sqrt

import numpy as np
import pytest

from tests.scoring.test_late_interaction import of
from xmine.encoders.tokens import UNIT, TokenVectors, whole_vectors
from xmine.scoring.alignment import LOOSE, counterparts_of, loosest_stretches


def sentences(lengths: list[int], seed: int, dim: int = 6) -> TokenVectors:
    rng = np.random.default_rng(seed)
    total = sum(lengths)
    vectors, _ = whole_vectors(rng.standard_normal((total, dim)).astype(np.float32))
    weights = rng.integers(1, 1001, total).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return TokenVectors(starts, vectors.astype(np.int16), weights, dim)


def cosines_of(left: TokenVectors, right: TokenVectors, x: int, y: int) -> list[list[float]]:
    ours, theirs = of(left, x)[0].tolist(), of(right, y)[0].tolist()
    return [[sum(map(float.__mul__, a, b)) / UNIT**2 for b in theirs] for a in ours]


def loosest(cosines: list[list[float]], weights: list[float]) -> tuple[float, int, int]:
    """Try every stretch of tokens whose cosines are `cosines` [tokens][others]."""
    best_of_others = [max(0.0, *column) for column in zip(*cosines, strict=True)]
    strengths = [
        max(0.0, *(2 * cosine - best for cosine, best in zip(row, best_of_others, strict=True)))
        for row in cosines
    ]
    found = (0.0, 0, 0)
    for start in range(len(weights)):
        for end in range(start + 1, len(weights) + 1):
            gain = sum(weights[i] * (LOOSE - strengths[i]) for i in range(start, end))
            found = max(found, (gain, start, end), key=lambda each: each[0])
    return found[0] / sum(weights) * sqrt(len(weights)), *found[1:]


def test_the_loosest_stretches_are_those_that_loops_find() -> None:
    lengths = [1, 3, 0, 12, 5, 12, 2]
    left, right = sentences(lengths, 1), sentences(lengths[::-1], 2)
    x, y = (each.ravel() for each in np.indices((7, 7)))
    found = loosest_stretches(left, right, x, y)
    for pair, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        cosines = cosines_of(left, right, a, b)
        if not left.lengths[a] or not right.lengths[b]:
            assert not found.looseness.values[:, pair].any()
            continue
        turned = [list(column) for column in zip(*cosines, strict=True)]
        weights = of(left, a)[1].tolist(), of(right, b)[1].tolist()
        for side, table in enumerate((cosines, turned)):
            value, start, end = loosest(table, weights[side])
            assert found.looseness.values[side, pair] == pytest.approx(value, abs=1e-6)
            assert found.looseness.weights[side, pair] == sum(weights[side])
            if value:
                assert (found.starts[side, pair], found.ends[side, pair]) == (start, end)


def test_the_counterpart_of_a_token_is_the_first_with_the_highest_cosine() -> None:
    left, right = sentences([5, 1030, 0], 5, dim=3), sentences([1, 4, 1100], 6, dim=3)
    for a in range(3):
        for b in range(3):
            table = np.array(cosines_of(left, right, a, b)).reshape(
                left.lengths[a], right.lengths[b]
            )
            for found, cosines in zip(
                counterparts_of(left, right, a, b), (table, table.T), strict=True
            ):
                assert len(found[0]) == len(cosines)
                for row, (cosine, token) in enumerate(zip(*found, strict=True)):
                    best = max(cosines[row].tolist(), default=0.0)
                    assert cosine == pytest.approx(max(best, 0), abs=1e-6)
                    assert token == (cosines[row].tolist().index(best) if best > 0 else -1)
