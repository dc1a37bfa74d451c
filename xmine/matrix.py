"""Rows -> a matrix on disk (.npy), block by block: whole under its name, or not there.

What a killed process has written stays beside it under a hidden name, and is continued.
"""

import errno
import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError

_ROWS_AT_ONCE = 65_536
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class MatrixWriter:
    """Appends rows to a file; blocks go to the system at once, so that a kill takes none back.

    Attributes:
        rows: how many there are.
    """

    def __init__(self, file: BinaryIO, path: Path, dim: int, dtype: type[np.floating[Any]]) -> None:
        """Take an empty file, or one that such a writer has left, opened without a buffer.

        Args:
            file: to read and write.
            path: its name in messages.
            dim: the width of the rows.
            dtype: their numbers.
        """
        self._file, self._path = file, path
        self._dim, self._dtype = dim, np.dtype(dtype)
        with _writing(path):
            size = file.seek(0, os.SEEK_END) - len(self._header(0))
            self.rows = max(0, size) // (dim * self._dtype.itemsize)
            file.seek(0)
            start = file.read(len(self._header(0)))
            if start not in (self._header(0), self._header(self.rows)):
                self.rows = 0
            self.cut(self.rows)

    def cut(self, rows: int) -> None:
        """Leave out what comes behind some rows."""
        self.rows = rows
        with _writing(self._path):
            self._file.seek(0)
            self._put(self._header(0))
            self._file.truncate(self._file.tell() + rows * self._dim * self._dtype.itemsize)
            self._file.seek(0, os.SEEK_END)

    def write(self, block: NDArray[Any]) -> None:
        """Append rows [n, dim].

        Raises:
            FileError: the disk is full, or the file cannot be written for another reason.
        """
        block = np.ascontiguousarray(block, dtype=self._dtype)
        with _writing(self._path):
            self._put(block.data.cast("B") if block.size else b"")
        self.rows += len(block)

    def finish(self) -> None:
        """Write how many rows there are."""
        with _writing(self._path):
            self._file.seek(0)
            self._put(self._header(self.rows))

    def _header(self, rows: int) -> bytes:
        """Make the header of a .npy file; numpy leaves room in it, so that all are as long."""
        stream = BytesIO()
        facts = {"descr": self._dtype.str, "fortran_order": False, "shape": (rows, self._dim)}
        np.lib.format.write_array_header_1_0(stream, facts)
        return stream.getvalue()

    def _put(self, data: bytes | memoryview) -> None:
        while data:  # where a disk fills up, the first part is written, and the next try fails
            data = data[self._file.write(data) :]


@contextmanager
def writing_matrix(
    path: Path, dim: int, dtype: type[np.floating[Any]], mark: str = ""
) -> Iterator[MatrixWriter]:
    """Give a writer of a matrix, which appears at `path` when all is written.

    Args:
        path: the .npy file to write.
        dim: the width of its rows.
        dtype: their numbers.
        mark: a name of the work. What is left of the same work, by a kill or an error, is
            continued from its last row; what is left of any other work goes. Without a mark all
            begins anew.

    Raises:
        FileError: it cannot be written.
    """
    start = f".{path.name[:40]}."
    partial = path.with_name(f"{start}{mark[:32]}.part")
    with _writing(path):
        for other in path.parent.glob(f"{glob.escape(start)}*.part"):
            if other != partial or not mark:
                other.unlink()
        file = os.fdopen(os.open(partial, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0)
    try:
        with file:
            writer = MatrixWriter(file, path, dim, dtype)
            yield writer
            writer.finish()
        with _writing(path):
            partial.replace(path)
    finally:
        if not mark:
            partial.unlink(missing_ok=True)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileError(
            f"{path}: cannot be written: {error.strerror}",
            "make room there, or write it elsewhere" if error.errno in _FULL else "",
        ) from error


def open_matrix(path: Path, dtype: type[np.floating[Any]] = np.float16) -> NDArray[Any] | None:
    """Open a matrix without reading it; None where it is missing, cut short, or of other numbers.

    Returns:
        [rows, dim], memory-mapped, read-only.
    """
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    is_one = isinstance(matrix, np.memmap) and matrix.ndim == 2 and matrix.dtype == dtype
    return matrix if is_one and matrix.flags.c_contiguous else None


def without_zeros(
    vectors: NDArray[np.float16], path: Path
) -> tuple[NDArray[np.intp], NDArray[np.float16]]:
    """Leave out rows of zeros, the vectors of sentences that an encoder knows no piece of.

    Args:
        vectors: [rows, dim], memory-mapped.
        path: where the other rows are written to, if there are rows of zeros.

    Returns:
        the rows that are left, from 0; and their vectors: `vectors` itself where that is all of
        them, else those of the new file.

    Raises:
        FileError: it cannot be written.
    """
    starts = range(0, len(vectors), _ROWS_AT_ONCE)
    found = [vectors[start : start + _ROWS_AT_ONCE].any(axis=1) for start in starts]
    kept = np.flatnonzero(np.concatenate(found)) if found else np.empty(0, dtype=np.intp)
    if len(kept) == len(vectors):
        return kept, vectors
    with writing_matrix(path, vectors.shape[1], np.float16) as writer:
        for start, known in zip(starts, found, strict=True):
            writer.write(vectors[start : start + _ROWS_AT_ONCE][known])
    return kept, opened(path)


def opened(path: Path) -> NDArray[np.float16]:
    """Open a matrix that has just been written.

    Raises:
        FileError: it is not there any more.
    """
    matrix = open_matrix(path)
    if matrix is None:
        raise FileError(f"{path}: is gone, or was changed by somebody else", "run it again")
    return matrix
