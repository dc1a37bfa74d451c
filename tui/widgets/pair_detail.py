"""One pair whole: both texts, and everything that is known of it."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from xmine.browsing.opened import Opened
from xmine.tui.text import shown


class PairDetail(VerticalScroll):
    """Both texts of a pair."""

    def compose(self) -> ComposeResult:
        """Put one above the other."""
        yield Static(id="whole-source", markup=False)
        yield Static(id="whole-target", markup=False)

    def show(self, opened: Opened, row: int | None) -> None:
        """Show a row of `opened`; nothing if there is none."""
        pair = None if row is None else opened.pair(row)
        self.query_one("#whole-source", Static).update(shown(pair.source if pair else ""))
        self.query_one("#whole-target", Static).update(shown(pair.target if pair else ""))
