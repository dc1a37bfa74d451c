"""Candidates -> those that may be kept: what options and known pairs drop wherever the cut is."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.flagged import Flags
from xmine.options import FLAGS, MiningOptions

Bools = NDArray[np.bool_]

WRONG, COPY, TOO_HIGH = "known to be wrong", "copy", "above --score-max"


@dataclass(frozen=True, slots=True)
class Selection:
    """What is dropped, and why.

    Attributes:
        reasons: for each reason the candidates that it drops, bool [candidates]; several may drop
            the same one.
        rows: int64 [kept], the candidates that no reason drops, and those that are known to be
            right, rising.
    """

    reasons: dict[str, Bools]
    rows: NDArray[np.intp]

    def dropped(self, above: Bools) -> dict[str, int]:
        """Count what each reason drops.

        Args:
            above: bool [candidates], those above the cut, which alone count for an option; what is
                wrong counts wherever it stands.
        """
        counts = {
            name: int((rows if name in (WRONG, COPY) else rows & above).sum())
            for name, rows in self.reasons.items()
        }
        return {name: count for name, count in counts.items() if count}


def select(
    scores: NDArray[np.float32],
    flags: Flags,
    copies: Bools,
    known: NDArray[np.int8],
    options: MiningOptions,
) -> Selection:
    """Find the candidates that may be kept.

    Args:
        scores: [candidates].
        flags: of each candidate, see `xmine.flags.flag_pairs`.
        copies: bool [candidates], which have the same text on both sides.
        known: [candidates], 1 for those known to be right, 0 for wrong ones, -1 for the others.
        options: `threshold`, `score_max`, `drop`, `keep_copies`.
    """
    reasons = {WRONG: known == 0}
    if not options.keep_copies:
        reasons[COPY] = copies
    if options.score_max is not None:
        reasons[TOO_HIGH] = scores.astype(np.float64) > options.score_max
    for name in FLAGS:
        if name in options.dropped_flags():
            reasons[name] = flags.raised(name)
    reasons = {name: rows & (known != 1) for name, rows in reasons.items()}
    stay = np.ones(len(scores), dtype=bool)
    if isinstance(options.threshold, float):
        stay = scores.astype(np.float64) >= options.threshold
    for rows in reasons.values():
        stay &= ~rows
    return Selection(reasons, np.flatnonzero(stay | (known == 1)))
