"""The base of screens that search a table: all rows stay, the cursor goes from hit to hit."""

from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np
from textual.binding import Binding, BindingType
from textual.widgets import Input

from xmine.browsing.opened import Bools
from xmine.browsing.query import PairQuery, found_in
from xmine.errors import XmineError

from ..widgets.pair_table import PairTable
from .judging_base import JudgeScreen

# Seconds after the last key until what was typed is looked for.
_PATIENCE = 0.1


class FindScreen(JudgeScreen):
    """A screen with a table of pairs and a line, `find`, that says what to look for."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", "Find", id="pairs.find", key_display="/", priority=True),
        Binding("n", "hit(1)", "Next hit", id="pairs.next", show=False),
        Binding("N", "hit(-1)", "Previous hit", id="pairs.previous", show=False),
        Binding("ctrl+r", "regex", "Text or regex", id="pairs.regex", show=False),
    ]

    def __init__(self) -> None:
        """Begin without a search."""
        super().__init__()
        self._sought = PairQuery()
        # Of all pairs, whether they are shown or not: what is shown may change.
        self._hits: Bools | None = None
        self._from = 0  # where the cursor was when the search began

    def action_find(self) -> None:
        """Type what to look for."""
        self._from = self.query_one(PairTable).cursor_row
        line = self.query_one("#find", Input)
        self._name_kind()
        line.display = True
        self.set_focus(line)  # at once: the next key belongs to it

    def _name_kind(self) -> None:
        kind, other = ("regex", "text") if self._sought.regex else ("text", "regex")
        line = self.query_one("#find", Input)
        line.placeholder = f"find a {kind} in either language; ctrl+r: a {other}"

    def action_regex(self) -> None:
        """Look for a regular expression, or for a text again."""
        self._sought = replace(self._sought, regex=not self._sought.regex)
        self._name_kind()
        self._find(self._sought.text)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Look for what has been typed, once the typing pauses."""
        if event.input.id == "find":
            text = event.value
            self.set_timer(_PATIENCE, lambda: self._find_if_still(text))

    def _find_if_still(self, text: str) -> None:
        if self.query_one("#find", Input).value == text != self._sought.text:
            self._find(text)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go on among the hits."""
        if event.input.id == "find":
            self._find(event.value)
            event.input.display = False
            self.set_focus(self.query_one(PairTable))

    def _find(self, text: str) -> None:
        self._sought = sought = replace(self._sought, text=text)
        if text:
            look = partial(found_in, self.view.opened, sought)
            self.background.run("find", look, partial(self._found, sought), self._not_found)
        else:
            self._hits = None
            self.say("")

    def _found(self, sought: PairQuery, hits: Bools) -> None:
        if sought == self._sought:  # or it was given up
            self._hits = hits
            self.query_one(PairTable).move_cursor(row=self._from)
            self.action_hit(0)

    def _not_found(self, error: XmineError) -> None:
        self.say(error.message, bad=True)  # the line is still open, so what to do is clear

    def action_hit(self, step: int) -> None:
        """Go to the next hit, or to the one before; past the last one to the first."""
        if self._hits is None:
            self.say("nothing is looked for: / does")
            return
        table = self.query_one(PairTable)
        hits = np.flatnonzero(self._hits[table.pairs.data])
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

    def give_up_finding(self) -> bool:
        """End the search; tell whether there was one."""
        line = self.query_one("#find", Input)
        if not line.display and self._hits is None:
            return False
        line.display = False
        line.value = ""
        self._sought, self._hits = replace(self._sought, text=""), None
        self.set_focus(self.query_one(PairTable))
        self.say("")
        return True
