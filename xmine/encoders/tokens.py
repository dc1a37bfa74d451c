"""Sentences -> a vector for each of their tokens, in whole numbers, so that products are exact.

Unit vectors are rounded to whole multiples of 1 / UNIT: every sum of a product of two of them is
then a whole number below 2**24, which float32 holds. So neither blocks nor threads nor the library
of products change a bit of a cosine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

# By Cauchy and Schwarz no partial sum of a product exceeds (UNIT + sqrt(dim) / 2)**2 < 2**24, up to
# 8,192 dimensions.
UNIT = 4000
# Tokens of a sentence that are looked at: the time of comparisons grows with their square.
MOST_TOKENS = 10_000
# The largest weight of a token.
HEAVIEST = 1000
# Dimensions that are kept of the token vectors of a static encoder: F1 is that of all 448, in a
# third of the time (bench/rerank.py).
TOKEN_DIM = 128
# Pieces whose vectors decide about the axes: those that weigh most in the texts.
_PIECES_FOR_AXES = 4096
_AXIS = 2048  # the length of a rounded axis: 2048 * UNIT < 2**24
# The weights of all pieces together: times a squared vector, 2**29 * UNIT**2 < 2**53.
_WEIGHT_OF_ALL = 2**29

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]


class Stacked:
    """Matrices, one on top of the other, of which some rows are gathered; nothing is copied before.

    Attributes:
        shape: of them all.
    """

    def __init__(self, parts: Sequence[NDArray[Any]]) -> None:
        """Take matrices of the same width, at least one."""
        self._parts = parts
        self._starts = np.cumsum([0, *map(len, parts)])
        self.shape = int(self._starts[-1]), parts[0].shape[1]

    def take(self, rows: NDArray[Any], axis: int = 0) -> NDArray[Any]:
        """Gather rows, int64 [rows]: an array [rows, width]."""
        found = np.empty((len(rows), self.shape[1]), self._parts[0].dtype)
        places = np.searchsorted(self._starts, rows, side="right") - 1
        for place in np.unique(places).tolist():
            here = places == place
            found[here] = self._parts[place][rows[here] - self._starts[place]]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """The tokens of sentences, without those that have no vector or are beyond MOST_TOKENS.

    Attributes:
        starts: int64 [sentences + 1], where each sentence starts among the tokens.
        table: int16 [rows, dim or more], unit vectors times UNIT in the first `dim`.
        weights: whole numbers [rows], 1 to HEAVIEST, which grow with the length of the vector; None
            where they are the last column of the table.
        dim: of the vectors.
        ids: int32 [tokens], the row of each token; None where token i has row i.
    """

    starts: Rows
    table: Any  # or `Stacked`
    weights: Any
    dim: int
    ids: Any = None

    def __len__(self) -> int:
        """Count the sentences."""
        return len(self.starts) - 1

    @property
    def lengths(self) -> Rows:
        """The number of tokens of each sentence, int64 [sentences]."""
        return np.diff(self.starts).clip(max=MOST_TOKENS)

    def lengths_of(self, sentences: Rows) -> Rows:
        """Count the tokens of some sentences, int64 [...], without a look at the others."""
        return (self.starts[sentences + 1] - self.starts[sentences]).clip(max=MOST_TOKENS)

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Tell which cells of a matrix [sentences, longest] are tokens, and no padding."""
        lengths = self.lengths
        found: NDArray[np.bool_] = np.arange(int(lengths.max(initial=0))) < lengths[:, None]
        return found

    def take(self, sentences: Rows) -> "TokenVectors":
        """Keep some sentences, int64 [sentences], whose tokens have `ids` and `weights`."""
        lengths = self.lengths_of(sentences)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(starts[-1])
        rows = places + np.repeat(self.starts[sentences] - starts[:-1], lengths)
        if self.ids is not None:
            return TokenVectors(starts, self.table, self.weights, self.dim, self.ids.take(rows))
        table = self.table.take(rows, axis=0)
        weights = table[:, -1].astype(np.float32) if self.weights is None else self.weights[rows]
        return TokenVectors(starts, table, weights, self.dim, places.astype(np.int32))


def whole_vectors(vectors: Floats) -> tuple[Floats, Floats]:
    """Round vectors [rows, dim]: unit vectors times UNIT, and the lengths of the vectors [rows]."""
    lengths = lengths_of(vectors)
    unit: Floats = vectors * (UNIT / np.where(lengths > 0, lengths, 1)).astype(np.float32)[:, None]
    return np.rint(unit, out=unit), lengths


def lengths_of(vectors: Floats) -> Floats:
    """Measure the vectors [rows, dim]: their lengths, float32 [rows]."""
    lengths: Floats = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return lengths


def weightiest(weights: NDArray[np.float64]) -> tuple[Rows, NDArray[np.float64]]:
    """Find the pieces that weigh most, at most 4,096, rising, and their weights in whole numbers.

    Of weights, float64 [pieces], none is negative.
    """
    rows = np.sort(np.argsort(-weights, kind="stable")[:_PIECES_FOR_AXES])
    rows = rows[weights[rows] > 0]
    return rows, np.rint(weights[rows] * (_WEIGHT_OF_ALL / max(weights[rows].sum(), 1e-300)))


def principal_axes(vectors: Floats, weights: NDArray[np.float64], dim: int = TOKEN_DIM) -> Floats:
    """Find the axes [width, dim] along which weighted `whole_vectors` [rows, width] spread most.

    They are right singular vectors, not centred, and rounded, so that a projection on them is
    exact; the products that lead to them are exact too. Weights are whole numbers [rows], together
    no more than those of `weightiest`.
    """
    exact = vectors.astype(np.float64)
    with threadpool_limits(1):  # or threads would change the last digits
        axes = np.linalg.eigh((exact * weights[:, None]).T @ exact)[1][:, -dim:]
    rounded: Floats = np.rint(axes * _AXIS).astype(np.float32)
    return rounded


def on_axes(vectors: Floats, axes: Floats) -> Floats:
    """Turn `whole_vectors` [rows, width] into those along axes."""
    return whole_vectors(vectors @ axes)[0]


def whole_weights(lengths: Floats) -> Floats:
    """Round lengths of vectors [rows] to weights: HEAVIEST for the longest, 0 for length 0.

    A length that is NaN has the weight NaN, and no other length has another weight for it.
    """
    lengths = np.minimum(lengths, np.finfo(np.float32).max)
    share = lengths * (HEAVIEST / max(float(np.fmax.reduce(lengths, initial=0)), 1e-30))
    weights: Floats = np.where(lengths == 0, 0, np.maximum(np.rint(share), 1)).astype(np.float32)
    return weights
