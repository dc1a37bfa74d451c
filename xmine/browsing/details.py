"""One pair -> its figures and flags in words, how it stands to the cut, and the lines around."""

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from xmine.browsing.opened import Opened, TextSide
from xmine.errors import XmineError
from xmine.flags.reasons import Files, text_reason
from xmine.pairs.pair import Pair

if TYPE_CHECKING:
    from xmine.browsing.word_alignment import Aligner, WordAlignment

# What became of a pair, or of two sentences that are none, in words.
IN_WORDS = {
    "": "",
    "kept": "kept",
    "below": "below the cut",
    "dropped": "dropped",
    "alone": "without counterpart",
    "taken": "in a better pair",
    "far": "not compared",
}
_MOST_SAID = 60  # characters of a stretch
_FAR = 3  # lines: some may be blank, or said before


def reasons_of(
    opened: Opened, row: int, aligner: "Aligner | None" = None, pair: Pair | None = None
) -> dict[str, str]:
    """Give a sentence for each flag of a pair, or of what stands in its place; empty for none.

    Of a run, a rule that compares pairs has written its own; texts tell the others. `aligner` finds
    the words that `partial` means.
    """
    written = (opened.said("evidence", row) or "") if not (pair and pair.repaired) else ""
    pair = pair or opened.pair(row)
    by_rules = dict(line.split(": ", 1) for line in written.split("\n") if line)
    files = Files(opened.languages, (opened.source.texts, opened.target.texts))

    def told(name: str) -> str:
        try:
            if name == "partial" and aligner:
                return _without_counterpart(pair, aligner.align(pair.source, pair.target))
            return by_rules.get(name) or text_reason(name, (pair.source, pair.target), files)
        except (XmineError, OSError) as error:
            return f"cannot be explained: {error}"

    return {name: told(name) for name in (pair.flags or "").split(",") if name}


def _without_counterpart(pair: Pair, found: "WordAlignment") -> str:
    """Quote the stretch of a side that finds least on the other side."""
    text = pair.target if found.looser else pair.source
    start, end = found.loosest[found.looser]
    name, other = ("source", "target") if found.looser == 0 else ("target", "source")
    share, words = (end - start) / max(len(text), 1), text[start:end]
    if len(words) > _MOST_SAID:
        words = f"{words[: _MOST_SAID // 2]} … {words[-_MOST_SAID // 2 :]}"
    return f"{share:.0%} of the {name} has no counterpart in the {other}: {words}"


def outcome_of(opened: Opened, row: int, cut: float | None) -> str:
    """Tell whether a pair is `kept`, `below` the cut, or `dropped` by an option.

    Of a bead of an alignment, also whether lines of one side stand `alone`. Empty without a cut.
    """
    if opened.has_beads and cut is not None and opened.rank(row) is None:
        return "alone"
    if cut is None or (rank := opened.rank(row)) is None:
        return ""
    if not opened.allowed[row] and not opened.eligible[row]:
        return "dropped"
    if rank < cut:
        return "below"
    return "kept" if opened.eligible[row] else "dropped"


def figures_of(pair: Pair) -> list[str]:
    """Give the numbers and the lines of a pair in words."""
    numbers = {name: getattr(pair, name) for name in ("score", "cosine", "prob", "margin")}
    more = dict(pair.more or {})
    was = {name: f"{float(old):.4f} → " for name in numbers if (old := more.pop(f"old_{name}", ""))}
    said = [f"{n} {was.get(n, '')}{each:.4f}" for n, each in numbers.items() if each is not None]
    if (old := more.pop("old_flags", "")) != (pair.flags or "") and was:
        said.append(f"flags {old or 'none'} → {pair.flags or 'none'}")
    sides = ((pair.source_line, pair.source_offset), (pair.target_line, pair.target_offset))
    places = [f"{line}" if offset is None else f"{line}:{offset}" for line, offset in sides]
    if pair.source_lines is not None:
        places = [pair.source_lines or "–", pair.target_lines or "–"]
    files = pair.source_file, pair.target_file
    places = [f"{file}:{at}" if file else at for file, at in zip(files, places, strict=True)]
    stand = list(dict.fromkeys(filter(None, (pair.source_place, pair.target_place))))
    said += [f"lines {', '.join(places)}", *([" | ".join(stand)] if stand else [])]
    said += [f"before: {old}"] if (old := more.pop("old_target", "")) else []
    return [*said, *(f"{name} {each}" for name, each in more.items() if each)]


@lru_cache(maxsize=2)  # of both files; a look at a million lines takes 2 ms, and a key four looks
def _ascends(side: TextSide) -> bool:
    return bool((np.diff(side.lines) >= 0).all())


def lines_around(side: TextSide, row: int) -> tuple[int | None, int | None]:
    """Find the rows of `side` that stand before and after a sentence; None where none is near.

    A file of pairs has only the lines that are in some pair. Of beads, it is the bead before, and
    the one after, that has text on this side.
    """
    line, place = int(side.lines[row]), side.place
    if side.lasts is not None:
        with_text, place = np.flatnonzero(side.lasts >= side.lines), lambda row: (row, None)
        at = int(np.searchsorted(with_text, row))
        near = with_text[max(at - 1, 0) : at + 2]
    elif _ascends(side):
        near = np.arange(*np.searchsorted(side.lines, (line - _FAR, line + _FAR + 1)))
    else:
        near = np.flatnonzero(np.abs(side.lines - line) <= _FAR)
    here, rows = place(row), near.tolist()
    return (
        max((each for each in rows if place(each) < here), key=place, default=None),
        min((each for each in rows if place(each) > here), key=place, default=None),
    )
