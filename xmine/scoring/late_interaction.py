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

from xmine import native
from xmine.encoders.tokens import HEAVIEST, UNIT, TokenVectors
from xmine.files.scratch import slices
from xmine.hardware import blas_threads
from xmine.knn.workers import WorkerPool

# Numbers that a batch of pairs holds at once, 8 MB. In smaller batches the calls of numpy, which
# two threads make, wait for each other.
_NUMBERS = 2_000_000
_PAIRS_AT_ONCE = 4096  # at most
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
# The best cosine of each token, times UNIT**2, and the place of the token that has it.
Counterparts = tuple[Singles, NDArray[np.int32]]
# Looks at a batch of pairs, see `each_batch`.
OnBatch = Callable[[NDArray[np.intp], TokenVectors, TokenVectors], None]


def match_pairs(source: TokenVectors, target: TokenVectors, x: Rows, y: Rows) -> Floats:
    """Compare pairs of sentences token by token.

    A token whose best cosine is not above zero has no counterpart, and counts 0. Pairs are
    sentences x of `source` and y of `target`, int64 [pairs].

    Returns:
        float64 [pairs, 5], the FIGURES: the match, which is the mean of A and B, 0 to 1; the order,
        which is the correlation of the places of tokens with those of their counterparts, -1 to 1,
        the mean of both directions, where each token has its weight; the larger of what the two
        sentences miss, 0 to 1; the smaller share of both that is covered; and the log of the ratio
        of their summed weights. All are 0 where a sentence has no tokens.
    """
    found = np.zeros((len(x), len(FIGURES)))

    def match(at: NDArray[np.intp], left: TokenVectors, right: TokenVectors) -> None:
        found[at] = _figures(left, right)

    each_batch(source, target, x, y, match)
    return found


def each_batch(source: TokenVectors, target: TokenVectors, x: Rows, y: Rows, work: OnBatch) -> None:
    """Call `work` with batches of pairs that have tokens, in several threads.

    `work` gets rows of `x` and `y`, see `match_pairs`, and the tokens of either side.
    """
    lengths = source.lengths_of(x), target.lengths_of(y)
    some = np.flatnonzero((lengths[0] > 0) & (lengths[1] > 0))

    def batch(rows: NDArray[np.intp]) -> None:
        at = some[rows]
        work(at, source.take(x[at]), target.take(y[at]))

    with WorkerPool(blas_threads()) as pool:
        pool.run(batch, _batches(lengths[0][some], lengths[1][some], source.dim), lambda: None)


def counterparts(
    left: TokenVectors, right: TokenVectors, *, strengths: bool = False
) -> list[Counterparts]:
    """Find for each token of pairs of sentences the one of the other side with the largest product.

    Sentences are those of `TokenVectors.take`. With `strengths` these (`xmine.scoring.alignment`)
    take the place of products, and there are no places.

    Returns:
        Of each side the largest product, at least 0, float32 [tokens], and the place of the first
        token that has it, 0 where none is above 0: int32 [tokens].
    """
    if native.kernels is None:
        return _by_numpy(left, right, strengths=strengths)
    less = [np.empty(0, np.int32)] * 2
    for _ in range(1 + strengths):
        best = [np.empty((2, len(side.ids)), np.int32) for side in (left, right)]
        sides = zip((left, right), less, best, strict=True)
        given = (
            (side.table.shape[1], side.table, side.ids, side.starts, minus, *found)
            for side, minus, found in sides
        )
        native.kernels.matching(left.dim, *given)
        less = [values for values, _ in best]
    return [(values.astype(np.float32), places) for values, places in best]


def _by_numpy(left: TokenVectors, right: TokenVectors, *, strengths: bool) -> list[Counterparts]:
    """Do what `counterparts` does with vectors that are padded, [pairs, tokens, dim]."""
    (s, ours), (t, theirs) = _padded(left), _padded(right)
    t = t.transpose(0, 2, 1)
    best = [np.zeros(inside.shape, np.float32) for inside in (ours, theirs)]
    places = [np.zeros(inside.shape, np.int32) for inside in (ours, theirs)]
    parts = list(slices(ours.shape[1] * (theirs.size > 0), max(1, _NUMBERS // (theirs.size or 1))))
    for part in parts:
        cosines = np.matmul(s[:, part], t)
        for side, some in enumerate((part, slice(None))):
            cells, own = cosines.swapaxes(1, 1 + side), best[side][:, some]
            if strengths:
                np.maximum(own, cells.max(axis=2), out=own)
                continue
            at = cells.argmax(axis=2)
            here = np.take_along_axis(cells, at[..., None], axis=2)[..., 0]
            better = here > own
            np.copyto(own, here, where=better)
            np.copyto(places[side][:, some], at + side * part.start, "unsafe", where=better)
    if strengths:
        strong = [np.zeros_like(each) for each in best]
        for part in parts:
            cosines = cosines if len(parts) == 1 else np.matmul(s[:, part], t)
            cosines *= 2
            np.maximum(strong[1], (cosines - best[0][:, part, None]).max(axis=1), out=strong[1])
            cosines -= best[1][:, None]
            np.maximum(cosines.max(axis=2), 0, out=strong[0][:, part])
        best = strong
    return [(best[0][ours], places[0][ours]), (best[1][theirs], places[1][theirs])]


def _padded(tokens: TokenVectors) -> tuple[Singles, NDArray[np.bool_]]:
    """Pad sentences with their last tokens, which changes no largest product."""
    inside, starts = tokens.inside, tokens.starts
    places = np.minimum(starts[:-1, None] + np.arange(inside.shape[1]), starts[1:, None] - 1)
    vectors = tokens.table.take(tokens.ids[places], axis=0)[..., : tokens.dim]
    return vectors.astype(np.float32), inside


def _figures(left: TokenVectors, right: TokenVectors) -> Floats:
    """Find the figures of pairs of sentences that have tokens: [pairs, 5]."""
    ours, theirs = counterparts(left, right)
    match, missing, covered, order, size = _sums(left, ours, right, theirs[1])
    back, lacking, found, turned, length = _sums(right, theirs, left, ours[1])
    columns = np.minimum((match + back) / 2, 1), (order + turned) / 2
    # Turned around, the length is exactly the negative.
    more = np.maximum(missing, lacking), np.minimum(covered, found), size - length
    return np.stack([*columns, *more], axis=1)


def _sums(
    own: TokenVectors, counterparts: Counterparts, other: TokenVectors, back: NDArray[np.int32]
) -> tuple[Floats, ...]:
    """Sum up the counterparts of tokens with their weights: the figures of a side, [pairs] each."""
    (best, places), starts = counterparts, own.starts[:-1]
    i = np.arange(len(places)) - np.repeat(starts, own.lengths)
    mutual = back[np.repeat(other.starts[:-1], own.lengths) + places] == i
    single = own.weights[own.ids]
    weights = single.astype(np.float64)
    lost = np.rint(_PARTS * single * (1 - np.minimum(best / np.float32(UNIT**2), 1)))
    some = weights * (best > 0)
    of_i, of_j = some * i, some * places
    # Whole numbers, and so exact up to ten thousand tokens.
    terms = [weights, best * weights * mutual, lost.astype(np.float64) ** 2]
    terms += [weights * (best > COVERED * UNIT**2), some, of_i, of_i * i]
    terms += [of_j, of_j * i, of_j * places]
    total, match, missing, covered, *moments = (np.add.reduceat(each, starts) for each in terms)
    shares = match / UNIT**2 / total, missing / (HEAVIEST * _PARTS**2) / total, covered / total
    return *shares, _correlation(*moments), np.log(total)


def _correlation(
    n: Floats, of_i: Floats, of_squares: Floats, of_j: Floats, together: Floats, squares: Floats
) -> Floats:
    """Correlate places i and j, of which these are the weighted sums; 0 where nothing varies."""
    across = n * together - of_i * of_j
    spread = (n * of_squares - of_i**2) * (n * squares - of_j**2)
    found: Floats = np.where(spread > 0, across / np.sqrt(np.where(spread > 0, spread, 1)), 0)
    return np.clip(found, -1, 1)


def _batches(left: Rows, right: Rows, dim: int) -> Iterator[NDArray[np.intp]]:
    """Cut pairs into batches of like lengths, int64 [pairs] twice, that are small when padded."""
    order = np.lexsort((right, np.rint(_BANDS * np.log(left))))
    most = _NUMBERS * (1 if native.kernels is None else 4)  # kernels need no padding
    while len(order):
        rows = order[:_PAIRS_AT_ONCE]
        longest, other = (np.maximum.accumulate(each[rows]) for each in (left, right))
        numbers = (longest * other + (longest + other) * dim) * np.arange(1, len(rows) + 1)
        size = max(1, int(np.searchsorted(numbers, most, side="right")))
        yield order[:size]
        order = order[size:]
