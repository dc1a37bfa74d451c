"""Choices whose state can be seen without colour; enter changes none."""

from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import RadioButton, RadioSet


class Choice(RadioButton):
    """One of several, with a dot in it if it is the one."""

    @property
    def BUTTON_INNER(self) -> Any:  # type: ignore[override]  # noqa: ANN401 - a text in Textual
        """Show the state, which Textual shows by colour alone."""
        return "●" if self.value else " "


class Choices(RadioSet, inherit_bindings=False):
    """Several of which one is chosen: the one that the arrows lead to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,right,j", "step(1)", show=False),
        Binding("up,left,k", "step(-1)", show=False),
    ]

    def __init__(self, names: tuple[str, ...], chosen: int, *, id: str) -> None:
        buttons = [Choice(name, at == chosen) for at, name in enumerate(names)]
        super().__init__(*buttons, id=id, compact=True)
        self._chosen = chosen

    def on_mount(self) -> None:
        """Begin at the one that is chosen: Textual's own step to the first one follows."""
        for _ in range(self._chosen):
            self.action_next_button()

    def choose(self, at: int) -> None:
        """Choose one."""
        self.query(Choice)[at].value = True

    def action_step(self, steps: int) -> None:
        """Choose the next one or the one before, and after the last one the first."""
        self.choose((self.pressed_index + steps) % len(self.query(Choice)))
