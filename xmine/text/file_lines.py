"""Lines that are counted over several files -> the file and the line there."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class FileLines(NamedTuple):
    """Files that are read one after the other.

    Attributes:
        names: their paths.
        before: how many lines the files before each have, rising.
    """

    names: tuple[str, ...]
    before: tuple[int, ...]

    def places(self, lines: NDArray[np.int64]) -> tuple[list[str], NDArray[np.int64]]:
        """Give the file of each line, counted from 1 over all files, and the line there."""
        at = np.searchsorted(self.before, lines) - 1
        return [self.names[each] for each in at.tolist()], lines - np.asarray(self.before)[at]

    def counted(self, names: Iterable[str], lines: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count lines of files over all files, int64 [lines]; the reverse of `places`."""
        before = dict(zip(reversed(self.names), reversed(self.before), strict=True))
        return lines + np.fromiter((before[name] for name in names), np.int64, len(lines))

    def line(self, name: str, line: int) -> int:
        """Count a line of a file, from 1, over all files; 0 if there is no such file."""
        return self.before[self.names.index(name)] + line if name in self.names else 0
