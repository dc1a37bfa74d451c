"""One pair -> its figures in words, how it stands to the cut, and the lines around its texts."""

from functools import lru_cache

import numpy as np

from xmine.browsing.opened import Opened, TextSide
from xmine.pairs.pair import Pair

_FAR = 3  # lines: some may be blank, or said before


def standing(opened: Opened, row: int, cut: float | None) -> str:
    """Tell whether a pair is `kept`, `dropped` by an option, or `below the cut`.

    Of a bead of an alignment, also whether lines of one side stand alone.
    """
    if opened.has_beads and cut is not None and opened.rank(row) is None:
        return "without counterpart"
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
    files = pair.source_file, pair.target_file
    places = [f"{file}:{at}" if file else at for file, at in zip(files, places, strict=True)]
    if pair.source_lines is not None:
        places = [pair.source_lines or "–", pair.target_lines or "–"]
    stand = list(dict.fromkeys(filter(None, (pair.source_place, pair.target_place))))
    said += [f"lines {', '.join(places)}", *([" | ".join(stand)] if stand else [])]
    return [*said, *(f"{name} {each}" for name, each in (pair.more or {}).items() if each)]


@lru_cache(maxsize=2)  # of both files; a look at a million lines takes 2 ms, and a key four looks
def _ascends(side: TextSide) -> bool:
    return bool((np.diff(side.lines) >= 0).all())


def lines_around(side: TextSide, row: int) -> tuple[int | None, int | None]:
    """Find the rows of `side` that stand before and after a sentence; None where none is near.

    A file of pairs has only the lines that are in some pair. Of beads, it is the bead before, and
    the one after, that has text on this side.
    """
    if side.lasts is not None:
        with_text = np.flatnonzero(side.lasts >= side.lines)
        earlier, later = with_text[with_text < row], with_text[with_text > row]
        return (
            int(earlier[-1]) if len(earlier) else None,
            int(later[0]) if len(later) else None,
        )
    line = int(side.lines[row])
    if _ascends(side):
        near = np.arange(*np.searchsorted(side.lines, (line - _FAR, line + _FAR + 1)))
    else:
        near = np.flatnonzero(np.abs(side.lines - line) <= _FAR)
    here, places = side.place(row), {side.place(each): each for each in near.tolist()}
    before = max((place for place in places if place < here), default=None)
    after = min((place for place in places if place > here), default=None)
    return (
        None if before is None else places[before],
        None if after is None else places[after],
    )
