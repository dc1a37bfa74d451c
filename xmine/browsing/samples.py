"""Pairs to judge, drawn at random -> how precise a run is, and what that says about its cut."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xmine.browsing.cuts import Cuts
from xmine.browsing.judge_agreement import Share, share_of, shuffled
from xmine.browsing.judgements import CODES
from xmine.browsing.opened import Opened, Rows
from xmine.browsing.query import Codes
from xmine.errors import OptionError
from xmine.pairs.judgements import UNSURE
from xmine.scoring.threshold import precision_of
from xmine.units import count

USUAL = 50  # pairs of a sample


class Sample:
    """Pairs that are judged to learn how many are right.

    Attributes:
        opened: where they are from.
        cut: of which the sample tells; None in a file.
        around: whether they are the nearest on both sides of the cut, or drawn from all kept ones.
        rows: int64 [pairs], rows of `opened`, in random order.
    """

    def __init__(
        self, opened: Opened, cut: float | None, size: int = USUAL, *, around: bool = False
    ) -> None:
        """Draw pairs; fewer where there are no more. A longer sample begins with a shorter one."""
        self.opened, self.cut, self.around = opened, cut, around
        order = shuffled(len(opened))
        self._above: Rows = np.flatnonzero(opened.kept(cut))
        self._below: Rows = order[:0]
        if around:
            if cut is None:
                raise OptionError(f"{opened.path} has no cut", "leave out --around: pairs of all")
            above, below = Cuts(opened).near(cut, size)
            fewer = min(len(below), max(size // 2, size - len(above)))
            more = min(len(above), size - fewer)
            self._above, self._below = above[len(above) - more :], below[:fewer]
        wanted = np.concatenate([self._above, self._below])
        self.rows: Rows = order[np.isin(order, wanted)][:size]

    def __len__(self) -> int:
        """Count the pairs to judge."""
        return len(self.rows)

    def said(self, codes: Codes) -> "Finding":
        """Count the verdicts on the sample; `codes` are those on all pairs."""
        above, below = (self.rows[np.isin(self.rows, of)] for of in (self._above, self._below))
        expected = None
        if self.opened.probs is not None:
            probs = self.opened.probs[self._above].astype(np.float64)
            expected = precision_of(probs[~np.isnan(probs)])[1]
        return Finding(
            self,
            share_of(codes, above),
            share_of(codes, below),
            int((codes[self.rows] == CODES[UNSURE]).sum()),
            int((codes[self.rows] == 0).sum()),
            expected,
        )


@dataclass(frozen=True)
class Finding:
    """What people have said of a sample.

    Attributes:
        sample: that was judged.
        above, below: accepted pairs of those that the cut keeps, and of those that it does not.
        unsure, left: pairs of which nobody is sure, and that nobody has judged.
        expected: interval of the precision of all kept pairs by the estimate; None without one, or
            of pairs around the cut.
    """

    sample: Sample
    above: Share
    below: Share
    unsure: int
    left: int
    expected: tuple[float, float] | None

    def lines(self) -> list[str]:
        """Write what was found, and what it says about the cut."""
        size = len(self.sample)
        said = [f"{size - self.left:,} of {count(size, 'pair')} judged, {self.unsure:,} unsure"]
        if self.sample.around:
            said.append(f"right just above the cut  {self.above}")
            said.append(f"right just below the cut  {self.below}")
        else:
            said.append(f"precision, judged         {self.above}")
            if self.expected is not None:
                low, high = self.expected
                said.append(f"precision, expected       {low:.2f} to {high:.2f}")
        return [*said, self.advice] if self.advice else said

    @cached_property
    def advice(self) -> str:
        """Say what the intervals say about the cut; nothing where there is none."""
        above, below = self.above.interval, self.below.interval
        if self.sample.cut is None or above is None:
            return ""
        if self.sample.around:
            if above[1] < 0.5:
                return "raise the cut: most pairs just above it are wrong"
            if below is not None and below[0] > 0.5:
                return "lower the cut: most pairs just below it are right"
            if above[0] > 0.5 and (below is None or below[1] < 0.5):
                return "the cut stands: pairs above it are right, and those below it are wrong"
            return "too few to tell whether the cut should move: judge more"
        if self.expected is None:
            return ""
        if above[1] < self.expected[0]:
            return "raise the cut: fewer pairs are right than expected"
        if above[0] > self.expected[1]:
            return "more pairs are right than expected: a lower cut keeps more"
        return "the cut stands: as many pairs are right as expected"

    def facts(self) -> dict[str, object]:
        """List the figures for JSON."""
        around = self.sample.around
        return {
            "sample": len(self.sample),
            "around": around,
            "judged": len(self.sample) - self.left,
            "unsure": self.unsure,
            "cut": self.sample.cut,
            "precision_judged": None if around else self.above.facts(),
            "precision_expected_interval": self.expected,
            "above": self.above.facts() if around else None,
            "below": self.below.facts() if around else None,
            "advice": self.advice,
        }
