"""What all judges say: how often they agree, with each other and the estimate, and what each did.

No package that judging needs has Krippendorff's alpha: the tests compare it with what he printed.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import combinations
from shlex import quote
from typing import Any, NamedTuple

import numpy as np

from xmine.browsing.opened import Opened
from xmine.display import count
from xmine.judging.counts import CODES, GIVEN, Counts, Share
from xmine.judging.judgements import Judgements
from xmine.judging.samples import expected_precision, judged_at_random
from xmine.pairs.judgements import KINDS, UNSURE, verdict_of


class Work(NamedTuple):
    """What a judge has done, or all of them together.

    Attributes:
        counts, kinds: of the labels (of all together, of those that stand), and of kinds of reject.
        right: share of the pairs that were judged at random, see `judged_at_random`.
        decided: pairs that were adjudicated.
    """

    counts: Counts
    kinds: Counter[str]
    right: Share
    decided: int

    def facts(self) -> dict[str, Any]:
        """List the figures in a row."""
        counts, (low, high) = self.counts, self.right.interval or (None, None)
        said = {"accepted": counts.accept, "rejected": counts.reject, "unsure": counts.unsure}
        said |= {kind: self.kinds[kind] for kind in KINDS} | {"decided": self.decided}
        right = {"precision": self.right.share, "low": low, "high": high}
        return {"judged": counts.judged, **said, **right}

    def __str__(self) -> str:
        """Write them."""
        said = [count(self.counts.judged, "pair")]
        said += [self.reasons] if self.kinds else []
        said += [f"right {self.right}"] if self.right.of else []
        return "; ".join([*said, *[f"{self.decided:,} decided"][: self.decided]])

    @property
    def reasons(self) -> str:
        """Write the kinds."""
        return ", ".join(f"{self.kinds[kind]:,} {kind}" for kind in KINDS if self.kinds[kind])


class Report:
    """All labels, compared with the estimate and with each other.

    Agreement is that on pairs that each accepts or rejects: who is unsure says neither.

    Attributes:
        everybody, of_kept: the labels that stand, and those on kept pairs.
        expected, interval: precision by the estimate of all kept pairs; None without one.
        judges: what each has done.
        twos: of each two the names, and the share of common pairs on which they agree.
        alpha, common: `alpha_of` all, and the number of pairs that more than one judge calls.
        open: pairs on which judges differ, and nobody has decided.
    """

    def __init__(self, opened: Opened, judgements: Judgements) -> None:
        """Compare all that stands."""
        codes, rows = judgements.codes(given=False), judgements.rows().tolist()
        at_random = judged_at_random(opened, codes, opened.cut)
        at_random = at_random[codes[at_random] != GIVEN]
        self.path = opened.path
        self.expected, self.interval = expected_precision(opened, opened.cut)
        names = sorted(judgements.times)
        decided = Counter(each.judge for row in rows if (each := judgements.decided(row)))

        def work(words: list[str], decided: int) -> Work:
            own = np.zeros(len(opened), np.int8)
            own[rows] = [CODES[verdict_of(word)] for word in words]
            kinds = Counter(word for word in words if word in KINDS)
            return Work(Counts.of(own), kinds, Counts.of(own[at_random]).right, decided)

        said = [judgements.words(row) for row in rows]
        judges = {
            judge: work([each.get(judge, "") for each in said], decided[judge]) for judge in names
        }
        self.judges = {x: each for x, each in judges.items() if each.counts.judged or each.decided}
        stands = [judgements.word(row) for row in rows]
        self.everybody = work(stands, decided.total())
        self.of_kept = Counts.of(judgements.codes()[opened.kept(opened.cut)])
        clear = [{x: verdict_of(y) for x, y in z.items() if y != UNSURE} for z in said]
        self.twos: list[tuple[str, str, Share]] = []
        for one, other in combinations(names, 2):
            both = [(x[one], x[other]) for x in clear if one in x and other in x]
            same = Share(sum(ours == theirs for ours, theirs in both), len(both))
            self.twos += [(one, other, same)] if both else []
        self.alpha = alpha_of([[*each.values()] for each in clear])
        self.common, self.open = sum(len(x) > 1 for x in clear), len(conflicts(judgements))

    def lines(self) -> dict[str, str]:
        """Write it, by what each line is of."""
        counts, kept, reasons = self.everybody.counts, self.of_kept, self.everybody.reasons
        command = f"xmine pairs judge {quote(str(self.path))}"
        few = f"too few are judged at random: {command} --sample 50"
        said = {
            "judged": f"{counts.judged:,}, {kept.judged:,} of {kept.pairs:,} kept pairs",
            "accepted": f"{counts.accept:,}",
            "rejected": f"{counts.reject:,}" + (f": {reasons}" if reasons else ""),
            "unsure": f"{counts.unsure:,}",
            "precision, judged": str(self.everybody.right) if self.everybody.right.of else few,
        }
        if self.expected is not None and self.interval is not None:
            low, high = self.interval
            said["precision, expected"] = f"{self.expected:.2f} ({low:.2f} to {high:.2f})"
        for judge, work in self.judges.items() if len(self.judges) > 1 else ():
            said[judge] = str(work)
        for one, other, same in self.twos:
            said[f"{one}, {other}"] = str(same)
        if self.alpha is not None:
            said["all judges"] = f"alpha {self.alpha:.2f}, {count(self.common, 'common pair')}"
        said |= {"judges differ": f"{self.open:,}: {command} --conflicts"} if self.open else {}
        return said

    def facts(self) -> dict[str, Any]:
        """List the figures for JSON."""
        names = ("judge", "other_judge", "judged", "same")
        twos = [(one, other, same.of, same.share) for one, other, same in self.twos]
        return {
            **self.everybody.facts(),
            "kept": self.of_kept.pairs,
            "kept_judged": self.of_kept.judged,
            "precision_judged": self.everybody.right.facts(),
            "precision_expected": self.expected,
            "precision_expected_interval": self.interval,
            "alpha": self.alpha,
            "conflicts": self.open,
            "judges": [{"judge": judge, **each.facts()} for judge, each in self.judges.items()],
            "agreement": [dict(zip(names, each, strict=True)) for each in twos],
        }

    def rows(self) -> Iterator[str]:
        """Give the rows of a table: of all judges, of each, and of each two."""
        facts, everybody = self.facts(), {"judge": "", **self.everybody.facts()}
        rows = [{**everybody, "alpha": self.alpha}, *facts["judges"], *facts["agreement"]]
        names = [*dict.fromkeys(name for row in rows for name in row)]
        yield "\t".join(names) + "\n"
        for row in rows:
            cells = [row.get(name) for name in names]
            told = (
                f"{x:.4f}" if isinstance(x, float) else "" if x is None else f"{x}" for x in cells
            )
            yield "\t".join(told) + "\n"


def conflicts(judgements: Judgements) -> list[int]:
    """List the pairs on which judges differ, and nobody has decided, in the order of the pairs."""
    return [row for row in judgements.rows().tolist() if judgements.differ(row)]


def alpha_of(units: Iterable[Sequence[Hashable]]) -> float | None:
    """Give Krippendorff's alpha (2011) of nominal values: agreement of any number of judges.

    Args:
        units: of each thing that is judged what was said of it; whoever says nothing is left out.

    Returns:
        1 where all agree, 0 for chance; None without things judged twice, or of one value alone.
    """
    told = [Counter(each) for each in units if len(each) > 1]
    totals = sum(told, Counter[Hashable]())
    expected = totals.total() ** 2 - sum(n**2 for n in totals.values())
    differ = ((each.total(), sum(n**2 for n in each.values())) for each in told)
    observed = sum((judges**2 - same) / (judges - 1) for judges, same in differ)
    return 1 - (totals.total() - 1) * observed / expected if expected else None
