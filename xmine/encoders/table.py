"""Vectors in rows: int8 with a factor each, or plain floats; their file; sums and means of rows."""

import json
import mmap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from xmine import native
from xmine.encoders.layout import first_line
from xmine.errors import EncoderError

# The types of safetensors that a table or a mapping may have.
_TYPES = {
    "F16": np.float16,
    "F32": np.float32,
    "F64": np.float64,
    "I8": np.int8,
    "I32": np.int32,
    "I64": np.int64,
}
_ROWS_AT_ONCE = 512  # so many that their sums stay in the cache
_IDS_AT_ONCE = 2**20


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A vector per piece as it is stored.

    Attributes:
        rows: int8 or floats [pieces, dim].
        factors: float32 [pieces], by which the rows are multiplied; None: by one.
        more: a table whose rows follow behind these, such as those of a pack.
    """

    rows: NDArray[Any]
    factors: NDArray[np.float32] | None
    more: "Table | None" = None

    def __len__(self) -> int:
        """Count the rows, with those that follow."""
        return sum(len(table.rows) for table in self.parts())

    @classmethod
    def rounded(cls, vectors: NDArray[np.float32], levels: int = 127) -> "Table":
        """Round float vectors [pieces, dim] to int8 up to +-`levels`, with a factor per row."""
        factors = (np.abs(vectors).max(axis=1) / levels).astype(np.float32)
        rows = vectors / np.maximum(factors, np.finfo(np.float32).tiny)[:, None]
        return cls(np.rint(rows).astype(np.int8), factors)

    def before(self, other: "Table") -> "Table":
        """Put another table behind this one and those that follow."""
        return replace(self, more=self.more.before(other) if self.more else other)

    def parts(self) -> Iterator["Table"]:
        """Walk through this table and those that follow."""
        yield self
        if self.more is not None:
            yield from self.more.parts()

    def vectors(self, pieces: Any = slice(None)) -> NDArray[np.float32]:  # noqa: ANN401
        """Multiply out some rows, or all: float32 [pieces, dim]."""
        if self.more is not None:
            places = np.arange(len(self))[pieces]
            found = np.empty((len(places), self.rows.shape[1]), np.float32)
            behind = places >= len(self.rows)
            found[~behind] = replace(self, more=None).vectors(places[~behind])
            found[behind] = self.more.vectors(places[behind] - len(self.rows))
            return found
        rows: NDArray[Any] = self.rows[pieces]
        if self.factors is None:
            return rows.astype(np.float32, copy=False)
        vectors: NDArray[np.float32] = rows * self.factors[pieces][:, None]
        return vectors


def give_back(rows: NDArray[Any]) -> None:
    """Give the memory of mapped rows, which nobody changes, back until they are read again."""
    owner: Any = rows
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if isinstance(owner, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        owner.madvise(mmap.MADV_DONTNEED)


def means_of(
    table: Table, ids: NDArray[np.int32], starts: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Average rows of a table, without those that follow: float32 [texts, dim]."""
    kernels, dim = native.kernels, table.rows.shape[1]
    if kernels and table.rows.dtype == np.int8 and table.factors is not None:
        means = np.empty((len(starts) - 1, dim), np.float32)
        kernels.means(table.rows, table.factors, dim, ids, starts, means)
        return means
    used = used_rows(ids, len(table.rows))  # a small part of a table of many languages
    places = np.zeros(len(table.rows), dtype=np.int32)
    places[used] = np.arange(len(used))
    return mean_of_rows(replace(table, more=None).vectors(used), places[ids], starts)


def added(
    vectors: NDArray[np.float32],
    rows: NDArray[Any],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    by: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Add up vectors of stretches of `rows`, [stretches, dim]; `by` has the weights of rows.

    Adding the first rows of all stretches, then the second ones, is many times as fast as
    `np.add.reduceat`, and each sum has the same order whatever stands beside it.
    """
    found = np.zeros((len(sizes), vectors.shape[1]), np.float32)
    order = np.argsort(-sizes, kind="stable")
    for at in range(0, len(order), _ROWS_AT_ONCE):
        some = order[at : at + _ROWS_AT_ONCE]
        first, falling = starts[some], -sizes[some]
        sums = np.zeros((len(some), vectors.shape[1]), np.float32)
        for place in range(-int(falling[0])):
            places = first[: np.searchsorted(falling, -place)] + place  # of those with a row here
            more = vectors.take(rows[places], axis=0)
            sums[: len(places)] += more if by is None else more * by[places, None]
        found[some] = sums
    return found


def mean_of_rows(
    vectors: NDArray[np.float32], ids: NDArray[np.int32], starts: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Average the vectors of each text's pieces, of `ids` from one of `starts` to the next."""
    sizes = np.diff(starts)
    means = added(vectors, ids, starts[:-1], sizes)
    means /= np.maximum(sizes, 1).astype(np.float32)[:, None]
    return means


def _mapped(rows: NDArray[Any], mapping: NDArray[Any], path: Path) -> NDArray[Any]:
    fits = rows.ndim == 2 and mapping.ndim == 1 and mapping.dtype.kind in "iu"
    if not fits or (len(mapping) and not 0 <= mapping.min() <= mapping.max() < len(rows)):
        raise EncoderError(f"{path}: 'mapping' names rows that 'embeddings' has not")
    mapped: NDArray[Any] = rows[mapping]
    return mapped


def _map_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Map the tensors of a safetensors file: pieces that no text has need no memory."""
    with safe_open(path, "numpy") as checked:  # so that the header below is sound
        kinds = {name: checked.get_slice(name).get_dtype() for name in checked.keys()}  # noqa: SIM118
    if other := set(kinds.values()) - _TYPES.keys():
        known = ", ".join(_TYPES)
        raise EncoderError(f"{path}: numbers of type {', '.join(other)}", f"xmine reads {known}")
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    tensors = {}
    for name, kind in kinds.items():
        start, end = header[name]["data_offsets"]
        data = np.memmap(path, np.uint8, "c")[8 + size + start : 8 + size + end]
        tensors[name] = data.view(_TYPES[kind]).reshape(header[name]["shape"])
    return tensors


def read_table(path: Path) -> Table:
    """Read a safetensors file of sentence-transformers or model2vec.

    Raises:
        EncoderError: it is missing, cannot be read, or has other tensors.
    """
    try:
        tensors = _map_tensors(path)
    except FileNotFoundError:
        hint = "open it with sentence-transformers and save it again, which writes one"
        raise EncoderError(f"{path}: no such file", hint) from None
    except EncoderError:
        raise
    except Exception as error:
        raise EncoderError(f"{path}: cannot be read: {first_line(error)}") from error
    if "embedding.weight" in tensors:
        rows, factors = tensors.pop("embedding.weight"), None
    elif "embeddings" in tensors:
        rows, factors = tensors.pop("embeddings"), tensors.pop("weights", None)
        mapping = tensors.pop("mapping", None)  # of model2vec: several pieces share a row
        rows = rows if mapping is None else _mapped(rows, mapping, path)
    else:
        raise EncoderError(f"{path}: has no tensor 'embeddings' or 'embedding.weight'")
    if tensors:
        raise EncoderError(f"{path}: has tensors of no known use: {', '.join(tensors)}")
    is_float = rows.dtype in (np.float16, np.float32, np.float64)
    if (
        rows.ndim != 2
        or not rows.size
        or not (is_float or (rows.dtype == np.int8 and factors is not None))
    ):
        raise EncoderError(
            f"{path}: {rows.dtype} embeddings {list(rows.shape)}",
            "expected floats [pieces, dim], or int8 with float32 weights [pieces]",
        )
    if factors is not None and factors.shape != rows.shape[:1]:
        raise EncoderError(f"{path}: weights {list(factors.shape)} for {len(rows):,} rows")
    return Table(rows, None if factors is None else factors.astype(np.float32, copy=False))


def used_rows(ids: NDArray[np.int32], total: int) -> NDArray[np.int64]:
    """Name the rows of a table that ids name, rising; the ids may be a column of a large file."""
    is_used = np.zeros(total, np.bool_)
    for at in range(0, len(ids), _IDS_AT_ONCE):
        is_used[ids[at : at + _IDS_AT_ONCE]] = True
    return np.flatnonzero(is_used)
