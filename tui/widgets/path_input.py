"""A line for the name of a file, which a picker can fill in."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.suggester import Suggester
from textual.widgets import Input, Label

from xmine.errors import OptionError

_MOST = 2000  # entries of a folder that are looked at for a suggestion


class PathLine(Horizontal):
    """A label and a line; `several` names may stand in it, as a shell reads them."""

    def __init__(
        self, label: str, value: str = "", *, id: str, hint: str = "", several: bool = False
    ) -> None:
        """Begin with a name; `hint` is shown where there is none."""
        super().__init__(classes="line path")
        self.label, self._value, self._hint = label, value, hint
        self.line_id, self.several = id, several

    def compose(self) -> ComposeResult:
        yield Label(Text(self.label), classes="flag")
        yield Input(
            self._value,
            id=self.line_id,
            compact=True,
            placeholder=self._hint,
            suggester=NameSuggester(several=self.several),
        )

    @property
    def value(self) -> str:
        """The name that stands in it, `~` resolved; empty if there is none."""
        return os.path.expanduser(self.query_one(Input).value.strip())

    def values(self) -> list[str]:
        """Read the names in it; those with a space in them stand in quotes.

        Raises:
            OptionError: a quote is not closed.
        """
        if not self.several:
            return [self.value] if self.value else []
        try:
            return [os.path.expanduser(name) for name in shlex.split(self.query_one(Input).value)]
        except ValueError as error:
            raise OptionError(f"{self.label}: {error}", "close the quotation mark") from None

    def take(self, path: Path | str) -> None:
        """Put a name in the line, or behind those that are in it."""
        line, name = self.query_one(Input), str(path)
        line.value = f"{line.value} {shlex.quote(name)}".strip() if self.several else name
        line.cursor_position = len(line.value)


class NameSuggester(Suggester):
    """The rest of a file's name, as soon as it is clear how it begins; right takes it."""

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
    folder = Path(os.path.expanduser(head + slash or "."))
    names = sorted(_names(folder, begin))
    return [f"{head}{slash}{name}{'/' * (folder / name).is_dir()}" for name in names]


def _names(folder: Path, begin: str) -> Iterator[str]:
    try:
        for _, each in zip(range(_MOST), folder.iterdir(), strict=False):
            if each.name.startswith(begin) and each.name.isprintable():
                yield each.name
    except OSError:
        return
