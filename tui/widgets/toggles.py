"""Ticks and choices whose state can be seen without colour; space changes them, enter does not."""

from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Checkbox, RadioButton, RadioSet


class Tick(Checkbox, inherit_bindings=False):
    """A box with a cross in it, or without."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "toggle_button", show=False)]

    @property
    def BUTTON_INNER(self) -> Any:  # type: ignore[override]  # noqa: ANN401 - a text in Textual
        """Show the state, which Textual shows by colour alone."""
        return "x" if self.value else " "


class Choice(RadioButton):
    """One of several, with a dot in it if it is the one."""

    @property
    def BUTTON_INNER(self) -> Any:  # type: ignore[override]  # noqa: ANN401 - a text in Textual
        """Show the state, which Textual shows by colour alone."""
        return "●" if self.value else " "


class Choices(RadioSet, inherit_bindings=False):
    """Several of which one is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,right,j", "next_button", show=False),
        Binding("up,left,k", "previous_button", show=False),
        Binding("space", "toggle_button", show=False),
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
