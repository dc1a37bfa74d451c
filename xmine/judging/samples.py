"""Samples of pairs: drawn, dealt to judges, and what verdicts say of them and of the cut."""

import re
import time
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from xmine.browsing.opened import Opened, Rows
from xmine.display import count
from xmine.errors import OptionError
from xmine.judging.counts import Codes, Counts
from xmine.judging.judgements import Judgements
from xmine.judging.keys import key_of
from xmine.pairs.judgements import as_time
from xmine.scoring.threshold import precision_of

USUAL = 50  # pairs of a sample
_PLAN = re.compile(r"(?P<size>\d{0,7})(?: ?random)?(?:,? ?(?P<shared>[\d.]+ ?%?) shared)?")
_SEED = 1  # of the order in which pairs are drawn, where no name is given
_DAY = 86_400  # seconds: who has not judged for longer is dealt no pairs
_FEWEST = 10  # pairs that were judged in that order, or all that are kept


class Plan(NamedTuple):
    """How many pairs are judged, and the part of these that all judges are asked."""

    size: int
    shared: float


def read_plan(line: str) -> Plan:
    """Read `50 random`, `50 random, 20 % shared`, or a part of that."""
    found = _PLAN.fullmatch(line.strip())
    if found is None or found["size"] == "0":
        raise OptionError(f"{line!r} is no sample", "50 random, 50 20 % shared")
    return Plan(int(found["size"] or USUAL), read_share(found["shared"] or "1"))


def read_share(text: str) -> float:
    """Read `20 %` or `.2`."""
    found = re.fullmatch(r"(\d+\.?\d*|\.\d+) ?(%?)", text.strip())
    share = float(found[1]) / (100 if found[2] else 1) if found else 2
    if share > 1:
        raise OptionError(f"{text!r} is no share", "20% or .2")
    return share


@lru_cache(maxsize=2)
def _shuffled(pairs: int, name: str) -> Rows:
    order: Rows = np.random.default_rng([*name.encode()] or _SEED).permutation(pairs)
    return order


def at_random(opened: Opened, cut: float | None, name: str = "") -> Rows:
    """Give the kept pairs in random order, int64 [kept], the same one for everybody.

    It hangs on nothing but the number of pairs and the name of the sample: what another cut keeps
    besides stands between them.
    """
    order = _shuffled(len(opened), name)
    return order[opened.kept(cut)[order]]


def judged_at_random(opened: Opened, codes: Codes, cut: float | None) -> Rows:
    """Find the kept pairs that were judged as they are drawn at random, int64 [judged].

    Others say nothing of all kept pairs: who judges the best ones finds them right. So those count
    that stand before the first one that nobody has judged. Of too few none is given.
    """
    order = at_random(opened, cut)
    rows = order[: np.argmin(codes[order] != 0)] if 0 in codes[order] else order
    return rows if len(rows) >= min(_FEWEST, len(order)) else rows[:0]


def expected_precision(
    opened: Opened, cut: float | None
) -> tuple[float | None, tuple[float, float] | None]:
    """Give the precision of all kept pairs by the estimate, and its interval; None without one."""
    if opened.probs is None:
        return None, None
    probs = opened.probs[opened.kept(cut)].astype(np.float64)
    return precision_of(probs[~np.isnan(probs)], opened.doubt)


class Sample:
    """Kept pairs, drawn at random, that are judged to learn how many are right.

    Attributes:
        opened: where they are from.
        cut: of which the sample tells; None in a file.
        shared: the part that everybody judges, from 0 to 1; see `asked`.
        rows: int64 [pairs], rows of `opened`, in random order.
    """

    def __init__(
        self,
        opened: Opened,
        cut: float | None,
        size: int = USUAL,
        *,
        name: str = "",
        shared: float = 1.0,
    ) -> None:
        """Draw pairs; fewer where there are no more. A longer sample begins with a shorter one.

        Another `name` draws others, the same ones for all who give it.
        """
        self.opened, self.cut, self.shared = opened, cut, shared
        self.rows: Rows = at_random(opened, cut, name)[:size]

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
        own = judgements.codes(own=True)
        return [*(row for row in self.rows[for_all].tolist() if not own[row]), *dealt]

    def said(self, codes: Codes) -> "Finding":
        """Count the verdicts on the sample; `codes` are those on all pairs."""
        _, expected = expected_precision(self.opened, self.cut)
        return Finding(self.cut, Counts.of(codes[self.rows]), expected)


@dataclass(frozen=True, slots=True)
class Finding:
    """What people have said of a sample.

    Attributes:
        cut: of which the sample tells; None in a file.
        counts: of the verdicts on it.
        expected: interval of the precision of all kept pairs by the estimate; None without one.
    """

    cut: float | None
    counts: Counts
    expected: tuple[float, float] | None

    def lines(self) -> list[str]:
        """Write what was found, and what it says about the cut."""
        judged, pairs = self.counts.pairs - self.counts.left, count(self.counts.pairs, "pair")
        said = [f"{judged:,} of {pairs} judged, {self.counts.unsure:,} unsure"]
        said.append(f"precision, judged         {self.counts.right}")
        if self.expected is not None:
            low, high = self.expected
            said.append(f"precision, expected       {low:.2f} to {high:.2f}")
        return [*said, self.advice] if self.advice else said

    @property
    def advice(self) -> str:
        """Say what the intervals say about the cut; nothing where there is none."""
        right = self.counts.right.interval
        if self.cut is None or right is None or self.expected is None:
            return ""
        if right[1] < self.expected[0]:
            return "raise the cut: fewer pairs are right than expected"
        if right[0] > self.expected[1]:
            return "more pairs are right than expected: a lower cut keeps more"
        return "the cut stands: as many pairs are right as expected"

    def facts(self) -> dict[str, object]:
        """List the figures for JSON."""
        return {
            "sample": self.counts.pairs,
            "judged": self.counts.pairs - self.counts.left,
            "unsure": self.counts.unsure,
            "cut": self.cut,
            "precision_judged": self.counts.right.facts(),
            "precision_expected_interval": self.expected,
            "advice": self.advice,
        }
