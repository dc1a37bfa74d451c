"""Tokens of two sentences -> how much of each sentence finds a counterpart on the other side.

For sentences s and t, A = sum_i w_i max_j cos(s_i, t_j) / sum_i w_i over the tokens of s, where the
weight w_i is the length of the token's vector, and B is the same from t: the late interaction of
ColBERT (Khattab & Zaharia, 2020) with the weights and both directions of BERTScore (Zhang et al.,
2020).

Vectors and weights are whole numbers (`xmine.encoders.tokens`), and so every sum here is exact.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.tokens import UNIT, TokenVectors
from xmine.knn.workers import WorkerPool, blas_threads

# Numbers that a batch of pairs holds at once: 8 MB stay in a cache that two threads share.
_NUMBERS = 1_000_000
# Tokens of the longer of two sentences that are compared at once.
_TOKENS_AT_ONCE = 1024
LONG = 512  # tokens of a sentence that is compared alone

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
# Vectors and weights of the tokens of one sentence or of several.
Singles = NDArray[np.float32]
Tokens = tuple[Singles, Singles]


def match_pairs(
    source: TokenVectors, target: TokenVectors, x: Rows, y: Rows
) -> tuple[Floats, Floats]:
    """Compare pairs of sentences token by token.

    Args:
        source, target: the tokens of both sides.
        x, y: int64 [pairs], sentences of `source` and of `target`.

    Returns:
        A and B of the module's docstring, float64 [pairs], 0 to 1; a token whose best cosine is
        below zero counts 0, and a sentence without tokens has A = B = 0.
    """
    found = np.zeros((2, len(x)))
    some = np.flatnonzero((source.lengths[x] > 0) & (target.lengths[y] > 0))
    lengths = source.lengths[x[some]], target.lengths[y[some]]

    def match(rows: NDArray[np.intp]) -> None:
        at = some[rows]
        tokens = lengths[0][rows], lengths[1][rows]
        if len(rows) == 1 and max(int(each[0]) for each in tokens) > LONG:
            found[:, at[0]] = _match_long(source.of(int(x[at[0]])), target.of(int(y[at[0]])))
        else:
            found[:, at] = _match_batch(
                source.padded(x[at], tokens[0]), target.padded(y[at], tokens[1])
            )

    with WorkerPool(blas_threads()) as pool:
        pool.run(match, batches(*lengths, source.dim), lambda: None)
    return found[0], found[1]


def batches(left: Rows, right: Rows, dim: int) -> Iterator[NDArray[np.intp]]:
    """Cut pairs into batches of like lengths, int64 [pairs] twice, that hold few numbers."""
    order = np.lexsort((right, left))
    numbers = left * right + (left + right) * dim
    start = 0
    while start < len(order):
        most = max(1, _NUMBERS // int(numbers[order[start]]))
        rows = order[start : start + most]
        while len(rows) > 1 and len(rows) * _padded(left[rows], right[rows], dim) > _NUMBERS:
            rows = rows[: len(rows) * 3 // 4]
        yield rows
        start += len(rows)


def _padded(left: Rows, right: Rows, dim: int) -> int:
    longest = int(left.max()), int(right.max())
    return longest[0] * longest[1] + sum(longest) * dim


def _match_batch(left: Tokens, right: Tokens) -> tuple[Floats, Floats]:
    (s, v), (t, w) = left, right
    cosines = np.matmul(s, t.transpose(0, 2, 1))  # [pairs, tokens, tokens], times UNIT**2
    return _weighted(cosines.max(axis=2), v), _weighted(cosines.max(axis=1), w)


def _weighted(best: NDArray[np.float32], weights: NDArray[np.float32]) -> Floats:
    """Average the best cosines, times UNIT**2, of tokens [pairs, tokens]."""
    total = np.einsum("ij,ij->i", np.maximum(best, 0), weights, dtype=np.float64)
    averages: Floats = total / (weights.sum(axis=1, dtype=np.float64) * UNIT**2)
    return np.minimum(averages, 1)


def _match_long(left: Tokens, right: Tokens) -> tuple[float, float]:
    """Compare two sentences, one of them long: some tokens of one side at a time."""
    (s, v), (t, w) = left, right
    rows, columns = best_cosines(s, t)
    a, b = _weighted(rows[None], v[None]), _weighted(columns[None], w[None])
    return float(a[0]), float(b[0])


def best_cosines(s: Singles, t: Singles) -> tuple[Singles, Singles]:
    """Give the highest cosine, times UNIT**2, of each token of two sentences; at least 0."""
    rows = np.zeros(len(s), dtype=np.float32)
    columns = np.zeros(len(t), dtype=np.float32)
    for some, others, cosines in tiles(s, t):
        np.maximum(rows[some], cosines.max(axis=1), out=rows[some])
        np.maximum(columns[others], cosines.max(axis=0), out=columns[others])
    return rows, columns


def tiles(s: Singles, t: Singles) -> Iterator[tuple[slice, slice, Singles]]:
    """Multiply the vectors of two sentences, some tokens of each at a time."""
    for start in range(0, len(s), _TOKENS_AT_ONCE):
        for first in range(0, len(t), _TOKENS_AT_ONCE):
            some, others = (
                slice(start, start + _TOKENS_AT_ONCE),
                slice(first, first + _TOKENS_AT_ONCE),
            )
            yield some, others, s[some] @ t[others].T
