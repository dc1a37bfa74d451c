"""Lines of a form: a label, and a text, the name of a file, or one of several choices."""

import os
import shlex
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.suggester import Suggester
from textual.widgets import Input, Label

from xmine.errors import OptionError

from .toggles import Choices

_MOST = 2000  # entries of a folder that are looked at for a suggestion


class FormLine(Horizontal):
    """A label and a line for a text; `hint` is shown where there is none."""

    def __init__(self, label: str, value: str = "", *, id: str, hint: str = "") -> None:
        super().__init__(classes="line")
        self.label, self.line_id = label, id
        self.input = Input(value, id=id, compact=True, placeholder=hint)

    def compose(self) -> ComposeResult:
        yield Label(Text(self.label), classes="flag")
        yield self.input

    @property
    def value(self) -> str:
        """The text, `~` resolved."""
        return os.path.expanduser(self.input.value.strip())

    def values(self) -> list[str]:
        """Read the words as a shell does: those with a space in them stand in quotes.

        Raises:
            OptionError: a quote is not closed.
        """
        try:
            return [os.path.expanduser(word) for word in shlex.split(self.input.value)]
        except ValueError as error:
            raise OptionError(f"{self.label}: {error}", "close the quotation mark") from None


class PathLine(FormLine):
    """A line for the name of a file, or for `several`, which a prompt can fill in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete, or next field", id="starting.complete", show=False)
    ]

    def __init__(
        self, label: str, value: str = "", *, id: str, hint: str = "", several: bool = False
    ) -> None:
        super().__init__(label, value, id=id, hint=hint)
        self.several = several
        self.input.suggester = self._names = NameSuggester(several=several)

    async def action_complete(self) -> None:
        """Take the rest of a name that begins so; without one, go on to the next field."""
        line = self.input
        if (longer := await self._names.get_suggestion(line.value)) is None:
            self.screen.focus_next()
        else:
            line.value, line.cursor_position = longer, len(longer)

    def take(self, path: Path) -> None:
        """Put a name in the line, or behind those that are in it."""
        line, name = self.input, str(path)
        line.value = f"{line.value} {shlex.quote(name)}".strip() if self.several else name
        line.cursor_position = len(line.value)


def choice_line(label: str, names: tuple[str, ...], chosen: int, id: str) -> Horizontal:
    """Make a label and a choice of some names."""
    choices = Choices(names, chosen, id=id)
    return Horizontal(Label(Text(label), classes="flag"), choices, classes="line")


class NameSuggester(Suggester):
    """The rest of a file's name, as soon as it is clear how it begins; tab takes it."""

    def __init__(self, *, several: bool) -> None:
        """Look at the folder each time: files come and go."""
        super().__init__(use_cache=False, case_sensitive=True)
        self._several = several

    async def get_suggestion(self, value: str) -> str | None:
        """Complete a path; of several, the last one, as long as nothing is in quotes."""
        before, space, path = value.rpartition(" ") if self._several else ("", "", value)
        found = paths_from(path) if path and not path.endswith("/") else []
        rest = found[0].removeprefix(path) if found else ""
        if not rest or (self._several and shlex.quote(rest) != rest):
            return None
        return f"{before}{space}{found[0]}"


def paths_from(path: str) -> list[str]:
    """List the files and folders that a path may go on to, a slash behind each folder."""
    head, slash, begin = path.rpartition("/")
    folder, names = Path(os.path.expanduser(head + slash or ".")), []
    try:
        for _, each in zip(range(_MOST), folder.iterdir(), strict=False):
            is_shown = bool(begin) or not each.name.startswith(".")
            if is_shown and each.name.startswith(begin) and each.name.isprintable():
                names.append(each.name)
    except OSError:
        pass
    return [f"{head}{slash}{name}{'/' * (folder / name).is_dir()}" for name in sorted(names)]
