"""Rows of a matrix -> the distinct ones, which alone are searched, and the way back to all.

Ten thousand equal rows would all be equally near to whatever finds one of them, and exactness would
have to compare them all. They are told by a hash, then compared.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.files.scratch import empty, stored
from xmine.knn.cosines import Floats, Rows, Vectors, ordered, require_units, widen
from xmine.text.hashing import first_equal

_ROWS_AT_ONCE = 4096


class Distinct:
    """One matrix as the search sees it: its distinct rows, in the order of their first places.

    Looking for equal rows takes 25 bytes for each row, 40 if there are any; then 32 are kept, in
    scratch files of a run.

    Attributes:
        vectors: [rows, dim].
        first: int64 [distinct], the first row of each distinct one; None where all rows are.
        number: int64 [rows], the distinct one that each row is.
    """

    def __init__(self, vectors: Vectors, *, apart: bool = False) -> None:
        """Look for equal rows, one pass over the matrix, unless each is to be kept `apart`."""
        # The kernels want rows without gaps.
        contiguous: Any = np.ascontiguousarray(vectors)
        self.vectors: Vectors = contiguous
        self.first: Rows | None = None
        same = None if apart else _first_same(vectors)
        if same is not None:
            self.first = stored(np.flatnonzero(same == np.arange(len(same))))
            self.number = stored(np.searchsorted(self.first, same))
            del same
            counts = np.bincount(self.number)
            self._most = int(counts.max())
            self._members = stored(np.argsort(self.number, kind="stable"))
            self._starts = empty(len(counts) + 1, np.int64)
            self._starts[0] = 0
            np.cumsum(counts, out=self._starts[1:])

    @classmethod
    def of(cls, vectors: Vectors, first: Rows | None) -> "Distinct":
        """Take the first rows of distinct ones as known; equal rows cannot be told from these."""
        side = cls(vectors, apart=True)
        side.first = first
        return side

    def part(self, start: int, stop: int) -> "Distinct":
        """Give some distinct rows, which are numbered from 0."""
        rows = np.arange(start, stop) if self.first is None else self.first[start:stop]
        return Distinct.of(self.vectors, rows)

    def __len__(self) -> int:
        """Count the distinct rows."""
        return len(self.vectors) if self.first is None else len(self.first)

    def rows(self, start: int, stop: int) -> Vectors:
        """Give distinct rows [stop - start, dim]."""
        return self.vectors[start:stop] if self.first is None else self.at(np.arange(start, stop))

    def at(self, ids: Rows) -> Vectors:
        """Give the distinct rows of some numbers."""
        rows = ids if self.first is None else self.first[ids]
        return self.vectors.take(rows, axis=0)  # in half the time of [rows]

    def wide(self, start: int, stop: int, out: Floats) -> Floats:
        """Give distinct unit rows as float32 in `out`, whose further rows become zeros."""
        require_units(widen(self.rows(start, stop), out[: stop - start]))
        out[stop - start :] = 0
        return out

    def distinct(self, rows: Rows) -> Rows:
        """Give the numbers of the distinct rows that some rows are."""
        return rows if self.first is None else self.number[rows]

    def in_place(self, ids: Rows) -> Rows:
        """Turn numbers of distinct rows into those of their first places; -1 stays."""
        return ids if self.first is None else np.where(ids < 0, -1, self.first[ids])

    def spread(self, ids: Rows, cosines: Floats, k: int) -> tuple[Rows, Floats]:
        """Replace distinct neighbours [rows, some] by all rows that are equal to them, k of each.

        Returns:
            Rows and cosines [rows, k], by falling cosine, then rising row.
        """
        if self.first is None:
            return ids[:, :k], cosines[:, :k]
        # [rows, some, copies]
        places = self._starts[ids][:, :, None] + np.arange(min(k, self._most))
        there = places < self._starts[ids + 1][:, :, None]
        members = self._members[np.where(there, places, 0)]
        copied = np.where(there, cosines[:, :, None], np.float32(-np.inf))
        return ordered(members.reshape(len(ids), -1), copied.reshape(len(ids), -1), k)


def _first_same(vectors: Vectors) -> Rows | None:
    """Give for each row the first one that is equal to it; None if no row has its like before it.

    Equal rows that share their hash with others may be left apart, which costs time alone.
    """
    same = first_equal(_hashes(vectors))
    copies = np.flatnonzero(same != np.arange(len(same)))
    if not len(copies):
        return None
    for start in range(0, len(copies), _ROWS_AT_ONCE):
        some = copies[start : start + _ROWS_AT_ONCE]
        different = some[(vectors[some] != vectors[same[some]]).any(axis=1)]
        same[different] = different
    return same


def _hashes(vectors: Vectors) -> NDArray[np.uint64]:
    words = vectors.shape[1] * vectors.dtype.itemsize
    unit = np.uint64 if words % 8 == 0 else np.uint16
    odd = np.random.default_rng(1).integers(0, 2**63, words // unit().itemsize, dtype=np.uint64)
    hashes = np.empty(len(vectors), dtype=np.uint64)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        rows = np.ascontiguousarray(vectors[start : start + _ROWS_AT_ONCE])
        hashes[start : start + len(rows)] = rows.view(unit) @ (odd * np.uint64(2) + np.uint64(1))
    return hashes
