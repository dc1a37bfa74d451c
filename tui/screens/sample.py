"""Pairs drawn at random, one at a time over the whole screen; at the end their precision."""

from collections import deque
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.events import Resize
from textual.widgets import Button, Static

from xmine.browsing.judgements import CODES
from xmine.browsing.samples import USUAL, Sample, read_plan
from xmine.display import count
from xmine.errors import XmineError
from xmine.pairs.judgements import LABELS

from ..key_table import bound
from ..widgets.pair_cells import SIGNS
from ..widgets.pair_detail import PairDetail
from .base import BaseScreen, OpeningScreen
from .judging_base import JudgeScreen

_STEP = 10  # pairs, until the interval is as narrow as it is wanted
_SAID = {"random": "at random", "unsure": "least sure first"}


class SampleScreen(JudgeScreen):
    """A sample of the kept pairs, or of those around the cut.

    No figure of a pair is shown: it would tell what to say of the pair.
    """

    NAME = "Judge"
    LOADS = "draw"
    BINDINGS: ClassVar[list[BindingType]] = bound(
        "later again teach",
        enter="further: More pairs",
        down="scroll_pane(1)",
        up="scroll_pane(-1)",
    )

    # A telephone shows this screen, and buttons in place of keys.
    SMALLEST: ClassVar[tuple[int, int]] = OpeningScreen.SMALLEST

    def __init__(self, *, around: bool, plan: str = "") -> None:
        super().__init__()
        self._around, self._plan = around, read_plan(plan)
        self._sample: Sample | None = None
        self._is_whole = False  # whether there are no more pairs
        self._left: deque[int] = deque()  # rows to judge, the one that is shown first

    def body(self) -> ComposeResult:
        yield PairDetail(blind=True, id="detail")
        yield Static(id="found", markup=False)
        with Horizontal(id="buttons"):
            acts = {f"{SIGNS[name]}\n{name}": f"screen.judge('{name}')" for name in LABELS}
            acts |= {"↶\nundo": "screen.undo", "+\nmore pairs": "screen.further"}
            for label, action in acts.items():
                button = Button(label, action=action, compact=True)
                button.can_focus = False  # keys are for the pair
                yield button

    def on_mount(self) -> None:
        self._draw(self._plan.size)

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width < BaseScreen.SMALLEST[0], "-phone")

    def _draw(self, size: int) -> None:
        """Draw a sample in the background: a million pairs are sorted."""
        opened, cut, how = self.view.opened, self.view.wanted.cut, self._plan.how
        draw = partial(Sample, opened, cut, size, around=self._around, how=how)
        self.background.run("draw", draw, self._drawn, self._not_drawn)

    def _not_drawn(self, error: XmineError) -> None:
        self.host.back()
        self.app.notify(error.message, markup=False)

    def _drawn(self, sample: Sample) -> None:
        more = self._sample is None or len(sample) > len(self._sample)
        self._sample, self._left = sample, deque(self.judgements.unsaid(sample.rows))
        self._is_whole = not more
        self.verdicts_changed()
        self.refresh_top()
        if not more:
            self.say("there are no more pairs")

    def heading(self) -> str:
        if self._sample is None:
            return self.NAME
        size = len(self._sample)
        place = f"{size - len(self._left) + 1} of {size}" if self._left else count(size, "pair")
        return f"{self.NAME} {place}, {'around the cut' if self._around else _SAID[self._plan.how]}"

    def footer(self) -> tuple[str, set[str]]:
        return self.NAME, set() if self._left else {"end"}

    def facts(self) -> str:
        if self._sample is None:
            return ""
        codes = self.judgements.own()[self._sample.rows]
        counts = {SIGNS[name]: int((codes == code).sum()) for name, code in CODES.items() if name}
        said = [f"{number} {sign}" for sign, number in counts.items()]
        if (within := self._plan.within) is not None:
            share = self._sample.said(self.judgements.own(given=False)).above
            said.append(f"±{share.within:.2f} of ±{within:g}")
        return "  ".join([*said, self.judgements.by])

    def judged_row(self) -> int | None:
        return self._left[0] if self._left else None

    def judged(self, row: int) -> None:
        self._left.popleft()
        self.verdicts_changed()

    def found(self, rows: list[int]) -> bool:
        drawn = () if self._sample is None else self._sample.rows
        self._left.extendleft(row for row in reversed(rows) if row in drawn)
        return rows[0] in drawn

    def verdicts_changed(self) -> None:
        """Show the pair that comes next; after the last one, what the verdicts say."""
        if self._sample is None:
            return
        codes, within = self.judgements.own(given=False), self._plan.within
        wide = within is not None and self._sample.said(codes).above.within > within
        if not self._left and wide and not self._is_whole:
            self._draw(len(self._sample) + _STEP)
            return
        found = self.query_one("#found", Static)
        self.refresh_bindings()
        self.pane.display, found.display = bool(self._left), not self._left
        for button in self.query(Button):
            button.display = bool(self._left) == (button.action != "screen.further")
        if self._left:
            row = self._left[0]
            self.pane.show(self.view.opened, row, repair=self.judgements.repair_of(row))
        else:
            finding = self._sample.said(codes)
            said = Text("\n").join(map(Text, finding.lines()))
            keys = f"enter: {USUAL} more; t: the threshold"
            keys += (
                "; m: mine again with the verdicts; e: teach the encoder"
                if self.view.opened.is_run
                else ""
            )
            found.update(said.append(f"\n\n{keys}", "dim"))

    def progress(self) -> str:
        size = 0 if self._sample is None else len(self._sample)
        return f"{size - len(self._left):,} of {size:,}"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("judge", "further", "later", "repair", "note", "lines", "scroll_pane"):
            return bool(self._left) == (action != "further")
        return super().check_action(action, parameters)

    def action_later(self) -> None:
        self._left.rotate(-1)
        self.verdicts_changed()

    def action_further(self) -> None:
        if self._sample is not None:
            self._draw(len(self._sample) + USUAL)
