"""The keys of a screen, in a table."""

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from ..actions import actions_of
from .base import Viewing


class HelpScreen(Viewing):
    """What each key does where one came from."""

    NAME = "Help"

    def __init__(self, screen: Screen[object]) -> None:
        """Look up the keys of a screen."""
        super().__init__()
        self._of = screen.NAME if isinstance(screen, Viewing) else ""
        self._actions = actions_of(screen)

    def heading(self) -> str:
        """Say whose keys these are."""
        return f"Keys of {self._of}" if self._of else "Keys"

    def body(self) -> ComposeResult:
        """List them."""
        table = Table.grid(padding=(0, 2))
        for action in self._actions:
            keys = Text(", ".join(action.keys), "bold", justify="right")
            table.add_row(keys, Text(action.title), Text(action.more, "dim"))
        with VerticalScroll():
            yield Static(table, markup=False)
