"""The keys that work now, in one line: as many as there is room for, the most useful first."""

from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.text import Text
from textual.binding import Binding
from textual.events import Click
from textual.widget import Widget

# Ids of actions that follow those that Textual shows, the most useful first; the others come last.
_NEXT = """
    show.threshold judge.undo pairs.sort pairs.export cut.type show.home pairs.next
    pairs.copy cut.copy pane.lines mark.accept mark.reject show.mine show.train
    show.search show.pairs pairs.previous pairs.reverse pane.more
""".split()
_LAST = ("close", "quit", "help.typing", "help")  # ids of those that stand at the end
_PLACES = {"help": 0, "help.typing": 0, "close": 2, "quit": 2}  # help first: it has room always
_LEFT_OUT = ("move.", "redraw", "command")  # and of those that a user finds without the line


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

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())

    def shown(self) -> list[Shown]:
        """List the keys that there is room for, in their order."""
        found: dict[str, tuple[tuple[int, int], Shown]] = {}
        for _, binding, enabled, _ in self.screen.active_bindings.values():
            if enabled and binding.id and not binding.id.startswith(_LEFT_OUT):
                name = self.app.get_key_display(binding)
                shown = Shown(name, binding.description, binding.key, binding.id)
                found.setdefault(binding.action, (_place(binding), shown))
        ordered = [each for _, each in sorted(found.values(), key=lambda each: each[0])]
        room, fitting = self.size.width + 1, []
        for each in ordered:
            if _cells(each) <= room:
                fitting.append(each)
                room -= _cells(each)
        last = [each for name in _LAST for each in fitting if each.id == name]
        return [*(each for each in fitting if each not in last), *last]

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


def _place(binding: Binding) -> tuple[int, int]:
    """Place help, then those that Textual shows, each kind as it comes."""
    if binding.show:
        return (0, _PLACES.get(binding.id or "", 1))
    return (1, _NEXT.index(binding.id) if binding.id in _NEXT else len(_NEXT))


def _cells(shown: Shown) -> int:
    return cell_len(f"{shown.name} {shown.title} ")
