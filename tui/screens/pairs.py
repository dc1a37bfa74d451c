"""The pairs in a table, the one under the cursor whole below it; filter, sort, find, judge."""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input
from textual_fastdatatable import DataTable

from xmine.browsing.opened import Bools, Rows
from xmine.browsing.query import ORDERS, Query, found_in, select
from xmine.browsing.view import View
from xmine.errors import OptionError, XmineError
from xmine.formats.losses import count
from xmine.pairs import check_pair_file, write_pairs
from xmine.tui.saving import free_name, without_force
from xmine.tui.screens.judging import Judging
from xmine.tui.widgets.pair_detail import PairDetail
from xmine.tui.widgets.pair_table import PairTable

# Seconds after the last key until what was typed is looked for.
_PATIENCE = 0.1
_COLUMNS = {"src": "source", "tgt": "target", "source": "source", "target": "target"}


class PairsScreen(Judging):
    """All pairs that the query asks for."""

    NAME = "Pairs"
    OPENS_A_LINE = ("find", "export")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", "Find", id="pairs.find", key_display="/", priority=True),
        Binding("n", "hit(1)", "Next hit", id="pairs.next", show=False),
        Binding("N", "hit(-1)", "Previous hit", id="pairs.previous", show=False),
        Binding("f", "filter", "Filter", id="pairs.filter"),
        Binding("s", "sort", "Sort", id="pairs.sort", show=False),
        Binding("r", "reverse", "Reverse the order", id="pairs.reverse", show=False),
        Binding("y", "copy", "Copy the pair", id="pairs.copy", show=False),
        Binding("e", "export", "Export", id="pairs.export", priority=True),
        Binding("plus", "more", "More of a long line", id="pairs.more", show=False),
        Binding("ctrl+r", "regex", "Text or regex", id="pairs.regex", show=False),
    ]

    def __init__(self) -> None:
        """Begin without a search."""
        super().__init__()
        self._sought = Query()
        self._hits: Bools | None = None
        self._from = 0  # where the cursor was when the search began

    @property
    def view(self) -> View:
        """What is open; without it the screen is not shown."""
        assert self.app.view is not None
        return self.app.view

    def body(self) -> ComposeResult:
        """Put the table above the pair."""
        yield PairTable(self.view.opened, self.view.rows, self.judgements.of, id="table")
        yield PairDetail(id="detail")
        yield Input(placeholder="find in either language", id="find", compact=True)

    def on_mount(self) -> None:
        """Take the keys."""
        super().on_mount()
        self.query_one(PairTable).focus()
        if not len(self.view.rows):
            self._nothing()

    def on_screen_resume(self) -> None:
        """Show what another screen may have changed."""
        super().on_screen_resume()
        table = self.query_one(PairTable)
        if table.pairs.data is not self.view.rows:
            table.show(self.view.rows)
        table.redraw()

    def facts(self) -> str:
        """Count what is shown, kept and there."""
        rows, kept, every = self.view.counts()
        cut = self.view.cut
        said = [f"{rows:,} shown", f"{kept:,} of {every:,} kept"]
        if cut is not None:
            said.append(f"cut {cut:.4f}")
        if judged := self.judgements.counts().judged:
            said.append(f"{judged:,} judged")
        return ", ".join(said)

    def on_pair_table_moved(self, event: PairTable.Moved) -> None:
        """Show the pair whole."""
        self._show_whole(event.row)

    def _show_whole(self, row: int | None) -> None:
        said = {} if row is None else self.judgements.by_judge(row)
        self.query_one(PairDetail).show(self.view.opened, row, self.view.cut, said)

    def action_more(self) -> None:
        """Show more of a line that is too long to be shown at once."""
        self.query_one(PairDetail).more()

    def on_data_table_header_selected(self, event: DataTable.HeaderSelected) -> None:
        """Sort by the column that was clicked on, and turn it round at the second click."""
        name = self.query_one(PairTable).pairs.names[event.column_index]
        order = _COLUMNS.get(name, name)
        if order == self.view.query.order:
            self.action_reverse()
        elif order in ORDERS:
            self._ask(replace(self.view.query, order=order, descending=order in ("score", "prob")))

    def on_data_table_row_selected(self) -> None:
        """Show the neighbours of the pair."""
        self.action_neighbours()

    def action_neighbours(self) -> None:
        """Show what is near both sides of the pair under the cursor."""
        from xmine.tui.screens.neighbours import NeighboursScreen

        row, opened = self.query_one(PairTable).row, self.view.opened
        if row is None:
            return
        try:
            _ = self.view.around
        except XmineError as error:
            self.complain(error)
            return
        pair = int(opened.sources[row]), int(opened.targets[row])
        self.app.push_screen(NeighboursScreen(*pair))

    def judged_row(self) -> int | None:
        """Judge the pair under the cursor."""
        return self.query_one(PairTable).row

    def judged(self, row: int) -> None:
        """Go on to the next pair."""
        table = self.query_one(PairTable)
        table.redraw()
        table.move_cursor(row=table.cursor_row + 1)

    def verdicts_changed(self) -> None:
        """Draw the signs anew."""
        table = self.query_one(PairTable)
        table.redraw()
        self._show_whole(table.row)

    def ask_for(self, query: Query) -> None:
        """Show what a query asks for."""
        self._ask(query)

    @work(thread=True, exclusive=True, group="ask")
    def _ask(self, query: Query) -> None:
        """Look for the pairs in the background: a million texts take a second."""
        view = self.view
        try:
            rows = select(view.opened, query, view.cut)
        except XmineError as error:
            self.app.call_from_thread(self.complain, error)
        else:
            self.app.call_from_thread(self._asked, query, rows)

    def _asked(self, query: Query, rows: Rows) -> None:
        self.view.take(query, rows)
        self.query_one(PairTable).show(rows)
        self._hits = None
        self.refresh_top()
        if not len(rows):
            self._nothing()
        elif query.order == "rank":
            order = f"in the order of the {'run' if self.view.opened.is_run else 'file'}"
            self.say(f"{order}, the last first" if query.descending else order)
        else:
            self.say(f"sorted by {query.order}, {'falling' if query.descending else 'rising'}")

    def _nothing(self) -> None:
        _, kept, every = self.view.counts()
        if not every:
            self.say("there are no pairs in it", bad=True)
        elif not kept and self.view.query == Query(kept="kept"):
            self.say("the cut keeps no pair: f shows those below it, t moves it", bad=True)
        else:
            self.say("no pair is like that: f changes the filter", bad=True)

    def action_sort(self) -> None:
        """Sort by the next column that there is."""
        opened = self.view.opened
        there = {"score": opened.scores, "prob": opened.probs, "cosine": opened.cosines}
        orders = [name for name in ORDERS if name not in there or there[name] is not None]
        order = orders[(orders.index(self.view.query.order) + 1) % len(orders)]
        self._ask(replace(self.view.query, order=order, descending=False))

    def action_reverse(self) -> None:
        """Turn the order round."""
        query = self.view.query
        self._ask(replace(query, descending=not query.descending))

    def action_filter(self) -> None:
        """Choose which pairs to see."""
        from xmine.tui.screens.filter import FilterScreen

        self.app.push_screen(FilterScreen(self.view, self.ask_for))

    # Finding: the rows stay, the cursor goes from hit to hit.

    def action_find(self) -> None:
        """Type what to look for."""
        self._from = self.query_one(PairTable).cursor_row
        line = self.query_one("#find", Input)
        line.display = True
        self.set_focus(line)  # at once: the next key belongs to it

    def action_regex(self) -> None:
        """Look for a regular expression, or for a text again."""
        self._sought = replace(self._sought, regex=not self._sought.regex)
        self._find(self._sought.text)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Look for what has been typed, once the typing pauses."""
        if event.input.id == "find":
            text = event.value
            self.set_timer(_PATIENCE, lambda: self._find_if_still(text))

    def _find_if_still(self, text: str) -> None:
        if self.query_one("#find", Input).value == text:
            self._find(text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go on among the hits."""
        if event.input.id == "find":
            self._find(event.value)
            event.input.display = False
            self.set_focus(self.query_one(PairTable))

    def _find(self, text: str) -> None:
        self._sought = replace(self._sought, text=text)
        if text:
            self._look(self._sought)
        else:
            self._hits = None
            self.say("")

    @work(thread=True, exclusive=True, group="find")
    def _look(self, sought: Query) -> None:
        try:
            hits = found_in(self.view.opened, sought)[self.view.rows]
        except OptionError as error:
            self.app.call_from_thread(self.say, error.message, bad=True)
        else:
            self.app.call_from_thread(self._found, sought, hits)

    def _found(self, sought: Query, hits: Bools) -> None:
        if sought == self._sought and len(hits) == len(self.view.rows):
            self._hits = hits
            self.query_one(PairTable).move_cursor(row=self._from)
            self.action_hit(0)

    def action_hit(self, step: int) -> None:
        """Go to the next hit, or to the one before; past the last one to the first."""
        if self._hits is None:
            self.say("nothing is looked for: / does")
            return
        hits, table = np.flatnonzero(self._hits), self.query_one(PairTable)
        kind = "regex" if self._sought.regex else "text"
        if not len(hits):
            self.say(f"no hit for the {kind} {self._sought.text!r}; ctrl+r changes its kind")
            return
        at = int(np.searchsorted(hits, table.cursor_row))
        if step > 0 and at < len(hits) and hits[at] == table.cursor_row:
            at += 1
        at = (at - 1 if step < 0 else at) % len(hits)
        table.move_cursor(row=int(hits[at]))
        self.say(f"hit {at + 1:,} of {len(hits):,} for the {kind} {self._sought.text!r}: n, N")

    def action_back(self) -> None:
        """Give up the search; with none, the filter."""
        line = self.query_one("#find", Input)
        if line.display or self._hits is not None:
            line.display = False
            line.value = ""
            self._hits = None
            self.set_focus(self.query_one(PairTable))
            self.say("")
        elif self.view.query != (asked := Query(kept="kept")):
            self._ask(asked)

    # What leaves the app.

    def action_copy(self) -> None:
        """Copy both texts, with a tab between."""
        row = self.query_one(PairTable).row
        if row is not None:
            pair = self.view.opened.pair(row)
            self.app.copy_to_clipboard(f"{pair.source}\t{pair.target}")
            self.say("copied: source, tab, target")

    def action_export(self) -> None:
        """Write the pairs that are shown into a file."""
        self.ask(f"write {len(self.view.rows):,} pairs to:", self._export, free_name("pairs.tsv"))

    @work(thread=True, exclusive=True, group="export")
    def _export(self, name: str) -> None:
        view, say = self.view, self.app.call_from_thread
        try:
            say(self.say, f"writing {name}")
            path = str(Path(name).expanduser())
            check_pair_file(path, force=False, source=view.opened.path)
            written = write_pairs(view.opened.pairs(view.rows), path, view.opened.languages)
        except XmineError as error:
            say(self.complain, without_force(error))
        else:
            say(self.say, ", ".join([f"{name}: {count(written.count, 'pair')}", *written.notes]))
