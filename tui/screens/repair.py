"""A pair is put right between the lines around it; what is done is kept all at once."""

from functools import partial
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.events import Resize
from textual.widgets import Static

from xmine.browsing.repairs import Bead, Repair
from xmine.display import count
from xmine.judging.judgements import Judgements

from ..draft import Beads, Draft, given_beads
from ..key_table import bound
from ..text import cut, shown
from .repair_base import SIDES, RepairKeys

_BEFORE, _AFTER = 1, 3  # beads around the one that is worked at
_CONTEXT = 60  # cells of a text around


class RepairScreen(RepairKeys):
    """A draft of what is to stand in the place of a pair; the result tells whether it is kept."""

    NAME = "Repair"
    LOADS = "repair"
    BINDINGS: ClassVar[list[BindingType]] = bound(
        enter="keep: Keep",
        back="back: Give up",
        undo="step('undo')",
        down="go(1): Next line",
        up="go(-1): Line before",
        pane_down="scroll(9)",
        pane_up="scroll(-9)",
    )

    def __init__(self, judgements: Judgements, row: int) -> None:
        super().__init__()
        self._judgements, self._row = judgements, row
        self._draft: Draft | None = None  # as soon as the screen stands

    @property
    def in_form(self) -> bool:
        """Keep keys that lead elsewhere away: what was done would be lost."""
        return True

    @property
    def types(self) -> bool:
        return False

    def body(self) -> ComposeResult:
        with VerticalScroll(id="draft", can_focus=False):
            yield Static(id="beads", markup=False)

    def on_mount(self) -> None:
        begin = partial(given_beads, self.view.opened, self._row)
        self.background.run("repair", begin, self._begun, self.complain)
        for name in ("scroll_y", "virtual_size"):
            self.watch(self.query_one("#draft"), name, self._tell_soon, init=False)

    def on_resize(self, event: Resize) -> None:
        self._tell_soon()

    def _tell_soon(self) -> None:
        self.call_after_refresh(self._tell_left)

    def _tell_left(self) -> None:
        for draft in self.query("#draft"):  # none once the screen is left
            left = round(draft.max_scroll_y - draft.scroll_y)
            draft.border_subtitle = f" +{count(left, 'line')} (J) " if left else None

    def _begun(self, given: Beads) -> None:
        self._draft = Draft(self.view.opened, given, self._row, self._judgements.repair_of)
        self.changed(self._draft)

    @property
    def draft(self) -> Draft | None:
        return self._draft

    def footer(self) -> tuple[str, set[str]]:
        name, states = super().footer()
        if self._draft is not None:
            states |= {"done"} if self._draft.done else set()
            states |= set() if self._draft.is_beside else {"own"}
            states |= {"beside"} if self._draft.is_beside or self.view.opened.has_beads else set()
        return name, states

    def facts(self) -> str:
        """Say what is kept."""
        if self._draft is not None and (done := self._draft.done):
            return f"{done}: enter keeps it"
        return "nothing done yet"

    def changed(self, draft: Draft) -> None:
        super().show_cuts()
        table = Table(expand=True, box=None, padding=(0, 1), pad_edge=False, show_edge=False)
        for side, name in enumerate(SIDES):
            mark = "▸ " if side == self.side else "  "
            table.add_column("line", justify="right", no_wrap=True)
            table.add_column(f"{mark}{name}", ratio=1, overflow="fold")
        first = max(draft.at - _BEFORE, 0)
        for n, (_, bead) in enumerate(draft.beads[first : draft.at + _AFTER + 1], first):
            cells = [self._cells(bead, side, is_here=n == draft.at) for side in (0, 1)]
            table.add_row(*cells[0], *cells[1], end_section=True)
            table.add_row()
        self.query_one("#beads", Static).update(table)
        self.refresh_top()

    def show_cuts(self) -> None:
        if self._draft is not None:
            self.changed(self._draft)

    def _cells(self, bead: Bead, side: int, *, is_here: bool) -> tuple[Text, Text]:
        text, style = bead.text(side), "bold" if is_here else "dim"
        lines = Text(bead.lines(side), style)
        if not is_here:
            return lines, cut(text, _CONTEXT, style)
        if self.cuts is None:
            return lines, shown(text, style)
        at, mark = self.cuts[side], ("│", "reverse" if side == self.side else "")
        return lines, Text.assemble(shown(text[:at], style), mark, shown(text[at:], style))

    def action_go(self, step: int) -> None:
        self.do("go", step)

    def action_scroll(self, rows: int) -> None:
        self.query_one("#draft").scroll_relative(y=rows, animate=False, immediate=True)

    def action_back(self) -> None:
        if not self.give_up_cut():
            super().action_back()

    def action_keep(self) -> None:
        """Keep the draft, unless the pairs were repaired otherwise meanwhile; or split."""
        if self._draft is None or self.take_cut():
            return
        if not self._draft.done:
            self.say("nothing is done yet: j , takes the next line in; escape gives up")
            return
        self._judgements.refresh()
        look = partial(self._draft.changes, self.view.aligner)
        self.background.run("repair", look, self._keep, self.complain)

    def _keep(self, changes: dict[int, Repair | None]) -> None:
        with self.complaining():
            self._judgements.repair(changes)
            self.dismiss(True)
