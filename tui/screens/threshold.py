"""Probabilities as bars, the cut through them, and the pairs just above and below it to judge."""

import re
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.events import Click, Resize
from textual.widgets import Static

from xmine.browsing.cuts import Cuts, Histogram, check_cut, flag_of, step_of, stepped
from xmine.browsing.opened import Opened
from xmine.browsing.write_cut import read_again, write_cut
from xmine.errors import XmineError
from xmine.judging.counts import Counts
from xmine.judging.samples import judged_at_random
from xmine.plots.terminal import histogram_lines

from ..key_table import bound
from ..widgets.near_table import NearTable
from ..widgets.pair_detail import PairDetail
from ..widgets.pair_table import PairTable
from ..widgets.prompt import Question
from .judging_base import JudgeScreen

if TYPE_CHECKING:
    from textual.timer import Timer

_PATIENCE = 0.08  # seconds after the last key until the table follows
_AROUND = 22  # rows that are not bins: lines of a screen, head, legend and cut, table, detail
_FEWEST_BINS, _MOST_BINS = 3, 12
_LOW = 21  # rows of a window that has no room for the pair whole, at most


class ThresholdScreen(JudgeScreen):
    """The cut, moved with the keys and written into the run."""

    NAME = "Threshold"
    LOADS = "count"
    BINDINGS = bound("write type reset copy write-cut sample")

    def __init__(self) -> None:
        super().__init__()
        self._cuts: Cuts | None = None
        self._problem: XmineError | None = None  # why there are no cuts
        self._histogram: Histogram | None = None
        self._bins = 0
        self._lines: list[str] = []  # of the bars
        self._step = 1e-4
        self._cut = 0.0
        self._waiting: Timer | None = None

    def body(self) -> ComposeResult:
        yield Static("counting ...", id="cut", markup=False)
        yield Static(id="bars", markup=False)
        yield NearTable(self.view.opened, self.judgements, id="near")
        yield PairDetail(id="detail")

    def on_mount(self) -> None:
        self.query_one(NearTable).focus()

    def on_screen_resume(self) -> None:
        if self._cuts is not None:
            self.verdicts_changed()

    def on_screen_suspend(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
            self.look_for(cut=self._cut)

    def on_resize(self, event: Resize) -> None:
        self.pane.display = event.size.height > _LOW
        bins = min(max(event.size.height - _AROUND, _FEWEST_BINS), _MOST_BINS)
        if bins != self._bins:
            self._bins = bins
            self._count(bins)
        else:
            self._draw()

    def _count(self, bins: int) -> None:
        """Sort a million pairs and count them in the background: it takes half a second."""
        opened, asked, known = self.view.opened, self.view.wanted.cut, self._cuts

        def work() -> tuple[Cuts, float, Histogram, float]:
            cuts = known or Cuts(opened)
            cut = cuts.start() if asked is None else asked
            return cuts, cut, cuts.histogram(cut, bins), step_of(cuts.histogram(cut))

        self.background.run("count", work, self._counted, self._not_counted)

    def _not_counted(self, error: XmineError) -> None:
        self.query_one("#cut", Static).update("", layout=False)
        self._problem = error
        self.complain(error)

    def _say_problem(self) -> None:
        if self._problem is not None:
            self.complain(self._problem)

    def _counted(self, counted: tuple[Cuts, float, Histogram, float]) -> None:
        is_first = self._cuts is None
        self._cuts, cut, self._histogram, self._step = counted
        if is_first:
            self._cut = cut
        self._draw()
        self.refresh_top()
        if is_first:  # a window of another size leaves the cursor where it is
            self._show_near()

    def footer(self) -> tuple[str, set[str]]:
        return self.NAME, {"run"} if self.view.opened.is_run else set()

    def facts(self) -> str:
        if self._cuts is None:
            return ""
        every, able = len(self.view.opened), len(self._cuts)
        opened, left = self.view.opened, every - able
        why = "without counterpart" if opened.has_beads else "without a score"
        why = "dropped or a copy" if opened.is_run else why
        dropped = f", {left:,} {why}" if left else ""
        return f"{self._cuts.kept_by(self._cut):,} of {every:,} kept{dropped}"

    @on(Click, "#bars")
    def _cut_at_bar(self, event: Click) -> None:
        """Move the cut to the lower edge of a bar."""
        line = self._lines[event.y] if event.y < len(self._lines) else ""
        if edge := re.match(r" *(?:≥ )?(-?[0-9.]+) ", line):
            self._move_to(float(edge[1]))

    def action_move(self, steps: int) -> None:
        """Move the cut by some steps: the figures at once, the table and the view soon after."""
        self._move_to(stepped(self._cut, self._step, steps))

    def action_reset(self) -> None:
        if self._cuts is not None:
            self._move_to(self._cuts.start())

    def action_type(self) -> None:
        self.ask(Question(text="cut at:", answered=self._typed, given=f"{self._cut:.4f}"))

    def _typed(self, text: str) -> None:
        try:
            cut = float(text)
        except ValueError:
            cut = np.nan
        if not np.isfinite(cut):
            self.say(f"{text!r} is no number", bad=True)
            return
        with self.complaining():
            check_cut(self.view.opened, cut)
            self._move_to(cut)

    def _move_to(self, cut: float) -> None:
        if self._cuts is None or not len(self._cuts):
            self._say_problem()
            return
        self.say("")
        self._cut = self._cuts.within(cut)
        self._draw()
        if self._waiting is not None:
            self._waiting.stop()
        self._waiting = self.set_timer(_PATIENCE, self._moved)

    def _moved(self) -> None:
        self._waiting = None
        self.refresh_top()
        self._show_near()
        self.look_for(cut=self._cut)  # the other screens show it

    def _draw(self) -> None:
        """Show bars and figures as the cut is now."""
        cuts, histogram = self._cuts, self._histogram
        if cuts is None or histogram is None:
            return
        width = max(self.size.width - 2, 20)
        lines = histogram_lines(cuts.moved(histogram, self._cut), width, figures=False)
        # Laying the screen out anew takes ten times as long as drawing two widgets.
        bars, text = self.query_one("#bars", Static), Text("\n", overflow="crop", no_wrap=True)
        bars.styles.height = len(histogram.counts) + 4  # one more where the cut parts a bin
        bars.update(text.join(lines), layout=False)
        self._lines = [each.plain for each in lines]
        self.query_one("#cut", Static).update(Text(self._said(cuts), "bold"), layout=False)

    def _said(self, cuts: Cuts) -> str:
        kept = cuts.at(self._cut)
        own = self.judgements.codes(own=True, given=False)
        judged = Counts.of(own[judged_at_random(self.view.opened, own, self._cut)]).right
        said = [f"cut {self._cut:.4f}"]
        if kept.precision is not None and kept.interval is not None:
            low, high = kept.interval
            said.append(f"precision {kept.precision:.2f} ({low:.2f} to {high:.2f})")
        if (recall := cuts.recall(self._cut)) is not None:
            said.append(f"recall {recall:.2f}")
        if judged.share is not None and judged.interval is not None:
            low, high = judged.interval
            said.append(f"judged {judged.share:.2f} ({low:.2f} to {high:.2f}) of {judged.of:,}")
        return "  ".join(said)

    def _show_near(self) -> None:
        if self._cuts is not None:
            self.query_one(NearTable).show_near(self._cuts, self._cut)

    def on_pair_table_moved(self, event: PairTable.Moved) -> None:
        self.show_whole(event.row, self._cut)

    def judged(self, row: int) -> None:
        super().judged(row)
        self._draw()

    def verdicts_changed(self) -> None:
        super().verdicts_changed()
        self._draw()

    def action_sample(self) -> None:
        if self._cuts is not None:
            self.look_for(cut=self._cut)
        self.host.judge_sample()

    def action_write(self) -> None:
        self.ask_where(self.view.opened.kept(self._cut).nonzero()[0], self._cut)

    def action_copy(self) -> None:
        if self._cuts is None:
            return
        flag = flag_of(self.view.opened, self._cut)
        self.copy(flag, f"copied: {flag}")

    def action_write_cut(self) -> None:
        opened = self.view.opened
        if self._cuts is None:
            self._say_problem()
            return
        if not opened.is_run:
            self.say(f"{opened.kind} has no cut to write: y copies the option", bad=True)
            return
        more = self._cuts.taken_back(self._cut)
        kept = f"{self._cuts.kept_by(self._cut) + more:,} pairs"
        kept += f", {more:,} of them left out before" if more else ""
        question = f"cut {opened.path.name} at {self._cut:.4f}, keep {kept}? y/n"
        self.confirm(question, self._write, lambda: self.say("nothing was written"))

    def _write(self) -> None:
        opened, cut = self.view.opened, self._cut

        def write() -> tuple[int, Opened]:
            return write_cut(opened.path, cut), read_again(opened)

        self.say("writing ...")
        self.background.run("write", write, self._written, self.complain)

    def _written(self, written: tuple[int, Opened]) -> None:
        kept, opened = written
        self.view.reopened(opened)
        self.judgements.reopened(opened)
        self._cuts = None  # pairs below the old cut count now
        self._count(self._bins)
        self.look_for()
        self.say(f"written: the run keeps {kept:,} pairs")
