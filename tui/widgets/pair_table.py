"""A table of pairs that draws only the rows that can be seen, however many there are."""

from dataclasses import dataclass
from functools import partialmethod
from typing import ClassVar

import numpy as np
from rich.segment import Segment
from textual.cache import LRUCache
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from xmine.browsing.opened import Opened, Rows
from xmine.browsing.query import spans_of
from xmine.judging.judgements import Judgements

from ..key_table import bound
from .moving import MOVING
from .pair_cells import PADDING, REPAIRED, PairCells, verdicts_on

_ALL = 2**62  # more rows than there are
_DRAWN = 512  # rows that are kept drawn: some screens of them


class PairTable(ScrollView, can_focus=True):
    """Pairs, one a row, below a header."""

    ALLOW_SELECT = False  # y copies the pair
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"pair-table--{each}"
        for each in ("header", "cursor", "accept", "reject", "unsure", "hit", "figure")
    }
    BINDINGS = bound(enter="select: Neighbours") + MOVING
    header_height = 1

    cursor_row: reactive[int] = reactive(0, repaint=False)

    @dataclass
    class Moved(Message):
        """The cursor is on another pair, a row of `Opened`, or on none."""

        row: int | None

    class Selected(Message):
        """Enter was pressed on the pair under the cursor."""

    @dataclass
    class HeaderClicked(Message):
        """The name of a column was clicked on; it is empty for the one of the signs."""

        column: str

    def __init__(self, opened: Opened, rows: Rows, judgements: Judgements, *, id: str) -> None:
        super().__init__(id=id)
        self._strips: LRUCache[int, Strip] = LRUCache(_DRAWN)
        self.pairs = PairCells(opened, rows, judgements)
        self.rows = rows  # of the query: a row that was split stands twice among `pairs.data`
        self._lay_out()

    @property
    def row_count(self) -> int:
        return len(self.pairs.data)

    @property
    def row(self) -> int | None:
        """The row of `Opened` under the cursor; None if there are no pairs."""
        return int(self.pairs.data[self.cursor_row]) if self.row_count else None

    @property
    def part(self) -> int:
        """Which of the beads in the place of its row is under the cursor."""
        return int(self.pairs.parts[self.cursor_row]) if self.row_count else 0

    def show(self, rows: Rows | None = None, *, keep: bool = True) -> None:
        """Show other rows of `Opened`, or what stands in the place of these by now.

        `keep` leaves the cursor on its pair, if they have it, or else on the one before.
        """
        before, part = self.row, self.part
        self.rows = self.rows if rows is None else rows
        self.pairs.show(self.rows)
        self._lay_out()
        if rows is not None:
            self.move_cursor(row=0)
        if keep and before is not None:
            self.go_to(before, part)
        self._show_cursor()
        self.post_message(self.Moved(self.row))

    def order_by(self, order: str, *, descending: bool) -> None:
        """Name the order of the rows, for the header; its column is shown."""
        self.pairs.order, self.pairs.descending = order, descending
        self._lay_out()

    def go_to(self, row: int, part: int = 0) -> bool:
        """Put the cursor on a row of `Opened`, at one of its beads; tell whether it is shown."""
        found = np.flatnonzero(self.pairs.data == row)
        if len(found):
            self.move_cursor(row=int(found[min(part, len(found) - 1)]))
        return bool(len(found))

    def move_cursor(self, *, row: int) -> None:
        """Put the cursor on a shown row, the nearest one that there is, and scroll to it."""
        self.cursor_row = row
        self._show_cursor()

    def _show_cursor(self) -> None:
        page, top = self._page, self.scroll_offset.y
        if page > 0 and not top <= self.cursor_row < top + page:
            first = self.cursor_row if self.cursor_row < top else self.cursor_row - page + 1
            if abs(first - top) > page:  # far away: what stands around is in sight
                first = self.cursor_row - page // 2
            self.scroll_to(y=first, animate=False)

    def validate_cursor_row(self, row: int) -> int:
        return max(min(row, self.row_count - 1), 0)

    def watch_cursor_row(self, before: int, now: int) -> None:
        """Draw the row that had the cursor and the one that has it; tell which pair it is."""
        self.redraw(before, now)
        self.post_message(self.Moved(self.row))

    def redraw(self, *rows: int) -> None:
        """Draw some shown rows again, or all: judgements have changed, or the theme."""
        for row in rows:
            self._strips.discard(row)
            self.refresh_line(self.header_height + row)
        if not rows:
            self._strips.clear()
            self.refresh()

    def mark(self, pattern: str) -> None:
        """Mark what matches a regular expression in the texts; nothing if it is empty."""
        self.pairs.marked = pattern
        self.redraw()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def on_resize(self) -> None:
        self._lay_out()
        self._show_cursor()

    def _lay_out(self) -> None:
        width = self._width or 80
        self.pairs.lay_out(width)
        self.virtual_size = Size(width, self.header_height + self.row_count)
        self.redraw()

    @property
    def _width(self) -> int:
        """Cells of a row, without the scroll bar."""
        return self.scrollable_content_region.width

    @property
    def _page(self) -> int:
        """Rows that can be seen at once."""
        return self.size.height - self.header_height

    def render_line(self, y: int) -> Strip:
        """Draw a line of the screen: the header, a row, or none below the last one."""
        if y < self.header_height:
            style = self.get_component_rich_style("pair-table--header")
            strip = Strip([Segment(self.pairs.header(), style)])
            return strip.adjust_cell_length(self._width, style)
        at = y - self.header_height + self.scroll_offset.y
        if at >= self.row_count:
            return Strip.blank(self._width, self.rich_style)
        strip = self._strips.get(at) or self._drawn(at)
        self._strips[at] = strip
        return strip

    def _drawn(self, at: int) -> Strip:
        line, style = self.pairs.line(at), self.rich_style
        quiet = self.get_component_rich_style("pair-table--figure")
        row, judgements = int(self.pairs.data[at]), self.pairs.judgements
        (verdict, others), signed = verdicts_on(judgements, row), style
        if sign := others or REPAIRED * (judgements.repair_of(row) is not None):
            line = f"{line[: PADDING + 1]}{sign}{line[PADDING + 2 :]}"
        if at == self.cursor_row:
            style = signed = quiet = self.get_component_rich_style("pair-table--cursor")
        elif verdict:
            signed += self.get_component_rich_style(f"pair-table--{verdict}", partial=True)
        hit = style + self.get_component_rich_style("pair-table--hit", partial=True)
        signs, (end, after) = PADDING + 1, self.pairs.texts_in(line)
        segments = [Segment(line[:signs], signed), Segment(line[signs:end], quiet)]
        texts = end
        for start, stop in spans_of(self.pairs.marked, line[texts:after]):
            segments += [
                Segment(line[end : texts + start], style),
                Segment(line[texts + start : texts + stop], hit),
            ]
            end = texts + stop
        segments += [Segment(line[end:after], style), Segment(line[after:], quiet)]
        return Strip(segments).adjust_cell_length(self._width, style).simplify()

    def on_click(self, event: Click) -> None:
        place = event.get_content_offset(self)
        if place is None:
            return
        if place.y < self.header_height:
            self.post_message(self.HeaderClicked(self.pairs.column_at(place.x)))
        elif (row := place.y - self.header_height + self.scroll_offset.y) < self.row_count:
            self.move_cursor(row=row)
            if event.chain == 2:
                self.action_select()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "select" or not self.pairs.opened.has_beads  # these have no neighbours

    def action_select(self) -> None:
        if self.row_count:
            self.post_message(self.Selected())

    def _move(self, rows: int) -> None:
        self.move_cursor(row=self.cursor_row + rows)

    action_cursor_down, action_cursor_up = partialmethod(_move, 1), partialmethod(_move, -1)
    action_first, action_last = partialmethod(_move, -_ALL), partialmethod(_move, _ALL)

    def action_page_down(self) -> None:
        """Go a page down; a row of the page before stays in sight."""
        self._move(max(self._page - 1, 1))

    def action_page_up(self) -> None:
        self._move(-max(self._page - 1, 1))

    def action_half_page(self, direction: int) -> None:
        self._move(direction * max(self._page // 2, 1))
