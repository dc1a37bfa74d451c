"""A line for the name of a file, which a picker can fill in."""

from collections.abc import Iterator
from pathlib import Path

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.suggester import Suggester
from textual.widgets import Input, Label

_MOST = 2000  # entries of a folder that are looked at for a suggestion


class PathLine(Horizontal):
    """A label and a line; `several` names may stand in it, with spaces between."""

    def __init__(
        self, label: str, value: str = "", *, id: str, hint: str = "", several: bool = False
    ) -> None:
        """Begin with a name; `hint` is shown where there is none."""
        super().__init__(classes="line path")
        self.label, self._value, self._hint = label, value, hint
        self.line_id, self.several = id, several

    def compose(self) -> ComposeResult:
        """Put the label before the line."""
        yield Label(Text(self.label), classes="flag")
        yield Input(
            self._value,
            id=self.line_id,
            compact=True,
            placeholder=self._hint,
            suggester=None if self.several else NameSuggester(),
        )

    @property
    def value(self) -> str:
        """What stands in it."""
        return self.query_one(Input).value.strip()

    def take(self, path: str) -> None:
        """Put a name in the line, or behind those that are in it."""
        line = self.query_one(Input)
        line.value = f"{line.value} {path}".strip() if self.several else path
        line.cursor_position = len(line.value)


class NameSuggester(Suggester):
    """The rest of a file's name, as soon as it is clear how it begins; right takes it."""

    def __init__(self) -> None:
        """Look at the folder each time: files come and go."""
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        """Complete a path."""
        head, slash, begin = value.rpartition("/")
        if not begin:
            return None
        names = sorted(_names(Path(head + slash or "."), begin))
        return f"{head}{slash}{names[0]}" if names else None


def _names(folder: Path, begin: str) -> Iterator[str]:
    try:
        for _, each in zip(range(_MOST), folder.iterdir(), strict=False):
            if each.name.startswith(begin) and each.name.isprintable():
                yield each.name
    except OSError:
        return
