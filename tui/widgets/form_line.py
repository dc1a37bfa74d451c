"""The lines of a form: a label, and a text that Tab completes."""

import os
import shlex
from pathlib import Path

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.suggester import Suggester, SuggestFromList
from textual.widgets import Input, Label, Static

from ..commands import Field, fault_of
from ..key_table import bound

_MOST = 2000  # entries of a folder that are looked at for a suggestion


class FormLine(Horizontal):
    """A field of a command; where it is empty, its usual value or its help is shown."""

    BINDINGS = bound("complete")

    def __init__(self, field: Field, value: str = "") -> None:
        is_hidden = not field.is_first and not value
        super().__init__(classes="line -more" if is_hidden else "line")
        self.field, self.label = field, field.flag or field.name
        hint = field.usual or field.help
        self.input = Input(value, id=f"field-{field.name}", compact=True, placeholder=hint)
        if field.is_file:
            self.input.suggester = NameSuggester(several=field.is_several)
        elif field.choices:
            self.input.suggester = SuggestFromList(field.choices)

    def compose(self) -> ComposeResult:
        yield Label(Text(self.label), classes="flag")
        yield self.input
        yield Static(classes="fault", markup=False)

    def fault(self) -> str:
        """Say what is wrong with the text, and show that behind the text."""
        fault = fault_of(self.field, self.value)
        self.query_one(".fault", Static).update(f"! {fault}" if fault else "")
        return fault

    @on(Input.Changed)
    def changed(self) -> None:
        """Say nothing of a text that is being typed."""
        self.query_one(".fault", Static).update("")

    def on_descendant_blur(self) -> None:
        if self.value:
            self.fault()

    @property
    def value(self) -> str:
        """The text, `~` resolved."""
        return os.path.expanduser(self.input.value.strip())

    async def action_complete(self) -> None:
        """Take the rest of a name that begins so; without one, go on to the next field."""
        line = self.input
        longer = line.suggester and line.value and await line.suggester.get_suggestion(line.value)
        if longer and longer != line.value:
            line.value, line.cursor_position = longer, len(longer)
        else:
            self.screen.focus_next()

    def take(self, path: Path) -> None:
        """Put a name in the line, or behind those that are in it."""
        line, name = self.input, str(path)
        line.value = f"{line.value} {shlex.quote(name)}".strip() if self.field.is_several else name
        line.cursor_position = len(line.value)


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
