"""The pairs on which judges differ, one at a time with what they say, for somebody who decides."""

from collections import deque

import numpy as np
from rich.console import Group
from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from xmine.browsing.opened import Opened
from xmine.judging.judgements import Judgements
from xmine.judging.report import Report, conflicts

from ..text import shown
from ..widgets.pair_cells import NOTE, signed
from .help import HelpScreen
from .one_pair import JUDGING, OnePairScreen


class ConflictScreen(OnePairScreen):
    """What is decided stands for the pair; what the judges say stays beside it."""

    NAME = "Judges differ"
    BUTTONS = JUDGING

    def body(self) -> ComposeResult:
        yield Static(id="judges", markup=False)
        yield from super().body()

    def on_mount(self) -> None:
        self.left = deque(conflicts(self.judgements))
        self.rows = np.array(self.left, np.int64)
        self.verdicts_changed()
        self.refresh_top()

    def heading(self) -> str:
        return f"{self.NAME} {self.place()}"

    def facts(self) -> str:
        return f"{self.judgements.by} decides"

    def verdicts_changed(self) -> None:
        super().verdicts_changed()
        judges, row = self.query_one("#judges", Static), self.judged_row()
        judges.display = row is not None
        if row is not None:
            notes = self.judgements.notes(row)
            said = {judge: signed(word) for judge, word in self.judgements.words(row).items()}
            said |= {
                judge: f"{said[judge]} {NOTE} {notes[judge]}" for judge in said if judge in notes
            }
            judges.update(Text("\n").join(shown(f"{judge}: {x}") for judge, x in said.items()))

    def keep(self, row: int, word: str) -> tuple[str, bool]:
        decided = self.judgements.decided(row)
        own = decided.word if decided and decided.judge == self.judgements.by else ""
        return own, self.judgements.judge(row, word, adjudicates=True)

    def end(self) -> Text:
        """Write how far the judges agree."""
        said = "all is decided" if self.total() else "no two judges differ"
        return Text(f"{said}\n\n") + _report(self.view.opened, self.judgements)


class ReportScreen(HelpScreen):
    """What each judge did, and how far all agree."""

    NAME = "Judges"

    def __init__(self, judgements: Judgements) -> None:
        super().__init__(self.app.screen)
        self._report = _report(self.view.opened, judgements)

    def heading(self) -> str:
        return self.NAME

    def _table(self, width: int) -> Group:
        return Group(self._report)


def _report(opened: Opened, judgements: Judgements) -> Text:
    said = Report(opened, judgements).lines()
    return Text("\n").join(shown(f"{of:<20} {each}") for of, each in said.items())
