"""The first screen: the runs and encoders below the folder, and the keys to begin with."""

import os
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ..commands import form_of
from ..jobs import JobTold
from ..key_table import GROUPS, bound
from ..state import Entry, project
from ..text import cut, shown
from ..widgets.curves import Curves, Metrics
from ..widgets.moving import KeyedList
from ..widgets.prompt import Prompt, Question
from .base import QUIT, BaseScreen

_SIGNS = {"run": "▪", "file": "▫", "encoder": "◆", "unfinished": "◌", "job": "▶"}
_PROJECT = "project"  # a kind of work in the background
_BESIDE = 54  # cells beside the name; the name has at least 26
_COLUMNS = ("", "", "pairs", "expected", "judged", "written", "encoder")
_FIGURES = (2, 3)  # columns that stand at the right
_WHAT = {"unfinished": "not finished"}  # in the place of the number of pairs


class HomeScreen(BaseScreen):
    """The runs and encoders below the folder, what is open, and what runs now; the newest first."""

    NAME = "Home"
    BINDINGS: ClassVar[list[BindingType]] = [*QUIT, *bound("open find compare")]

    def __init__(self) -> None:
        super().__init__()
        self._view = None  # the pairs that are open go as soon as others are there
        self._found: list[Entry] = []  # all that is there
        self._entries: list[Entry] = []  # that are shown
        self._sought = ""

    def body(self) -> ComposeResult:
        keys = {"o": "open a run or pairs", "M": "mine or align two texts", "T": "train an encoder"}
        yield Static("   ".join(f"[b]{key}[/b] {does}" for key, does in keys.items()), id="welcome")
        yield Static(id="columns", markup=False)
        yield Entries(id="recent", markup=False, compact=True)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def on_screen_resume(self) -> None:
        self._sought = ""
        self._look()

    def hears(self, key: str) -> bool:
        """Let keys for the list wait until all folders were looked at."""
        if not self.stands or not self.background.is_under_way(_PROJECT):
            return self.stands
        active = self.active_bindings.get(key)
        return active is None or GROUPS.get(active.binding.id or "") not in ("Move", "Find", "Here")

    def _look(self) -> None:
        """List what is below the folder, as soon as all folders were looked at."""
        work = partial(project, Path.cwd(), self._shown)
        self.background.run(_PROJECT, work, self._list_all, self.complain)

    def _list_all(self, found: list[Entry]) -> None:
        self._list(found)
        if not found and not self._told:  # an error stays
            self.say("nothing is here yet: o opens a run, M makes one of two text files")

    def on_job_told(self, event: JobTold) -> None:
        super().on_job_told(event)
        if event.job.runs:
            self._list(self._found)
        else:
            self._look()

    def _list(self, found: list[Entry]) -> None:
        jobs = [job for job in self.host.jobs.jobs.values() if job.runs]
        running = {os.path.abspath(job.output): job for job in jobs}
        shown_list, before = self.query_one(OptionList), self._entry
        self._found = [each for each in found if each.path not in running]
        rows = [Entry(path, "job", encoder=str(running[path])) for path in running]
        words = self._sought.lower().split()
        self._entries = [
            each
            for each in [*rows, *self._found]
            if all(word in f"{_short(each.path)} {each.languages}".lower() for word in words)
        ]
        shown_list.clear_options()
        lines = _lines(self._entries, max(self.size.width - _BESIDE, 26))
        self.query_one("#columns", Static).update(lines[0])
        shown_list.add_options(map(Option, lines[1:]))
        paths = [each.path for each in self._entries]
        if paths:
            here = before.path if before else os.path.abspath(self._shown or "")
            shown_list.highlighted = paths.index(here) if here in paths else 0

    @property
    def _shown(self) -> Path | None:
        """The run or the file that is open."""
        return self.host.view.opened.path if self.host.view else None

    @property
    def _entry(self) -> Entry | None:
        """The entry under the cursor."""
        at = self.query_one(OptionList).highlighted
        return self._entries[at] if at is not None and at < len(self._entries) else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        entry = self._entries[event.option_index]
        if entry.kind == "unfinished":
            with self.complaining():
                self.host.fill("mine", form_of(Path(entry.path), again=False), starts=True)
        elif entry.kind == "job":
            self.host.show(entry.encoder.partition(":")[0])
        elif entry.kind == "encoder":
            self.app.push_screen(CurvesScreen(Path(entry.path)))
        else:
            self._open(Path(entry.path))

    def action_pick(self) -> None:
        self.ask_path("open a run or a file of pairs (tab):", self._open)

    def _open(self, path: Path) -> None:
        here = Path.cwd()
        self.host.open(path.relative_to(here) if path.is_relative_to(here) else path)

    def action_find(self) -> None:
        def narrow(text: str) -> None:
            self._sought = text
            self._list(self._found)

        def answered(_: str) -> None:
            self.query_one(Prompt).close()
            self.query_one(OptionList).action_select()

        hint = "a part of the name, or a language; enter opens the first"
        asked = Question(answered=answered, typed=narrow, given_up=lambda: narrow(""), hint=hint)
        self.ask(asked)

    def action_compare(self) -> None:
        """Compare the run under the cursor with another one."""
        entry = self._entry
        if entry is None or entry.kind not in ("run", "file"):
            self.say("C compares the run under the cursor with another one")
        else:
            self.ask_other(Path(_short(entry.path)).expanduser())


class CurvesScreen(BaseScreen):
    """How an encoder was trained."""

    NAME = "Training of"
    BINDINGS: ClassVar[list[BindingType]] = bound(enter="mine: Mine with it")

    def __init__(self, encoder: Path) -> None:
        super().__init__()
        self._encoder = encoder

    def body(self) -> ComposeResult:
        yield Curves(id="curves")

    def on_mount(self) -> None:
        metrics = Metrics(self._encoder)
        metrics.refresh()
        self.query_one(Curves).show(metrics)
        if not metrics.losses:
            self.say("its training left no metrics; enter mines with it")

    def heading(self) -> str:
        return f"{self.NAME} {self._encoder.name}"

    def action_mine(self) -> None:
        self.host.fill("mine", {"model": str(self._encoder)})


class Entries(KeyedList):
    """The list itself."""

    BINDINGS: ClassVar[list[BindingType]] = bound(enter="select: Open")


def _lines(entries: list[Entry], cells: int) -> list[Text]:
    """Write the names of the columns, and a line for each entry, whose name has so many cells."""
    rows = [[Text(name) for name in _COLUMNS]]
    rows += [_cells(each, cells) for each in entries]
    widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        for at, (cell, width) in enumerate(zip(row[:-1], widths[:-1], strict=True)):
            cell.align("right" if at in _FIGURES else "left", width)
            cell.append("  " if width else "")
    return [Text.assemble(*row, overflow="ellipsis", no_wrap=True) for row in rows]


def _cells(entry: Entry, cells: int) -> list[Text]:
    name = _short(entry.path)
    name = name if len(name) <= cells else f"…{name[1 - cells :]}"
    pairs = _WHAT.get(entry.kind, entry.kind) if entry.pairs is None else f"{entry.pairs:,}"
    judged = f"{entry.judged:,}" if entry.judged else ""
    judged = judged if entry.accepted is None else f"{entry.accepted:.2f} of {judged}"
    return [
        Text(f" {_SIGNS[entry.kind]} ") + cut(name, cells, "bold"),
        shown(entry.languages),
        Text(pairs),
        Text("" if entry.expected is None else f"{entry.expected:.2f}"),
        Text(judged),
        Text(_when(entry.changed)),
        shown(entry.encoder),
    ]


def _when(told: str) -> str:
    """Say a time as clocks here show it."""
    with suppress(ValueError):
        then = datetime.fromisoformat(told).astimezone()
        return f"{then:%H:%M}" if then.date() == datetime.now().date() else f"{then:%Y-%m-%d}"
    return ""


def _short(path: str) -> str:
    """Name a path from the working folder, or from one's own; of two files the second by name."""
    names = path.split(",") if not Path(path).exists() else [path]
    for base, start in ((Path.cwd(), ""), (Path.home(), "~/")):
        if Path(names[0]).is_relative_to(base):
            names[0] = f"{start}{Path(names[0]).relative_to(base)}"
            break
    return ",".join([names[0], *(Path(each).name for each in names[1:])])
