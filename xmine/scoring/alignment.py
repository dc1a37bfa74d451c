"""Tokens of two sentences -> what each finds on the other side, and the stretch that finds least.

A token's counterpart is the token of the other side with the highest cosine. A counterpart belongs
to the token that is nearest to it: the strength of token i is max_j (2 c_ij - max_k c_kj), at least
0. It is the cosine where the best counterpart has no better token, and less elsewhere.

The stretch of a sentence that finds least is the run of tokens with the largest sum of
w_i (LOOSE - strength_i), w_i being the weight of a token (Bentley, 1984, "Programming pearls:
algorithm design techniques"). Its looseness is this sum as a share of the weight of the sentence,
times the square root of the number of tokens: the sums of tokens that differ by chance grow so.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.tokens import UNIT, TokenVectors
from xmine.files import scratch
from xmine.scoring.late_interaction import LONG, Rows, Singles, Tokens, best_of_long, each_batch

# The strength below which a token adds to a stretch. Right pairs of news, of the UN and of
# Wikipedia have two thirds of their tokens above it.
LOOSE = 0.38
_COSINES_AT_ONCE = 2**22

Floats = NDArray[np.float64]
Found = tuple[Singles, Rows]


def counterparts(left: Tokens, right: Tokens) -> tuple[Found, Found]:
    """Find the counterpart of each token of two sentences, of the left one and of the right one.

    Returns:
        the highest cosine of each token, float32 [tokens], at least 0; and which token of the other
        side has it, int64 [tokens], the first of equal ones, -1 where no cosine is above 0.
    """
    return _found(left[0], right[0]), _found(right[0], left[0])


def _found(s: Singles, t: Singles) -> Found:
    if not len(s) or not len(t):
        return np.zeros(len(s), np.float32), np.full(len(s), -1)
    (best,), (places,) = best_of_long(s, t)
    return np.maximum(best, 0) / np.float32(UNIT**2), np.where(best > 0, places, -1)


@dataclass(frozen=True, slots=True, eq=False)
class Looseness:
    """How little the loosest stretch of each side of pairs finds.

    Attributes:
        values: float32 [2, pairs], of the sources and of the targets; 0 where a side has no tokens.
        weights: float32 [2, pairs], the weight of all tokens of a side.
    """

    values: Singles
    weights: Singles

    def take(self, rows: NDArray[np.intp] | slice) -> "Looseness":
        """Keep some pairs, in the order of `rows`."""
        return Looseness(self.values[:, rows], self.weights[:, rows])

    def spread(self, rows: NDArray[np.intp], total: int) -> "Looseness":
        """Undo `take`: of the other pairs nothing is known, and they have the looseness -inf."""
        values, weights = (scratch.empty((2, total), np.float32) for _ in range(2))
        values[:], weights[:] = -np.inf, 1
        values[:, rows], weights[:, rows] = self.values, self.weights
        return Looseness(values, weights)


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """The loosest stretch of each side of pairs: tokens `starts` to `ends`, int64 [2, pairs]."""

    looseness: Looseness
    starts: Rows
    ends: Rows


def loosest_stretches(source: TokenVectors, target: TokenVectors, x: Rows, y: Rows) -> Stretches:
    """Find the stretches of pairs of sentences, x of `source` and y of `target`, int64 [pairs]."""
    figures = np.zeros((2, 2, len(x)), dtype=np.float32)
    spans = np.zeros((2, 2, len(x)), dtype=np.int64)

    def look(at: NDArray[np.intp], left: Tokens, right: Tokens, tokens: tuple[Rows, Rows]) -> None:
        s, t = left[0], right[0]
        if len(s) == 1 and max(s.shape[1], t.shape[1]) > LONG:
            strong = [_strengths_of_long(s[0], t[0]), _strengths_of_long(t[0], s[0])]
        else:
            strong = _strengths(s, t)
        for side, (_, weights) in enumerate((left, right)):
            found = _stretches(strong[side], weights, tokens[side])
            figures[:, side, at], spans[:, side, at] = found[:2], found[2:]

    each_batch(source, target, x, y, look)
    return Stretches(Looseness(*figures), *spans)


def _strengths(s: Singles, t: Singles) -> list[Singles]:
    """Measure the strengths of tokens, vectors [pairs, tokens, dim], times UNIT**2."""
    cosines = np.matmul(s, t.transpose(0, 2, 1))
    rows, columns = (np.maximum(cosines.max(axis=axis), 0) for axis in (2, 1))
    cosines *= 2
    theirs = (cosines - rows[:, :, None]).max(axis=1)
    cosines -= columns[:, None, :]
    ours = cosines.max(axis=2)
    return [np.maximum(ours, 0), np.maximum(theirs, 0)]


def _strengths_of_long(s: Singles, t: Singles) -> Singles:
    """Measure the strengths of tokens, vectors [tokens, dim], some at a time: [1, tokens]."""
    best = np.maximum(best_of_long(t, s)[0], 0)
    strong = np.zeros((1, len(s)), dtype=np.float32)
    for rows in scratch.slices(len(s), max(1, _COSINES_AT_ONCE // len(t))):
        np.maximum(strong[:, rows], (2 * (s[rows] @ t.T) - best).max(axis=1), out=strong[:, rows])
    return strong


def _stretches(
    strong: Singles, weights: Singles, lengths: Rows
) -> tuple[Floats, Floats, Rows, Rows]:
    """Find the stretches of sentences: looseness, weight, start and end.

    Args:
        strong: strengths [sentences, tokens], times UNIT**2.
        weights: of the tokens, 0 behind the end of a sentence.
        lengths: int64 [sentences], numbers of tokens.
    """
    total = weights.sum(axis=1, dtype=np.float64)
    sums = np.zeros((len(weights), weights.shape[1] + 1))
    np.cumsum(weights * (LOOSE - strong.astype(np.float64) / UNIT**2), axis=1, out=sums[:, 1:])
    rises = sums - np.minimum.accumulate(sums, axis=1)
    ends = rises.argmax(axis=1)
    before = np.arange(sums.shape[1]) <= ends[:, None]
    starts = np.where(before, sums, np.inf).argmin(axis=1)
    looseness: Floats = rises.max(axis=1) / total * np.sqrt(lengths)
    return looseness, total, starts, ends
