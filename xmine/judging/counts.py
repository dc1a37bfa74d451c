"""Labels of pairs as codes -> how many there are of each, and the share that is right."""

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from xmine.pairs.judgements import LABELS

Codes = NDArray[np.int8]
# The codes of labels; 0 for a pair that nobody has judged.
CODES = {name: code for code, name in enumerate(("", *LABELS))}
GIVEN = len(CODES)  # stands for a label that a run was mined with
# Standard deviations that hold nine tenths of a normal distribution, as for expected precision.
_NINE_TENTHS = 1.645


@dataclass(frozen=True, slots=True)
class Share:
    """A share of some pairs, and an interval that holds the true share nine times in ten."""

    so: int
    of: int

    @property
    def share(self) -> float | None:
        """The share; None of nothing."""
        return self.so / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's interval (1927), which holds for few pairs and for shares of 0 and 1."""
        share, z = self.share, _NINE_TENTHS
        if share is None:
            return None
        part = z * z / self.of
        spread = math.sqrt(part * (share * (1 - share) + part / 4))
        low, high = ((share + part / 2 + sign * spread) / (1 + part) for sign in (-1, 1))
        return max(round(low, 12), 0.0), min(round(high, 12), 1.0)

    def __str__(self) -> str:
        """Write the share, the interval and both counts."""
        if self.share is None or self.interval is None:
            return "none judged"
        low, high = self.interval
        return f"{self.share:.2f} ({low:.2f} to {high:.2f}), {self.so:,} of {self.of:,}"

    def facts(self) -> dict[str, object]:
        """List the figures for JSON."""
        share = None if self.share is None else round(self.share, 4)
        interval = self.interval and [round(each, 4) for each in self.interval]
        return {"so": self.so, "of": self.of, "share": share, "interval": interval}


class Counts(NamedTuple):
    """How many of some pairs have each code: `left` those that nobody has judged."""

    left: int
    accept: int
    reject: int
    unsure: int
    given: int

    @classmethod
    def of(cls, codes: Codes) -> Self:
        """Count codes, int8 [pairs]."""
        return cls(*np.bincount(codes, minlength=GIVEN + 1).tolist())

    @property
    def pairs(self) -> int:
        """Count all of the pairs."""
        return sum(self)

    @property
    def judged(self) -> int:
        """Count those with any label."""
        return self.accept + self.reject + self.unsure

    @property
    def right(self) -> Share:
        """Give the share of accepted among those that are accepted or rejected."""
        return Share(self.accept, self.accept + self.reject)
