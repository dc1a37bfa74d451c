"""A table of pairs that looks only at the rows that can be seen, however many there are."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.geometry import Size
from textual.message import Message
from textual_fastdatatable import DataTable
from textual_fastdatatable.backend import DataTableBackend

from xmine.browsing.opened import Opened, Rows
from xmine.tui.text import cut

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
        cut: where it is a number, a sign at each score tells on which side of it the pair is.
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

    def lay_out(self, width: int) -> None:
        """Choose columns for a table of so many cells; the texts share what is left."""
        opened, lines = self.opened, []
        fixed = {"": 1}
        if opened.scores is not None:
            fixed["score"] = 6 if self.cut is None else 8
        if opened.probs is not None:
            fixed["prob"] = 4
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
                digits = 4 if name == "score" else 2
                said = "" if np.isnan(value) else f"{value:.{digits}f}"
                if name == "score" and self.cut is not None:
                    return Text(f"{'≥' if float(value) >= self.cut else '<'} {said}"[:width])
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


class PairTable(DataTable):
    """Pairs, one a row. Posts `Moved` when the cursor is on another pair."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Neighbours", id="table.neighbours"),
        Binding("down,j", "cursor_down", "Down", id="table.down", show=False),
        Binding("up,k", "cursor_up", "Up", id="table.up", show=False),
        Binding("home,g", "to_top", "First", id="table.top", show=False),
        Binding("end,G", "to_bottom", "Last", id="table.bottom", show=False),
        Binding("pagedown", "page_down", "Page down", id="table.page-down", show=False),
        Binding("pageup", "page_up", "Page up", id="table.page-up", show=False),
        Binding("ctrl+d", "half_page(1)", "Half a page down", id="table.half-down", show=False),
        Binding("ctrl+u", "half_page(-1)", "Half a page up", id="table.half-up", show=False),
    ]

    class Moved(Message):
        """The cursor is on another pair, or on none.

        Attributes:
            row: of `Opened`; None if there are no pairs.
        """

        def __init__(self, row: int | None) -> None:
            """Name the row."""
            super().__init__()
            self.row = row

    def __init__(
        self,
        opened: Opened,
        rows: Rows,
        verdict: Verdict = unjudged,
        *,
        id: str | None = None,
    ) -> None:
        """Show some rows of what was opened."""
        self.pairs = PairBackend(opened, rows, verdict)
        self.pairs.lay_out(80)
        super().__init__(
            backend=self.pairs,
            column_labels=[Text(name) for name in self.pairs.names],
            column_widths=list(self.pairs.widths),
            cursor_type="row",
            show_row_labels=False,
            render_markup=False,
            id=id,
        )

    @property
    def tooltip(self) -> None:
        """Nothing floats above the texts; the detail pane has them whole."""
        return None

    @tooltip.setter
    def tooltip(self, _: object) -> None: ...

    @property
    def row(self) -> int | None:
        """The row of `Opened` under the cursor; None if there are no pairs."""
        return int(self.pairs.data[self.cursor_row]) if len(self.pairs.data) else None

    def show(self, rows: Rows, *, keep: bool = True) -> None:
        """Show other rows; with `keep` the cursor stays on its pair if that is among them."""
        before = self.row
        self.pairs.data = rows
        self._arrange()
        self.move_cursor(row=0)
        if keep and before is not None:
            self.go_to(before)
        self.post_message(self.Moved(self.row))

    def go_to(self, row: int) -> bool:
        """Put the cursor on a row of `Opened`; tell whether it is shown."""
        found = np.flatnonzero(self.pairs.data == row)[:1]
        if len(found):
            self.move_cursor(row=int(found[0]))
        return bool(len(found))

    def redraw(self) -> None:
        """Draw again what is shown: a judgement has changed, or the theme."""
        self.notify_style_update()

    def on_resize(self, event: Resize) -> None:
        """Share the room among the columns."""
        self._arrange()

    def _arrange(self) -> None:
        names = self.pairs.names
        self.pairs.lay_out(self.scrollable_content_region.width or 80)
        if names != self.pairs.names:
            self._column_labels = [Text(name) for name in self.pairs.names]
            self._column_widths = list(self.pairs.widths)
            self._ordered_columns = None
        for column, width in zip(self.ordered_columns, self.pairs.widths, strict=True):
            column.width, column.auto_width = width, False
        width = sum(column.render_width for column in self.ordered_columns)
        self.virtual_size = Size(width, len(self.pairs.data) + self.header_height)
        self.notify_style_update()

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """Tell which pair it is."""
        event.stop()
        self.post_message(self.Moved(self.row))

    def action_to_top(self) -> None:
        """Go to the first pair."""
        self.move_cursor(row=0)

    def action_to_bottom(self) -> None:
        """Go to the last pair."""
        self.move_cursor(row=len(self.pairs.data) - 1)

    def action_half_page(self, direction: int) -> None:
        """Go half a page down or up."""
        half = max((self.size.height - self.header_height) // 2, 1)
        self.move_cursor(row=self.cursor_row + direction * half)
