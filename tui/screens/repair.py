"""A pair is put right: lines are taken in or given away, it is split, trimmed, edited."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.events import Resize
from textual.widgets import Static

from xmine.browsing.repairs import Bead
from xmine.browsing.word_alignment import Aligner
from xmine.display import count
from xmine.encoders.spans import Span
from xmine.errors import OptionError
from xmine.judging.judgements import Judgements

from ..draft import Draft, matched_part, places_to_cut
from ..key_table import bound
from ..text import cut, shown
from ..widgets.prompt import Question
from .base import BaseScreen

_SIDES = "source", "target"
_BEFORE, _AFTER = 1, 3  # beads around the one that is worked at
_CONTEXT = 60  # cells of a text around
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}  # what a line cannot hold


class RepairScreen(BaseScreen):
    """A draft of what is to stand in the place of a pair; the result tells whether it is kept."""

    NAME = "Repair"
    LOADS = "draft"
    BINDINGS: ClassVar[list[BindingType]] = bound(
        "as-given source-up source-down target-up target-down merge split trim edit",
        enter="keep: Keep",
        back="back: Give up",
        tab="turn: Other side",
        undo="step('undo')",
        right="cut(1)",
        left="cut(-1)",
        down="step('go', 1)",
        up="step('go', -1)",
        pane_down="scroll(9)",
        pane_up="scroll(-9)",
    )

    def __init__(self, judgements: Judgements, row: int) -> None:
        super().__init__()
        self._judgements, self._row = judgements, row
        self._draft: Draft  # as soon as the screen stands
        self._side = 0
        self._cuts = [0, 0]  # characters of both texts
        self._aligner = Aligner(self.view.opened)

    @property
    def in_form(self) -> bool:
        """Keep keys that lead elsewhere away: what was done would be lost."""
        return True

    def body(self) -> ComposeResult:
        with VerticalScroll(id="draft", can_focus=False):
            yield Static(id="beads", markup=False)

    def on_mount(self) -> None:
        begin = partial(Draft, self.view.opened, self._row, self._judgements.repair_of)
        self.background.run("draft", begin, self._begun, self.complain)
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

    def _begun(self, draft: Draft) -> None:
        self._draft = draft
        self._changed()

    def facts(self) -> str:
        """Say what is kept."""
        with suppress(OptionError, AttributeError):
            if changes := self._draft.changes():
                repairs = [each for each in changes.values() if each is not None]
                done = ", ".join(dict.fromkeys(each.how for each in repairs)) or "as it was"
                pairs = count(sum(len(each.beads) for each in repairs) or len(changes), "pair")
                return f"{done}: enter keeps {pairs}"
        return "nothing done yet"

    def _changed(self) -> None:
        codes = self.view.opened.languages
        self._cuts = [places_to_cut(self._draft.bead, side, codes[side])[1] for side in (0, 1)]
        self._draw()

    def _draw(self) -> None:
        table = Table(expand=True, box=None, padding=(0, 1), pad_edge=False, show_edge=False)
        for side, name in enumerate(_SIDES):
            mark = "▸ " if side == self._side else "  "
            table.add_column("line", justify="right", no_wrap=True)
            table.add_column(f"{mark}{name}", ratio=1, overflow="fold")
        draft = self._draft
        first = max(draft.at - _BEFORE, 0)
        for n, (_, bead) in enumerate(draft.beads[first : draft.at + _AFTER + 1], first):
            is_here = n == draft.at
            cells = [self._cells(bead, side, is_here=is_here) for side in (0, 1)]
            table.add_row(*cells[0], *cells[1], end_section=True)
            table.add_row()
        self.query_one("#beads", Static).update(table)
        self.refresh_top()

    def _cells(self, bead: Bead, side: int, *, is_here: bool) -> tuple[Text, Text]:
        text, style = bead.text(side), "bold" if is_here else "dim"
        lines = Text(bead.lines(side), style)
        if not is_here:
            return lines, cut(text, _CONTEXT, style)
        at = self._cuts[side]
        mark = ("│", "reverse" if side == self._side else "")
        return lines, Text.assemble(shown(text[:at], style), mark, shown(text[at:], style))

    def _do(self, step: Callable[[], object]) -> None:
        """Take a step, or say why not."""
        self.say("")
        with self.complaining():
            step()
            self._changed()

    def action_step(self, name: str, step: int = 0) -> None:
        draft = self._draft
        steps: dict[str, Callable[[], object]] = {
            "up": lambda: draft.give(step, -1),
            "down": lambda: draft.give(step, 1),
            "merge": lambda: draft.merge(1),
            "split": lambda: draft.split(*self._cuts),
            "go": lambda: draft.go(step),
            "given": draft.as_given,
            "undo": draft.undo,
        }
        self._do(steps[name])

    def action_turn(self) -> None:
        self._side = 1 - self._side
        self._draw()

    def action_scroll(self, rows: int) -> None:
        self.query_one("#draft").scroll_relative(y=rows, animate=False, immediate=True)

    def action_cut(self, step: int) -> None:
        language = self.view.opened.languages[self._side]
        places, _ = places_to_cut(self._draft.bead, self._side, language)
        here = self._cuts[self._side]
        at = bisect_right(places, here) if step > 0 else bisect_left(places, here) - 1
        self._cuts[self._side] = places[min(max(at, 0), len(places) - 1)]
        self._draw()

    def action_trim(self) -> None:
        find = partial(matched_part, self._aligner, self._draft.bead)
        self.background.run("draft", find, self._trim, self.complain)

    def _trim(self, found: tuple[int, Span] | None) -> None:
        if found is None or found[1][0] >= found[1][1]:
            self.say("no end of either text lacks a match: - splits, f2 edits", bad=True)
        else:
            self._side = found[0]
            self._do(partial(self._draft.keep, found[0], *found[1]))

    def action_edit(self) -> None:
        side, text = self._side, self._draft.bead.text(self._side)
        given = "".join(_ESCAPES.get(each, each) for each in text)
        self.ask(Question(text=f"{_SIDES[side]}:", answered=self._edited, given=given))

    def _edited(self, line: str) -> None:
        signs = {escape[1]: sign for sign, escape in _ESCAPES.items()}
        text = re.sub(r"\\(.)", lambda found: signs.get(found[1], found[0]), line)
        self._do(partial(self._draft.edit, self._side, text))

    def action_keep(self) -> None:
        """Keep the draft, unless the pairs were repaired otherwise meanwhile."""
        with self.complaining():
            self._judgements.refresh()
            if not (changes := self._draft.changes()):
                self.say("nothing is done yet: + takes the next line in; escape gives up")
                return
            self._judgements.repair(changes)
            self.dismiss(True)
