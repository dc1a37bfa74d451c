"""Rows -> a matrix on disk (.npy), block by block: whole under its name, or not there."""

import os
import re
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from xmine.errors import FileError
from xmine.files.atomic import replacing
from xmine.files.digests import refuse_unreadable

if TYPE_CHECKING:
    from hashlib import blake2b

SEAL = 16  # bytes of the digest that may stand behind the rows, see `xmine.files.sealed_arrays`
_SHAPE = re.compile(rb"'shape': \((\d{1,18}),(?: (\d{1,18}))?\)")
_MOST_OF_A_HEADER = 2**10


def header(dtype: np.dtype[Any], *shape: int) -> bytes:
    """Make the header of a .npy file; numpy leaves room in it: that of a matrix has HEAD bytes."""
    stream, described = BytesIO(), np.lib.format.dtype_to_descr(dtype)
    facts = {"descr": described, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, facts)
    return stream.getvalue()


def read_header(file: BinaryIO, dtype: DTypeLike) -> tuple[bytes, tuple[int, ...], int] | None:
    """Read the header of an array of one or two dimensions.

    Returns:
        the header, the shape, and the bytes that the rows take; None for an array of other numbers,
        and for a header that numpy does not write: of another one it raises this and that.
    """
    start = file.read(_MOST_OF_A_HEADER)
    if not (said := _SHAPE.search(start)):
        return None
    shape = tuple(int(each) for each in said.groups() if each)
    head = header(np.dtype(dtype), *shape)
    size = int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize
    file.seek(len(head))
    return (head, shape, size) if start.startswith(head) else None


class ArrayWriter:
    """Writes blocks of rows, and then the header, which says how many rows they are.

    Attributes:
        rows: the number of rows so far.
    """

    def __init__(self, file: BinaryIO, state: "blake2b | None" = None) -> None:
        """Take an empty file; `state` hashes the rows, then the header."""
        self._file, self._state, self.rows, self._header = file, state, 0, b""

    def write(self, block: NDArray[Any]) -> None:
        """Append rows [n, ...]."""
        if not self._header:
            self._file.write(header(block.dtype, *block.shape))  # as long as the last one
        self.rows += len(block)
        self._header = header(block.dtype, self.rows, *block.shape[1:])
        data = np.ascontiguousarray(block).data
        if self._state:
            self._state.update(data)
        self._file.write(data)

    def finish(self) -> None:
        """Write the digest behind the rows, and the header before them."""
        if self._state:
            self._state.update(self._header)
            self._file.write(self._state.digest())
        self._file.seek(0)
        self._file.write(self._header)
        self._file.flush()


def write_matrix(path: Path, blocks: Iterable[NDArray[Any]]) -> None:
    """Write a matrix, block by block; the file appears at `path` when it is complete."""
    with replacing(path) as partial, partial.open("wb") as file:
        writer = ArrayWriter(file)
        for block in blocks:
            writer.write(block)
        writer.finish()


def open_matrix(path: Path, dtype: type[np.generic] = np.float16) -> NDArray[Any] | None:
    """Open a matrix without reading it; None where it is missing, cut short, or of other numbers.

    Returns:
        [rows, dim], memory-mapped.

    Raises:
        FileError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            found, size = read_header(file, dtype), file.seek(0, os.SEEK_END)
        if not found or len(found[1]) != 2 or size - len(found[0]) - found[2] not in (0, SEAL):
            return None
        return np.memmap(path, dtype, "r", len(found[0]), found[1])
    except (OSError, ValueError) as error:
        refuse_unreadable(path, error)
        return None


def opened(path: Path, dtype: type[np.generic] = np.float16) -> NDArray[Any]:
    """Open a matrix that has just been written."""
    matrix = open_matrix(path, dtype)
    if matrix is None:
        raise FileError(f"{path}: is gone, or was changed by somebody else", "run it again")
    return matrix
