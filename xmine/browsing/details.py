"""One pair -> its details: figures, reasons for flags, labels, parts that both sides share."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xmine.browsing.judgements import Judgements
from xmine.browsing.opened import Opened
from xmine.browsing.shared_spans import Shared, shared_parts
from xmine.pairs.pair import Pair

if TYPE_CHECKING:
    from xmine.browsing.flag_reasons import Reasons


@dataclass(frozen=True, slots=True)
class PairDetails:
    """A pair and its details; `standing` as `standing()` gives it."""

    pair: Pair
    figures: list[str]
    shared: Shared
    reasons: dict[str, str]
    labels: dict[str, str]
    standing: str


def details(opened: Opened, row: int, reasons: "Reasons", judgements: Judgements) -> PairDetails:
    """Gather the details of a pair at the cut of the run."""
    pair = opened.pair(row)
    stands = standing(opened, row, opened.cut)
    return PairDetails(
        pair,
        [*figures_of(pair), *filter(None, [stands])],
        shared_parts(pair.source, pair.target, opened.languages),
        reasons.of(row),
        judgements.by_judge(row),
        stands,
    )


def standing(opened: Opened, row: int, cut: float | None) -> str:
    """Tell whether a pair is `kept`, `dropped` by an option, or `below the cut`."""
    if cut is None or (rank := opened.rank(row)) is None:
        return ""
    if not opened.allowed[row] and not opened.eligible[row]:
        return "dropped"
    if rank < cut:
        return "below the cut"
    return "kept" if opened.eligible[row] else "dropped"


def figures_of(pair: Pair) -> list[str]:
    """Give the numbers and the lines of a pair in words."""
    numbers = {name: getattr(pair, name) for name in ("score", "cosine", "prob", "margin")}
    said = [f"{name} {value:.4f}" for name, value in numbers.items() if value is not None]
    sides = ((pair.source_line, pair.source_offset), (pair.target_line, pair.target_offset))
    places = [f"{line}" if offset is None else f"{line}+{offset}" for line, offset in sides]
    return [*said, f"lines {', '.join(places)}"]
