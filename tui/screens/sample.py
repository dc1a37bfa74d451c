"""Pairs drawn at random, one at a time over the whole screen; at the end their precision."""

from collections import deque
from collections.abc import Mapping
from typing import ClassVar

from rich.text import Text
from textual.binding import BindingType

from xmine.judging.samples import USUAL, Sample, read_plan
from xmine.pairs.judgements import LABELS

from ..key_table import bound
from ..widgets.pair_cells import SIGNS
from .one_pair import JUDGING, OnePairScreen


class SampleScreen(OnePairScreen):
    """A sample of the kept pairs."""

    NAME = "Judge"
    BUTTONS: ClassVar[tuple[Mapping[str, str], ...]] = (*JUDGING, {"+\nmore pairs": "further"})
    BINDINGS: ClassVar[list[BindingType]] = bound("again teach", enter="further: More pairs")

    def __init__(self, plan: str = "") -> None:
        super().__init__()
        self._plan = read_plan(plan)
        self._sample: Sample | None = None

    def on_mount(self) -> None:
        self._draw(self._plan.size)

    def _draw(self, size: int) -> None:
        shared, before = self._plan.shared, self._sample and len(self._sample)
        self._sample = Sample(self.view.opened, self.view.wanted.cut, size, shared=shared)
        self.rows, self.left = self._sample.rows, deque(self._sample.asked(self.judgements))
        self.verdicts_changed()
        self.refresh_top()
        if before == len(self.rows):
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
        return "  ".join([*said, self.judgements.by])

    def verdicts_changed(self) -> None:
        """Others may have judged some."""
        if self._sample is None:
            return
        if self._plan.shared < 1:
            asked = dict.fromkeys(self._sample.asked(self.judgements))
            left = [row for row in self.left if row in asked or row == self.shown]
            self.left = deque(dict.fromkeys([*left, *asked]))
        super().verdicts_changed()

    def end(self) -> Text:
        """Write what one's own verdicts say; where several people judge parts, those of all."""
        assert self._sample is not None  # it is drawn
        codes = self.judgements.codes(own=self._plan.shared == 1, given=False)
        found = self._sample.said(codes)
        said, left = found.lines(), found.counts.left
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
