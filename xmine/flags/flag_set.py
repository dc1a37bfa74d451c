"""Flags of pairs: a bit for each name, names joined by commas where they are read one by one."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.flags.names import FLAGS
from xmine.text.packed import LazyTexts

Bools = NDArray[np.bool_]
# Pairs that are right with this chance show what pairs of this run look like, if there are enough.
CONFIDENT, FEWEST_CONFIDENT = 0.9, 30
TO_DEVIATION = 0.6745  # median of absolute deviations / standard deviation, of a normal one


@cache
def _names(bits: int) -> str:
    return ",".join(name for bit, name in enumerate(FLAGS) if bits >> bit & 1)


class Flags(LazyTexts):
    """What makes each pair suspicious: names out of FLAGS in that order; empty if nothing does.

    Those of a file may have other names besides.
    """

    def __init__(
        self,
        bits: NDArray[np.uint16],
        said: Sequence[str] | None = None,
        why: Mapping[str, Callable[[int], str]] | None = None,
        rivals: NDArray[np.int64] | None = None,
    ) -> None:
        """Take the flags of pairs, uint16 [pairs]; bit 0 is the first name of FLAGS.

        `said` has the names as a file has them, where some are none of FLAGS; `why` gives a
        sentence for a pair that a flag is raised for; `rivals`, int64 [pairs], the better pair that
        each is a duplicate of, -1 for none.
        """
        self._bits, self._said, self.why, self.rivals = bits, said, why or {}, rivals

    @classmethod
    def of(
        cls,
        raised: Mapping[str, Bools],
        said: Sequence[str] | None = None,
        why: Mapping[str, Callable[[int], str]] | None = None,
        rivals: NDArray[np.int64] | None = None,
    ) -> "Flags":
        """Make flags of the pairs that each name of FLAGS is raised for, bool [pairs]."""
        bits = np.zeros(len(raised[FLAGS[0]]), dtype=np.uint16)
        for bit, name in enumerate(FLAGS):
            bits |= raised[name].astype(np.uint16) << np.uint16(bit)
        return cls(bits, said, why, rivals)

    def evidence(self, row: int) -> str | None:
        """Say why a pair has its flags, a line `flag: sentence` for each; None if it has none."""
        names = [name for name in self[row].split(",") if name in self.why]
        lines = (f"{name}: {self.why[name](row)}".replace("\n", " ") for name in names)
        return "\n".join(lines) or None

    def raised(self, name: str) -> Bools:
        """Mark the pairs that have a flag, bool [pairs]."""
        if name not in FLAGS:
            found = (name in each.split(",") for each in self)
            return np.fromiter(found, dtype=bool, count=len(self))
        return (self._bits >> np.uint16(FLAGS.index(name)) & np.uint16(1)).astype(bool)

    def also(self, name: str, raised: Bools, why: Callable[[int], str]) -> "Flags":
        """Add a flag that is none of FLAGS."""
        said = (
            f"{old},{name}".strip(",") if new else old
            for old, new in zip(self, raised, strict=True)
        )
        return Flags(self._bits, list(said), {**self.why, name: why}, self.rivals)

    def none(self) -> Bools:
        """Mark the pairs without a flag, bool [pairs]."""
        if self._said is not None:
            return np.array([not each for each in self._said], dtype=bool)
        empty: Bools = self._bits == 0
        return empty

    def take(self, rows: NDArray[np.intp]) -> "Flags":
        """Keep some pairs, in the order of `rows`."""
        return Flags(self._bits[rows], self._said and [self._said[row] for row in rows.tolist()])

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self._bits)

    def _one(self, row: int) -> str:
        return _names(int(self._bits[row])) if self._said is None else self._said[row]

    def _some(self, rows: slice) -> list[str]:
        if self._said is not None:
            return list(self._said[rows])
        return list(map(_names, self._bits[rows].tolist()))


def middle_and_spread(values: NDArray[Any]) -> tuple[float, float]:
    """Give the median of some values, and their robust standard deviation."""
    middle = float(np.median(values))
    return middle, float(np.median(np.abs(values - middle))) / TO_DEVIATION
