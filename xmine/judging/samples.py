"""Samples of pairs: drawn, dealt to judges, and what verdicts say of them and of the cut."""

import math
import re
import time
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from xmine.browsing.cuts import Cuts
from xmine.browsing.opened import Opened, Rows
from xmine.display import count
from xmine.errors import OptionError
from xmine.judging.judgements import CODES, Codes, Judgements
from xmine.judging.keys import key_of
from xmine.pairs.judgements import ACCEPT, REJECT, UNSURE, as_time
from xmine.scoring.threshold import precision_of

USUAL = 50  # pairs of a sample
HOW = ("random", "unsure")  # orders of a sample
_PLAN = re.compile(
    rf"(?:(?P<size>\d{{1,7}})|(?:±|\+-)? ?(?P<within>0?\.\d*[1-9]))? ?(?P<how>{'|'.join(HOW)})?"
    r"(?:,? ?(?P<shared>[\d.]+ ?%?) shared)?"
)
# Standard deviations that hold nine tenths of a normal distribution, as for expected precision.
_NINE_TENTHS = 1.645
_SEED = 1  # of the order in which pairs are drawn, where no name is given
_DAY = 86_400  # seconds: who has not judged for longer is dealt no pairs
_FEWEST = 10  # pairs that were judged in that order, or all that are kept


class Plan(NamedTuple):
    """How many pairs are judged, or until the interval is `within` so much; order; part for all."""

    size: int
    within: float | None
    how: str
    shared: float = 1.0


def read_plan(line: str) -> Plan:
    """Read `50 random`, `±.05`, `50 random, 20 % shared`, or a part of that."""
    found = _PLAN.fullmatch(line.strip())
    if found is None or found["size"] == "0":
        raise OptionError(f"{line!r} is no sample", "50 random, ±.05, 50 unsure, 50 20 % shared")
    within = None if found["within"] is None else float(found["within"])
    size = int(found["size"] or (USUAL if within is None else _FEWEST))
    return Plan(size, within, found["how"] or HOW[0], read_share(found["shared"] or "1"))


def read_share(text: str) -> float:
    """Read `20 %` or `.2`."""
    found = re.fullmatch(r"(\d+\.?\d*|\.\d+) ?(%?)", text.strip())
    share = float(found[1]) / (100 if found[2] else 1) if found else 2
    if share > 1:
        raise OptionError(f"{text!r} is no share", "20% or .2")
    return share


@dataclass(frozen=True, slots=True)
class Share:
    """A share of some pairs, and an interval that holds the true share nine times in ten."""

    so: int
    of: int

    @property
    def share(self) -> float | None:
        """The share; None of nothing."""
        return self.so / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's interval (1927), which holds for few pairs and for shares of 0 and 1."""
        share, z = self.share, _NINE_TENTHS
        if share is None:
            return None
        part = z * z / self.of
        spread = math.sqrt(part * (share * (1 - share) + part / 4))
        low, high = ((share + part / 2 + sign * spread) / (1 + part) for sign in (-1, 1))
        return max(round(low, 12), 0.0), min(round(high, 12), 1.0)

    @property
    def within(self) -> float:
        """Half the width of the interval; 1 without any."""
        low, high = self.interval or (-1, 1)
        return (high - low) / 2

    def __str__(self) -> str:
        """Write the share, the interval and both counts."""
        if self.share is None or self.interval is None:
            return "none judged"
        low, high = self.interval
        return f"{self.share:.2f} ({low:.2f} to {high:.2f}), {self.so:,} of {self.of:,}"

    def facts(self) -> dict[str, object]:
        """List the figures for JSON."""
        share = None if self.share is None else round(self.share, 4)
        interval = self.interval and [round(each, 4) for each in self.interval]
        return {"so": self.so, "of": self.of, "share": share, "interval": interval}


@lru_cache(maxsize=2)
def _shuffled(pairs: int, name: str = "") -> Rows:
    """Give the rows of so many pairs in random order, int64 [pairs], the same one for everybody.

    It hangs on nothing but the number of pairs and the name of the sample. Whatever a cut keeps
    stands in random order, too; a longer sample goes on where one ends.
    """
    order: Rows = np.random.default_rng([*name.encode()] or _SEED).permutation(pairs)
    return order


def share_of(codes: Codes, rows: Rows) -> Share:
    """Count the accepted among those of some pairs that are accepted or rejected."""
    accepted, rejected = (int((codes[rows] == CODES[each]).sum()) for each in (ACCEPT, REJECT))
    return Share(accepted, accepted + rejected)


def rows_at_random(opened: Opened, codes: Codes, cut: float | None) -> Rows:
    """Find the kept pairs that were judged as they are drawn at random, int64 [judged].

    Others say nothing of all kept pairs: who judges the best ones finds them right. So those count
    that stand before the first one that nobody has judged. Of too few none is given.
    """
    order = _shuffled(len(opened))
    order = order[opened.kept(cut)[order]]
    rows = order[: np.argmin(codes[order] != 0)] if 0 in codes[order] else order
    return rows if len(rows) >= min(_FEWEST, len(order)) else rows[:0]


def judged_at_random(opened: Opened, codes: Codes, cut: float | None) -> Share:
    """Give the precision of the kept pairs that were judged at random, see `rows_at_random`."""
    return share_of(codes, rows_at_random(opened, codes, cut))


class Sample:
    """Pairs that are judged to learn how many are right.

    Attributes:
        opened: where they are from.
        cut: of which the sample tells; None in a file.
        around: whether they are the nearest on both sides of the cut, or drawn from all kept ones.
        how: `random`; `unsure` for those first, below the cut, too, of which the probability says
            least.
        shared: the part that everybody judges, from 0 to 1; see `asked`.
        rows: int64 [pairs], rows of `opened`, in random order.
    """

    def __init__(
        self,
        opened: Opened,
        cut: float | None,
        size: int = USUAL,
        *,
        around: bool = False,
        how: str = HOW[0],
        name: str = "",
        shared: float = 1.0,
    ) -> None:
        """Draw pairs; fewer where there are no more. A longer sample begins with a shorter one.

        Another `name` draws others, the same ones for all who give it.
        """
        if how not in HOW:
            raise OptionError(f"a sample in the order {how!r}", f"choose from {', '.join(HOW)}")
        self.opened, self.cut, self.around, self.shared = opened, cut, around, shared
        self.how = how = HOW[0] if around else how
        order = _shuffled(len(opened), name)
        self._above: Rows = np.flatnonzero(opened.kept(cut))
        self._below: Rows = order[:0]
        if around:
            if cut is None:
                raise OptionError(f"{opened.path} has no cut", "leave out --around: pairs of all")
            above, below = Cuts(opened).near(cut, size)
            fewer = min(len(below), max(size // 2, size - len(above)))
            more = min(len(above), size - fewer)
            self._above, self._below = above[len(above) - more :], below[:fewer]
        if how == "unsure":
            if opened.probs is None:
                raise OptionError(f"{opened.path}: no pair has a probability", "choose random")
            self._above = np.flatnonzero(opened.kept(cut) | opened.allowed)
            doubt = np.abs(np.nan_to_num(opened.probs.astype(np.float64))[order] - 0.5)
            order = order[np.argsort(doubt, kind="stable")]
        wanted = np.concatenate([self._above, self._below])
        self.rows: Rows = order[np.isin(order, wanted)][:size]

    def __len__(self) -> int:
        """Count the pairs to judge."""
        return len(self.rows)

    def asked(self, judgements: Judgements) -> list[int]:
        """List the pairs that are left for `by` to judge: first of those that all judge.

        The others are dealt: each is asked of the judge whose name gives it the highest hash, of
        those who have judged in this sample within a day, and `by`; and of nobody once it has a
        verdict. So nothing is agreed beforehand: who joins takes a part of all that is left from
        each of the others, and what somebody has left behind goes to the others a day later. All
        windows know a judge by the time that the pairs for all are judged. Only a pair that is on
        the screen of one while another joins may be judged by both; it counts once.
        """
        ends = np.floor(np.arange(len(self) + 1) * self.shared + 1e-9)
        for_all = np.diff(ends) > 0
        judges = {judge for row in self.rows.tolist() for judge in judgements.words(row)}
        since = as_time(time.time() - _DAY)
        judges = {x for x in judges if judgements.times[x][-1] >= since} | {judgements.by}

        def is_own(row: int) -> bool:
            key = "\t".join(map(str, key_of(self.opened, row)))
            best = max(judges, key=lambda judge: blake2b(f"{judge}\t{key}".encode()).digest())
            return best == judgements.by and not judgements.of(row)

        dealt = filter(is_own, self.rows[~for_all].tolist())
        return [*judgements.unsaid(self.rows[for_all]), *dealt]

    def said(self, codes: Codes) -> "Finding":
        """Count the verdicts on the sample; `codes` are those on all pairs."""
        above, below = (self.rows[np.isin(self.rows, of)] for of in (self._above, self._below))
        share, expected = share_of(codes, above), None
        if self.opened.probs is not None:
            probs = self.opened.probs[self._above].astype(np.float64)
            expected = precision_of(probs[~np.isnan(probs)], self.opened.doubt)[1]
        unsure, left = (int((codes[self.rows] == code).sum()) for code in (CODES[UNSURE], 0))
        return Finding(self, share, share_of(codes, below), unsure, left, expected)


@dataclass(frozen=True, slots=True)
class Finding:
    """What people have said of a sample.

    Attributes:
        sample: that was judged.
        above, below: accepted pairs of those that the cut keeps, and of those that it does not.
        unsure, left: pairs of which nobody is sure, and that nobody has judged.
        expected: interval of the precision of all kept pairs by the estimate; None without one.
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
        elif self.sample.how == "unsure":
            share = f"{self.above.so:,} of {self.above.of:,} right"
            said.append(f"the least sure pairs: {share}; this says nothing of the precision")
        else:
            said.append(f"precision, judged         {self.above}")
            if self.expected is not None:
                low, high = self.expected
                said.append(f"precision, expected       {low:.2f} to {high:.2f}")
        return [*said, self.advice] if self.advice else said

    @property
    def advice(self) -> str:
        """Say what the intervals say about the cut; nothing where there is none."""
        above, below = self.above.interval, self.below.interval
        if self.sample.cut is None or above is None or self.sample.how == "unsure":
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
        sample, around, above = self.sample, self.sample.around, self.above.facts()
        return {
            "sample": len(sample),
            "around": around,
            "judged": len(sample) - self.left,
            "unsure": self.unsure,
            "cut": sample.cut,
            "order": sample.how,
            "precision_judged": None if around or sample.how == "unsure" else above,
            "precision_expected_interval": self.expected,
            "above": above if around else None,
            "below": self.below.facts() if around else None,
            "advice": self.advice,
        }
