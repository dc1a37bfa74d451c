"""Two matrices -> the k nearest rows both ways; what every search returns, and how it scores.

Whatever a search computes with, its cosines come from `rescored`, and equal cosines go to the lower
row number; so they depend on neither blocks, threads nor device.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.matrix import open_matrix
from xmine.options import load_toml
from xmine.progress import Report, silent

Vectors = NDArray[np.float16] | NDArray[np.float32]

# What a folder holds of a search; COMPLETE is written last.
FILES = ("targets", "target_cosines", "sources", "source_cosines")
COMPLETE = "search.toml"

# The bits of a float16 moved to their places in a float32, whose exponent counts from 112 higher.
# numpy's own conversion takes 1.7-2.5 ns for a number, this 0.4 ns in pieces that fit a cache.
_MOVED = np.int32(-0x80000000 | 0x0FFFE000)
_HIGHER = np.float32(2.0**112)
_NUMBERS_AT_ONCE = 65536
# Numbers that `rescored` holds at once, in 14 bytes each: 2 MB.
_RESCORED_AT_ONCE = 2**17


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest targets of each source and the nearest sources of each target.

    Attributes:
        targets: int64 [sources, k], rows of the target matrix, nearest first.
        target_cosines: float32 [sources, k].
        sources: int64 [targets, k], rows of the source matrix, nearest first.
        source_cosines: float32 [targets, k].
        index: what found them, for people.
        recall: the share of the true ones among them, as measured; None where all are.

    k is at most the number of rows on the other side. The arrays may be read-only files in memory.
    """

    targets: NDArray[np.int64]
    target_cosines: NDArray[np.float32]
    sources: NDArray[np.int64]
    source_cosines: NDArray[np.float32]
    index: str = "exact"
    recall: float | None = None

    def first(self, k: int) -> "Neighbours":
        """Keep the k nearest of each row."""
        return Neighbours(
            self.targets[:, :k],
            self.target_cosines[:, :k],
            self.sources[:, :k],
            self.source_cosines[:, :k],
            self.index,
            self.recall,
        )


def nearest(source: Vectors, target: Vectors, k: int, *, report: Report = silent) -> Neighbours:
    """Find the k nearest rows in both directions, exactly and in memory.

    Args:
        source: [sources, dim], unit rows, at least one.
        target: [targets, dim], unit rows, at least one.
        k: neighbours per row; cut to the number of rows on the other side.
        report: called with the number of finished sources.
    """
    from xmine.knn.exact import search_exact

    return search_exact(source, target, k, report=report)


def found_in(folder: Path) -> Neighbours | None:
    """Open what a search left in a folder, memory-mapped; None if it is not complete.

    Digests are compared by `xmine.knn.searchfiles.finished`, and not here.

    Raises:
        FileError: the search is complete but a file is missing or broken.
    """
    path, again = folder / COMPLETE, f"remove {folder} and search again"
    if not path.exists():
        return None
    facts, arrays = load_toml(path), []
    index, recall = facts.get("index"), facts.get("recall")
    if not isinstance(index, str):
        raise FileError(f"{path}: no 'index'", again)
    for name in FILES:
        path = folder / f"{name}.npy"
        array = open_matrix(path, np.float32 if name.endswith("cosines") else np.int64)
        if array is None:
            raise FileError(f"{path}: {'broken' if path.exists() else 'no such file'}", again)
        arrays.append(array)
    targets, target_cosines, sources, source_cosines = arrays
    for name, ids, cosines, others in (
        ("targets", targets, target_cosines, sources),
        ("sources", sources, source_cosines, targets),
    ):
        there = ids.shape == cosines.shape and ids.size
        if not there or not 0 <= ids.min() <= ids.max() < len(others):
            raise FileError(f"{folder / name}.npy: neighbours that are not there", again)
    recall = recall if isinstance(recall, float) else None
    return Neighbours(targets, target_cosines, sources, source_cosines, index, recall)


def rescored(vectors: Vectors, others: Vectors, ids: NDArray[np.int64]) -> NDArray[np.float32]:
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


def ordered(
    ids: NDArray[np.int64], cosines: NDArray[np.float32], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Sort neighbours [rows, some] by falling cosine, then rising row, and keep k."""
    order = np.lexsort((ids, -cosines))[:, :k]
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(cosines, order, axis=1)


def widen(vectors: Vectors, out: NDArray[np.float32]) -> NDArray[np.float32]:
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
