"""Arrays with a number for each line or pair: in memory, or in files that have no name.

Within `scratch_in(folder)` an array of a megabyte and more is a mapped file in that folder. The
system writes out what it has no room for, so that hundreds of millions of lines need no more
anonymous memory than what works on them at the moment. A file goes with its last array, however the
process ends. What is in the arrays never depends on where they are.

A temporary folder goes where its process ends, and that of a killed one with the next folder.
"""

import errno
import mmap
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from xmine.files.atomic import writing
from xmine.files.portable import is_ours, lock_at_once

_FOLDER: ContextVar[Path | None] = ContextVar("folder of scratch files", default=None)
LEAST = 2**20  # bytes; fewer are not worth a file
ROWS_AT_ONCE = 65_536
_BYTES_AT_ONCE = 2**20
# Of temporary folders, and of the file beside each that its process locks, then fills: the user may
# have folders of such a name.
_NAME, _HELD = "xmine-", ".held"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Give a folder in TMPDIR that is deleted at the end, and delete those of killed processes.

    Raises:
        FileError: it cannot be made.
    """
    top = Path(tempfile.gettempdir())
    for held in top.glob(f"{_NAME}*{_HELD}"):
        with suppress(OSError):  # its process lives, or another deletes it
            if held.stat().st_size and is_ours(held):
                with held.open("r+b") as file:
                    lock_at_once(file.fileno())
                _delete(held)
    with writing(top):
        folder = Path(tempfile.mkdtemp(prefix=_NAME))
        handle = os.open(held := folder.with_suffix(_HELD), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        with suppress(OSError):  # without locks nobody can tell that this process lives
            lock_at_once(handle)
            os.write(handle, b"held\n")
        yield folder
    finally:
        os.close(handle)
        _delete(held)


def _delete(held: Path) -> None:
    shutil.rmtree(held.with_suffix(""), ignore_errors=True)
    with suppress(OSError):
        held.unlink()


@contextmanager
def scratch_in(folder: Path) -> Iterator[None]:
    """Make large arrays in a folder; arrays outlive the block."""
    before = _FOLDER.set(folder)
    try:
        yield
    finally:
        _FOLDER.reset(before)


def slices(rows: int, at_once: int = 0) -> Iterator[slice]:
    """Cut rows into blocks, of ROWS_AT_ONCE if not told, whose intermediate results are small."""
    size = at_once or ROWS_AT_ONCE
    return (slice(at, min(at + size, rows)) for at in range(0, rows, size))


def empty(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Make an array to be filled.

    Raises:
        FileError: the folder has no room for it.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if (folder := _folder_for(size)) is None:
        return np.empty(shape, dtype)
    with writing(folder), tempfile.TemporaryFile(dir=folder) as file:
        _take_room(file, size)
        return np.frombuffer(mmap.mmap(file.fileno(), size), dtype).reshape(shape)


def _take_room(file: IO[bytes], size: int) -> None:
    """Take room on the disk: a full disk is an error now, and a signal when an array is filled."""
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except (AttributeError, OSError) as error:  # macOS has no such call, some file systems neither
        if isinstance(error, OSError) and error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
            raise
        for start in range(0, size, _BYTES_AT_ONCE):
            file.write(bytes(min(_BYTES_AT_ONCE, size - start)))
        file.flush()


def _folder_for(size: int) -> Path | None:
    return None if size < LEAST else _FOLDER.get()


def stored(array: NDArray[Any]) -> NDArray[Any]:
    """Copy an array to a file; give the array itself where it stays in memory."""
    if _folder_for(array.nbytes) is None:
        return array
    copy = empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Put arrays one behind the other."""
    whole = empty((sum(map(len, parts)), *parts[0].shape[1:]), parts[0].dtype)
    return np.concatenate(parts, out=whole)


def taken(array: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    """Gather some rows of an array, as `array[rows]` does: int64 [rows], or bool [all rows]."""
    rows = np.flatnonzero(rows) if rows.dtype == bool else rows
    found = empty((len(rows), *array.shape[1:]), array.dtype)
    for some in slices(len(rows)):
        found[some] = array[rows[some]]
    return found


def filled(rows: int, of: Callable[[slice], NDArray[np.float64]]) -> NDArray[np.float64]:
    """Make numbers, float64 [rows], some at a time."""
    numbers = empty(rows, np.float64)
    for some in slices(rows):
        numbers[some] = of(some)
    return numbers


def summed(rows: int, of: Callable[[slice], NDArray[np.float64]]) -> float:
    """Add up numbers that are made some at a time; the sum is that of a whole array, to the bit."""
    numbers = np.empty(rows)  # quicker than a file: of all sums one is made at a time
    for some in slices(rows):
        numbers[some] = of(some)
    return float(numbers.sum())


class Spool:
    """Bytes that are appended."""

    def __init__(self) -> None:
        """Begin without any."""
        self._folder = _FOLDER.get()
        self._file: IO[bytes] | None = None
        self._written, self._tail = 0, bytearray()

    def append(self, data: bytes) -> int:
        """Append some bytes, and count those so far."""
        self._tail += data
        if self._folder and len(self._tail) >= LEAST:
            self._write(self._folder)
        return self._written + len(self._tail)

    def array(self) -> NDArray[np.uint8]:
        """Give them all, uint8 [bytes]; none can be appended any more."""
        if not self._file or not self._folder:
            return np.frombuffer(self._tail, dtype=np.uint8)
        self._write(self._folder)
        with self._file:
            return np.frombuffer(mmap.mmap(self._file.fileno(), self._written), np.uint8)

    def _write(self, folder: Path) -> None:
        with writing(folder):
            self._file = self._file or tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
            self._file.write(self._tail)
            self._file.flush()
        self._written += len(self._tail)
        self._tail = bytearray()
