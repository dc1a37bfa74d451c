"""The keys that work now, in one line: those of a footer, as many as there is room for."""

from collections.abc import Callable
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.text import Text
from textual.binding import Binding
from textual.events import Click
from textual.widget import Widget

from ..key_table import FOOTERS

_LAST = ("help", "help-typing", "close")  # these stand at the end, and have room always
_NARROW, _MOST = 120, 9  # columns of a window that shows at most so many keys


class Shown(NamedTuple):
    """A key in the line."""

    name: str  # as it stands on a keyboard
    title: str
    key: str
    id: str


class KeyLine(Widget, can_focus=False):
    """A line of keys, each of which can be clicked."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"key-line--key"}

    def __init__(self, footer: Callable[[], tuple[str, set[str]]], *, id: str) -> None:
        """Ask `footer` which of FOOTERS counts now, and what the screen says of its state."""
        super().__init__(id=id)
        self._footer = footer

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())

    def shown(self) -> list[Shown]:
        """List the keys that there is room for, in their order."""
        active = dict[str, Binding]()
        for _, each, enabled, _ in self.screen.active_bindings.values():
            if enabled and each.id:
                active.setdefault(each.id, each)
        footer, states = self._footer()
        wanted = [each.partition("@") for each in FOOTERS[footer].split()]
        names = [name for name, at, state in wanted if not at or state in states]
        room, found = self.size.width + 1, dict[str, Shown]()
        for name in (*_LAST, *names):
            if (binding := active.get(name)) is None or name in found:
                continue
            key = self.app.get_key_display(binding)
            shown = Shown(key, binding.description, binding.key, name)
            if _cells(shown) <= room and (self.size.width >= _NARROW or len(found) < _MOST):
                found[name] = shown
                room -= _cells(shown)
        last = [found.pop(name) for name in _LAST if name in found]
        return [*found.values(), *last]

    def render(self) -> Text:
        style = self.get_component_rich_style("key-line--key", partial=True)
        keys = (Text.assemble((each.name, style), f" {each.title}") for each in self.shown())
        return Text(" ").join(keys)

    def on_click(self, event: Click) -> None:
        end = 0
        for each in self.shown():
            end += _cells(each)
            if event.x < end:
                self.app.simulate_key(each.key)
                return


def _cells(shown: Shown) -> int:
    return cell_len(f"{shown.name} {shown.title} ")
