"""The actions that have keys on a screen, and a screen that lists them."""

from dataclasses import dataclass, field, replace

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widgets import Static

from .base import BaseScreen


@dataclass(frozen=True)
class KeyedAction:
    """An action that has a key.

    Attributes:
        name: as Textual runs it, on `node`.
        title: of the key.
        more: a sentence about it; may be empty.
        keys: as they stand on a keyboard.
    """

    name: str
    node: DOMNode
    title: str
    more: str
    keys: list[str] = field(default_factory=list)


def actions_of(screen: Screen[object]) -> list[KeyedAction]:
    """List the actions of a screen, of its focused widget, and of the app.

    Keys that only Textual's own widgets know have no id, and are left out.
    """
    found: dict[str, KeyedAction] = {}
    for node, binding, enabled, tooltip in screen.active_bindings.values():
        if enabled and binding.id:
            more = tooltip or binding.tooltip
            action = found.setdefault(
                binding.action, KeyedAction(binding.action, node, binding.description, more)
            )
            key = screen.app.get_key_display(binding)
            if key in action.keys:  # the display is that of the first of several keys
                key = screen.app.get_key_display(replace(binding, key_display=None))
            action.keys.append(key)
    return list(found.values())


class HelpScreen(BaseScreen):
    """The keys of the screen below and their actions."""

    NAME = "Help"

    def __init__(self, screen: Screen[object]) -> None:
        super().__init__()
        self._of = screen.NAME if isinstance(screen, BaseScreen) else ""
        self._actions = actions_of(screen)

    def heading(self) -> str:
        return f"Keys of {self._of}" if self._of else "Keys"

    def body(self) -> ComposeResult:
        table = Table.grid(padding=(0, 2))
        for action in self._actions:
            keys = Text(", ".join(action.keys), "bold", justify="right")
            table.add_row(keys, Text(action.title), Text(action.more, "dim"))
        with VerticalScroll():
            yield Static(table, markup=False)
