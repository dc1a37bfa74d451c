"""Rows of two sides -> the best cells of both, by the fused product in C (`xmine/native/search.c`).

Rows are rounded to whole numbers of 16 bits, whose sums are exact: what is kept does not depend on
the instruction set. Cells are the keys of `xmine.knn.topk`, the kept ones of a row in any order
with the worst one first.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xmine import native
from xmine.knn.cosines import Rows
from xmine.knn.duplicates import Distinct
from xmine.knn.topk import Keys
from xmine.knn.workers import WorkerPool

if TYPE_CHECKING:
    from xmine.knn.blocks import Cutting, SourceBlock

# Rows by which the last tile of a right side may be filled up.
_TILE = 32


def is_fused() -> bool:
    """Tell whether the kernels search: in plain C they are slower than BLAS."""
    return native.kernels is not None and native.kernels.sets()[0] != "plain"


def in_tiles(side: Distinct, ids: Rows, *, is_left: bool) -> NDArray[np.int16]:
    """Round distinct rows to multiples of 1/32,000, as the kernel reads those of a side.

    Raises:
        ValueError: see `cosines.require_units`.
    """
    dim = side.vectors.shape[1]
    rows = len(ids) if is_left else len(ids) + _TILE
    out = np.empty((rows, dim + dim % 2), dtype=np.int16)
    is_half = side.vectors.dtype == np.float16
    native.kernels.quantise(side.vectors, dim, is_half, side.in_place(ids), is_left, out)
    return out


def barred(best: Keys, rows: Rows) -> Keys:
    """Make room for the best keys of some rows, which only better ones than their worst enter."""
    return np.repeat(best[rows, :1], best.shape[1], axis=1)


class FusedMultiplier:
    """What `blocks.Multiplier` does, without a block."""

    def __init__(self, right: Distinct, plan: "Cutting") -> None:
        self.side, self.rows = right, plan.rows

    def multiply(
        self, sources: "SourceBlock", start: int, stop: int, best: Keys, pool: WorkerPool
    ) -> None:
        """See `blocks.Multiplier.multiply`."""
        kernels: Any = native.kernels
        columns, dim = np.arange(start, stop), self.side.vectors.shape[1]
        right = in_tiles(self.side, columns, is_left=False)
        for row in range(0, len(sources.best), self.rows):
            if pool.stopped:
                return
            ours = sources.best[row : row + self.rows]
            rows, left = np.arange(len(ours)), sources.vectors[row : row + self.rows]
            with sources.lock:
                found = barred(ours, rows)
            kernels.scan(left, sources.start + row + rows, found, right, columns, best, dim, False)
            with sources.lock:
                kernels.merge(ours, ours.shape[1], rows, found)
        with sources.lock:
            sources.finished += stop - start
