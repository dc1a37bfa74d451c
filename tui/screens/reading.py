"""The pairs that are shown, one at a time with all that is known of each, for who judges none."""

from collections import deque
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from rich.text import Text
from textual.binding import BindingType

from ..key_table import bound
from .one_pair import OnePairScreen


class ReadScreen(OnePairScreen):
    """The pairs in their order; behind the last one comes the first."""

    NAME = "Read"
    REVEALS = True
    BUTTONS: ClassVar[tuple[Mapping[str, str], ...]] = (
        {"‹\nbefore": "before", "↓\ndown": "scroll_pane(5)", "›\nnext": "later"},
    )
    BINDINGS: ClassVar[list[BindingType]] = bound(
        next="later: Next pair", previous="before: Pair before"
    )

    def on_mount(self) -> None:
        self.rows = self.view.rows
        self.left = deque(self.rows.tolist())
        self.verdicts_changed()
        self.refresh_top()

    def heading(self) -> str:
        place = np.flatnonzero(self.view.rows == self.judged_row())[:1] + 1
        return f"{self.NAME} {', '.join(map(str, place))} of {len(self.view.rows):,}"

    def end(self) -> Text:
        return Text("there are no pairs")

    def action_before(self) -> None:
        self.left.rotate(2)
        self.action_later()

    def action_later(self) -> None:
        super().action_later()
        self.refresh_top()
