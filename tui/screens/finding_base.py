"""The base of screens that search a table: a line narrows the pairs, and leads from hit to hit.

All pairs of a filter are judged at once.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from xmine.browsing.opened import Bools, Rows
from xmine.browsing.query import PairQuery, usual, with_clause
from xmine.browsing.view import Wanted
from xmine.browsing.where import HINT, read_filter, suggestion
from xmine.display import count

from ..key_table import bound
from ..widgets.pair_cells import SIGNS
from ..widgets.pair_table import PairTable
from ..widgets.prompt import Prompt, Question
from .judging_base import JudgeScreen

# Seconds after the last key until the search.
_PATIENCE = 0.1
_ASK = 50  # more pairs than that are judged after a question
_MOST = 10_000  # pairs at once, which take half a second


class FindScreen(JudgeScreen):
    """A screen with a table of pairs, and a line for a filter, see `xmine.browsing.where`."""

    BINDINGS = bound("accept-all reject-all find next previous")

    def __init__(self) -> None:
        super().__init__()
        # Classes by the rows of the window: the list below the line has few in a low one.
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-usual"), (34, "-tall")]
        self._sought = self._before = ""  # a text now, and before the line was opened
        self._hits: Bools | None = None  # of all pairs: the filter may change
        self._from = 0  # where the cursor was when the search began
        self._to_hit = False  # as soon as other rows are shown

    def action_find(self) -> None:
        """Open the line of the filter, above what one may choose for it."""
        self._from, self._before = self.query_one(PairTable).cursor_row, self._sought
        where = self.view.wanted.query.where
        self.ask(
            Question(
                answered=self._take_line,
                given=where,
                typed=lambda text: self.set_timer(_PATIENCE, partial(self._try, text)),
                given_up=self._give_up_line,
                lines=self.view.lines,
                chosen=lambda line, part: with_clause(self.view.opened, line, part)[1],
                hint=HINT,
            )
        )
        self.say("tab: what one may choose, enter: show the pairs, ↑: lines of before")
        self._count(where)

    def _asked(self, line: str) -> tuple[PairQuery, str]:
        """Read a line: other pairs to show, or a text to find among those that are shown."""
        query, text = self.view.wanted.query, line.strip()
        if read_filter(text).is_text:
            return query, text
        return replace(query, where=text), ""

    def _count(self, where: str) -> None:

        def counted(parts: list[tuple[str, int]]) -> None:
            if prompt.display:
                prompt.offer([(part, f"{number:>9,}") for part, number in parts])

        prompt = self.query_one(Prompt)
        self.background.run("count", partial(self.view.counted, where), counted, self.complain)

    def _try(self, text: str) -> None:
        """Go to the first hit of a line that still stands; if it narrows the pairs, count them."""
        prompt = self.query_one(Prompt)
        if not prompt.display or prompt.line.value != text:
            return

        def found(rows: Rows) -> None:
            if prompt.display:
                said = f"{count(len(rows), 'pair')} of {len(self.view.opened):,}"
                word = f"; /{text}/ finds the word" if text.isalpha() else ""
                self.say(f"{said}: enter shows them{word}")
                self._count(text)

        with self.complaining():
            query, sought = self._asked(text)
            if query == self.view.wanted.query:
                if sought != self._sought:
                    self._find(sought)
            else:
                find = partial(self.view.find, Wanted(query, self.view.wanted.cut))
                self.background.run("try", find, found, self.complain)

    def _take_line(self, text: str) -> None:
        """Close the line and show what it asks for; a line that is wrong stays open."""
        with self.complaining():
            query, sought = self._asked(text)
            line, lines = text.strip(), self.view.lines
            lines[:] = [*(each for each in lines if each != line), *([line] if line else [])]
            self.query_one(Prompt).close()
            self.say("")
            if query != self.view.wanted.query:
                self._to_hit = True
                self.look_for(query)
            self._find(sought)

    def _find(self, text: str) -> None:
        self._sought = text
        for shown in (self.query_one(PairTable), self.pane):
            shown.mark(read_filter(text).pattern)
        if text:
            look = partial(self.view.hits, text)
            found = partial(self._found, text)  # where none can be, the line is open: no hint
            self.background.run("find", look, found, lambda e: self.say(e.message, bad=True))
        elif self._hits is not None:
            self._hits = None
            self.say("")

    def _found(self, text: str, hits: Bools) -> None:
        if text == self._sought:  # or it was given up
            self._hits = hits
            self.query_one(PairTable).move_cursor(row=self._from)
            self.action_hit(0)

    def rows_changed(self) -> None:
        super().rows_changed()
        if self._to_hit and self._hits is not None:
            self.action_hit(0)
        self._to_hit = False

    def action_hit(self, step: int) -> None:
        """Go to the next hit, or to the one before; past the last one to the first.

        Without a search to a pair that is worth a look. Where none is shown, show all pairs.
        """
        among = self.judgements.worth_a_look() if self._hits is None else self._hits
        of = (
            f"for '{self._sought}'"
            if self._sought
            else "worth a look (prob < .5, then .9, flags; a accepts)"
        )
        table = self.query_one(PairTable)
        hits, every = np.flatnonzero(among[table.pairs.data]), int(among.sum())
        if not len(hits) and every and step:
            self._to_hit = True
            self.look_for(replace(self.view.wanted.query, where=""))
            return
        if not len(hits):
            more = f"; {every:,} in pairs that are not shown: n shows all pairs" if every else ""
            meant = suggestion(self._sought)
            self.say(f"no hit {of} among {count(len(table.pairs.data), 'pair')}{more}{meant}")
            return
        at = int(np.searchsorted(hits, table.cursor_row))
        if step > 0 and at < len(hits) and hits[at] == table.cursor_row:
            at += 1
        at = (at - 1 if step < 0 else at) % len(hits)
        table.move_cursor(row=int(hits[at]))
        more = f", {every - len(hits):,} more not shown" if every > len(hits) else ""
        self.say(f"hit {at + 1:,} of {len(hits):,} {of}: n, N{more}")

    def _give_up_line(self) -> None:
        """Go back to where the line was opened, and to the search before."""
        self.say("")
        self.query_one(PairTable).move_cursor(row=self._from)
        if self._sought != self._before:
            self._find(self._before)

    def give_up_finding(self) -> bool:
        """End a search. Tell whether there was one."""
        if self._hits is None:
            return False
        self.say("")
        self._find("")
        return True

    def action_judge_all(self, verdict: str) -> None:
        view = self.view
        still = view.find(Wanted(view.query, view.cut))  # verdicts may have changed since
        is_filtered = view.query.where not in ("", usual(view.opened))
        rows = view.rows[np.isin(view.rows, still) & is_filtered]
        said = count(len(rows), "pair")
        act = partial(self.named, partial(self._judge_all, rows, verdict))
        if not len(rows):
            self.say("/ filters: A accepts all pairs of the filter, X rejects them")
        elif len(rows) > _MOST:
            self.say(f"{said}: at most {_MOST:,} are judged at once; / shows fewer", bad=True)
        elif len(rows) > _ASK:
            self.confirm(f"{verdict} {said}? y/n", act, lambda: self.say("nothing was judged"))
        else:
            act()

    def _judge_all(self, rows: Rows, verdict: str) -> None:
        judged = self.judgements.judge_all(rows.tolist(), verdict)
        self.verdicts_changed()
        taken = "z takes it back" if judged else "they were already"
        self.say(f"{SIGNS[verdict]} {count(len(rows), 'pair')} {verdict}ed; {taken}")
