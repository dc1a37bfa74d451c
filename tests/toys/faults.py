"""Files that cannot be read for a moment, as on a network disk: openings and readings that fail."""

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CODES = (errno.EIO, errno.ESTALE, errno.EACCES, errno.EMFILE)


class _Broken(io.FileIO):
    """Opens a file and fails to read it."""

    def _fail(self, *_: Any) -> Any:
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(self.name))

    read = readall = readinto = _fail


@contextmanager
def failing(
    is_hit: Callable[[Path], bool], code: int = errno.EIO, *, reading: bool = False
) -> Iterator[list[Path]]:
    """Let Python fail to open the files that are hit, or to read them; give those that were hit.

    `is_hit` is asked once for each file that is opened to be read.
    """
    hit: list[Path] = []
    usual = io.open

    def opened(file: Any, mode: str = "r", *more: Any, **options: Any) -> Any:
        read_only = isinstance(file, (str, os.PathLike)) and not set(mode) & set("wax+")
        if not read_only or not is_hit(Path(file)):
            return usual(file, mode, *more, **options)
        hit.append(Path(file))
        if not reading:
            raise OSError(code, os.strerror(code), str(file))
        raw = _Broken(file)
        stream = io.BufferedReader(raw)
        return io.TextIOWrapper(stream) if "b" not in mode else stream

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io, "open", opened)
        patch.setattr(builtins, "open", opened)
        yield hit


def within(folder: Path, number: int) -> Callable[[Path], bool]:
    """Hit the file that is opened as the so-manieth, from 0, of those in a folder."""
    left = iter(range(number, -1, -1))

    def is_hit(path: Path) -> bool:
        return path.is_relative_to(folder) and next(left, None) == 0

    return is_hit
