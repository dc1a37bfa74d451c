"""Many texts -> one buffer of UTF-8, and where each of them ends.

A million lines of web text take 85 MB so, and 150 as a list. Mining holds texts so: a column of
polars takes no less, and polars takes time to load.
"""

import hashlib
from abc import abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from xmine.files import scratch

# Half of a character, which UTF-8 has no bytes for, is kept all the same.
_ERRORS = "surrogatepass"

_TEXTS_AT_ONCE = 1024


class LazyTexts(Sequence[str]):
    """Texts that are made when they are looked at; a slice is a list of some."""

    __slots__ = ()

    @abstractmethod
    def _one(self, row: int) -> str: ...

    @abstractmethod
    def _some(self, rows: slice) -> list[str]: ...

    @overload
    def __getitem__(self, at: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> str | list[str]:
        """Make one text, or a list of some."""
        return self._some(at) if isinstance(at, slice) else self._one(int(at))

    def __iter__(self) -> Iterator[str]:
        """Walk through the texts, a thousand at a time."""
        for start in range(0, len(self), _TEXTS_AT_ONCE):
            yield from self._some(slice(start, start + _TEXTS_AT_ONCE))


class PackedTexts(LazyTexts):
    """Texts that are decoded when they are looked at.

    Attributes:
        data: uint8 [bytes], the UTF-8 of all texts, one after the other.
        offsets: int64 [texts + 1], where each starts in it, and where the last one ends.
    """

    __slots__ = ("_bytes", "_starts", "data", "offsets")

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        """Take the buffers, which may be memory-mapped."""
        self.data = data
        self.offsets = offsets
        self._bytes = np.ascontiguousarray(data).data
        self._starts = np.ascontiguousarray(offsets, dtype=np.int64).data

    @classmethod
    def of(cls, texts: Iterable[str]) -> "PackedTexts":
        """Pack texts as they come; they are never all held."""
        packer = TextPacker()
        for text in texts:
            packer.append(text)
        return packer.packed()

    def __len__(self) -> int:
        """Count the texts."""
        return len(self._starts) - 1

    def _one(self, row: int) -> str:
        row = range(len(self))[row]
        return str(self._bytes[self._starts[row] : self._starts[row + 1]], "utf-8", _ERRORS)

    def _some(self, rows: slice) -> list[str]:
        some = range(len(self))[rows]
        if some.step != 1:
            return [self._one(row) for row in some]
        starts = some[::_TEXTS_AT_ONCE]
        blocks = (self._decoded(at, min(some.stop, at + _TEXTS_AT_ONCE)) for at in starts)
        return [text for block in blocks for text in block]

    def _decoded(self, first: int, stop: int) -> list[str]:
        """Decode neighbours at once and cut them apart, twice as fast as one by one."""
        places = self.offsets[first : stop + 1] - self.offsets[first]
        start = self._starts[first]
        block = self._bytes[start : start + int(places[-1])]
        text = str(block, "utf-8", _ERRORS)
        if len(text) < len(block):  # in characters, not in bytes
            before = np.zeros(len(block) + 1, dtype=np.int64)
            np.cumsum(np.frombuffer(block, dtype=np.uint8) & 0xC0 != 0x80, out=before[1:])
            places = before[places]
        return [text[start:end] for start, end in pairwise(places.tolist())]

    def take(self, rows: NDArray[np.integer[Any]]) -> "PackedTexts":
        """Pack some of the texts, in the order of `rows`, which count from 0."""
        rows = np.asarray(rows, dtype=np.int64)
        offsets = scratch.empty(len(rows) + 1, np.int64)
        offsets[0] = 0
        np.cumsum(self.offsets[rows + 1] - self.offsets[rows], out=offsets[1:])
        data = scratch.empty(int(offsets[-1]), np.uint8)
        # Rows that follow each other are copied at once: most often nearly all rows are taken.
        cuts = [0, *(np.flatnonzero(np.diff(rows) != 1) + 1).tolist(), len(rows)]
        written = data.data
        for first, stop in pairwise(cuts):
            if first < stop:
                start, end = self._starts[int(rows[first])], self._starts[int(rows[stop - 1]) + 1]
                at = int(offsets[first])
                written[at : at + end - start] = self._bytes[start:end]
        return PackedTexts(data, offsets)

    def digest(self, start: int = 0, stop: int | None = None) -> str:
        """Hash some texts in their order: 32 hexadecimal digits, the same for the same texts."""
        offsets = self.offsets[start : None if stop is None else stop + 1]
        state = hashlib.sha256((offsets - offsets[0]).astype("<i8").data)
        state.update(self._bytes[int(offsets[0]) : int(offsets[-1])])
        return state.hexdigest()[:32]

    def __eq__(self, other: object) -> bool:
        """Compare with any sequence of texts."""
        if isinstance(other, PackedTexts):
            same = np.array_equal(self.offsets, other.offsets)
            return same and np.array_equal(self.data, other.data)
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(map(str.__eq__, self, other))

    def __repr__(self) -> str:
        """Show the first few."""
        more = ", ..." if len(self) > 3 else ""
        return f"PackedTexts({', '.join(map(repr, self[:3]))}{more})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to another process as the two buffers."""
        return PackedTexts, (self.data, self.offsets)


class TextPacker:
    """Texts that are still being packed."""

    def __init__(self) -> None:
        """Begin without any."""
        self._data = scratch.Spool()
        self._offsets = array("q", [0])

    def __len__(self) -> int:
        """Count the texts so far."""
        return len(self._offsets) - 1

    def append(self, text: str) -> None:
        """Add a text."""
        self._offsets.append(self._data.append(text.encode("utf-8", _ERRORS)))

    def packed(self) -> PackedTexts:
        """Give them all; no text can be added any more."""
        offsets = scratch.stored(np.frombuffer(self._offsets, dtype=np.int64))
        return PackedTexts(self._data.array(), offsets)


class PickedTexts(LazyTexts):
    """The texts of some rows, in any order; none of them is held, so a million take 8 MB."""

    def __init__(self, texts: Sequence[str], rows: NDArray[np.int64]) -> None:
        """Look up `rows`, int64 [picked], in `texts`."""
        self._texts, self._rows = texts, rows

    def __len__(self) -> int:
        """Count the rows."""
        return len(self._rows)

    def _one(self, row: int) -> str:
        return self._texts[int(self._rows[row])]

    def _some(self, rows: slice) -> list[str]:
        return [self._texts[row] for row in self._rows[rows].tolist()]


def picked(texts: Sequence[str], rows: NDArray[np.int64]) -> Sequence[str]:
    """Gather some texts, in the order of `rows`; those of packed ones are not held twice."""
    if isinstance(texts, PackedTexts | PickedTexts):
        return PickedTexts(texts, rows)
    return [texts[row] for row in rows.tolist()]
