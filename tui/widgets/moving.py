"""The keys that move the cursor, in every list and table."""

from textual.widgets import OptionList

from ..key_table import bound

MOVING = bound("down up first last page-down page-up half-down half-up")


class KeyedList(OptionList):
    """A list with these keys."""

    BINDINGS = MOVING

    def action_half_page(self, step: int) -> None:
        """Move by a page: rows have several lines."""
        (super().action_page_down if step > 0 else super().action_page_up)()  # type: ignore[no-untyped-call]
