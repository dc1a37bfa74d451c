"""A table's texts and some of its rows -> their texts, looked up when they are asked for."""

from collections.abc import Iterator, Sequence
from typing import SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from xmine.packed import PackedTexts

# Row numbers become Python's integers, 36 bytes each, so many at a time.
_AT_ONCE = 4_096


class PickedTexts(Sequence[str]):
    """The texts of some rows, in any order; none of them is held, so a million take 8 MB."""

    def __init__(self, texts: Sequence[str], rows: NDArray[np.int64]) -> None:
        """Look up `rows`, int64 [picked], in `texts`."""
        self._texts, self._rows = texts, rows

    def __len__(self) -> int:
        """Count the rows."""
        return len(self._rows)

    @overload
    def __getitem__(self, at: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> str | list[str]:
        """Look up one text, or a list of some."""
        if isinstance(at, slice):
            return [self._texts[row] for row in self._rows[at].tolist()]
        return self._texts[int(self._rows[at])]

    def __iter__(self) -> Iterator[str]:
        """Walk through the texts."""
        for start in range(0, len(self), _AT_ONCE):
            yield from self[start : start + _AT_ONCE]


def picked(texts: Sequence[str], rows: NDArray[np.int64]) -> Sequence[str]:
    """Gather some texts, in the order of `rows`; those of packed ones are not held twice."""
    if isinstance(texts, PackedTexts | PickedTexts):
        return PickedTexts(texts, rows)
    return [texts[row] for row in rows.tolist()]
