"""The base of screens that judge many pairs at once: the marked ones, or those of a filter."""

from functools import partial
from typing import ClassVar

import numpy as np
from textual.binding import Binding, BindingType

from xmine.browsing.opened import Rows
from xmine.browsing.typed import line_of
from xmine.units import count

from ..widgets.pair_cells import SIGNS
from ..widgets.pair_table import PairTable
from .judging_base import PaneScreen

_ASK = 50  # more pairs than that are judged after a question
_MOST = 10_000  # pairs at once, which take half a second


class MarkScreen(PaneScreen):
    """A screen with a table, whose pairs can be marked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "mark", "Mark", id="mark.one", show=False),
        Binding(
            "V", "mark_to", "Mark to here", id="mark.to", show=False, tooltip="From the last mark."
        ),
        *(
            Binding(
                key,
                f"judge_all('{verdict}')",
                f"{verdict.title()} all",
                id=f"mark.{verdict}",
                show=False,
                tooltip="All that are marked; with none marked, all of the filter.",
            )
            for key, verdict in (("A", "accept"), ("X", "reject"))
        ),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._last: int | None = None  # row of `Opened` that was marked last

    def marked(self) -> Rows:
        """Give the pairs that are marked and shown, rows of `Opened`."""
        chosen, rows = self.query_one(PairTable).chosen, self.view.rows
        return rows[np.isin(rows, list(chosen))] if chosen else rows[:0]

    def give_up_marks(self) -> bool:
        """Take all marks away; tell whether there were any."""
        table, self._last = self.query_one(PairTable), None
        had = bool(table.chosen)
        table.choose(table.chosen, chosen=False)
        self.refresh_top()
        return had

    def action_mark(self) -> None:
        """Mark the pair, or mark it no more, and go on."""
        table = self.query_one(PairTable)
        if (row := table.row) is not None:
            self._last = row
            table.choose([row], chosen=row not in table.chosen)
            table.action_cursor_down()
            self.refresh_top()

    def action_mark_to(self) -> None:
        table = self.query_one(PairTable)
        starts = np.flatnonzero(self.view.rows == self._last)
        if not len(starts):
            self.say("space marks the first pair, V marks from there to the cursor")
            return
        first, last = sorted((int(starts[0]), table.cursor_row))
        table.choose(self.view.rows[first : last + 1].tolist(), chosen=True)
        self.refresh_top()

    def action_judge_all(self, verdict: str) -> None:
        rows, chosen = self.marked(), self.query_one(PairTable).chosen
        if not len(rows) and chosen:
            self.say(f"{count(len(chosen), 'marked pair')} not shown here: escape gives marks up")
            return
        if not len(rows) and line_of(self.view.query):
            rows = self.view.still_found()
        said, judge = count(len(rows), "pair"), partial(self._judge_all, rows, verdict)
        if not len(rows):
            self.say("space marks pairs, / filters: A accepts all of these, X rejects them")
        elif len(rows) > _MOST:
            self.say(f"{said}: at most {_MOST:,} are judged at once; / shows fewer", bad=True)
        elif len(rows) > _ASK:
            self.confirm(f"{verdict} {said}? y/n", judge, lambda: self.say("nothing was judged"))
        else:
            judge()

    def _judge_all(self, rows: Rows, verdict: str) -> None:
        with self.judging():
            self.check_there()
            judged = self.judgements.judge_all(rows.tolist(), verdict)
            self.give_up_marks()
            self.verdicts_changed()
            taken = "z takes it back" if judged else "they were already"
            self.say(f"{SIGNS[verdict]} {count(len(rows), 'pair')} {verdict}ed; {taken}")
