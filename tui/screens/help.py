"""The actions that have keys on a screen, and a screen that lists them, with the words it uses."""

from dataclasses import dataclass, field, replace

from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.dom import DOMNode
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Static

from ..key_table import GROUPS, bound
from .base import BaseScreen
from .judging_base import JudgeScreen

_TWO = 140  # columns of a window with room for two of keys
_WORDS = {
    "score": "how much better two sentences fit than others; pairs are ordered by it",
    "prob": "the probability that the pair is a translation, from 0 to 1",
    "cosine": "of the two vectors: 1 for the same direction",
    "margin": "the cosine, compared with that of the nearest other sentences",
    "cut": "the lowest prob, or score, that is kept: ≥ stands at or above it, < below",
    "0.9 (0.8 to 1.0)": "a share; nine times in ten the true one is in the interval",
    "flags": "possible faults of a pair; the pane has the reason of each",
    "a filter": "kept AND prob < .9 AND flag = 'number'; or verdict = 'reject', judge = 'ann'",
    "✓ ✗ ?": "accepted, rejected, unsure",
    "underlined, dim": "what both sides have; what has no counterpart",
}


@dataclass(frozen=True)
class KeyedAction:
    """An action that has a key: as Textual runs it, on `node`; its keys as on a keyboard."""

    name: str
    node: DOMNode
    title: str
    more: str
    group: str
    keys: list[str] = field(default_factory=list)


def actions_of(screen: Screen[object]) -> list[KeyedAction]:
    """List the actions of a screen, of its focused widget, and of the app.

    Keys that only Textual's own widgets know have no id, and are left out.
    """
    found: dict[str, KeyedAction] = {}
    for node, binding, enabled, tooltip in screen.active_bindings.values():
        if enabled and binding.id:
            more = tooltip or binding.tooltip
            group = GROUPS[binding.id]
            action = found.setdefault(
                binding.action, KeyedAction(binding.action, node, binding.description, more, group)
            )
            key = screen.app.get_key_display(binding)
            if key in action.keys:  # the display is that of the first of several keys
                key = screen.app.get_key_display(replace(binding, key_display=None))
            action.keys.append(key)
    return list(found.values())


class HelpScreen(BaseScreen):
    """The keys of the screen below, their actions, and what the words of pairs mean."""

    NAME = "Help"
    BINDINGS = bound(
        down="scroll(1)",
        up="scroll(-1)",
        first="scroll(-9999)",
        last="scroll(9999)",
        page_down="scroll(10)",
        page_up="scroll(-10)",
        half_down="scroll(10)",
        half_up="scroll(-10)",
    )

    def __init__(self, screen: Screen[object]) -> None:
        super().__init__()
        self._of = screen.NAME if isinstance(screen, BaseScreen) else ""
        self._actions = actions_of(screen)
        self._words = _WORDS if isinstance(screen, JudgeScreen) else {}

    def heading(self) -> str:
        return f"Keys of {self._of}" if self._of else "Keys"

    def body(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            yield Static(id="all-keys", markup=False)

    def on_resize(self, event: Resize) -> None:
        self.query_one("#all-keys", Static).update(self._table(event.size.width))

    def _table(self, width: int) -> Group:
        """List the keys, in two columns where there is room, and the words."""
        columns = [Table.grid(padding=(0, 2)) for _ in range(2)]
        here = {action.group for action in self._actions}
        for group in (each for each in dict.fromkeys(GROUPS.values()) if each in here):
            table = columns[width >= _TWO and group not in ("Move", "Judge")]
            table.add_row(Text(group, "bold underline", justify="right"))
            for action in (each for each in self._actions if each.group == group):
                keys = Text(", ".join(action.keys), "bold", justify="right")
                table.add_row(keys, Text(action.title), Text(action.more, "dim"))
        both, words = Table.grid(padding=(0, 4)), Table.grid(padding=(0, 2))
        both.add_row(*columns)
        for word, meaning in self._words.items():
            words.add_row(Text(word, "bold", justify="right"), Text(meaning))
        return Group(both if width >= _TWO else columns[0], "", words)

    def action_scroll(self, rows: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)
