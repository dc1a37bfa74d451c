"""What was done to pairs since they were opened, newest first, to be taken back up to a place."""

from textual.app import ComposeResult
from textual.widgets import OptionList

from xmine.judging.judgements import Judgements

from ..key_table import bound
from ..text import cut
from ..widgets.moving import KeyedList
from .base import BaseScreen


class UndoList(BaseScreen):
    """A list of steps; the result is how many of them are taken back."""

    NAME = "What was done"
    BINDINGS = bound("back")

    def __init__(self, judgements: Judgements) -> None:
        super().__init__()
        self._judgements = judgements

    def body(self) -> ComposeResult:
        lines = []
        for what, before in reversed(self._judgements.done):
            rows = self._judgements.rows_of(before[:1])
            text = self.view.opened.pair(rows[0]).source if rows else ""
            more = f"and {len(before) - 1:,} more" if len(before) > 1 else ""
            line = f"{before[0].time[11:19]}  {what:<8} {text}"
            lines.append(cut(line, 60).append(f" {more}"))
        yield KeyedList(*lines, id="recent")

    def on_mount(self) -> None:
        enter = "enter takes this step and all later ones back"
        self.say(enter if self._judgements.done else "nothing was done yet")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index + 1)
