"""Labels of people -> their agreement with expected precision, probabilities, and other judges."""

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from xmine.browsing.judgements import CODES, Judgements
from xmine.browsing.opened import Opened, Rows
from xmine.browsing.query import Codes
from xmine.pairs.judgements import ACCEPT, REJECT
from xmine.scoring.threshold import precision_of

Interval = tuple[float, float]

# Standard deviations that hold nine tenths of a normal distribution, as for expected precision.
_NINE_TENTHS = 1.645
_SEED = 1  # of the one order in which pairs are drawn
_BLOCK = 4096  # drawn pairs that are looked at at once
_FEWEST = 10  # pairs that were judged in that order, or all that are kept


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
    def interval(self) -> Interval | None:
        """Wilson's interval (1927), which holds for few pairs and for shares of 0 and 1."""
        if not self.of:
            return None
        share, z = self.so / self.of, _NINE_TENTHS
        part = z * z / self.of
        spread = math.sqrt(part * (share * (1 - share) + part / 4))
        low, high = (share + part / 2 + sign * spread for sign in (-1, 1))
        return max(low / (1 + part), 0.0), min(high / (1 + part), 1.0)

    def __str__(self) -> str:
        """Write the share, the interval and both counts."""
        share, interval = self.share, self.interval
        if share is None or interval is None:
            return "none judged"
        return f"{share:.2f} ({interval[0]:.2f} to {interval[1]:.2f}), {self.so:,} of {self.of:,}"

    def facts(self) -> dict[str, object]:
        """List the figures for JSON."""
        share, interval = self.share, self.interval
        return {
            "so": self.so,
            "of": self.of,
            "share": None if share is None else round(share, 4),
            "interval": None if interval is None else [round(each, 4) for each in interval],
        }


@lru_cache(maxsize=2)
def shuffled(pairs: int) -> Rows:
    """Give the rows of so many pairs in random order, int64 [pairs], each time the same one.

    Whatever a cut keeps stands in random order, too; a longer sample goes on where one ends.
    """
    order: Rows = np.random.default_rng(_SEED).permutation(pairs)
    return order


def share_of(codes: Codes, rows: Rows) -> Share:
    """Count the accepted among those of some pairs that are accepted or rejected."""
    accepted, rejected = (int((codes[rows] == CODES[each]).sum()) for each in (ACCEPT, REJECT))
    return Share(accepted, accepted + rejected)


def judged_at_random(opened: Opened, codes: Codes, cut: float | None) -> Share:
    """Give the precision of the kept pairs that were judged as they are drawn at random.

    Others say nothing of all kept pairs: who judges the best ones finds them right. So those count
    that stand before the first one that nobody has judged. Of too few nothing is said.
    """
    kept, order, drawn = opened.kept(cut), shuffled(len(opened)), []
    for start in range(0, len(order), _BLOCK):
        block = order[start : start + _BLOCK]
        block = block[kept[block]]
        ends = np.flatnonzero(codes[block] == 0)[:1]
        drawn.append(block[: ends[0]] if len(ends) else block)
        if len(ends):
            break
    rows = np.concatenate([*drawn, order[:0]])
    return share_of(codes, rows) if len(rows) >= min(_FEWEST, kept.sum()) else Share(0, 0)


@dataclass(frozen=True, slots=True)
class Judges:
    """How two judges agree on the pairs that both accepted or rejected.

    `kappa` is Cohen's (1960), which takes off the agreement by chance; None without pairs, or where
    both judges always give one and the same label.
    """

    names: tuple[str, str]
    same: Share
    kappa: float | None


@dataclass(frozen=True, slots=True)
class Approval:
    """Labels compared with the estimate and with each other; unsure ones count nowhere.

    Attributes:
        accepted: share of the kept pairs, of those judged at random.
        expected, expected_interval: precision by the estimate of all kept pairs; None without one.
        agreed: share of judged pairs that the probability calls rightly at 0.5.
        judges: each two of them.
    """

    accepted: Share
    expected: float | None
    expected_interval: Interval | None
    agreed: Share
    judges: tuple[Judges, ...]

    def agreement(self) -> dict[str, str]:
        """Write the agreement of the labels with the estimate, and of each two judges."""
        said = {} if self.expected is None else {"as expected": str(self.agreed)}
        for each in self.judges:
            kappa = "" if each.kappa is None else f", kappa {each.kappa:.2f}"
            said[f"{each.names[0]}, {each.names[1]}"] = f"{each.same}{kappa}"
        return said


def approval_of(opened: Opened, judgements: Judgements) -> Approval:
    """Compare judgements with the estimate, and with each other."""
    kept, codes = opened.kept(opened.cut), judgements.codes()
    accepted, rejected = codes == CODES[ACCEPT], codes == CODES[REJECT]
    judged = accepted | rejected
    expected: float | None = None
    interval: Interval | None = None
    agreed = Share(0, 0)
    if opened.probs is not None:
        probs = opened.probs[kept].astype(np.float64)
        expected, interval = precision_of(probs[~np.isnan(probs)])
        known = judged & ~np.isnan(opened.probs)
        right = (opened.probs >= 0.5) == accepted
        agreed = Share(int((right & known).sum()), int(known.sum()))
    return Approval(
        judged_at_random(opened, codes, opened.cut),
        expected,
        interval,
        agreed,
        _judges(judgements, judgements.rows()),
    )


def _judges(judgements: Judgements, rows: Rows) -> tuple[Judges, ...]:
    said: dict[str, dict[int, bool]] = {}
    for row in rows.tolist():
        for judge, label in judgements.by_judge(row).items():
            if label in (ACCEPT, REJECT):
                said.setdefault(judge, {})[row] = label == ACCEPT
    return tuple(
        _compared((first, second), said[first], said[second])
        for first, second in combinations(sorted(said), 2)
    )


def _compared(names: tuple[str, str], first: dict[int, bool], second: dict[int, bool]) -> Judges:
    both = [(first[row], second[row]) for row in first.keys() & second.keys()]
    same = Share(sum(x == y for x, y in both), len(both))
    kappa = None
    if both:
        yes, also = (sum(each) / len(both) for each in zip(*both, strict=True))
        chance = yes * also + (1 - yes) * (1 - also)
        if chance < 1:
            kappa = (same.so / same.of - chance) / (1 - chance)
    return Judges(names, same, kappa)
