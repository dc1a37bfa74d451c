"""The vectors of a static encoder's pieces as tokens, along the axes of the texts compared."""

from mmap import mmap

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.table import Table, used_rows
from xmine.encoders.tokens import TOKEN_DIM, Floats, on_axes, principal_axes, whole_vectors

_ROWS_AT_ONCE = 512


class TokenTable:
    """Token vectors along some axes; memory holds those that have been made.

    Attributes:
        decided: the pieces that decide about the axes, and the weight of each.
        vectors: whole numbers, int16 [all pieces, token dim].
    """

    def __init__(self, table: Table, rows: NDArray[np.int64], weights: NDArray[np.float64]) -> None:
        """Find the axes that some pieces of a table [all pieces, width] decide about."""
        self._table, self.decided = table, (rows, weights)
        self._axes: Floats | None = None  # float32 [width, token dim]; None for all dimensions
        total, dim = len(table), table.rows.shape[1]
        if len(rows) > TOKEN_DIM:  # fewer pieces have no more dimensions
            vectors, dim = whole_vectors(table.vectors(rows))[0], TOKEN_DIM
            self._axes = principal_axes(vectors, weights)
        memory = mmap(-1, 2 * total * dim)  # np.zeros would take whole huge pages for a few rows
        self.vectors = np.frombuffer(memory, np.int16).reshape(total, dim)
        self._is_there = np.zeros(total, np.bool_)

    def filled(self, ids: NDArray[np.int32]) -> NDArray[np.int16]:
        """Give the vectors, with those of some pieces filled in."""
        used = used_rows(ids, len(self.vectors))
        used = used[~self._is_there[used]]
        for at in range(0, len(used), _ROWS_AT_ONCE):
            rows = used[at : at + _ROWS_AT_ONCE]
            whole = whole_vectors(self._table.vectors(rows))[0]
            self.vectors[rows] = whole if self._axes is None else on_axes(whole, self._axes)
        self._is_there[used] = True
        return self.vectors
