"""The pairs in a table, the one under the cursor whole below it; filter, sort, judge, export."""

from dataclasses import replace
from functools import partial

import numpy as np
from textual.app import ComposeResult

from xmine.browsing.query import NEEDED, ORDERS, usual
from xmine.judging.counts import Counts
from xmine.judging.samples import read_plan
from xmine.pairs.changes import KINDS

from ..background import ROWS
from ..draft import Beads, Draft, given_beads
from ..key_table import GROUPS, bound
from ..state import keep_setting, setting
from ..widgets.key_line import KeyLine
from ..widgets.pair_cells import REPAIRED, arrow_of
from ..widgets.pair_detail import PairDetail
from ..widgets.pair_table import PairTable
from ..widgets.prompt import Question
from .base import QUIT
from .finding_base import FindScreen
from .repair import RepairKeys

_COLUMNS = {"src": "source", "tgt": "target", "": "verdict"}
# Actions on the rows that are shown.
_ON_ROWS = {name for name, group in GROUPS.items() if group in ("Judge", "Repair", "Move")}
_ON_ROWS |= {"enter", "context", "copy", "write"}
_IN_PLACE = {"step", "shift", "split", "trim", "edit", "mend"}  # actions on a bead
_ENOUGH = 20  # verdicts that change what mining finds
_WAYS = ["50 random", "50 random, 20 % shared"]  # to judge
_FIGURES = ("score", "prob", "cosine", "margin")  # the highest first
# The orders that a key goes through: a run is in the order of its scores, so these come late.
_TURNS = (
    *("rank", "unsure", "flags", "source", "length", "cosine", "margin", "prob", "score"),
    *("target", "verdict", "shuffled"),
)
# Orders of which the name is not that of a figure.
_ORDERS_IN_WORDS = {
    "source": "line of the source",
    "target": "line of the target",
    "length": "both lengths",
    "unsure": "how unsure they are: prob near 0.5",
    "flags": "the first flag",
    "shuffled": "chance",
}


class PairsScreen(RepairKeys, FindScreen):
    """All pairs that the query asks for; beads of an alignment are repaired here."""

    NAME = "Pairs"
    LOADS = "repair"
    BINDINGS = QUIT + bound(
        "sample sort reverse again teach compare copy write", enter="mend: Repair"
    )

    def __init__(self) -> None:
        super().__init__()
        self._query = self.view.query  # that is shown
        self._beads: Beads = ()  # of an alignment, as they were opened

    def body(self) -> ComposeResult:
        yield PairTable(self.view.opened, self.view.rows, self.judgements, id="table")
        yield PairDetail(id="detail")

    def hears(self, key: str) -> bool:
        """Let keys that act on rows wait for the rows that are looked for."""
        if not self.stands or not self.host.background.is_under_way(ROWS):
            return self.stands
        active = self.active_bindings.get(key)
        return active is None or active.binding.id not in _ON_ROWS

    def on_mount(self) -> None:
        table = self.query_one(PairTable)
        table.focus()
        table.order_by(self.view.query.order, descending=self.view.query.descending)
        rows = self.view.rows  # where the user was; from a judged pair to the next one that is not
        at = int(np.argmax(rows == self.view.row)) if len(rows) else 0
        left = np.flatnonzero(self.judgements.codes(own=True)[rows] == 0)
        later = left[left >= at]
        if len(rows):
            table.go_to(int(rows[[*later[:1], *left[:1], at][0]]))
        if not len(self.view.rows):
            self._nothing()
        if self.view.opened.has_beads:
            read, take = partial(given_beads, self.view.opened), partial(setattr, self, "_beads")
            self.background.run("repair", read, take, self.complain)

    def on_screen_resume(self) -> None:
        if self.query_one(PairTable).rows is not self.view.rows:
            self.rows_changed()
        self.verdicts_changed()

    def footer(self) -> tuple[str, set[str]]:
        if self.cuts is not None:
            return "Split", set()
        opened, row, judgements = self.view.opened, self.judged_row(), self.judgements
        flags = "" if row is None or opened.flags is None else opened.flags[row]
        states = {
            "partial": "partial" in flags and judgements.repair_of(row or 0) is None,
            "scores": opened.scores is not None or opened.by_probability,
            "repaired": judgements.repair_of(row or 0) is not None,
            "judged": judgements.counts().judged >= _ENOUGH,
        }
        return f"{self.NAME} of {opened.kind}", {name for name, holds in states.items() if holds}

    def heading(self) -> str:
        query, cells = self.view.query, self.query_one(PairTable).pairs
        by = ""
        if query.order != "rank" and not cells.column_of(query.order):
            by = f"by {query.order}{arrow_of(descending=query.descending)}"
        return " ".join(filter(None, [self.NAME, by, query.where]))

    def facts(self) -> str:
        rows, kept, every = self.view.counts()
        cut = self.view.cut
        if self.view.opened.compared:
            changes, codes = self.view.opened.columns["change"].column, self.judgements.codes()
            right = {kind: Counts.of(codes[(changes == kind).to_numpy()]).right for kind in KINDS}
            told = [f"{kind} {x.share:.2f} of {x.of:,}" for kind, x in right.items() if x.of]
            return f"{rows:,} of {every:,}, right: {', '.join(told) or 'none judged'}"
        said = [f"{rows:,} shown", f"{kept:,} of {every:,} kept"]
        if cut is not None:
            at = f"cut {cut:.4f}" if cut else "no cut"  # 0: pairs are kept by their score
            said.append(at + ("" if cut == self.view.opened.cut else " (not written)"))
        if judged := self.judgements.counts().judged:
            said.append(f"{judged:,} judged")
        said.append(f"by {self.judgements.by}")
        return ", ".join(said)

    def on_pair_table_moved(self, event: PairTable.Moved) -> None:
        self.view.row = event.row or 0
        self.give_up_cut()
        self.show_whole(event.row, self.view.cut)
        self.query_one(KeyLine).refresh()  # which knows the pair

    def action_sample(self) -> None:
        text, given = "judge (tab: other ways):", setting("sample") or _WAYS[0]
        self.ask(Question(text=text, answered=self._sample, given=given, ways=lambda _: _WAYS))

    def _sample(self, plan: str) -> None:
        with self.complaining():
            read_plan(plan)
            keep_setting("sample", plan)
            self.named(partial(self.host.judge_sample, plan))

    def on_pair_table_header_clicked(self, event: PairTable.HeaderClicked) -> None:
        order = _COLUMNS.get(event.column, event.column)
        query = self.view.wanted.query
        if order == query.order:
            self.action_reverse()
        elif order in ORDERS:
            self._sort(order)

    def judged(self, row: int) -> None:
        super().judged(row)
        self.show_whole(self.judged_row(), self.view.cut)  # the cursor may have nowhere to go

    def found(self, rows: list[int]) -> bool:
        return self.judged_row() in rows or self.query_one(PairTable).go_to(rows[0])

    def verdicts_changed(self) -> None:
        self.query_one(PairTable).show()  # repairs may have come, too

    @property
    def draft(self) -> Draft | None:
        row, part = self.judged_row(), self.query_one(PairTable).part
        if row is None or not self._beads:
            return None
        return Draft(self.view.opened, self._beads, row, self.judgements.repair_of, part)

    def do(self, name: str, *given: object) -> None:
        self.named(partial(super().do, name, *given))

    def changed(self, draft: Draft) -> None:
        """Keep a step at once, unless another window was faster."""
        self.judgements.refresh()
        table, changes = self.query_one(PairTable), draft.changes()
        self.judgements.repair(changes)
        table.show()
        table.go_to(*draft.place)
        self.say(f"{REPAIRED} {draft.done}: {self.progress()}; z takes it back")

    def show_cuts(self) -> None:
        super().show_cuts()
        self.pane.show_cuts(self.cuts, self.side)

    def selected(self) -> None:
        """Split where the texts are marked; or repair a bead, which has no neighbours."""
        if self.take_cut():
            return
        if not self.view.opened.has_beads:
            super().selected()
        elif not self.host.read_only:
            self.action_repair()

    def action_mend(self) -> None:
        self.selected()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in _IN_PLACE and not self.view.opened.has_beads:
            return False
        return super().check_action(action, parameters)

    def rows_changed(self) -> None:
        view = self.view
        before, self._query = self._query, view.query
        same = (before.order, before.descending) == (view.query.order, view.query.descending)
        table = self.query_one(PairTable)
        table.order_by(view.query.order, descending=view.query.descending)
        table.show(view.rows, keep=same)  # who sorts wants to see the top
        if not len(view.rows):
            self._nothing()
        elif same:
            self.say("")
        else:
            order, of_what = view.query.order, "run" if view.opened.is_run else "file"
            told = f"sorted by {_ORDERS_IN_WORDS.get(order, order)}"
            told = f"in the order of the {of_what}" if order == "rank" else told
            self.say(f"{told} {arrow_of(descending=view.query.descending)}   s: next   S: turn")
        super().rows_changed()

    def _nothing(self) -> None:
        if not len(self.view.opened):
            self.say("there are no pairs in it", bad=True)
        else:
            self.say("no pair matches: / changes the filter, t moves the cut", bad=True)

    def action_sort(self) -> None:
        query, opened = self.view.wanted.query, self.view.opened
        needed = {**NEEDED, "flags": "flags"}
        orders = [
            name
            for name in _TURNS
            if name not in needed or getattr(opened, needed[name]) is not None
        ]
        self._sort(orders[(orders.index(query.order) + 1) % len(orders)])

    def _sort(self, order: str) -> None:
        """Sort the pairs, by a figure the highest first."""
        query = self.view.wanted.query
        self.look_for(replace(query, order=order, descending=order in _FIGURES))

    def action_reverse(self) -> None:
        query = self.view.wanted.query
        self.look_for(replace(query, descending=not query.descending))

    def action_back(self) -> None:
        """Give up a cut, or the search; with none, the filter. The order stays."""
        if self.give_up_cut():
            return
        query = self.view.wanted.query
        asked = replace(query, where=usual(self.view.opened))
        if not self.give_up_finding() and self.view.wanted.query != asked:
            self.look_for(asked)

    def action_copy(self) -> None:
        row, opened = self.judged_row(), self.view.opened
        if row is not None:
            self.copy_pair(int(opened.sources[row]), int(opened.targets[row]))

    def action_compare(self) -> None:
        self.ask_other(self.view.opened.path)

    def action_write(self) -> None:
        self.ask_where(self.rows_to_write, self.view.cut)
