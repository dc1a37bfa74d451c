"""Candidates -> those that may be kept: what the options drop whatever the cut is."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.flagged import Flags
from xmine.options import FLAGS, MiningOptions

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Selection:
    """What is dropped, and why.

    Attributes:
        reasons: for each reason the candidates that it drops, bool [candidates]; a score and
            several flags may drop the same one, what is known to be wrong is the rest.
        rows: int64 [kept], the candidates that no reason drops, rising.
    """

    reasons: dict[str, Bools]
    rows: NDArray[np.intp]

    def dropped(self, above: Bools) -> dict[str, int]:
        """Count what each reason drops among the candidates above the cut, bool [candidates]."""
        counts = {name: int((rows & above).sum()) for name, rows in self.reasons.items()}
        return {name: count for name, count in counts.items() if count}


def select(
    scores: NDArray[np.float32], flags: Flags, wrong: Bools, options: MiningOptions
) -> Selection:
    """Find the candidates that may be kept.

    Args:
        scores: [candidates].
        flags: of each candidate, see `xmine.flags.flag_pairs`.
        wrong: bool [candidates], which of them are known to be wrong; they cannot be right with
            the probability that `precision` asks for.
        options: `score_max`, `drop`, `precision`.
    """
    reasons = {}
    if options.score_max is not None:
        reasons["above --score-max"] = scores.astype(np.float64) > options.score_max
    for name in FLAGS:
        if name in options.dropped_flags():
            reasons[name] = flags.raised(name)
    stay = np.ones(len(scores), dtype=bool)
    for rows in reasons.values():
        stay &= ~rows
    if options.precision is not None:
        reasons["known to be wrong"] = wrong & stay
        stay &= ~wrong
    return Selection(reasons, np.flatnonzero(stay))
