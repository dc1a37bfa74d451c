"""Blocks of cosines -> the best cells of every row and of every column, as sorted packed keys.

A key is a cell of one row: its cosine above, its column below, so that keys sort by rising cosine,
then by falling column. Merging keys commutes, so blocks may come in any order and from any thread.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]
# Rows and columns of cells in a block, int64, and their values, float32; all [cells].
Cells = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]

_LAST = 0xFFFFFFFF
_MAGNITUDE = np.int32(0x7FFFFFFF)
# A group of cells is looked into only if its maximum can matter: 3-4 ns a cell. Maxima take 0.1 ns
# a cell of a block in the level 3 cache over 8 rows, and 0.3-0.5 ns over 8 places of a row. The
# product itself takes 5.5 ns at 256 dimensions and 22 ns at 1024.
GROUP = 8
# Cells looked into at once; all may pass, and take about 10 MB then.
_CELLS_AT_ONCE = 2**18
# Cells of a row merged at once; with 32, merging takes twice as long.
_ROUND = 8


def pack(values: NDArray[np.float32], columns: NDArray[np.int64]) -> Keys:
    """Make keys of cosines and columns; bits of floats are turned so that they sort as numbers."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.int32)
    ordered = bits ^ ((bits >> 31) & _MAGNITUDE)
    return (ordered.astype(np.int64) << 32) | (_LAST - columns)


def values_of(keys: Keys) -> NDArray[np.float32]:
    """Give the cosines of keys."""
    ordered = (keys >> 32).astype(np.int32)
    return (ordered ^ ((ordered >> 31) & _MAGNITUDE)).view(np.float32)


def columns_of(keys: Keys) -> NDArray[np.int64]:
    """Give the columns of keys."""
    return _LAST - (keys & _LAST)


EMPTY = int(pack(np.array([-np.inf], dtype=np.float32), np.array([_LAST]))[0])

# The key of a row that lets nothing in.
CLOSED = int(pack(np.array([np.inf], dtype=np.float32), np.array([0]))[0])


def merge(best: Keys, rows: NDArray[np.int64], keys: Keys) -> None:
    """Let keys into the best of their rows, in place.

    Args:
        best: [rows, k], rising.
        rows: [cells], in any order.
        keys: [cells].
    """
    order = np.argsort(rows)
    rows, keys = rows[order], keys[order]
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    touched, counts = rows[starts], np.diff(starts, append=len(rows))
    # Rounds, so that rows with many cells do not widen the matrix of all.
    while len(touched):
        width = min(_ROUND, int(counts.max()))
        inside = np.arange(width)
        wide = np.empty((len(touched), best.shape[1] + width), dtype=np.int64)
        wide[:, :-width] = best[touched]
        cells = keys[np.minimum(starts[:, None] + inside, len(keys) - 1)]
        wide[:, -width:] = np.where(inside < counts[:, None], cells, EMPTY)
        wide.sort(axis=1)
        best[touched] = wide[:, width:]
        more = counts > width
        starts, touched, counts = starts[more] + width, touched[more], counts[more] - width


def floors(best: Keys, length: int) -> NDArray[np.float32]:
    """Give the values that cells must exceed to be let in; inf for a row without `best`."""
    floor = np.full(length, np.inf, dtype=np.float32)
    floor[: len(best)] = values_of(best[:, 0])
    return floor


def _raised(floor: NDArray[np.float32], maxima: NDArray[np.float32], k: int) -> NDArray[np.float32]:
    """Raise floors to just below the k-th of some maxima [rows, groups] of each row, if so many."""
    if maxima.shape[1] < k:
        return floor
    own = np.partition(maxima, -k, axis=1)[:, -k]
    return np.maximum(floor, np.nextafter(own, np.float32(-np.inf)))


class BlockMaxima:
    """Reads blocks of cosines, with room for the maxima of a block of `cells` cells."""

    def __init__(self, cells: int) -> None:
        self._of_rows = np.empty(cells // GROUP, dtype=np.float32)
        self._in_rows = np.empty(cells // GROUP, dtype=np.float32)

    def reduce(self, block: NDArray[np.float32]) -> None:
        """Take the maxima of a block [rows, columns], both multiples of GROUP."""
        rows, columns = block.shape
        self.block = block
        self.tall = block.reshape(rows // GROUP, GROUP, columns)
        self.maxima = self._of_rows[: block.size // GROUP].reshape(rows // GROUP, columns)
        np.max(self.tall, axis=1, out=self.maxima)

    def offer_columns(self, best: Keys, row: int) -> None:
        """Let the cells of each column into `best` [columns, k]; `row` is that of the first.

        Columns past those of `best` are left alone, as rows are by `offer_rows`.
        """
        floor = floors(best, self.maxima.shape[1])
        for rows, columns, values in self.above_columns(floor, best.shape[1]):
            merge(best, columns, pack(values, row + rows))

    def offer_rows(self, best: Keys, column: int) -> None:
        """Let the cells of each row into `best` [rows, k]; `column` is that of the first."""
        floor = floors(best, len(self.block))
        for rows, columns, values in self.above_rows(floor, best.shape[1]):
            merge(best, rows, pack(values, column + columns))

    def above_columns(self, floor: NDArray[np.float32], k: int) -> Iterator[Cells]:
        """Give the cells that exceed the floors [columns] of their columns.

        Where a floor is -inf, cells below the k best of their column may be left out.
        """
        if np.isneginf(floor).any():
            floor = _raised(floor, self.maxima.T, k)
        hits = np.flatnonzero(self.maxima > floor)
        groups, columns = np.divmod(hits, self.block.shape[1])
        for start in range(0, len(hits), _CELLS_AT_ONCE // GROUP):
            some = slice(start, start + _CELLS_AT_ONCE // GROUP)
            cells = self.tall[groups[some], :, columns[some]]  # [hits, GROUP]
            better = np.flatnonzero(cells > floor[columns[some], None])
            hit, inside = np.divmod(better, GROUP)
            yield groups[some][hit] * GROUP + inside, columns[some][hit], cells.ravel()[better]

    def above_rows(self, floor: NDArray[np.float32], k: int) -> Iterator[Cells]:
        """Give the cells that exceed the floors [rows] of their rows, as `above_columns` does."""
        rows, columns = self.block.shape
        stride = columns // GROUP
        groups = self._in_rows[: self.block.size // GROUP].reshape(rows, stride)
        block = self.block.reshape(rows, GROUP, stride)
        np.max(block, axis=1, out=groups)
        if np.isneginf(floor).any():
            floor = _raised(floor, groups, k)
        hits = np.flatnonzero(groups > floor[:, None])
        row, offset = np.divmod(hits, stride)
        for start in range(0, len(hits), _CELLS_AT_ONCE // GROUP):
            some = slice(start, start + _CELLS_AT_ONCE // GROUP)
            cells = block[row[some], :, offset[some]]  # [hits, GROUP]
            better = np.flatnonzero(cells > floor[row[some], None])
            hit, inside = np.divmod(better, GROUP)
            yield row[some][hit], inside * stride + offset[some][hit], cells.ravel()[better]
