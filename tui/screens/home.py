"""The first screen: recent runs and files, and the keys to begin with."""

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from xmine.errors import XmineError
from xmine.pairs.paths import paths_to_read
from xmine.units import count

from ..commands import resuming_words
from ..jobs import MINING, Job
from ..state import Recent, forget, recent
from ..text import cut, shown
from ..widgets.moving import KeyedList
from .base import QUIT, BaseScreen
from .picker import PickerScreen

_SIGNS = {"run": "▪", "file": "▫", "unfinished": "◌", "gone": "✗"}
_LONGEST_NAME = 30  # cells
_FIGURES = (1, 2)  # columns that stand at the right
_WHAT = {"run": "run", "file": "file", "unfinished": "not finished", "gone": "gone"}


class HomeScreen(BaseScreen):
    """The list of recent runs and files, the last one first."""

    NAME = "Home"
    BINDINGS: ClassVar[list[BindingType]] = [
        QUIT,
        Binding("o", "pick", "Open", id="home.open", tooltip="A run or a file of pairs."),
        Binding("x,delete", "forget", "Off the list", id="home.forget", tooltip="The file stays."),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[Recent] = []
        self._said_of: bool | None = None  # whether there were entries when it was last said

    def body(self) -> ComposeResult:
        yield Static(
            Text.assemble(
                ("o", "bold"),
                " open a run or pairs   ",
                ("M", "bold"),
                " mine two text files   ",
                ("T", "bold"),
                " train an encoder",
            ),
            id="welcome",
            markup=False,
        )
        yield Entries(id="recent", markup=False, compact=True)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def on_screen_resume(self) -> None:
        self._list()

    def _list(self) -> None:
        found = recent()
        shown_list = self.query_one(OptionList)
        at = shown_list.highlighted
        shown_list.clear_options()
        self._entries = found
        shown_list.add_options(map(Option, _lines(found)))
        if found:
            shown_list.highlighted = min(at or 0, len(found) - 1)
        if self._said_of is not bool(found):  # or the last message stays, such as an error
            self._said_of = bool(found)
            nothing = "nothing was opened yet: o opens a run, M makes one of two text files"
            self.say("" if found else nothing)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        entry = self._entries[event.option_index]
        if entry.kind == "gone":
            self.say(f"{entry.path}: is gone; x takes it off the list", bad=True)
        elif entry.kind == "unfinished":
            self._take_up(Path(entry.path))
        else:
            self._open(Path(entry.path))

    def _take_up(self, run: Path) -> None:
        """Go on with a run that was stopped, on the screen of mining."""
        with self.complaining():
            words = resuming_words(run)
            if self.host.jobs.runs(MINING):
                self.say(f"{MINING} is under way already", bad=True)
                return
            self.host.jobs.start(Job(MINING, words, run))
            self.host.show("mine")

    def action_pick(self) -> None:
        self.app.push_screen(PickerScreen("a run or a file of pairs"), self._open)

    def _open(self, path: Path | None) -> None:
        if path is not None:
            self.host.open(path)

    def action_forget(self) -> None:
        at = self.query_one(OptionList).highlighted
        if at is None:
            return
        with self.complaining():
            forget([self._entries[at].path])
            self._said_of = None
        self._list()


class Entries(KeyedList):
    """The list itself."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select", "Open it", id="home.enter", tooltip="Or go on with it.")
    ]


def _lines(entries: list[Recent]) -> list[Text]:
    """Write entries in columns: sign and name, pairs, judged ones, time, folder."""
    rows = [_cells(each) for each in entries]
    widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        for at, (cell, width) in enumerate(zip(row[:-1], widths[:-1], strict=True)):
            cell.align("right" if at in _FIGURES else "left", width)
            cell.append("  " if width else "")
    return [Text.assemble(*row, overflow="ellipsis", no_wrap=True) for row in rows]


def _cells(entry: Recent) -> list[Text]:
    paths = [Path(entry.path)]
    if entry.kind == "file" and not paths[0].exists():  # two of them, or a choice of columns
        with suppress(XmineError):
            paths = [Path(each) for each in paths_to_read(entry.path).paths]
    name = ",".join(each.name for each in paths)
    pairs = count(entry.pairs, "pair") if entry.pairs is not None else _WHAT[entry.kind]
    judged = f"{entry.judged:,} judged" if entry.judged else ""
    return [
        Text(f"{_SIGNS[entry.kind]} ") + cut(name, _LONGEST_NAME, "bold"),
        Text(pairs, "dim"),
        Text(judged, "dim"),
        Text(_when(entry.opened), "dim"),
        shown(_short(paths[0].parent), "dim"),
    ]


def _when(opened: str) -> str:
    """Say a time as clocks here show it."""
    with suppress(ValueError):
        return f"{datetime.fromisoformat(opened).astimezone():%Y-%m-%d %H:%M}"
    return ""


def _short(folder: Path) -> str:
    """Say a folder as people do, from their own on."""
    home = Path.home()
    return str(Path("~") / folder.relative_to(home)) if folder.is_relative_to(home) else str(folder)
