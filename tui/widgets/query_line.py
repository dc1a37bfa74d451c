"""A line to find and to filter with; up and down go through the lines of before."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input


class QueryLine(Input):
    """A line that is hidden until it is needed. `lines` gets what is typed, the last at the end."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "go(-1)", "Line before", id="move.line-before", show=False),
        Binding("down", "go(1)", "Line after", id="move.line-after", show=False),
    ]

    def __init__(self, lines: list[str], *, placeholder: str, id: str) -> None:
        super().__init__(placeholder=placeholder, id=id, compact=True, select_on_focus=False)
        self._lines = lines
        self._at = 0

    def begin(self, text: str) -> None:
        """Begin with a text, after the last line."""
        self._at = len(self._lines)
        self._put(text)

    def keep(self) -> None:
        """Take the line among those of before."""
        line = self.value.strip()
        if line in self._lines:
            self._lines.remove(line)
        self._lines += [line] if line else []

    def action_go(self, lines: int) -> None:
        self._at = min(max(self._at + lines, 0), len(self._lines))
        self._put("" if self._at == len(self._lines) else self._lines[self._at])

    def _put(self, text: str) -> None:
        self.value = text
        self.cursor_position = len(text)
