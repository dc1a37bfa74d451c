"""The columns of a table of pairs, and the text of each row; a row is read when it is drawn."""

from collections.abc import Callable, Iterator

import numpy as np
from rich.cells import cell_len

from xmine.browsing.opened import Float32s, Opened, Rows
from xmine.browsing.repairs import Repair

from ..text import cut

PADDING = 1  # blank cells on each side of a column
_WIDE = 100  # a table of so many cells has room for the line numbers
_WIDER = 110  # and for the margin
# The sign of each judgement: colour alone does not tell them apart.
NOTE = "¶"
REPAIRED = "✎"  # beside the sign of the judgement
SIGNS = {"accept": "✓", "reject": "✗", "unsure": "?", "": ""}

# Tells the judgement of a row of `Opened`; empty if there is none.
Verdict = Callable[[int], str]
Mended = Callable[[int], Repair | None]  # tells what stands in the place of a row


def unjudged(row: int) -> str:
    """Say that nobody has judged."""
    return ""


def arrow_of(*, descending: bool) -> str:
    """Give the sign of an order."""
    return "▼" if descending else "▲"


class PairCells:
    """Rows of pairs as text in columns of fixed width.

    Attributes:
        opened: the pairs.
        data: int64 [shown], rows of `opened`.
        verdict: tells the judgement of a row.
        repair_of: tells what stands in the place of a row.
        cut: if set, a sign tells whether the rank of a pair is at or above it, see `Opened.ranks`.
        names: the columns.
        widths: cells of each column, without padding.
    """

    def __init__(self, opened: Opened, rows: Rows, verdict: Verdict) -> None:
        self.opened, self.data, self.verdict = opened, rows, verdict
        self.repair_of: Mended = lambda row: None
        self.cut: float | None = None
        self.names: list[str] = []
        self.widths: list[int] = []

    @property
    def _ranked(self) -> str | None:
        """Name the column with the sign of the cut; None without a cut, or without scores."""
        if self.cut is None or (self.opened.scores is None and not self.opened.by_probability):
            return None
        return "prob" if self.opened.by_probability else "score"

    def lay_out(self, width: int) -> None:
        """Choose columns for a table of `width` cells; both texts share the room that is left."""
        opened, lines = self.opened, []
        fixed = {"": 1}
        if opened.changes is not None:
            fixed["change"] = 7
        if opened.scores is not None:
            fixed["score"] = _cells_of(opened.scores)
        if opened.probs is not None:
            fixed["prob"] = 5
        if self._ranked is not None:
            fixed[self._ranked] = max(fixed[self._ranked], 6) + 2  # four decimals, and the sign
        if opened.margins is not None and width >= _WIDER:
            fixed["margin"] = max(_cells_of(opened.margins), 7)  # the name, and the arrow
        # Around a cut the columns stay where they are, though the pairs change with each key.
        if opened.flags is not None and (self.cut is not None or opened.flags.any_of(self.data)):
            fixed["flags"] = 6 if width < _WIDE else 12
        if width >= _WIDE or opened.has_beads:
            digits = [
                len(f"{side.lines.max(initial=0)}") for side in (opened.source, opened.target)
            ]
            lines = [max(2 * each + 1 if opened.has_beads else each, 4) for each in digits]
        columns = len(fixed) + len(lines) + 2
        room = max(width - sum(fixed.values()) - sum(lines) - 2 * PADDING * columns, 10)
        fixed |= {"source": room - room // 2, "target": room // 2}
        fixed |= dict(zip(("src", "tgt"), lines, strict=False))
        self.names, self.widths = list(fixed), list(fixed.values())

    def column_of(self, order: str) -> str:
        """Name the column that rows are sorted by; empty if there is none."""
        by_line = {"source": "src", "target": "tgt"}.get(order, order)
        return next((name for name in (by_line, order) if name in self.names), "")

    def header(self, order: str, descending: bool) -> str:
        """Write the names of the columns, with an arrow at the one that rows are sorted by."""
        marked, arrow = self.column_of(order), arrow_of(descending=descending)
        return _in_columns(
            (_left(name + (arrow if name and name == marked else ""), width), width)
            for name, width in zip(self.names, self.widths, strict=True)
        )

    def line(self, at: int) -> str:
        """Write a shown row; the sign of its judgement is in the second cell."""
        row = int(self.data[at])
        return _in_columns(
            (self._cell(row, name, width), width)
            for name, width in zip(self.names, self.widths, strict=True)
        )

    def texts_in(self, line: str) -> tuple[int, int]:
        """Tell where both texts begin and end in a row; all else is one cell a character."""
        at = self.names.index("source")
        before, after = (
            sum(widths) + 2 * PADDING * len(widths)
            for widths in (self.widths[:at], self.widths[at + 2 :])
        )
        return before, len(line) - after

    def column_at(self, x: int) -> str:
        """Name the column at a cell of the row; empty beyond the last one."""
        ends = np.cumsum(np.array(self.widths) + 2 * PADDING)
        at = int(np.searchsorted(ends, x, side="right"))
        return self.names[at] if at < len(self.names) else ""

    def _cell(self, row: int, name: str, width: int) -> str:
        opened = self.opened
        match name:
            case "":
                return SIGNS[self.verdict(row)]
            case "score" | "prob" | "margin":
                return self._figure(row, name, width)
            case "flags":
                assert opened.flags is not None  # or it had no column
                return _left(opened.flags[row], width)
            case "change":
                assert opened.changes is not None  # or it had no column
                return _left(opened.changes[row], width)
            case "source" | "target":
                if (repair := self.repair_of(row)) is not None:
                    return _left(repair.text(int(name == "target")), width)
                rows = opened.sources if name == "source" else opened.targets
                return _left(opened.side(name).texts[int(rows[row])], width)
            case "src":
                lines = opened.source.numbers(int(opened.sources[row]))
            case _:
                lines = opened.target.numbers(int(opened.targets[row]))
        if (repair := self.repair_of(row)) is not None:
            lines = repair.lines(int(name == "tgt"))
        return lines[:width].rjust(width)

    def _figure(self, row: int, name: str, width: int) -> str:
        opened = self.opened
        column = {"score": opened.scores, "prob": opened.probs, "margin": opened.margins}[name]
        assert column is not None  # or it had no column
        digits = 4 if name in ("score", "margin", self._ranked) else 2
        said = "" if np.isnan(column[row]) else f"{column[row]:.{digits}f}"
        if name == self._ranked and (rank := opened.rank(row)) is not None:
            assert self.cut is not None
            return f"{'≥' if rank >= self.cut else '<'} {said}"[:width]
        return said[:width].rjust(width)


def _cells_of(numbers: Float32s) -> int:
    """Count the cells of the widest number with four decimals, from 6 to 10; NaN takes none."""
    ends = np.fmin.reduce(numbers, initial=0), np.fmax.reduce(numbers, initial=0)
    return min(max(len(f"{end:.4f}") for end in ends), 10)


def _left(text: str, width: int) -> str:
    return cut(text, width).plain


def _in_columns(cells: Iterator[tuple[str, int]]) -> str:
    pad = " " * PADDING
    return "".join(f"{pad}{text}{' ' * (width - cell_len(text))}{pad}" for text, width in cells)
