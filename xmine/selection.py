"""Scored candidates above the cut -> the pairs that are kept, each with its flags."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.candidates import Scored
from xmine.confidence import Confidence
from xmine.flags import flag_pairs
from xmine.options import MiningOptions


@dataclass(frozen=True, slots=True)
class Selection:
    """The pairs that are kept.

    Attributes:
        rows: int64 [kept], rows of `Scored.chosen`, rising.
        flags: of each, see `xmine.flags.flag_pairs`.
        dropped: how many pairs above the cut were dropped, for each reason: a flag, or `score`.
    """

    rows: NDArray[np.intp]
    flags: list[str]
    dropped: dict[str, int]


def select(
    scored: Scored,
    confidence: Confidence | None,
    above: int,
    options: MiningOptions,
    languages: tuple[str, str],
) -> Selection:
    """Drop the pairs that `score_max`, `drop` and `top` leave out, in this order.

    Args:
        scored: all candidates.
        confidence: how likely each of them is; None if not estimated.
        above: how many are above the cut.
        options: what to drop.
        languages: codes of source and target, or `und`.
    """
    rows, dropped = np.arange(above), {}
    if options.score_max is not None:
        stay = scored.chosen.scores[:above] <= options.score_max
        rows, dropped["score"] = rows[stay], int((~stay).sum())
    unwanted = options.dropped_flags()
    if not unwanted:
        rows = rows[: options.top]
    chances = np.zeros(len(rows)) if confidence is None else confidence.chances[rows]
    flags = flag_pairs(
        scored.chosen.take(rows),
        chances,
        scored.neighbours.first(options.neighborhood),
        scored.source,
        scored.target,
        languages,
    )
    reasons = [unwanted & set(each.split(",")) for each in flags]
    dropped |= {name: sum(name in each for each in reasons) for name in sorted(unwanted)}
    places = [place for place, each in enumerate(reasons) if not each][: options.top]
    return Selection(rows[places], [flags[place] for place in places], dropped)
