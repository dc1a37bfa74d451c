"""Flags of pairs: a bit for each name, names joined by commas where they are read one by one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from xmine.flags.names import FLAGS

Bools = NDArray[np.bool_]

_NAMES = [
    ",".join(name for bit, name in enumerate(FLAGS) if bits >> bit & 1)
    for bits in range(2 ** len(FLAGS))
]
_AT_ONCE = 4_096


class Flags(Sequence[str]):
    """What makes each pair suspicious: names out of FLAGS in that order; empty if nothing does."""

    def __init__(self, bits: NDArray[np.uint16]) -> None:
        """Take the flags of pairs, uint16 [pairs]; bit 0 is the first name of FLAGS."""
        self._bits = bits

    @classmethod
    def of(cls, raised: Mapping[str, Bools]) -> "Flags":
        """Make flags of the pairs that each name of FLAGS is raised for, bool [pairs]."""
        bits = np.zeros(len(raised[FLAGS[0]]), dtype=np.uint16)
        for bit, name in enumerate(FLAGS):
            bits |= raised[name].astype(np.uint16) << np.uint16(bit)
        return cls(bits)

    def raised(self, name: str) -> Bools:
        """Mark the pairs that have a flag, bool [pairs]."""
        return (self._bits >> np.uint16(FLAGS.index(name)) & np.uint16(1)).astype(bool)

    def take(self, rows: NDArray[np.intp]) -> "Flags":
        """Keep some pairs, in the order of `rows`."""
        return Flags(self._bits[rows])

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self._bits)

    @overload
    def __getitem__(self, at: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> str | list[str]:
        """Name the flags of one pair, or of some in a list."""
        if isinstance(at, slice):
            return [_NAMES[bits] for bits in self._bits[at].tolist()]
        return _NAMES[int(self._bits[at])]

    def __iter__(self) -> Iterator[str]:
        """Walk through the pairs."""
        for start in range(0, len(self), _AT_ONCE):
            yield from self[start : start + _AT_ONCE]
