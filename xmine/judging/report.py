"""What all judges say: how often they agree, with each other and the estimate, and what each did.

The formulas of kappa and alpha stand here: both are a few lines, and the packages that have them
(scikit-learn, krippendorff) are none that judging needs.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from xmine.browsing.opened import Opened, Rows
from xmine.display import count
from xmine.judging.judgements import CODES, Counts, Judgements
from xmine.judging.samples import Share, rows_at_random, share_of
from xmine.pairs.judgements import ACCEPT, KINDS, REJECT, UNSURE, verdict_of
from xmine.scoring.threshold import precision_of

_PAUSE = np.timedelta64(300, "s")  # a longer one between two labels is no work


@dataclass(frozen=True, slots=True)
class OfJudge:
    """What one judge has done, or all of them together.

    Attributes:
        counts: of the labels.
        kinds: how many pairs are rejected for what.
        minutes: of work, without pauses of more than five.
        right: share of the pairs that were judged at random, see `rows_at_random`.
        decided: pairs that the judge has adjudicated.
    """

    counts: Counts
    kinds: Counter[str]
    minutes: float
    right: Share
    decided: int

    def facts(self) -> dict[str, object]:
        """List the figures in a row."""
        low, high = self.right.interval or (None, None)
        counts = self.counts
        said = {"accept": counts.accept, "reject": counts.reject, "unsure": counts.unsure}
        said |= {kind: self.kinds[kind] for kind in KINDS} | {"decided": self.decided}
        right = {"precision": self.right.share, "low": low, "high": high, "of": self.right.of}
        return {"pairs": counts.judged, "minutes": round(self.minutes, 1), **said, **right}

    def __str__(self) -> str:
        """Write them."""
        said = [f"{count(self.counts.judged, 'pair')} in {self.minutes:.0f} min"]
        said += [f"right {self.right}"] if self.right.of else []
        said += [f"{number:,} {kind}" for kind, number in self.kinds.most_common()]
        return ", ".join([*said, *[f"{self.decided:,} decided"][: self.decided]])


@dataclass(frozen=True, slots=True)
class Report:
    """All labels, compared with the estimate and with each other.

    Agreement is that on pairs that each accepts or rejects: who is unsure says neither.

    Attributes:
        everybody: what stands for the pairs, see `settled`; `of_kept`, its counts on kept ones.
        expected, interval: precision by the estimate of all kept pairs; None without one.
        agreed: share of judged pairs that the probability calls rightly at 0.5.
        judges: what each has done.
        twos: of each two the names, the share of common pairs on which they agree, and Cohen's
            kappa, see `kappa_of`.
        alpha, of_kinds: Krippendorff's alpha of all judges, see `alpha_of`: whether pairs are
            right, and what is wrong with them.
        common: pairs that more than one judge accepts or rejects.
        open: pairs on which judges differ, and nobody has decided.
    """

    everybody: OfJudge
    of_kept: Counts
    expected: float | None
    interval: tuple[float, float] | None
    agreed: Share
    judges: dict[str, OfJudge]
    twos: tuple[tuple[str, str, Share, float | None], ...]
    alpha: float | None
    of_kinds: float | None
    common: int
    open: int

    def lines(self) -> dict[str, str]:
        """Write the agreement and what each judge did, by what it is of."""
        said = {} if self.expected is None else {"as expected": str(self.agreed)}
        if len(self.judges) > 1 or self.everybody.decided:
            said |= {judge: str(each) for judge, each in self.judges.items()}
        for one, other, same, kappa in self.twos:
            said[f"{one}, {other}"] = str(same) + ("" if kappa is None else f", kappa {kappa:.2f}")
        if self.alpha is not None:
            kinds = "" if self.of_kinds is None else f" ({self.of_kinds:.2f} of kinds)"
            said["agreement"] = (
                f"alpha {self.alpha:.2f}{kinds}, {count(self.common, 'common pair')}"
            )
        return said

    def rows(self) -> Iterator[str]:
        """Give the rows of a table: of all judges, of each, and of each two."""
        alphas = {"alpha": self.alpha, "alpha_of_kinds": self.of_kinds}
        rows = [{"judge": "", **self.everybody.facts(), **alphas}]
        rows += [{"judge": judge, **each.facts()} for judge, each in self.judges.items()]
        for one, other, same, kappa in self.twos:
            alike = {"pairs": same.of, "same": same.share, "kappa": kappa}
            rows.append({"judge": one, "other_judge": other, **alike})
        names = [*dict.fromkeys(name for row in rows for name in row)]
        yield "\t".join(names) + "\n"
        for row in rows:
            cells = (row.get(name) for name in names)
            told = (f"{x:.4f}" if isinstance(x, float) else "" if x is None else x for x in cells)
            yield "\t".join(map(str, told)) + "\n"


def conflicts(judgements: Judgements) -> Rows:
    """Find the pairs on which judges differ, and nobody has decided, int64 [found], in order."""
    return np.array([x for x in judgements.rows().tolist() if judgements.differ(x)], dtype=np.int64)


def kappa_of(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Give Cohen's kappa (1960): agreement of two judges, without that by chance.

    None without pairs, or where both always say one and the same.
    """
    ours, theirs = Counter(x for x, _ in pairs), Counter(y for _, y in pairs)
    chance = sum(ours[each] * theirs[each] for each in ours)
    if chance == len(pairs) ** 2:
        return None
    same = sum(x == y for x, y in pairs)
    return (same * len(pairs) - chance) / (len(pairs) ** 2 - chance)


def alpha_of(units: Iterable[Sequence[Hashable]]) -> float | None:
    """Give Krippendorff's alpha (2011) of nominal values: agreement of any number of judges.

    Args:
        units: of each thing that is judged what was said of it; whoever says nothing is left out.

    Returns:
        1 where all agree, 0 for chance; None without things judged twice, or of one value alone.
    """
    told = [Counter(each) for each in units if len(each) > 1]
    totals = sum(told, Counter[Hashable]())
    values = totals.total()
    expected = values**2 - sum(n**2 for n in totals.values())
    differ = ((each.total() ** 2 - sum(n**2 for n in each.values()), each.total()) for each in told)
    observed = sum(pairs / (judges - 1) for pairs, judges in differ)
    return 1 - (values - 1) * observed / expected if expected else None


def minutes_of(times: Iterable[str]) -> float:
    """Give the minutes between the times of labels, without pauses."""
    gaps = np.diff(np.array([each.rstrip("Z") for each in sorted(times)], dtype="datetime64[s]"))
    return float(gaps[gaps <= _PAUSE].sum() / np.timedelta64(60, "s")) if len(gaps) else 0.0


def report_of(opened: Opened, judgements: Judgements) -> Report:
    """Compare labels with the estimate, and with each other."""
    kept, codes = opened.kept(opened.cut), judgements.codes(given=False)
    at_random = rows_at_random(opened, codes, opened.cut)
    since = at_random[codes[at_random] <= max(CODES.values())]
    expected, interval, agreed = None, None, Share(0, 0)
    if opened.probs is not None:
        probs = opened.probs[kept].astype(np.float64)
        expected, interval = precision_of(probs[~np.isnan(probs)], opened.doubt)
        known = np.isin(codes, [CODES[ACCEPT], CODES[REJECT]]) & ~np.isnan(opened.probs)
        right = (opened.probs >= 0.5) == (codes == CODES[ACCEPT])
        agreed = Share(int((right & known).sum()), int(known.sum()))

    def of(words: dict[int, str], minutes: float, decided: int) -> OfJudge:
        own = np.zeros(len(opened), np.int8)
        own[[*words]] = [CODES[verdict_of(word)] for word in words.values()]
        kinds = Counter(word for word in words.values() if word in KINDS)
        return OfJudge(Counts.of(own), kinds, minutes, share_of(own, since), decided)

    rows = judgements.rows().tolist()
    words = {row: judgements.words(row) for row in rows}
    deciders = Counter(each[0] for row in rows if (each := judgements.decided(row)))
    told = {judge: minutes_of(times) for judge, times in sorted(judgements.times.items())}
    judges = {}
    for judge, minutes in told.items():
        own = {row: each[judge] for row, each in words.items() if judge in each}
        if own or deciders[judge]:
            judges[judge] = of(own, minutes, deciders[judge])
    clear = [{x: y for x, y in each.items() if y != UNSURE} for each in words.values()]
    twos = []
    for one, other in combinations(judges, 2):
        both = [(x[one], x[other]) for x in clear if one in x and other in x]
        both = [(verdict_of(ours), verdict_of(theirs)) for ours, theirs in both]
        if both:
            same = Share(sum(ours == theirs for ours, theirs in both), len(both))
            twos.append((one, other, same, kappa_of(both)))
    has_kinds = any(each.kinds for each in judges.values())
    return Report(
        of({row: judgements.word(row) for row in rows}, sum(told.values()), deciders.total()),
        Counts.of(judgements.codes()[kept]),
        expected,
        interval,
        agreed,
        judges,
        tuple(twos),
        alpha_of([[*map(verdict_of, each.values())] for each in clear]),
        alpha_of([[*each.values()] for each in clear]) if has_kinds else None,
        sum(len(each) > 1 for each in clear),
        len(conflicts(judgements)),
    )
