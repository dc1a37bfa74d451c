"""Arrays that one process leaves for another: .npy files that end with their own digest.

The digest covers the name of the file and of its folder as well: who makes such a file names the
work there. So a file that was changed, or is of other work, is found and made again.
"""

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from xmine.errors import FileError
from xmine.files.atomic import remove, replacing_all
from xmine.files.digests import refuse_unreadable
from xmine.files.npy import SEAL, ArrayWriter, read_header

_BYTES_AT_ONCE = 2**20


def write_sealed(path: Path, array: NDArray[Any]) -> None:
    """Write an array of one or two dimensions; the file appears when it is on the disk."""
    write_all_sealed([path], [(array,)])


def write_all_sealed(
    paths: Sequence[Path], blocks: Iterable[tuple[NDArray[Any], ...]], mark: str = ""
) -> None:
    """Write arrays, some rows of each at a time; the files appear when all are on the disk.

    `mark` names the work where the names do not.
    """
    with replacing_all(paths) as partials, ExitStack() as stack:
        files = [stack.enter_context(each.open("wb")) for each in partials]
        writers = [
            ArrayWriter(file, _state(path, mark)) for file, path in zip(files, paths, strict=True)
        ]
        for block in blocks:
            for writer, some in zip(writers, block, strict=True):
                writer.write(some)
        for writer, file in zip(writers, files, strict=True):
            writer.finish()
            os.fsync(file.fileno())


def _state(path: Path, mark: str = "") -> "blake2b":
    """Begin a digest with the names, or with the mark."""
    return blake2b((mark or repr(path.parts[-2:])).encode(), digest_size=SEAL)


def open_sealed(path: Path, dtype: DTypeLike, mark: str = "") -> NDArray[Any] | None:
    """Open an array, memory-mapped; None where it is missing, changed, or of other numbers."""
    try:
        with path.open("rb") as file:
            if (found := read_header(file, dtype)) is None:
                return None
            head, shape, size = found
            if os.fstat(file.fileno()).st_size != len(head) + size + SEAL:
                return None
            state = _state(path, mark)
            for start in range(0, size, _BYTES_AT_ONCE):
                state.update(file.read(min(_BYTES_AT_ONCE, size - start)))
            state.update(head)
            if file.read() != state.digest():
                return None
        return np.memmap(path, dtype, "r", len(head), shape)
    except (OSError, ValueError) as error:
        refuse_unreadable(path, error)
        return None


def seal_of(path: Path) -> str:
    """Read the digest at the end of a file, without a look at the rest: hexadecimal digits."""
    try:
        with path.open("rb") as file:
            file.seek(-SEAL, os.SEEK_END)
            return file.read().hex()
    except (OSError, ValueError) as error:
        refuse_unreadable(path, error)
        return ""


def opened_sealed(path: Path, dtype: DTypeLike, mark: str = "") -> NDArray[Any]:
    """Open an array that has just been written; one that was changed is deleted.

    Raises:
        FileError: the array is not what was written.
    """
    array = open_sealed(path, dtype, mark)
    if array is None:
        remove(path)
        raise FileError(f"{path}: is gone, or was changed by somebody else", "run it again")
    return array
