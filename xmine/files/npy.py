"""Rows -> a matrix on disk (.npy), block by block: whole under its name, or not there.

What a killed process has written stays beside it under a hidden name, and is continued.
"""

import glob
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.files.atomic import hidden_start, remove, writing
from xmine.files.digests import HEAD, NOBODY, Watch, refuse_unreadable

_ROWS_AT_ONCE = 65_536
_BYTES_AT_ONCE = 2**20
_SHAPE = re.compile(rb"'shape': \((\d{1,18}), (\d{1,18})\)")


def header(dtype: np.dtype[Any], *shape: int) -> bytes:
    """Make the header of a .npy file; numpy leaves room in it: that of a matrix has HEAD bytes."""
    stream, described = BytesIO(), np.lib.format.dtype_to_descr(dtype)
    facts = {"descr": described, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, facts)
    return stream.getvalue()


class MatrixWriter:
    """Appends rows to a file; blocks go to the system at once, so that a kill loses no block.

    Attributes:
        path, dtype: of the matrix.
        rows: the number of rows so far.
        broken: whether blocks that were there had been changed.
    """

    def __init__(
        self,
        file: BinaryIO,
        path: Path,
        dim: int,
        dtype: type[np.generic],
        digests: BinaryIO | None = None,
    ) -> None:
        """Take an empty file, or one that such a writer has left, opened without a buffer.

        Args:
            file: to read and write.
            path: its name in messages.
            dim, dtype: the dimension of the rows, and the type of their numbers.
            digests: another such file, with a line for each block: the number of rows so far, and
                their digest. Rows whose digests agree are kept; without this file all rows are
                written anew.
        """
        self._file, self.path, self._digests = file, path, digests
        self.dtype, number = dtype, np.dtype(dtype)
        self._header, self._bytes = header(number, 0, dim), dim * number.itemsize
        self._dim = dim
        with writing(path):
            there = max(0, file.seek(0, os.SEEK_END) - HEAD) // max(self._bytes, 1)
        self._rewind(there)
        self.broken = self._disagreeing

    def cut(self, rows: int) -> None:
        """Leave out what comes behind some rows, or behind the blocks that are among them."""
        if rows < self.rows:
            self._rewind(rows)

    def _rewind(self, rows: int) -> None:
        with writing(self.path):
            agreeing = self._agreeing(rows)
            self._file.seek(0)
            self._put(self._file, self._header)
            self._file.truncate(HEAD + self.rows * self._bytes)
            self._file.seek(0, os.SEEK_END)
            if self._digests:
                self._digests.truncate(agreeing)
                self._digests.seek(agreeing)

    def _agreeing(self, rows: int) -> int:
        """Count the rows of the blocks that are what they were, and the bytes of their digests."""
        self.rows, self._state, self._disagreeing = 0, blake2b(digest_size=16), False
        if not self._digests:
            return 0
        self._digests.seek(0)
        self._file.seek(HEAD)
        length = 0
        for line in self._digests.read().splitlines(keepends=True):
            said = re.fullmatch(rb"(\d{1,18}) [0-9a-f]{32}\n", line)
            stop = int(said[1]) if said else 0
            state = self._state.copy()
            left = (stop - self.rows) * self._bytes if self.rows < stop <= rows else 0
            while left and (some := self._file.read(min(left, _BYTES_AT_ONCE))):
                state.update(some)
                left -= len(some)
            if line != f"{stop} {state.hexdigest()}\n".encode():
                self._disagreeing = line.endswith(b"\n")  # or a full disk has cut it short
                break
            self.rows, self._state = stop, state
            length += len(line)
        return length

    def write(self, block: NDArray[Any]) -> None:
        """Append rows [n, dim]."""
        block = np.ascontiguousarray(block, dtype=self.dtype)
        data = block.data.cast("B") if block.size else b""
        with writing(self.path):
            self._put(self._file, data)
            self.rows += len(block)
            self._state.update(data)
            if self._digests and len(block):
                self._put(self._digests, f"{self.rows} {self._state.hexdigest()}\n".encode())

    def last(self) -> NDArray[Any]:
        """Read the last row that is written so far."""
        with writing(self.path):
            self._file.seek(HEAD + (self.rows - 1) * self._bytes)
            data = self._file.read(self._bytes)
            self._file.seek(0, os.SEEK_END)
        return np.frombuffer(data, self.dtype)

    def finish(self) -> str:
        """Write the number of rows; return the digest of the file, see `digest_of`."""
        with writing(self.path):
            self._file.seek(0)
            whole = header(np.dtype(self.dtype), self.rows, self._dim)
            self._put(self._file, whole)
        state = self._state.copy()
        state.update(whole)
        return state.hexdigest()

    @staticmethod
    def _put(file: BinaryIO, data: bytes | memoryview) -> None:
        while data:  # where a disk fills up, the first part is written, and the next try fails
            data = data[file.write(data) :]


@contextmanager
def writing_matrix(
    path: Path,
    dim: int,
    dtype: type[np.generic],
    mark: str = "",
    watch: Watch = NOBODY,
) -> Iterator[MatrixWriter]:
    """Give a writer of a matrix, which appears at `path` when it is complete.

    Args:
        path: the .npy file.
        dim, dtype: the dimension of its rows, and the type of its numbers.
        mark: a name of the work. The part that a kill or an error left of the same work is
            continued behind its last unchanged block; parts of other work are deleted. Without a
            mark, the matrix is written anew.
        watch: told of changed blocks, and of the digest of the file before it appears.
    """
    start = hidden_start(path)
    partial = path.with_name(f"{start}{mark[:32]}.part")
    digests = path.with_name(f"{start}{mark[:32]}.digests.part")
    parts = parts_folder(path, mark)
    with writing(path):
        for other in path.parent.glob(f"{glob.escape(start)}*.part"):
            is_file = other in (partial, digests) and other.is_file()
            if not mark or not (is_file or (other == parts and other.is_dir())):
                remove(other)
    try:
        with ExitStack() as stack:
            with writing(path):
                file = stack.enter_context(_opened_part(partial))
                lines = stack.enter_context(_opened_part(digests)) if mark else None
            writer = MatrixWriter(file, path, dim, dtype, lines)
            if writer.broken:
                watch.changed(partial)
            yield writer
            digest = writer.finish()
        watch.sealed(path, digest)
        with writing(path):
            remove(parts)
            partial.replace(path)
            digests.unlink(missing_ok=True)
    finally:
        if not mark:
            partial.unlink(missing_ok=True)


def _opened_part(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b", buffering=0)


def parts_folder(path: Path, mark: str) -> Path:
    """Name the folder of the rows of a matrix that tasks make; `writing_matrix` deletes it."""
    return path.with_name(f"{hidden_start(path)}{mark[:32]}.parts.part")


def write_matrix(path: Path, rows: NDArray[Any]) -> None:
    """Write a matrix, which appears at `path` when it is complete."""
    with writing_matrix(path, rows.shape[1], rows.dtype.type) as writer:
        writer.write(rows)


def open_matrix(
    path: Path, dtype: type[np.generic] = np.float16, mode: Literal["r", "r+"] = "r"
) -> NDArray[Any] | None:
    """Open a matrix without reading it; None where it is missing, cut short, or of other numbers.

    Returns:
        [rows, dim], memory-mapped.

    Raises:
        FileError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            start, size = file.read(HEAD), file.seek(0, os.SEEK_END)
        # What numpy writes, byte for byte: of another header it raises this and that.
        said = _SHAPE.search(start)
        shape = (int(said[1]), int(said[2])) if said else (0, 0)
        whole = HEAD + shape[0] * shape[1] * np.dtype(dtype).itemsize
        if start != header(np.dtype(dtype), *shape) or size != whole:
            return None
        return np.memmap(path, dtype, mode, HEAD, shape)
    except (OSError, ValueError) as error:
        refuse_unreadable(path, error)
        return None


def without_zeros(
    vectors: NDArray[np.float16], path: Path, watch: Watch = NOBODY
) -> tuple[NDArray[np.intp], NDArray[np.float16]]:
    """Leave out rows of zeros, the vectors of sentences without a known token.

    Args:
        vectors: float16 [rows, dim], memory-mapped.
        path: the file for the other rows, if there are rows of zeros.
        watch: told the digest of that file.

    Returns:
        the rows that are left, from 0; and their vectors: `vectors` itself, or those of the new
        file.
    """
    starts = range(0, len(vectors), _ROWS_AT_ONCE)
    found = [vectors[start : start + _ROWS_AT_ONCE].any(axis=1) for start in starts]
    kept = np.flatnonzero(np.concatenate(found)) if found else np.empty(0, dtype=np.intp)
    if len(kept) == len(vectors):
        return kept, vectors
    with writing_matrix(path, vectors.shape[1], np.float16, watch=watch) as writer:
        for start, known in zip(starts, found, strict=True):
            writer.write(vectors[start : start + _ROWS_AT_ONCE][known])
    return kept, opened(path)


def opened(
    path: Path, dtype: type[np.generic] = np.float16, mode: Literal["r", "r+"] = "r"
) -> NDArray[Any]:
    """Open a matrix that has just been written."""
    matrix = open_matrix(path, dtype, mode)
    if matrix is None:
        raise FileError(f"{path}: is gone, or was changed by somebody else", "run it again")
    return matrix
