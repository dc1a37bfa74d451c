"""What can be done on a screen: the actions behind its keys, for the help and the palette."""

from dataclasses import dataclass, field, replace

from textual.dom import DOMNode
from textual.screen import Screen


@dataclass(frozen=True)
class KeyedAction:
    """An action that has a key.

    Attributes:
        name: as Textual runs it, on `node`.
        title: what it does.
        more: a sentence about it; may be empty.
        keys: as they stand on a keyboard.
    """

    name: str
    node: DOMNode
    title: str
    more: str
    keys: list[str] = field(default_factory=list)


def actions_of(screen: Screen[object]) -> list[KeyedAction]:
    """List the actions of a screen, of what has the focus on it, and of the app.

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
