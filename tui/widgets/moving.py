"""The keys that move the cursor, in every list, table and tree."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import OptionList

MOVING: list[BindingType] = [
    Binding("down,j", "cursor_down", "Down", id="move.down", show=False),
    Binding("up,k", "cursor_up", "Up", id="move.up", show=False),
    Binding("home,g", "first", "First", id="move.first", show=False),
    Binding("end,G", "last", "Last", id="move.last", show=False),
    Binding("pagedown", "page_down", "Page down", id="move.page-down", show=False),
    Binding("pageup", "page_up", "Page up", id="move.page-up", show=False),
]


class KeyedList(OptionList):
    """A list with these keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *MOVING,
        Binding("ctrl+d", "page_down", "Page down", id="move.half-down", show=False),
        Binding("ctrl+u", "page_up", "Page up", id="move.half-up", show=False),
    ]
