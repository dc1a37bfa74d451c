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
from xmine.scoring.late_interaction import Rows, Singles, counterparts, each_batch

# The strength below which a token adds to a stretch. Right pairs of news, of the UN and of
# Wikipedia have two thirds of their tokens above it.
LOOSE = 0.38

Floats = NDArray[np.float64]
Found = tuple[Singles, Rows]


def counterparts_of(source: TokenVectors, target: TokenVectors, x: int, y: int) -> list[Found]:
    """Find the counterpart of each token of sentence x of `source`, and of each of y of `target`.

    Returns:
        the highest cosine of each token, float32 [tokens], at least 0; and which token of the other
        side has it, int64 [tokens], the first of equal ones, -1 where no cosine is above 0.
    """
    both = counterparts(source.take(np.array([x])), target.take(np.array([y])))
    return [(best / np.float32(UNIT**2), np.where(best > 0, at, -1)) for best, at in both]


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

    def look(at: NDArray[np.intp], left: TokenVectors, right: TokenVectors) -> None:
        both = counterparts(left, right, strengths=True)
        for side, (tokens, (strong, _)) in enumerate(zip((left, right), both, strict=True)):
            found = _stretches(strong, tokens)
            figures[:, side, at], spans[:, side, at] = found[:2], found[2:]

    each_batch(source, target, x, y, look)
    return Stretches(Looseness(*figures), *spans)


def _stretches(strong: Singles, tokens: TokenVectors) -> tuple[Floats, Floats, Rows, Rows]:
    """Find the stretches of sentences: looseness, weight, start and end.

    `strong` has the strengths of their tokens, [tokens], times UNIT**2.
    """
    inside, weights = tokens.inside, tokens.weights[tokens.ids]
    total = np.add.reduceat(weights, tokens.starts[:-1], dtype=np.float64)
    sums = np.zeros((len(inside), inside.shape[1] + 1))
    sums[:, 1:][inside] = weights * (LOOSE - strong.astype(np.float64) / UNIT**2)
    np.cumsum(sums, axis=1, out=sums)
    rises = sums - np.minimum.accumulate(sums, axis=1)
    ends = rises.argmax(axis=1)
    before = np.arange(sums.shape[1]) <= ends[:, None]
    starts = np.where(before, sums, np.inf).argmin(axis=1)
    looseness: Floats = rises.max(axis=1) / total * np.sqrt(tokens.lengths)
    return looseness, total, starts, ends
