"""Exact cosines of rows, and neighbours in order: the arithmetic that every search shares."""

import numpy as np
from numpy.typing import NDArray

from xmine import native

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Halves = NDArray[np.float16]
Vectors = Halves | Floats

# The bits of a float16 moved to their places in a float32, whose exponent counts from 112 higher.
# numpy's own conversion takes 1.7-2.5 ns for a number, this 0.4 ns in pieces that fit a cache.
_MOVED = np.int32(-0x80000000 | 0x0FFFE000)

_HIGHER = np.float32(2.0**112)

_NUMBERS_AT_ONCE = 65536

_LONGEST = 1.023  # of a row; float16 rounds lengths

# Numbers that `exact_cosines` holds at once, in 14 bytes each: 2 MB.
_RESCORED_AT_ONCE = 2**17


def exact_cosines(vectors: Vectors, others: Vectors, ids: Rows) -> Floats:
    """Compute the cosines of some rows of `vectors` with rows of `others`.

    A product of two float16 numbers is a multiple of 2**-48, and float64 holds every sum of such
    products up to 16 without rounding. So the cosine is the exact one, rounded once to float32, in
    whatever order it is summed. Vectors of float32 are summed in one fixed order.

    Args:
        vectors: [rows, dim], unit rows.
        others: [others, dim], unit rows.
        ids: int64 [rows, k], rows of `others`; -1 where there is none.

    Returns:
        float32 [rows, k], cut at 1, to which rounding can lift a cosine; -inf where id is -1.
    """
    rows, k = ids.shape
    dim = vectors.shape[1]
    cosines = np.empty((rows, k), dtype=np.float32)
    if native.kernels is not None and vectors.dtype == others.dtype == np.float16:
        arrays = [np.ascontiguousarray(each) for each in (vectors, others, ids)]
        native.kernels.cosines(*arrays, dim, cosines)
        return cosines
    step = max(1, min(rows, _RESCORED_AT_ONCE // ((k + 1) * dim)))
    wide = np.empty((step * (k + 1), dim), dtype=np.float32)
    double = np.empty(wide.shape)  # both made once: new pages cost as much as the arithmetic
    for start in range(0, rows, step):
        some = ids[start : start + step]
        used = int(np.flatnonzero((some >= 0).any(axis=0)).max(initial=-1)) + 1
        n, end = len(some), len(some) * (used + 1)
        widen(vectors[start : start + n], wide[:n])
        widen(others[np.maximum(some[:, :used], 0).ravel()], wide[n:end])
        np.copyto(double[:end], wide[:end])
        found = np.einsum("rd,rkd->rk", double[:n], double[n:end].reshape(n, used, dim))
        cosines[start : start + n, :used] = np.minimum(found, 1)
    cosines[ids < 0] = -np.inf
    return cosines


def all_cosines(left: Floats, right: Floats, *, are_halves: bool) -> Floats:
    """Compute the cosines of all rows of two matrices, bit for bit those of `exact_cosines`.

    Args:
        left, right: [rows, dim], unit rows.
        are_halves: whether all are float16 numbers, so that the order of a sum does not matter.

    Returns:
        float32 [rows of left, rows of right], cut at 1.
    """
    one, other = left.astype(np.float64), right.astype(np.float64)
    products = one @ other.T if are_halves else np.einsum("rd,kd->rk", one, other)
    cosines: Floats = np.minimum(products, 1).astype(np.float32)
    return cosines


def pair_cosines(left: Vectors, right: Vectors, x: Rows, y: Rows) -> Floats:
    """Compute the cosines of rows x of `left` with rows y of `right`: float32 [pairs], cut at 1."""
    products = np.einsum("ij,ij->i", left[x], right[y], dtype=np.float64)
    cosines: Floats = np.minimum(products, 1).astype(np.float32)
    return cosines


def ordered(ids: Rows, cosines: Floats, k: int) -> tuple[Rows, Floats]:
    """Sort neighbours [rows, some] by falling cosine, then rising row, and keep k."""
    order = np.lexsort((ids, -cosines))[:, :k]
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(cosines, order, axis=1)


def require_units(rows: Floats) -> None:
    """Refuse rows [rows, dim] that are longer than one, or not of numbers, with a ValueError.

    What a search proves rests on their length, and the kernels' whole numbers fit their bits.
    """
    if not (np.einsum("rd,rd->r", rows, rows) <= _LONGEST**2).all():
        raise ValueError("these are not unit vectors")


def widen(vectors: Vectors, out: Floats) -> Floats:
    """Copy finite rows [rows, dim] to float32 `out`, where every float16 has its exact value."""
    if vectors.dtype != np.float16:
        np.copyto(out, vectors)
        return out
    bits = np.asarray(vectors).view(np.int16)
    step = max(1, _NUMBERS_AT_ONCE // vectors.shape[1])
    for start in range(0, len(vectors), step):
        part = out[start : start + step]
        moved = part.view(np.int32)
        np.copyto(moved, bits[start : start + step])
        np.left_shift(moved, 13, out=moved)
        np.bitwise_and(moved, _MOVED, out=moved)
        np.multiply(part, _HIGHER, out=part)
    return out
