"""What stands in the cells of a table of pairs; a cell is made when it can be seen."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from rich.text import Text
from textual_fastdatatable.backend import DataTableBackend

from xmine.browsing.opened import Opened, Rows

from ..text import cut

_PADDING = 2  # cells that the table adds to each column
_WIDE = 100  # from here on there is room for the lines
# What stands for a judgement: a sign, since colour alone does not carry it.
SIGNS = {"accept": "✓", "reject": "✗", "unsure": "?", "": ""}
_STYLES = {"accept": "green", "reject": "red", "unsure": "yellow", "": ""}

# Tells the judgement of a row of `Opened`; empty if there is none.
Verdict = Callable[[int], str]


def unjudged(row: int) -> str:
    """Say that nobody has judged."""
    return ""


class PairBackend(DataTableBackend[Rows]):
    """Rows of pairs for the table: texts are decoded and cut when they are shown.

    Attributes:
        data: int64 [shown], rows of `opened`.
        cut: where it is a number, a sign at what is cut, see `Opened.ranks`, tells the side of it.
        widths: cells of each column, of which a text may take all.
    """

    def __init__(  # the table's constructor has other parameters
        self, opened: Opened, rows: Rows, verdict: Verdict
    ) -> None:
        """Show some rows."""
        self._render_markup = False
        self.opened = opened
        self.data = rows
        self.verdict = verdict
        self.cut: float | None = None
        self.widths: list[int] = []
        self.names: list[str] = []

    @property
    def _ranked(self) -> str | None:
        """Name the column that tells the side of the cut; None without a cut, or without scores."""
        if self.cut is None or self.opened.scores is None:
            return None
        return "prob" if self.opened.by_probability else "score"

    def lay_out(self, width: int) -> None:
        """Choose columns for a table of so many cells; the texts share what is left."""
        opened, lines = self.opened, []
        fixed = {"": 1}
        if opened.scores is not None:
            fixed["score"] = 6
        if opened.probs is not None:
            fixed["prob"] = 5
        if self._ranked is not None:
            fixed[self._ranked] = 8  # four decimals, and the side of the cut
        if opened.flags is not None:
            fixed["flags"] = 6 if width < _WIDE else 12
        if width >= _WIDE:
            lines = [
                len(f"{int(side.lines.max(initial=0))}") for side in (opened.source, opened.target)
            ]
        taken = sum(each + _PADDING for each in [*fixed.values(), *(max(n, 4) for n in lines)])
        room = max(width - taken - 2 * _PADDING, 10)
        fixed |= {"source": room - room // 2, "target": room // 2}
        if lines:
            fixed |= {"src": max(lines[0], 4), "tgt": max(lines[1], 4)}
        self.names, self.widths = list(fixed), list(fixed.values())

    def get_cell_at(self, row_index: int, column_index: int) -> Text:
        """Render one cell."""
        row, name = int(self.data[row_index]), self.names[column_index]
        opened, width = self.opened, self.widths[column_index]
        match name:
            case "":
                verdict = self.verdict(row)
                return Text(SIGNS[verdict], _STYLES[verdict])
            case "score" | "prob":
                column = opened.scores if name == "score" else opened.probs
                assert column is not None  # or it had no column
                value = column[row]
                digits = 4 if name in ("score", self._ranked) else 2
                said = "" if np.isnan(value) else f"{value:.{digits}f}"
                if name == self._ranked and (rank := opened.rank(row)) is not None:
                    assert self.cut is not None
                    return Text(f"{'≥' if rank >= self.cut else '<'} {said}"[:width])
                return Text(said[:width], justify="right")
            case "flags":
                assert opened.flags is not None
                return cut(opened.flags[row], width)
            case "source":
                return cut(opened.source.texts[int(opened.sources[row])], width)
            case "target":
                return cut(opened.target.texts[int(opened.targets[row])], width)
            case "src":
                return Text(str(opened.source.lines[opened.sources[row]]), justify="right")
        return Text(str(opened.target.lines[opened.targets[row]]), justify="right")

    def get_row_at(self, index: int) -> Sequence[Text]:
        """Render one row."""
        return [self.get_cell_at(index, column) for column in range(len(self.names))]

    def get_column_at(self, index: int) -> Sequence[Text]:
        """Render one column."""
        return [self.get_cell_at(row, index) for row in range(len(self.data))]

    @property
    def source_data(self) -> Rows:
        """The rows that are shown."""
        return self.data

    @property
    def source_row_count(self) -> int:
        """Count the rows."""
        return len(self.data)

    @property
    def row_count(self) -> int:
        """Count the rows."""
        return len(self.data)

    @property
    def columns(self) -> Sequence[str]:
        """Name the columns."""
        return self.names

    @property
    def column_content_widths(self) -> Sequence[int]:
        """Tell the cells of each column."""
        return self.widths

    @classmethod
    def from_pydict(
        cls,
        data: Mapping[str, Sequence[Any]],
        max_rows: int | None = None,
        column_names: Sequence[str] | None = None,
    ) -> "PairBackend":
        """Refuse: pairs are opened, not typed in."""
        raise NotImplementedError

    def append_column(self, label: str, default: object = None) -> int:
        """Refuse: the table shows, it does not change."""
        raise NotImplementedError

    def append_rows(self, records: Iterable[Iterable[Any]]) -> list[int]:
        """Refuse: the table shows, it does not change."""
        raise NotImplementedError

    def drop_row(self, row_index: int) -> None:
        """Refuse: the table shows, it does not change."""
        raise NotImplementedError

    def update_cell(self, row_index: int, column_index: int, value: object) -> None:
        """Refuse: the table shows, it does not change."""
        raise NotImplementedError

    def sort(self, by: list[tuple[str, Literal["ascending", "descending"]]] | str) -> None:
        """Refuse: the query sorts."""
        raise NotImplementedError
