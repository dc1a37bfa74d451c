"""A table of pairs that looks only at the rows that can be seen, however many there are."""

from typing import ClassVar

import numpy as np
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.geometry import Size
from textual.message import Message
from textual_fastdatatable import DataTable

from xmine.browsing.opened import Opened, Rows

from .pair_backend import PairBackend, Verdict, unjudged


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
        self._order = ("", False)  # by what the rows are sorted, and whether they fall
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

    def show(
        self, rows: Rows, *, keep: bool = True, order: str = "", descending: bool = False
    ) -> None:
        """Show other rows.

        Args:
            rows: of `Opened`.
            keep: let the cursor stay on its pair, if that is among them.
            order: by what they are sorted; the header shows it if there is a column of it.
            descending: whether they fall.
        """
        before = self.row
        self.pairs.data, self._order = rows, (order, descending)
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
        self.pairs.lay_out(self.scrollable_content_region.width or 80)
        names, (order, descending) = self.pairs.names, self._order
        marked = {"source": "src", "target": "tgt"}.get(order, order)  # by line, not by text
        arrow = "▼" if descending else "▲"
        self._column_labels = [
            Text(name + arrow if name and name == marked else name) for name in names
        ]
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
