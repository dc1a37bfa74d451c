"""One pair -> its figures in words, and how the pair stands to the cut."""

from xmine.browsing.opened import Opened
from xmine.pairs.pair import Pair


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
