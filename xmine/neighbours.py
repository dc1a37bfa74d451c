"""Two matrices -> the k nearest rows both ways, exact, from one blocked matrix product.

A block of cosines serves both directions: its rows look for their nearest columns and its columns
for their nearest rows. Equal cosines go to the lower row number.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.progress import Progress, Report, silent

Vectors = NDArray[np.float16] | NDArray[np.float32]

# A tail of a few rows, or a width that BLAS splits by the number of threads, would take another
# code path of the matrix product and differ in the last bit; so both sides of a block are filled
# up with zeros to a multiple of this.
_PAD = 64


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest targets of each source and the nearest sources of each target.

    Attributes:
        targets: int64 [sources, k], rows of the target matrix, nearest first.
        target_cosines: float32 [sources, k].
        sources: int64 [targets, k], rows of the source matrix, nearest first.
        source_cosines: float32 [targets, k].

    k is at most the number of rows on the other side.
    """

    targets: NDArray[np.int64]
    target_cosines: NDArray[np.float32]
    sources: NDArray[np.int64]
    source_cosines: NDArray[np.float32]

    def first(self, k: int) -> "Neighbours":
        """Keep the k nearest of each row."""
        return Neighbours(
            self.targets[:, :k],
            self.target_cosines[:, :k],
            self.sources[:, :k],
            self.source_cosines[:, :k],
        )


def nearest(
    source: Vectors,
    target: Vectors,
    k: int,
    *,
    block_rows: int = 1024,
    block_columns: int = 4096,
    report: Report = silent,
) -> Neighbours:
    """Find the k nearest rows in both directions by inner product of unit rows.

    Args:
        source: [sources, dim], at least one row.
        target: [targets, dim], at least one row.
        k: neighbours per row; cut to the number of rows on the other side.
        block_rows: sources per block.
        block_columns: targets per block; a block of cosines takes 4 bytes for each of its cells.
        report: called with the number of finished sources.
    """
    forward = _Best(len(source), min(k, len(target)))
    backward = _Best(len(target), min(k, len(source)))
    for row in range(0, len(source), block_rows):
        rows = min(block_rows, len(source) - row)
        left = _padded(source[row : row + block_rows])
        for column in range(0, len(target), block_columns):
            width = min(block_columns, len(target) - column)
            right = _padded(target[column : column + block_columns])
            cosines = (left @ right.T)[:rows, :width]  # [rows, width]
            forward.offer(cosines, row, column)
            backward.offer(cosines.T, column, row)
        report(Progress("searching", row + rows, len(source)))
    return Neighbours(*forward.finish(), *backward.finish())


def _padded(block: Vectors) -> NDArray[np.float32]:
    rows, dim = block.shape
    filled = np.zeros((-(-rows // _PAD) * _PAD, -(-dim // _PAD) * _PAD), dtype=np.float32)
    filled[:rows, :dim] = block
    return filled


class _Best:
    """The k best cells seen so far of each row, kept sorted by falling value, then by column."""

    def __init__(self, rows: int, k: int) -> None:
        self.k = k
        self.values = np.full((rows, k), -np.inf, dtype=np.float32)
        self.columns = np.full((rows, k), -1, dtype=np.int64)

    def offer(self, block: NDArray[np.float32], row: int, column: int) -> None:
        """Let in what is better than a row's k-th best; `row`, `column` are the block's corner.

        Blocks come in rising order of columns, so an equal value never displaces one that is in.
        """
        rows = slice(row, row + len(block))
        floor = self.values[rows, -1]
        if np.isneginf(floor).any():  # not yet k cells: the k-th best of this block is the bar
            k = min(self.k, block.shape[1])
            bar = np.partition(block, -k, axis=1)[:, -k]
            floor = np.maximum(floor, np.nextafter(bar, -np.inf, dtype=np.float32))
        if block.strides[0] > block.strides[1]:
            where, cells = np.nonzero(block > floor[:, None])
        else:  # a transposed block is read in the order in which it lies in memory
            cells, where = np.nonzero(block.T > floor)
        if len(where):
            self._merge(where + row, cells + column, block[where, cells])

    def _merge(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64], values: NDArray[np.float32]
    ) -> None:
        touched = np.unique(rows)
        rows = np.concatenate([np.repeat(touched, self.k), rows])
        columns = np.concatenate([self.columns[touched].ravel(), columns])
        values = np.concatenate([self.values[touched].ravel(), values])
        order = np.lexsort((columns, -values, rows))
        starts = np.searchsorted(rows[order], touched)
        kept = order[starts[:, None] + np.arange(self.k)]  # [touched, k]
        self.values[touched] = values[kept]
        self.columns[touched] = columns[kept]

    def finish(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Give columns and values; rounding to fp16 can lift a cosine above 1, so it is cut."""
        return self.columns, np.minimum(self.values, 1)
