"""The keys of a screen, in a table."""

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from xmine.tui.screens.viewing import Viewing


class HelpScreen(Viewing):
    """What each key does where one came from."""

    NAME = "Help"

    def __init__(self, screen: Screen[object]) -> None:
        """Look up the keys of a screen."""
        super().__init__()
        self._of = screen.NAME if isinstance(screen, Viewing) else ""
        self._keys: dict[str, tuple[list[str], str, str]] = {}
        for _, binding, enabled, tooltip in screen.active_bindings.values():
            if enabled and binding.id:
                said = binding.description, tooltip or binding.tooltip
                keys = self._keys.setdefault(binding.action, ([], *said))[0]
                keys.append(screen.app.get_key_display(binding))

    def heading(self) -> str:
        """Say whose keys these are."""
        return f"Keys of {self._of}" if self._of else "Keys"

    def body(self) -> ComposeResult:
        """List them."""
        table = Table.grid(padding=(0, 2))
        for keys, description, more in self._keys.values():
            table.add_row(
                Text(", ".join(keys), "bold", justify="right"), Text(description), Text(more, "dim")
            )
        with VerticalScroll():
            yield Static(table, markup=False)
