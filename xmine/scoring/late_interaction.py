"""Tokens of two sentences -> how well they match, in which order, and how much finds nothing.

For sentences s and t, the counterpart of token s_i is the token t_j with the largest cosine c_i.
A = sum_i w_i c_i m_i / sum_i w_i over the tokens of s, where the weight w_i is the length of the
token's vector, and m_i is 1 if s_i is in turn the counterpart of t_j, else 0. B is the same from t.
This is the late interaction of ColBERT (Khattab & Zaharia, 2020) with the weights and both
directions of BERTScore (Zhang et al., 2020), over the word alignment of SimAlign (Jalili Sabet et
al., 2020, Argmax).

What s misses in t is sum_i (w_i (1 - c_i))^2 / sum_i w_i, weights being at most 1: one heavy token
without a counterpart counts more than several light ones. Covered is the weight of the tokens with
c_i above COVERED, as a share.

Vectors and weights are whole numbers (`xmine.encoders.tokens`), and so every sum here is exact.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.tokens import HEAVIEST, UNIT, TokenVectors
from xmine.files.scratch import slices
from xmine.hardware import blas_threads
from xmine.knn.workers import WorkerPool

# Numbers that a batch of pairs holds at once, 8 MB. In smaller batches the calls of numpy, which
# two threads make, wait for each other.
_NUMBERS = 2_000_000
# Tokens of the longer of two sentences that are compared at once.
_TOKENS_AT_ONCE = 1024
LONG = 512  # tokens of a side from which on a pair is a batch, and compared a part at a time
FIGURES = "match", "order", "missing", "covered", "length"
COVERED = 0.7
# Parts of a whole weight: squares of the parts of 100,000 tokens are still added exactly.
_PARTS = 256
# Bands of lengths: e times the length is so many bands further. More bands, and the lengths of the
# other side differ more within a batch.
_BANDS = 5

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
# Vectors and weights of the tokens of a sentence.
Tokens = tuple[Singles, Singles]
# The best cosine of each token, times UNIT**2, and the place of the token that has it.
Counterparts = tuple[Singles, NDArray[np.intp]]
# Looks at a batch of pairs, see `each_batch`.
OnBatch = Callable[[NDArray[np.intp], Tokens, Tokens, tuple[Rows, Rows]], None]


def match_pairs(source: TokenVectors, target: TokenVectors, x: Rows, y: Rows) -> Floats:
    """Compare pairs of sentences token by token.

    A token whose best cosine is not above zero has no counterpart, and counts 0.

    Args:
        source, target: the tokens of both sides.
        x, y: int64 [pairs], sentences of `source` and of `target`.

    Returns:
        float64 [pairs, 5], the FIGURES: the match, which is the mean of A and B, 0 to 1; the order,
        which is the correlation of the places of tokens with those of their counterparts, -1 to 1,
        the mean of both directions, where each token has its weight; the larger of what the two
        sentences miss, 0 to 1; the smaller share of both that is covered; and the log of the ratio
        of their summed weights. All are 0 where a sentence has no tokens.
    """
    found = np.zeros((len(x), len(FIGURES)))

    def match(at: NDArray[np.intp], left: Tokens, right: Tokens, _: tuple[Rows, Rows]) -> None:
        (s, v), (t, w) = left, right
        if len(s) == 1 and max(s.shape[1], t.shape[1]) > LONG:
            best = best_of_long(s[0], t[0]), best_of_long(t[0], s[0])
        else:
            cosines = np.matmul(s, t.transpose(0, 2, 1))  # [pairs, tokens, tokens]
            best = _best(cosines), _best(cosines.transpose(0, 2, 1))
        found[at] = _figures(best[0], v, best[1], w)

    each_batch(source, target, x, y, match)
    return found


def each_batch(source: TokenVectors, target: TokenVectors, x: Rows, y: Rows, work: OnBatch) -> None:
    """Call `work` with batches of pairs that have tokens, in several threads.

    Args:
        source, target, x, y: as in `match_pairs`.
        work: called with rows of `x` and `y`, the vectors [rows, tokens, dim] and weights of either
            side, padded, and the numbers of tokens, int64 [rows] twice.
    """
    lengths = source.lengths_of(x), target.lengths_of(y)
    some = np.flatnonzero((lengths[0] > 0) & (lengths[1] > 0))
    lengths = lengths[0][some], lengths[1][some]

    def batch(rows: NDArray[np.intp]) -> None:
        tokens = lengths[0][rows], lengths[1][rows]
        at = some[rows]
        work(at, source.padded(x[at], tokens[0]), target.padded(y[at], tokens[1]), tokens)

    with WorkerPool(blas_threads()) as pool:
        pool.run(batch, batches(*lengths, source.dim), lambda: None)


def _best(cosines: NDArray[np.float32]) -> Counterparts:
    """Find the counterpart of each token: the first of the best."""
    places = cosines.argmax(axis=2)
    return np.take_along_axis(cosines, places[..., None], axis=2)[..., 0], places


def _figures(left: Counterparts, v: Singles, right: Counterparts, w: Singles) -> Floats:
    """Sum up the counterparts of tokens [pairs, tokens] with their weights: [pairs, 5]."""
    sides = []
    for (best, places), (_, back), weights in ((left, right, v), (right, left, w)):
        total = weights.sum(axis=1, dtype=np.float64)
        mutual = np.take_along_axis(back, places, axis=1) == np.arange(places.shape[1])
        match = np.einsum("ij,ij->i", np.maximum(best, 0), weights * mutual, dtype=np.float64)
        cosines = np.clip(best / np.float32(UNIT**2), 0, 1)
        lost = np.rint(_PARTS * weights * (1 - cosines))
        missing = np.einsum("ij,ij->i", lost, lost, dtype=np.float64) / (HEAVIEST * _PARTS**2)
        covered = (weights * (best > COVERED * UNIT**2)).sum(axis=1, dtype=np.float64)
        shares = match / UNIT**2 / total, missing / total, covered / total
        sides.append((*shares, _correlation((best, places), weights), np.log(total)))
    (match, missing, covered, order, size), (back, lacking, found, turned, length) = sides
    columns = (match + back) / 2, np.maximum(missing, lacking), np.minimum(covered, found)
    match, order = np.minimum(columns[0], 1), (order + turned) / 2
    # Turned around, the length is exactly the negative.
    return np.stack([match, order, *columns[1:], size - length], axis=1)


def _correlation(counterparts: Counterparts, weights: Singles) -> Floats:
    """Correlate the places of tokens [pairs, tokens] and of their counterparts; 0 where none is."""
    best, places = counterparts
    i = np.arange(best.shape[1], dtype=np.float64)
    powers = np.stack([np.ones_like(i), i, i**2], axis=1)
    # Whole numbers, and so exact up to ten thousand tokens.
    some = (weights * (best > 0)).astype(np.float64)
    of_places = some * places
    n, of_i, of_squares = (some @ powers).T
    of_j, together = (of_places @ powers[:, :2]).T
    across = n * together - of_i * of_j
    squares = np.einsum("ij,ij->i", of_places, places, dtype=np.float64)
    spread = (n * of_squares - of_i**2) * (n * squares - of_j**2)
    found: Floats = np.where(spread > 0, across / np.sqrt(np.where(spread > 0, spread, 1)), 0)
    return np.clip(found, -1, 1)


def batches(left: Rows, right: Rows, dim: int) -> Iterator[NDArray[np.intp]]:
    """Cut pairs into batches of like lengths, int64 [pairs] twice, that hold few numbers."""
    order = np.lexsort((right, np.rint(_BANDS * np.log(left))))
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


def best_of_long(s: Singles, t: Singles) -> Counterparts:
    """Find the counterpart in t of each token of s, some tokens at a time: [1, tokens]."""
    best = np.full((1, len(s)), -np.inf, dtype=np.float32)
    places = np.zeros((1, len(s)), dtype=np.intp)
    for rows in slices(len(s), _TOKENS_AT_ONCE):
        for some in slices(len(t), _TOKENS_AT_ONCE):
            found, where = _best((s[rows] @ t[some].T)[None])
            better = found > best[:, rows]
            places[:, rows] = np.where(better, where + some.start, places[:, rows])
            best[:, rows] = np.where(better, found, best[:, rows])
    return best, places
