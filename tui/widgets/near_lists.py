"""Two lists of sentences, one for each language: side by side where there is room, else stacked."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.widgets import OptionList, Static

from xmine.browsing.opened import TextSide

from ..key_table import bound
from ..text import cut, folded
from .moving import KeyedList

SIDES = ("source", "target")
_SIDE_BY_SIDE = 100  # cells from which on the lists stand side by side
_LINES_OF_TEXT = 3  # of a sentence, where lists stand side by side
_PART_OF_HEAD = 4  # of the rows of a side: one of so many, for a text that needs more than two


class Near(NamedTuple):
    """A sentence in a list, below its figures, of which the end may be cut."""

    figures: str
    text: str
    is_bold: bool = False


def line_name(side: TextSide, row: int) -> str:
    """Name the line of a sentence, with its file, and with the offset of a segment in the line."""
    (file, line), (_, offset) = side.written(row), side.place(row)
    name = f"{file}:{line}" if file else f"{line:,}"
    return name if offset is None else f"{name}:{offset}"


class Spot(NamedTuple):
    """Where the cursor is."""

    side: str  # of the list that has the keys
    highlighted: tuple[int | None, int | None]  # of both lists


class NearList(KeyedList):
    """Sentences, a few lines each, the one under the cursor whole."""

    BINDINGS = bound(enter="select: Step to it", tab="other_side: Other side")

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, markup=False, compact=True)
        self._entries: Sequence[Near] = ()

    def show(self, entries: Sequence[Near], highlighted: int | None = 0) -> None:
        self._entries = entries
        self._draw(highlighted)

    def action_other_side(self) -> None:
        lists = next(each for each in self.ancestors if isinstance(each, NearLists))
        lists.list_of(SIDES[self.id == SIDES[0]]).focus()

    def on_resize(self) -> None:
        self._draw(self.highlighted)

    def _draw(self, highlighted: int | None) -> None:
        with self.prevent(OptionList.OptionHighlighted):
            self.clear_options()
            self.add_options([self._line(at, highlighted) for at in range(len(self._entries))])
            self.highlighted = highlighted if self._entries else None

    def watch_highlighted(self, highlighted: int | None) -> None:
        for at in range(self.option_count):
            self.replace_option_prompt_at_index(at, self._line(at, highlighted))
        super().watch_highlighted(highlighted)

    def _line(self, at: int, highlighted: int | None) -> Text:
        entry, room = self._entries[at], (self.size.width or self.app.size.width) - 1
        lines = _LINES_OF_TEXT if self.app.size.width >= _SIDE_BY_SIDE else 1
        weight = "bold" if entry.is_bold else ""
        head = cut(entry.figures, room, weight or "dim" * (at != highlighted))
        # Lines are broken between words, which leaves some room at the end of each.
        text = cut(entry.text, room if lines == 1 else room * lines - room // 2, weight)
        if at == highlighted:
            text = folded(entry.text, room, max(self.size.height - 2, lines), "enter", weight)
        return Text.assemble(head, "\n", text, "\n" if lines > 1 else "", end="")


class NearLists(Container):
    """A head and a list for each side."""

    def compose(self) -> ComposeResult:
        for side in SIDES:
            with Vertical(classes="near-side"):
                with Horizontal(classes="near-head"):
                    yield Static(id=f"{side}-name", classes="near-name", markup=False)
                    yield Static(id=f"{side}-head", classes="near-text", markup=False)
                yield NearList(id=side)

    def on_mount(self) -> None:
        self._heads, self._skipped = {side: ("", "") for side in SIDES}, 0

    def on_resize(self) -> None:
        self.set_class(self.size.width >= _SIDE_BY_SIDE, "-wide")
        for side in SIDES:
            self._draw_head(side)

    def show(
        self, side: str, name: str, text: str, entries: Sequence[Near], highlighted: int | None = 0
    ) -> None:
        """Show the neighbours (`entries`) of a text, with the cursor on one of them."""
        self._heads[side], self._skipped = (name, text), 0
        self._draw_head(side)
        self.list_of(side).show(entries, highlighted if entries else None)

    def _draw_head(self, side: str) -> None:
        name, text = self._heads[side]
        width, wide = self.app.size.width, self.has_class("-wide")
        room = (width // 2 if wide else width) - cell_len(name) - 5
        rows = max(self.size.height // (1 if wide else 2) // _PART_OF_HEAD, 2)
        self.query_one(f"#{side}-name", Static).update(Text(name, "bold"))
        drawn = folded(text, max(room, 10), rows, "J", skip=self._skipped)
        self.query_one(f"#{side}-head", Static).update(drawn)

    def scroll_texts(self, rows: int) -> None:
        """Go on in texts that are longer than their heads, or back."""
        self._skipped = max(self._skipped + rows, 0)
        for side in SIDES:
            self._draw_head(side)

    def list_of(self, side: str) -> NearList:
        return self.query_one(f"#{side}", NearList)

    def under_cursor(self) -> tuple[str, int | None]:
        """Name the list that has the keys, and the entry that is highlighted there."""
        side = "target" if self.list_of("target").has_focus else "source"
        return side, self.list_of(side).highlighted

    def place(self) -> Spot:
        source, target = (self.list_of(side).highlighted for side in SIDES)
        return Spot(self.under_cursor()[0], (source, target))

    def go_to(self, place: Spot) -> None:
        for side, highlighted in zip(SIDES, place.highlighted, strict=True):
            self.list_of(side).highlighted = highlighted
        self.list_of(place.side).focus()
