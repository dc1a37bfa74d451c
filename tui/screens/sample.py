"""Pairs one at a time over the whole screen: drawn to judge, where judges differ, or to read.

On a telephone buttons stand in the place of keys.
"""

from collections import deque
from collections.abc import Sequence

import numpy as np
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Static

from xmine.browsing.details import IN_WORDS, figures_of, outcome_of, reasons_of
from xmine.judging.counts import Counts
from xmine.judging.report import Report, conflicts
from xmine.judging.samples import USUAL, Sample, read_plan
from xmine.pairs.judgements import LABELS

from ..key_table import bound
from ..text import cut, shown
from ..widgets.pair_cells import DIFFER, NOTE, SIGNS, signed
from ..widgets.pair_detail import PairDetail
from .base import BaseScreen, OpeningScreen
from .judging_base import JudgeScreen

_MOST_SAID = 150  # cells of a line about a pair that was judged
_OF_PAIR = {"judge", "later", "note", "repair", "lines", "scroll_pane"}
_DOWN = "scroll_pane(5): Down"
_MORE = bound(enter="further: More pairs")
# Rows of buttons to judge with.
_JUDGING = (
    bound("accept reject unsure undo", down=_DOWN),
    bound("partial language source-long target-long note"),
)


class OnePairScreen(JudgeScreen):
    """What the machine and others say comes after one's own verdict, or before if not `blind`."""

    SMALLEST = OpeningScreen.SMALLEST  # of a telephone
    blind = True
    BUTTONS: tuple[list[BindingType], ...] = _JUDGING
    BINDINGS = bound("later", down="scroll_pane(1)", up="scroll_pane(-1)")

    def __init__(self) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-phone"), (BaseScreen.SMALLEST[0], "-desk")]
        self.VERTICAL_BREAKPOINTS = [(0, "-usual"), (36, "-high")]
        self.rows: Sequence[int] = ()  # of `Opened`: all pairs
        self.left = deque[int]()  # those that are still to come, the one that is shown first
        self.shown: int | None = None  # the row on the screen

    def body(self) -> ComposeResult:
        yield PairDetail(id="detail")
        yield Static(id="found", markup=False)
        with Vertical(id="buttons"):
            for row in self.BUTTONS:
                with Horizontal():
                    for each in row:
                        assert isinstance(each, Binding)
                        label = f"{SIGNS.get(each.id or '', '')} {each.description}".strip()
                        button = Button(label, action=f"screen.{each.action}", compact=True)
                        button.can_focus, button.styles.line_pad = False, 0  # keys are for the pair
                        yield button

    def take(self, rows: Sequence[int], left: Sequence[int]) -> None:
        """Show some pairs, those that are left of all."""
        self.rows, self.left = rows, deque(left)
        self.verdicts_changed()

    def footer(self) -> tuple[str, set[str]]:
        states = {"end", "run"} if self.view.opened.is_run else {"end"}
        return self.NAME, set() if self.left else states

    def heading(self) -> str:
        return f"{self.NAME} {self.progress(bool(self.left))}"

    def total(self) -> int:
        """Count the pairs that are done or left."""
        return len(self.rows)

    def progress(self, more: int = 0) -> str:
        return f"{self.total() - len(self.left) + more:,} of {self.total():,}"

    def judged_row(self) -> int | None:
        return self.left[0] if self.left else None

    def judged(self, row: int) -> None:
        self.left.popleft()
        self.verdicts_changed()

    def found(self, rows: list[int]) -> bool:
        self.left.extendleft(row for row in reversed(rows) if row in self.rows)
        return rows[0] in self.rows

    def verdicts_changed(self) -> None:
        """Show the pair that comes next; after the last one, what was found."""
        self.shown = row = self.judged_row()
        found = self.query_one("#found", Static)
        self.refresh_bindings()
        self.pane.display, found.display = row is not None, row is None
        for button in self.query(Button):
            button.display = (row is None) == (button.action == "screen.further")
        if row is None:
            found.update(self.end())
        else:
            self.show_whole(row, self.view.wanted.cut, blind=self.blind)
        self.refresh_top()

    def end(self) -> Text:
        """Write what is shown after the last pair."""
        return Text("there are no pairs")

    def after(self, row: int) -> str:
        """Say what the machine and the others say of a pair."""
        opened, others = self.view.opened, self.judgements.words(row)
        pair, notes = opened.pair(row), self.judgements.notes(row)
        lines = [f"{IN_WORDS[outcome_of(opened, row, self.view.wanted.cut)]}  ".lstrip()]
        lines[0] += "  ".join(figures_of(pair))
        lines += [f"! {name}: {reason}" for name, reason in reasons_of(opened, row).items()]
        others.pop(self.judgements.by, "")
        sign = f"{DIFFER} " * self.judgements.differ(row)
        for judge, word in others.items():
            note = f" {NOTE} {notes[judge]}" if judge in notes else ""
            lines.append(f"{sign}{judge}: {signed(word)}{note}")
        return "".join(f"\n{cut(each, _MOST_SAID).plain}" for each in lines) * self.blind

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "further" if self.left else action in _OF_PAIR:
            return False
        return super().check_action(action, parameters)

    def action_later(self, places: int = -1) -> None:
        self.left.rotate(places)
        self.verdicts_changed()


class SampleScreen(OnePairScreen):
    """A sample of the kept pairs; at the end their precision."""

    NAME = "Judge"
    BUTTONS = (*_JUDGING, _MORE)
    BINDINGS = bound("again teach") + _MORE

    def __init__(self, plan: str = "") -> None:
        super().__init__()
        self._plan = read_plan(plan)
        self._sample: Sample | None = None

    def on_mount(self) -> None:
        self._draw(self._plan.size)

    def _draw(self, size: int) -> None:
        before, opened = len(self.rows) if self._sample else None, self.view.opened
        self._sample = Sample(opened, self.view.wanted.cut, size, shared=self._plan.shared)
        self.take(self._sample.rows.tolist(), self._sample.asked(self.judgements))
        if before == len(self.rows):
            self.say("there are no more pairs")

    def heading(self) -> str:
        return super().heading() + ("" if self.has_class("-phone") else ", at random")

    def total(self) -> int:
        """Count the pairs that are one's own part of the sample."""
        return self._counts().judged + len(self.left)

    def _counts(self) -> Counts:
        return self.judgements.counts(np.array(self.rows, np.int64))

    def facts(self) -> str:
        counts = self._counts()
        said = [f"{getattr(counts, name)} {SIGNS[name]}" for name in LABELS]
        return "  ".join([*said, self.judgements.by])

    def verdicts_changed(self) -> None:
        """Others may have judged some; the pair on the screen stays there."""
        if (sample := self._sample) is None:
            return
        if self._plan.shared < 1:
            asked = dict.fromkeys(sample.asked(self.judgements))
            left = [row for row in self.left if row in asked or row == self.shown]
            self.left = deque(dict.fromkeys([*left, *asked]))
        super().verdicts_changed()

    def end(self) -> Text:
        """Write what one's own verdicts say; where several people judge parts, those of all."""
        assert self._sample is not None  # whose last pair is judged
        codes = self.judgements.codes(own=self._plan.shared == 1, given=False)
        found = self._sample.said(codes)
        said, left = found.lines(), found.counts.left
        said += [f"{left:,} more are asked of others"] * bool(left)
        keys = f"enter: {USUAL} more; t: the threshold"
        if self.view.opened.is_run:
            keys += "; m: mine again with the verdicts; e: teach the encoder"
        return Text("\n".join(said)).append(f"\n\n{keys}", "dim")

    def action_further(self) -> None:
        if self._sample is not None:
            self._draw(len(self._sample) + USUAL)


class ConflictScreen(OnePairScreen):
    """Where judges differ: what is decided stands, and what they say stays beside it."""

    NAME, blind = "Judges differ", False

    def on_mount(self) -> None:
        rows = conflicts(self.judgements)
        self.take(rows, rows)

    def facts(self) -> str:
        return f"{self.judgements.by} decides"

    def keep(self, row: int, word: str) -> tuple[str, bool]:
        return "", self.judgements.judge(row, word, adjudicates=True)

    def end(self) -> Text:
        """Write how far the judges agree."""
        said = "all is decided" if self.rows else "no two judges differ"
        told = Report(self.view.opened, self.judgements).lines().items()
        lines = [shown(f"{of:<20} {each}") for of, each in told]
        return Text("\n").join([Text(f"{said}\n"), *lines])
