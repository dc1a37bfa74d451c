"""Rows of two sides -> the best cells of both, by the fused product in C (`xmine/native/search.c`).

Rows are rounded to whole numbers of 16 bits, whose sums are exact: what is kept does not depend on
the instruction set. Cells are the keys of `xmine.knn.topk`, the kept ones of a row in any order
with the worst one first.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine import native
from xmine.knn.cosines import Rows
from xmine.knn.duplicates import Distinct
from xmine.knn.topk import Keys

# Rows by which the last tile of a right side may be filled up.
_TILE = 32


def in_tiles(side: Distinct, ids: Rows, *, is_left: bool) -> NDArray[np.int16]:
    """Round distinct rows to multiples of 1/32,000, as the kernel reads those of a side.

    Raises:
        ValueError: see `cosines.require_units`.
    """
    dim = side.vectors.shape[1]
    rows = len(ids) if is_left else len(ids) + _TILE
    out = np.empty((rows, dim + dim % 2), dtype=np.int16)
    vectors, ids = side.vectors, side.in_place(ids)
    if vectors.dtype not in (np.float16, np.float32):
        vectors, ids = vectors[ids].astype(np.float32), np.arange(len(ids))
    native.kernels.quantise(vectors, dim, vectors.dtype == np.float16, ids, is_left, out)
    return out


def barred(best: Keys, rows: Rows) -> Keys:
    """Make room for the best keys of some rows, which only better ones than their worst enter."""
    return np.repeat(best[rows, :1], best.shape[1], axis=1)


def scan(*sides: Any) -> None:  # noqa: ANN401
    """Let the cells of all pairs of two sides into the best of both rows, in place.

    Args:
        sides: the left rows in tiles, their ids, their best keys [rows, kept]; the same of the
            right; the width of the vectors; whether keys may be there already.
    """
    native.kernels.scan(*sides)


def merge(best: Keys, rows: Rows, keys: Keys) -> None:
    """Let keys [rows, any] into the best of some rows, in place; equal keys are let in once."""
    native.kernels.merge(best, best.shape[1], rows, keys)
