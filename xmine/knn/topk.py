"""Cosines and columns <-> packed keys.

A key is a cell of one row: its cosine above, its column below, so that keys sort by rising cosine,
then by falling column. Merging keys commutes, so blocks may come in any order and from any thread.
"""

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]

NOBODY = 0xFFFFFFFF  # the column of what is no cell
_MAGNITUDE = np.int32(0x7FFFFFFF)


def pack(values: NDArray[np.float32], columns: NDArray[np.int64]) -> Keys:
    """Make keys of cosines and columns; bits of floats are turned so that they sort as numbers."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.int32)
    ordered = bits ^ ((bits >> 31) & _MAGNITUDE)
    return (ordered.astype(np.int64) << 32) | (NOBODY - columns)


def values_of(keys: Keys) -> NDArray[np.float32]:
    """Give the cosines of keys."""
    ordered = (keys >> 32).astype(np.int32)
    return (ordered ^ ((ordered >> 31) & _MAGNITUDE)).view(np.float32)


def columns_of(keys: Keys) -> NDArray[np.int64]:
    """Give the columns of keys."""
    return NOBODY - (keys & NOBODY)


EMPTY = int(pack(np.array([-np.inf], dtype=np.float32), np.array([NOBODY]))[0])

# The key of a row that lets nothing in.
CLOSED = int(pack(np.array([np.inf], dtype=np.float32), np.array([0]))[0])
