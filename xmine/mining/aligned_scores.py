"""The scores of aligned lines, and the report of their figures."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from xmine.display import count
from xmine.flags.flag_set import Flags
from xmine.knn.neighbours import Neighbours
from xmine.mining import phrases
from xmine.mining.options import ScoringOptions
from xmine.mining.phrases import Figure, Report
from xmine.pairs.pair import Pair
from xmine.pairs.rows import PairRows
from xmine.scoring.histogram import Histogram, bin_scores
from xmine.scoring.margin import margin_scores
from xmine.scoring.order import wrong_blocks
from xmine.scoring.probability import NEIGHBOURS, Confidence, Floats, estimate
from xmine.scoring.retrieval import ChosenPairs, choose_pairs
from xmine.scoring.threshold import expected_of, weakness_of
from xmine.text.sentences import Sentences

_PROBABLE, _MOST_BLOCKS = 0.5, 5
# So many times more rows than expected may be on the wrong side of one half: chosen so that nine in
# ten intervals hold the true number of translations, of 220 files in fourteen languages.
_DOUBT = 4.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AlignedScores(PairRows):
    """Pairs as they were read, and a score for each that has text on both sides.

    Attributes:
        given: all pairs.
        chosen: those that have a score, as rows of `source` and `target`, best first.
        numbers: int64 [chosen], the place of each in `given`, from 0.
        copies: bool [chosen], which have the same text on both sides: neither right nor wrong.
        confidence: their probabilities; None where there are too few lines to estimate.
        flags: of each of `chosen`.
        neighbours: the nearest rows both ways.
        source, target: the distinct lines of a side, then those of its pool, without those unknown
            to the encoder.
        clamped: scores whose neighbourhood mean was near zero and was raised.
        languages: codes of source and target, as given, read or guessed; `und` where that failed.
        options: of the scoring.
        warnings: those of reading and encoding; `report().warnings` has all.
        by_margin: why the scores are margins; empty where they are log-odds.
        unknown: why nobody can know how many are right; empty where there is an estimate.
        vectors: facts of the encoder, or the names of the files of given vectors.
    """

    given: list[Pair]
    chosen: ChosenPairs
    numbers: NDArray[np.int64]
    copies: NDArray[np.bool_]
    confidence: Confidence | None
    flags: Flags
    neighbours: Neighbours
    source: Sentences
    target: Sentences
    clamped: int
    languages: tuple[str, str]
    options: ScoringOptions
    warnings: list[str]
    by_margin: str = ""
    unknown: str = ""
    vectors: Mapping[str, object] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Count the pairs, which would fill the screen."""
        return f"<AlignedScores: {count(len(self.given), 'pair')}>"

    def report(self, pool: tuple[str, str] | None = None) -> "ScoringReport":
        """Report how many pairs were scored, quartiles, flags and warnings."""
        return ScoringReport(self, pool)

    @property
    def probs(self) -> Floats | None:
        """Give the probability of each of `chosen`, float64."""
        return None if self.confidence is None else self.confidence.probs

    def rows(self) -> Iterator[Pair]:
        """Walk through all pairs in the order in which they were read.

        Their lines are those that the file names; where it names none, the number of the pair.
        """
        chosen = self.chosen
        given = chosen.scores, chosen.cosines, self.probs, chosen.margins
        columns = ([None] * len(chosen) if each is None else each.tolist() for each in given)
        rows = zip(*columns, self.flags, strict=True)
        judged = dict(zip(self.numbers.tolist(), rows, strict=True))
        unnumbered = all(pair.source_line is pair.target_line is None for pair in self.given)
        for number, pair in enumerate(self.given):
            score, cosine, prob, margin, flags = judged.get(number, (None,) * 5)
            if unnumbered:
                pair = pair._replace(source_line=number + 1, target_line=number + 1)
            yield pair._replace(score=score, cosine=cosine, prob=prob, flags=flags, margin=margin)


@dataclass(frozen=True, eq=False, repr=False)
class ScoringReport(Report):
    """The figures of scored pairs, which are `result`.

    `pool` names two inputs with more lines, if they were given.
    """

    result: AlignedScores
    pool: tuple[str, str] | None = None

    @cached_property
    def blank(self) -> int:
        """The number of pairs with a blank side."""
        pairs = self.result.given
        return sum(not (pair.source.strip() and pair.target.strip()) for pair in pairs)

    @property
    def unknown(self) -> int:
        """The number of pairs with a side that the encoder knows nothing of."""
        return len(self.result.given) - len(self.result.chosen) - self.blank

    @property
    def expected_right(self) -> float | None:
        """The expected number of translations."""
        probs = None if self.result.unknown else self.result.probs
        return None if probs is None else float(probs.sum())

    @property
    def expected_interval(self) -> list[int] | None:
        """The fewest and the most translations: the true number lies between nine times in ten."""
        if self.result.probs is None or self.result.unknown:
            return None
        probs = self.result.probs[~self.result.copies]
        right, variance = float(probs.sum()), float((probs * (1 - probs)).sum())
        share = expected_of(len(probs), right, variance, _DOUBT)[1] or (0, 0)
        return [round(each * len(probs)) for each in share]

    @cached_property
    def warnings(self) -> list[str]:
        """What the user should know before trusting the scores."""
        scored, said = self.result, list(self.result.warnings)
        sides = scored.source, scored.target
        for side in sides:
            said += phrases.unknown_to_encoder(side)
        options = scored.options
        if min(map(len, sides)) <= options.neighborhood and options.margin != "absolute":
            said.append(
                f"only {len(sides[0]):,} and {len(sides[1]):,} different lines to compare pairs "
                "with; give more with --pool"
            )
        return said + phrases.clamped_warning(scored.clamped)

    @cached_property
    def counterparts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The probable counterpart of each row of `source`, and of `target`; -1 for none."""
        near = self.result.neighbours.first(NEIGHBOURS)
        found = choose_pairs(near, margin_scores(near), "intersect")
        confidence = estimate(found, near)  # None of few lines
        probable = () if confidence is None else np.flatnonzero(confidence.probs >= _PROBABLE)
        found = found.take(np.array(probable, np.intp))
        sides = self.result.source, self.result.target
        targets, sources = (np.full(len(side), -1) for side in sides)
        targets[found.sources], sources[found.targets] = found.targets, found.sources
        return targets, sources

    @cached_property
    def blocks(self) -> list[dict[str, int]]:
        """The runs of rows that are nearly all no translations, the longest first.

        `first` and `last` count from 1, of `rows` with a score so many are `wrong`; `elsewhere`
        counts those with a side whose probable counterpart is not in the same row.
        """
        scored, probs = self.result, self.result.probs
        if probs is None or scored.unknown:
            return []
        order = np.argsort(scored.numbers)
        order = order[~scored.copies[order]]
        numbers, wrong = scored.numbers[order], probs[order] < _PROBABLE
        if not (blocks := wrong_blocks(wrong)):
            return []
        pairs, (targets, sources) = scored.chosen.take(order), self.counterparts
        target, source = targets[pairs.sources], sources[pairs.targets]  # of each row, -1 for none
        moved = (target >= 0) & (target != pairs.targets)
        moved |= (source >= 0) & (source != pairs.sources)
        blocks.sort(key=lambda block: block[0] - block[1])
        return [
            {
                "first": int(numbers[start]) + 1,
                "last": int(numbers[stop - 1]) + 1,
                "rows": stop - start,
                "wrong": int(wrong[start:stop].sum()),
                "elsewhere": int(moved[start:stop].sum()),
            }
            for start, stop in blocks
        ]

    def histogram(self, most: int = 15) -> Histogram:
        """Count the pairs in bins by score."""
        return bin_scores(self.result.chosen.scores, self.result.probs, None, most)

    def head(self) -> list[str]:
        """Count lines, pairs, and those without a score."""
        lines, scored = len(self.result.given), len(self.result.chosen)
        return [
            f"{count(lines, 'line')}: {count(scored, 'pair')} scored",
            f"{self.blank:,} blank" * bool(self.blank),
            f"{self.unknown:,} unknown to the encoder" * bool(self.unknown),
        ]

    def figures(self) -> Iterator[Figure]:
        """Give all figures in their order."""
        scored, right = self.result, self.expected_right
        yield Figure("lines", len(scored.given))
        yield Figure("scored", len(scored.chosen))
        yield Figure("blank", self.blank)
        yield Figure("unknown", self.unknown)
        said = phrases.by_margin(scored.by_margin, scored.options.rerank)
        yield Figure("reranked", not scored.by_margin, said)
        interval, copies = self.expected_interval, int(scored.copies.sum())
        them = f"the {len(scored.copies) - copies:,} that are no copies" if copies else "them"
        said = f"about {right or 0:,.0f} ({{:,}} to {{:,}}) of {them} expected to be translations"
        yield Figure("expected_right", right, said.format(*interval) if interval else "")
        yield Figure("expected_interval", interval)
        weakness = scored.unknown or weakness_of(scored.confidence)
        yield Figure("weakness", weakness, weakness)
        blocks = [
            "rows {first}-{last}: {wrong:,} of {rows:,} are no translations; the "
            "counterparts of {elsewhere:,} stand elsewhere".format_map(block)
            for block in self.blocks[:_MOST_BLOCKS]
        ]
        more = len(self.blocks) - _MOST_BLOCKS
        blocks += [f"and {more:,} more blocks"] * (more > 0)
        yield Figure("blocks", self.blocks, "\n".join(blocks))
        scores = scored.chosen.scores
        some = np.quantile(scores, [0.25, 0.5, 0.75]).tolist() if len(scores) else []
        quartiles = [round(each, 4) for each in some]
        in_words = phrases.told("score quartiles ", (f"{each:.4f}" for each in quartiles), " ")
        yield Figure("score_quartiles", quartiles, in_words)
        flags = phrases.flag_counts(scored.flags)
        yield Figure("flags", flags, "flags: " + (", ".join(phrases.counted(flags)) or "none"))
        yield Figure("compared_with", [len(scored.source), len(scored.target)])
        yield Figure("pool", list(self.pool) if self.pool else None)
        yield Figure("clamped", scored.clamped)
