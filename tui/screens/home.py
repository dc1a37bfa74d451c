"""The first screen: runs, encoders and texts below the folder, and the keys to begin with."""

import os
from collections.abc import Mapping
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

from ..commands import form_of, free_beside
from ..jobs import JobTold
from ..key_table import GROUPS, KEYS, bound
from ..project import Entry, project, with_texts
from ..text import cut, shown
from ..widgets.moving import KeyedList
from ..widgets.prompt import Prompt, Question
from .base import QUIT, BaseScreen

_SIGNS = {"run": "▪", "file": "▫", "encoder": "◆", "unfinished": "◌", "job": "▶", "text": "≡"}
_PROJECT, _LOOKS = "project", "looks"  # kinds of work in the background
_NAME = 16  # cells that a name has at least
_COLUMNS = ("", "", "pairs", "expected", "judged", "written", "encoder")
_FIGURES = (2, 3)  # columns that stand at the right
_LAST, _LEAST = 6, 5  # the last column, which is cut to what is left, and its fewest cells
# What two texts are to each other -> what enter does.
_DOES = {"order": "aligns them (one order)", "keys": "pairs them by key"}


class HomeScreen(BaseScreen):
    """What two texts may be mined, and the runs, encoders and texts below the folder."""

    NAME = "Home"
    BINDINGS: ClassVar[list[BindingType]] = [*QUIT, *bound("open find compare")]

    def __init__(self) -> None:
        super().__init__()
        self._view = None  # the pairs that are open go as soon as others are there
        self._found: list[Entry] = []  # all that is there
        self._entries: list[Entry] = []  # that are shown
        self._forms: dict[tuple[str, str], str] = {}  # of two texts, see `looking.form_of`
        self._sought = ""

    def body(self) -> ComposeResult:
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
        """List what is below the folder, and then what is known of the texts."""
        work = partial(project, Path.cwd())
        self.background.run(_PROJECT, work, self._list_all, self.complain)

    def _list_all(self, found: list[Entry]) -> None:
        self._list(found)
        work = partial(with_texts, found)
        self.background.run(_LOOKS, work, self._list, self.complain)
        if not found and not self._told:  # an error stays
            mine, path = KEYS["mine"][0], KEYS["open"][0]
            what = f"{mine} mines or aligns two texts, {path} opens what is elsewhere"
            self.say(f"nothing is here yet: {what}")

    def on_option_list_option_highlighted(self) -> None:
        """Look what two texts are to each other, as soon as the cursor is on them."""
        self.refresh_bindings()
        if (entry := self._entry) is not None and entry.other is not None:
            both = _names(entry)
            if both not in self._forms:
                self._forms[both] = ""

                def work() -> str:
                    from xmine.aligning.looking import form_of  # here: the encoder takes 0.3 s

                    return form_of(*both)

                self.background.run(" ".join(both), work, partial(self._seen, both), lambda _: None)

    def _seen(self, both: tuple[str, str], form: str) -> None:
        self._forms[both] = form
        self._list(self._found)

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
        if before and before.kind == "text" and not shown_list.highlighted:
            before = None  # nobody has gone there, and pairs of texts come to stand above
        self._found = [each for each in found if each.path not in running]
        rows = [Entry(path, "job", encoder=str(running[path])) for path in running]
        words = self._sought.lower().split()
        self._entries = [
            each
            for each in [*rows, *self._found]
            if all(word in f"{_short(each.path)} {each.languages}".lower() for word in words)
        ]
        shown_list.clear_options()
        self.refresh_bindings()
        lines = _lines(self._entries, self.size.width - 4, self._forms)
        self.query_one("#columns", Static).update(lines[0])
        shown_list.add_options(map(Option, lines[1:]))
        if self._entries:
            here = os.path.abspath(self.host.view.opened.path) if self.host.view else ""
            names = _names(before) if before else None
            runs = ("job", "run", "unfinished")
            fits = [(_names(x) == names, x.path == here, x.kind in runs) for x in self._entries]
            shown_list.highlighted = fits.index(max(fits))

    @property
    def _entry(self) -> Entry | None:
        """The entry under the cursor."""
        at = self.query_one(OptionList).highlighted
        return self._entries[at] if at is not None and at < len(self._entries) else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        entry = self._entries[event.option_index]
        if entry.kind == "text":
            self.host.fill("mine", {"source": _short(entry.path)})
        elif entry.other is not None:
            self._mine(*_names(entry))
        elif entry.kind == "unfinished":
            with self.complaining():
                self.host.fill("mine", form_of(Path(entry.path), again=False), starts=True)
        elif entry.kind == "job":
            self.host.show(entry.encoder.partition(":")[0])
        elif entry.kind == "encoder":
            self.host.fill("mine", {"model": _short(entry.path)})
        else:
            self._open(Path(entry.path))

    def _mine(self, one: str, other: str) -> None:
        """Mine two texts, or what else was seen to suit them, into what is not there yet."""
        form, run = self._forms.get((one, other)), Path("run")
        output = str(free_beside(run) if run.exists() else run)
        output += ".tsv" * (form == "keys")  # which make no run
        texts = {"source": _short(one), "target": _short(other), "output": output}
        self.host.fill("align" if form == "order" else "mine", texts, starts=True)

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
        given_up = partial(narrow, "")
        self.ask(Question(answered=answered, typed=narrow, given_up=given_up, hint=hint))

    def action_compare(self) -> None:
        """Compare the run under the cursor with another one."""
        if self._entry is not None:
            self.ask_other(Path(_short(self._entry.path)).expanduser())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        kind = self._entry.kind if self._entry else ""
        able = {"find": bool(self._entries), "compare": kind in ("run", "file")}
        return able.get(action, True) and super().check_action(action, parameters)


class Entries(KeyedList):
    """The list itself."""

    BINDINGS: ClassVar[list[BindingType]] = bound(enter="select: Open")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "select" or self.option_count > 0


def _lines(entries: list[Entry], width: int, forms: Mapping[tuple[str, str], str]) -> list[Text]:
    """Write the names of the columns, and a line for each entry, in so many cells."""
    is_told = any(each.kind not in ("text", "texts") for each in entries)
    rows = [[Text(name * is_told) for name in _COLUMNS]]
    rows += [[Text()] * len(_COLUMNS) if each.other else _cells(each) for each in entries]
    widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    longest, widths[0] = widths[0], 0
    kept = [at for at in range(len(_COLUMNS)) if not at or any(row[at] for row in rows[1:])]
    left = width - min(_NAME, longest) - 2 - sum(widths[at] + 2 for at in kept[:-1])
    widths[_LAST] = min(widths[_LAST], max(left, _LEAST))
    widths[0] = min(longest, max(width - sum(widths[at] + 2 for at in kept), _NAME))
    lines = []
    for entry, row in zip([None, *entries], rows, strict=True):
        if entry and entry.other:
            lines.append(_offer(entry, entry.other, forms.get(_names(entry)), width))
            continue
        name = row[0].plain
        if row[0].cell_len > widths[0]:
            name = f"{name[:3]}…{name[4 - widths[0] :]}"
        row[0], row[_LAST] = cut(name, widths[0], "bold"), cut(row[_LAST].plain, widths[_LAST])
        for at in kept[:-1]:
            row[at].align("right" if at in _FIGURES else "left", widths[at])
            row[at].append("  ")
        lines.append(Text.assemble(*(row[at] for at in kept), overflow="ellipsis", no_wrap=True))
    return lines


def _names(entry: Entry) -> tuple[str, str]:
    return entry.path, entry.other.path if entry.other else ""


def _offer(one: Entry, other: Entry, form: str | None, width: int) -> Text:
    """Say what two texts are, and what enter does with them."""
    does = f": Enter {_DOES.get(form, 'mines them') if form else 'mines or aligns them'}"
    lines = one.pairs, other.pairs.removesuffix(" lines" if one.pairs else "")
    facts = [f" {n} {each.languages}".rstrip() for n, each in zip(lines, (one, other), strict=True)]
    paths = [_short(each.path) for each in (one, other)]
    if max(map(len, paths)) > max((width - len(f" ⇄ {facts[0]}, {facts[1]}{does}")) // 2, 8):
        facts = ["", ""]  # which stand in the list
    room = max((width - len(f" ⇄ {facts[0]}, {facts[1]}{does}")) // 2, 8)
    names = [cut(each, room, "bold") for each in paths]
    return Text.assemble(" ⇄ ", names[0], facts[0], ", ", names[1], facts[1], does, no_wrap=True)


def _cells(entry: Entry) -> list[Text]:
    judged = f"{entry.judged:,}" if entry.judged else ""
    judged = judged if entry.accepted is None else f"{entry.accepted:.2f} of {judged}"
    return [
        shown(f" {_SIGNS[entry.kind]} {_short(entry.path)}"),
        shown(entry.languages),
        Text(entry.pairs or {"unfinished": "not finished", "text": ""}.get(entry.kind, entry.kind)),
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
