"""The product of `xmine.knn.fused` in numpy, in float32: for machines without the kernels in C.

It also tells cells apart that lie too near to each other for whole numbers of 16 bits.
"""

import numpy as np
from numpy.typing import NDArray

from xmine.knn.cosines import Floats, Rows, require_units, widen
from xmine.knn.duplicates import Distinct
from xmine.knn.topk import EMPTY, NOBODY, Keys, columns_of, pack, values_of

# Left rows of a block: 2 MB of cosines beside 2,048 right rows, and 8 MB to find the best of them.
_ROWS = 256


def in_tiles(side: Distinct, ids: Rows, *, is_left: bool) -> Floats:
    """Read distinct rows to float32 [rows, dim]; both sides alike.

    Raises:
        ValueError: see `cosines.require_units`.
    """
    out = np.empty((len(ids), side.vectors.shape[1]), dtype=np.float32)
    require_units(widen(side.at(ids), out))
    return out


def scan(
    left: Floats,
    left_ids: Rows,
    found: Keys,
    right: Floats,
    right_ids: Rows,
    best: Keys,
    dim: int,
    again: bool,
) -> None:
    """Let the cells of all pairs into the best of both rows, in place; see `fused.scan`."""
    for start in range(0, len(left), _ROWS):
        some = slice(start, start + _ROWS)
        block = left[some] @ right.T  # [rows, columns]
        _offer(found[some], block, right_ids)
        _offer(best, block.T, left_ids[some])


def _offer(best: Keys, cells: NDArray[np.float32], ids: Rows) -> None:
    """Let cells [rows, columns], whose columns have ids, into the best [rows, kept]."""
    rows = np.flatnonzero(cells.max(axis=1, initial=-np.inf) > values_of(best.min(axis=1)))
    cells = cells[rows]
    kept = min(best.shape[1], cells.shape[1])
    columns = np.argpartition(cells, -kept, axis=1)[:, -kept:]
    merge(best, rows, pack(np.take_along_axis(cells, columns, axis=1), ids[columns]))


def merge(best: Keys, rows: Rows, keys: Keys) -> None:
    """Let keys [rows, any] into the best of some rows, in place; a column is let in once.

    The cosine of a pair may differ in its last bit from one block to another.
    """
    both = np.concatenate([best[rows], keys], axis=1)
    both.sort(axis=1)
    columns = columns_of(both)
    order = np.argsort(columns, axis=1, kind="stable")
    columns = np.take_along_axis(columns, order, axis=1)
    row, at = np.nonzero((columns[:, :-1] == columns[:, 1:]) & (columns[:, 1:] != NOBODY))
    both[row, order[row, at]] = EMPTY
    both.sort(axis=1)
    best[rows] = both[:, -best.shape[1] :]
