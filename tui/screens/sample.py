"""Pairs drawn at random, one at a time over the whole screen; at the end their precision."""

from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual.binding import BindingType

from xmine.errors import XmineError
from xmine.judging.samples import USUAL, Finding, Sample, read_plan
from xmine.pairs.judgements import LABELS

from ..key_table import bound
from ..widgets.pair_cells import SIGNS
from .one_pair import JUDGING, OnePairScreen

_STEP = 10  # pairs, until the interval is as narrow as it is wanted


class SampleScreen(OnePairScreen):
    """A sample of the kept pairs."""

    NAME = "Judge"
    LOADS = "draw"
    BUTTONS: ClassVar[tuple[Mapping[str, str], ...]] = (*JUDGING, {"+\nmore pairs": "further"})
    BINDINGS: ClassVar[list[BindingType]] = bound("again teach", enter="further: More pairs")

    def __init__(self, plan: str = "") -> None:
        super().__init__()
        self._plan = read_plan(plan)
        self._sample: Sample | None = None
        self._is_whole = False  # whether there are no more pairs

    def on_mount(self) -> None:
        self._draw(self._plan.size)

    def _draw(self, size: int) -> None:
        """Draw a sample in the background: a million pairs are sorted."""
        opened, cut, shared = self.view.opened, self.view.wanted.cut, self._plan.shared
        draw = partial(Sample, opened, cut, size, shared=shared)
        self.background.run("draw", draw, self._drawn, self._not_drawn)

    def _not_drawn(self, error: XmineError) -> None:
        self.host.back()
        self.app.notify(error.message, markup=False)

    def _drawn(self, sample: Sample) -> None:
        more = self._sample is None or len(sample) > len(self._sample)
        self._sample, self._is_whole = sample, not more
        self.rows, self.left = sample.rows, deque(sample.asked(self.judgements))
        self.verdicts_changed()
        self.refresh_top()
        if not more:
            self.say("there are no more pairs")

    def heading(self) -> str:
        place = self.place()
        return place if self.has_class("-phone") else f"{self.NAME} {place}, at random"

    def total(self) -> int:
        """Count the pairs that are one's own part of the sample."""
        return self.judgements.counts(self.rows).judged + len(self.left)

    def facts(self) -> str:
        if self._sample is None:
            return ""
        counts = self.judgements.counts(self._sample.rows)
        said = [f"{getattr(counts, name)} {SIGNS[name]}" for name in LABELS]
        if (within := self._plan.within) is not None:
            said.append(f"±{self._finding().counts.right.within:.2f} of ±{within:g}")
        return "  ".join([*said, self.judgements.by])

    def _finding(self) -> Finding:
        """Count one's own verdicts; in a sample whose parts several people judge, those of all."""
        assert self._sample is not None  # it is drawn
        return self._sample.said(self.judgements.codes(own=self._plan.shared == 1, given=False))

    def verdicts_changed(self) -> None:
        """Draw more pairs as long as the interval is too wide; others may have judged some."""
        if self._sample is None:
            return
        within = self._plan.within
        wide = within is not None and self._finding().counts.right.within > within
        if wide and not (self.left or self._is_whole):
            self._draw(len(self._sample) + _STEP)
            return
        if self._plan.shared < 1:
            asked = dict.fromkeys(self._sample.asked(self.judgements))
            left = [row for row in self.left if row in asked or row == self.shown]
            self.left = deque(dict.fromkeys([*left, *asked]))
        super().verdicts_changed()

    def end(self) -> Text:
        """Write what the verdicts say."""
        found = self._finding()
        said = found.lines()
        left = found.counts.left
        said += [f"{left:,} more are asked of others"] * bool(left)
        keys = f"enter: {USUAL} more; t: the threshold"
        if self.view.opened.is_run:
            keys += "; m: mine again with the verdicts; e: teach the encoder"
        return Text("\n".join(said)).append(f"\n\n{keys}", "dim")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not (action == "further" and self.left) and super().check_action(action, parameters)

    def action_further(self) -> None:
        if self._sample is not None:
            self._draw(len(self._sample) + USUAL)
