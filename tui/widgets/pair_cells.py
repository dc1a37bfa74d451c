"""The columns of a table of pairs, and the text of each row; a row is read when it is drawn."""

import re
from collections.abc import Callable
from functools import partial

import numpy as np
from rich.cells import cell_len

from xmine.browsing.opened import Float32s, Opened, Rows
from xmine.browsing.query import spans_of
from xmine.browsing.repairs import Repair
from xmine.judging.judgements import Judgements
from xmine.pairs.judgements import verdict_of

from ..text import cut

PADDING = 1  # blank cells on each side of a column
_BY_LINE = {"source": "src", "target": "tgt"}  # orders and their columns
_WIDE = 100  # a table of so many cells has room for the line numbers
_WIDER = 110  # and for the margin
# The sign of each judgement: colour alone does not tell them apart.
NOTE = "¶"
REPAIRED = "✎"  # beside the sign of the judgement
DIFFER = "≠"  # there, too, where judges do not agree
SIGNS = {"accept": "✓", "reject": "✗", "unsure": "?", "": ""}
# What is wrong with a rejected pair, where the word for it does not say so by itself.
_KINDS = {"language": "wrong language", "source": "source too long", "target": "target too long"}


def verdicts_on(judgements: Judgements, row: int) -> tuple[str, str]:
    """Give one's own verdict, and a sign for others: that they differ, or what they alone say."""
    own = verdict_of(judgements.words(row).get(judgements.by, ""))
    if judgements.differ(row):
        return own, DIFFER
    return own, "" if own else SIGNS[judgements.of(row)]


def signed(word: str) -> str:
    """Write a verdict with its sign; a kind of `reject` in words."""
    return f"{SIGNS[verdict_of(word)]} {_KINDS.get(word, word)}"


def arrow_of(*, descending: bool) -> str:
    """Give the sign of an order."""
    return "▼" if descending else "▲"


class PairCells:
    """Rows of pairs as text in columns of fixed width."""

    def __init__(self, opened: Opened, rows: Rows, judgements: Judgements) -> None:
        self.opened, self.judgements = opened, judgements
        self.show(rows)
        # If set, a sign tells whether the rank of a pair is at or above it, see `Opened.ranks`.
        self.cut: float | None = None
        self.marked = ""  # a regular expression, of which a text shows the first hit
        self.order, self.descending = "", False  # of the rows; its column is shown always
        self.names: list[str] = []  # of the columns
        self.widths: list[int] = []  # cells of each, without padding

    def show(self, rows: Rows) -> None:
        """Take other rows of `opened`, int64, and number the beads in the place of each."""
        self.data, self.parts = self.judgements.parts(rows)

    @property
    def _ranked(self) -> str | None:
        """Name the column with the sign of the cut; None without a cut, or without scores."""
        if self.cut is None or (self.opened.scores is None and not self.opened.by_probability):
            return None
        return "prob" if self.opened.by_probability else "score"

    def lay_out(self, width: int) -> None:
        """Choose columns for a table of `width` cells; both texts share the room that is left."""
        names = {"", "change", self._ranked, _BY_LINE.get(self.order, self.order)}
        names |= self._usual(width)
        fixed = {name: cells for name, cells in self._possible().items() if name in names}
        if "flags" in fixed and width < _WIDE:
            fixed["flags"] = 6
        lines = {name: fixed.pop(name) for name in ("src", "tgt") if name in fixed}
        columns = len(fixed) + len(lines) + 2
        taken = sum(fixed.values()) + sum(lines.values()) + 2 * PADDING * columns
        room = max(width - taken, 10)
        fixed |= {"source": room - room // 2, "target": room // 2} | lines
        self.names, self.widths = list(fixed), list(fixed.values())

    def _usual(self, width: int) -> set[str]:
        """Name the columns that a table of some cells has room for."""
        opened, names = self.opened, {"score", "prob"}
        if opened.compared and opened.probs is not None and width < _WIDER:
            names.remove("score")  # both scores take much room
        names |= {"margin"} if width >= _WIDER else set()
        names |= {"src", "tgt"} if width >= _WIDE or opened.has_beads else set()
        # Around a cut the columns stay where they are, though the pairs change with each key.
        said = opened.columns.get("old_flags", ())
        told = [*(said[int(row)] for row in self.data)] if said else []
        if opened.flags is not None and (
            self.cut is not None or any(told) or not opened.flags.none()[self.data].all()
        ):
            names.add("flags")
        return names

    def _possible(self) -> dict[str, int]:
        opened, found = self.opened, {"": 1}
        if "change" in opened.columns:
            found["change"] = 7
        if opened.scores is not None:
            found["score"] = _cells_of(opened.scores) * (2 if opened.compared else 1)
            found["score"] += 3 if opened.compared else 0
        if opened.probs is not None:
            found["prob"] = 11 if opened.compared else 5
        if self._ranked is not None:
            found[self._ranked] = max(found[self._ranked], 6) + 2  # four decimals, and the sign
        for name, column in (("margin", opened.margins), ("cosine", opened.cosines)):
            if column is not None:
                found[name] = max(_cells_of(column), 7)  # the name, and the arrow
        if opened.flags is not None:
            found["flags"] = 12
        found["length"] = 9
        for name, side in (("src", opened.source), ("tgt", opened.target)):
            digits = len(f"{side.lines.max(initial=0)}")
            found[name] = max(2 * digits + 1 if opened.has_beads else digits, 4)
        return found

    def column_of(self, order: str) -> str:
        """Name the column that rows are sorted by; empty if there is none."""
        names = (_BY_LINE.get(order, order), order)
        return next((name for name in names if name in self.names), "")

    def header(self) -> str:
        """Write the names of the columns, with an arrow at the one that rows are sorted by."""
        marked, arrow = self.column_of(self.order), arrow_of(descending=self.descending)

        def cell(name: str, width: int) -> str:
            return _left(name + (arrow if name and name == marked else ""), width)

        return self._in_columns(cell)

    def line(self, at: int) -> str:
        """Write a shown row; the sign of its judgement is in the second cell."""
        return self._in_columns(partial(self._cell, int(self.data[at]), int(self.parts[at])))

    def _in_columns(self, cell: Callable[[str, int], str]) -> str:
        """Put together what `cell` gives for the name and the width of each column."""
        columns, pad = zip(self.names, self.widths, strict=True), " " * PADDING
        cells = ((cell(name, width), width) for name, width in columns)
        return "".join(f"{pad}{text}{' ' * (w - cell_len(text))}{pad}" for text, w in cells)

    def texts_in(self, line: str) -> tuple[int, int]:
        """Tell where both texts begin and end in a row; all else is one cell a character."""
        at = self.names.index("source")
        before, after = self.widths[:at], self.widths[at + 2 :]
        ends = (sum(widths) + 2 * PADDING * len(widths) for widths in (before, after))
        return next(ends), len(line) - next(ends)

    def column_at(self, x: int) -> str:
        """Name the column at a cell of the row; empty beyond the last one."""
        ends = np.cumsum(np.array(self.widths) + 2 * PADDING)
        at = int(np.searchsorted(ends, x, side="right"))
        return self.names[at] if at < len(self.names) else ""

    def _cell(self, row: int, part: int, name: str, width: int) -> str:
        opened, repair = self.opened, self.judgements.part(row, part)
        match name:
            case "":
                return SIGNS[verdicts_on(self.judgements, row)[0]]
            case "length":
                lengths = [len(self._text(row, repair, at)) for at in (0, 1)]
                return _left("{}/{}".format(*lengths), width)
            case "score" | "prob" | "margin" | "cosine":
                return self._figure(row, name, width, repair)
            case "flags" if repair is not None:
                return _left(repair.flags, width)
            case "flags" | "change":
                column = opened.flags if name == "flags" else opened.columns[name]
                assert column is not None  # or it had no column
                said, old = column[row], self._old("flags", row)
                is_same = name == "change" or old in (None, said)
                return _left(said if is_same else f"{old or '–'} → {said or '–'}", width)
        at = int(name in ("target", "tgt"))
        if name in ("source", "target"):
            text = self._text(row, repair, at)
            return _left(self._from_hit(text.lstrip(), width), width)
        _, side, rows = opened.sides[at]
        lines = side.numbers(int(rows[row])) if repair is None else repair.lines(at)
        return lines[:width].rjust(width)

    def _old(self, name: str, row: int) -> str | None:
        """Give what a changed pair of a comparison had before; None of other pairs."""
        columns = self.opened.columns
        is_changed = "change" in columns and columns["change"][row] == "changed"
        return columns[f"old_{name}"][row] if is_changed else None

    def _text(self, row: int, repair: Repair | None, at: int) -> str:
        _, side, rows = self.opened.sides[at]
        return side.texts[int(rows[row])] if repair is None else repair.text(at)

    def _from_hit(self, text: str, width: int) -> str:
        """Leave out what stands before a hit that the column would not show."""
        start, end = next(spans_of(self.marked, text), (0, 0))
        return f"…{text[start - width // 4 :]}" if cell_len(text[:end]) >= width else text

    def _figure(self, row: int, name: str, width: int, repair: Repair | None) -> str:
        column: Float32s = getattr(self.opened, f"{name}s")  # not None, or it had no column
        if repair is not None:  # nothing but the cosine is known anew
            anew = repair.cosine if name == "cosine" else None
            return ("" if anew is None else f"{anew:.4f}")[:width].rjust(width)
        digits = 4 if name != "prob" or name == self._ranked else 2
        said = "" if np.isnan(column[row]) else f"{column[row]:.{digits}f}"
        if name == self._ranked and (rank := self.opened.rank(row)) is not None:
            assert self.cut is not None
            return f"{'≥' if rank >= self.cut else '<'} {said}"[:width]
        if said and f"old_{name}" in self.opened.columns:
            change, old = self.opened.columns["change"][row], self._old(name, row)
            was = f"{float(old):.{digits}f} → " if old else "→ " * (change == "new")
            said = f"{was}{said}{' →' * (change == 'gone')}"
            said = re.sub(r"\b0\.", ".", said) if name == "prob" else said
        return said[:width].rjust(width)


def _cells_of(numbers: Float32s) -> int:
    """Count the cells of the widest number with four decimals, from 6 to 10; NaN takes none."""
    ends = np.fmin.reduce(numbers, initial=0), np.fmax.reduce(numbers, initial=0)
    return min(max(len(f"{end:.4f}") for end in ends), 10)


def _left(text: str, width: int) -> str:
    return cut(text, width).plain
