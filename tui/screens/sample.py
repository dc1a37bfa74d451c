"""Pairs drawn at random, one at a time over the whole screen; at the end their precision."""

from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType

from xmine.errors import XmineError
from xmine.judging.judgements import CODES
from xmine.judging.samples import USUAL, Sample, read_plan

from ..widgets.pair_cells import SIGNS
from .one_pair import JUDGING, OnePairScreen

_STEP = 10  # pairs, until the interval is as narrow as it is wanted
_SAID = {"random": "at random", "unsure": "least sure first"}


class SampleScreen(OnePairScreen):
    """A sample of the kept pairs, or of those around the cut."""

    NAME = "Judge"
    LOADS = "draw"
    BUTTONS: ClassVar[tuple[Mapping[str, str], ...]] = (*JUDGING, {"+\nmore pairs": "further"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "further", "More pairs", id="sample.more"),
        Binding("m", "app.mine_again", "Mine again", id="show.again"),
        Binding("E", "app.teach", "Teach the encoder", id="show.teach", show=False),
    ]

    def __init__(self, *, around: bool, plan: str = "") -> None:
        super().__init__()
        self._around, self._plan = around, read_plan(plan)
        self._sample: Sample | None = None
        self._is_whole = False  # whether there are no more pairs

    def on_mount(self) -> None:
        self._draw(self._plan.size)

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
        self._sample, self._is_whole = sample, not more
        self.rows, self.left = sample.rows, deque(self.judgements.unsaid(sample.rows))
        self.verdicts_changed()
        self.refresh_top()
        if not more:
            self.say("there are no more pairs")

    def heading(self) -> str:
        if self.has_class("-phone"):
            return self.place()
        return f"{self.NAME} {self.place()}, " + (
            "around the cut" if self._around else _SAID[self._plan.how]
        )

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

    def verdicts_changed(self) -> None:
        """Draw more pairs as long as the interval is too wide."""
        if self._sample is not None and not (self.left or self._is_whole or self._around):
            above, within = (
                self._sample.said(self.judgements.own(given=False)).above,
                self._plan.within,
            )
            if within is not None and above.within > within:
                self._draw(len(self._sample) + _STEP)
                return
        super().verdicts_changed()

    def end(self) -> Text:
        """Write what the verdicts say."""
        assert self._sample is not None  # whose last pair is judged
        said = self._sample.said(self.judgements.own(given=False)).lines()
        keys = f"enter: {USUAL} more; t: the threshold"
        if self.view.opened.is_run:
            keys += "; m: mine again with the verdicts; E: teach the encoder"
        return Text("\n".join(said)).append(f"\n\n{keys}", "dim")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not (action == "further" and self.left) and super().check_action(action, parameters)

    def action_further(self) -> None:
        if self._sample is not None:
            self._draw(len(self._sample) + USUAL)
