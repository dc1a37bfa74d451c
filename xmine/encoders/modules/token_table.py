"""The vectors of a static encoder's pieces as tokens, along the axes of the texts compared."""

from collections.abc import Callable
from dataclasses import dataclass
from mmap import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.table import used_rows
from xmine.encoders.tokens import TOKEN_DIM, on_axes, principal_axes, whole_vectors

_ROWS_AT_ONCE = 512


@dataclass(frozen=True, slots=True, eq=False)
class TokenTable:
    """Token vectors along some axes; memory holds those that have been made.

    Attributes:
        rows, weights: the pieces that decide about the axes, and the weight of each.
        vectors_of: gives the vectors of some pieces, float32 [pieces, width].
        axes: float32 [width, token dim]; None for all dimensions.
        vectors: whole numbers, int16 [all pieces, token dim].
        is_there: bool [all pieces], which have been made.
    """

    rows: NDArray[np.int64]
    weights: NDArray[np.float64]
    vectors_of: Callable[[NDArray[Any]], NDArray[np.float32]]
    axes: NDArray[np.float32] | None
    vectors: NDArray[np.int16]
    is_there: NDArray[np.bool_]

    @classmethod
    def empty(
        cls,
        rows: NDArray[np.int64],
        weights: NDArray[np.float64],
        vectors_of: Callable[[NDArray[Any]], NDArray[np.float32]],
        shape: tuple[int, int],
    ) -> "TokenTable":
        """Find the axes that these pieces decide about, for a table [all pieces, width]."""
        axes, (total, dim) = None, shape
        if len(rows) > TOKEN_DIM:  # fewer pieces have no more dimensions
            axes, dim = principal_axes(whole_vectors(vectors_of(rows))[0], weights), TOKEN_DIM
        memory = mmap(-1, 2 * total * dim)  # np.zeros would take whole huge pages for a few rows
        vectors = np.frombuffer(memory, np.int16).reshape(total, dim)
        return cls(rows, weights, vectors_of, axes, vectors, np.zeros(total, np.bool_))

    def is_of(self, rows: NDArray[np.int64], weights: NDArray[np.float64]) -> bool:
        """Tell whether these pieces decided about the axes."""
        return np.array_equal(rows, self.rows) and np.array_equal(weights, self.weights)

    def filled(self, ids: NDArray[np.int32]) -> NDArray[np.int16]:
        """Give the vectors, with those of some pieces filled in."""
        used = used_rows(ids, len(self.vectors))
        used = used[~self.is_there[used]]
        for at in range(0, len(used), _ROWS_AT_ONCE):
            rows = used[at : at + _ROWS_AT_ONCE]
            whole = whole_vectors(self.vectors_of(rows))[0]
            self.vectors[rows] = whole if self.axes is None else on_axes(whole, self.axes)
        self.is_there[used] = True
        return self.vectors
