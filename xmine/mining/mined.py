"""The result of mining, and the report of its figures."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.display import count
from xmine.flags.flag_set import Flags
from xmine.knn.recall import RECALL
from xmine.mining import phrases
from xmine.mining.candidates import Candidates
from xmine.mining.options import MiningOptions
from xmine.mining.phrases import Figure, Report, sides_in_words
from xmine.pairs.changes import told as told_changes
from xmine.pairs.io import Pairs, write_pairs
from xmine.pairs.known import LabelledPairs, agreement_with_seeds, labels_of
from xmine.pairs.pair import Pair
from xmine.pairs.paths import refuse_turned
from xmine.pairs.rows import PairRows
from xmine.scoring.gold import Agreement, agreement
from xmine.scoring.histogram import Histogram, bin_scores
from xmine.scoring.probability import Confidence, Floats
from xmine.scoring.threshold import Kept, Threshold

# Recall is measured on 2,000 rows, in which a share of .98 has a standard deviation of .003.
_BY_CHANCE = 0.005
# So many pairs rise together in documents, .89 to 1 of them; of shuffled text .04 to .08. By chance
# 50 pairs have a chain of about 12.
_FEWEST, _RISING = 50, 0.9


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mined(PairRows):
    """What mining two files gave.

    Attributes:
        pairs: those at or above the cut that were not dropped for another reason.
        kept: their number and expected precision.
        threshold: the cut, how it was found, and the pairs that it and its neighbours keep.
        candidates: all candidates, the most probable first, equal ones by score.
        flags: of each of `candidates.chosen`.
        confidence: the probability of each of `candidates.chosen`; None if there were too few.
        eligible: int64, rows of `candidates.chosen` that may be kept, wherever the threshold is.
        kept_rows: int64, rows of `candidates.chosen` that are kept, in their order.
        refused: bool [candidates] for each reason that drops candidates.
        dropped: the number of pairs that each reason dropped; an option drops those above the cut.
        options: of the run.
        seeds, gold: pairs that are known, by the lines that stand for repeated ones.
        warnings: those of reading and encoding; `report().warnings` has all.
        languages: codes of source and target, as given or guessed; `und` where that failed.
        by_margin: why candidates are ranked by the margin; empty where tokens rank them.
        vectors: facts of the encoder, or the names of the files of given vectors.
        changes: how many pairs are new, gone and changed in a run that was mined before.
        rising: the share of the pairs that rise together, see `xmine.scoring.order.rising_share`.
    """

    pairs: Pairs
    kept: Kept
    threshold: Threshold
    candidates: Candidates
    flags: Flags
    confidence: Confidence | None
    eligible: NDArray[np.intp]
    kept_rows: NDArray[np.intp]
    refused: Mapping[str, NDArray[np.bool_]]
    dropped: dict[str, int]
    options: MiningOptions
    seeds: LabelledPairs
    gold: LabelledPairs
    warnings: list[str]
    languages: tuple[str, str]
    by_margin: str = ""
    vectors: Mapping[str, object] = field(default_factory=dict)
    rising: float = 0.0
    changes: dict[str, int] | None = None

    def __repr__(self) -> str:
        """Count the pairs, which would fill the screen."""
        return f"<Mined: {count(len(self.pairs), 'pair')}>"

    def rows(self) -> Iterator[Pair]:
        """Walk through the pairs."""
        return self.pairs.rows()

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.pairs)

    def report(self) -> "MiningReport":
        """Report precision, flags, agreement with gold pairs, and warnings."""
        return MiningReport(self)

    def save(self, path: str | Path) -> list[str]:
        """Write the pairs to a file; the suffix decides the format, see docs/reference/files.md.

        Returns:
            what the format could not hold.

        Raises:
            OptionError: no format has that suffix, or the names of a Moses pair say the languages
                the other way round.
            FileError: the file cannot be written.
        """
        refuse_turned(str(path), self.languages)
        return write_pairs(self.pairs.rows(), str(path), self.languages).notes

    def curve(self) -> tuple[NDArray[np.floating], Floats | None, float]:
        """Give the ranks of the eligible pairs, their probabilities, and the cut, for a picture."""
        probs = None if self.confidence is None else self.confidence.probs[self.eligible]
        scores = self.candidates.chosen.scores[self.eligible]
        return scores if probs is None else probs, probs, self.threshold.value


class MiningReport(Report):
    """The figures of mining; `result` is what was mined."""

    result: Mined

    @property
    def flags(self) -> dict[str, int]:
        """The number of pairs with each flag that was raised, in the order of FLAGS."""
        pairs = self.result.pairs
        counts = phrases.flag_counts(pairs.flags or [])
        counts["partial"] = counts.get("partial", 0) - len(pairs.merged or ())
        return {name: number for name, number in counts.items() if number}

    @cached_property
    def agreements(self) -> dict[str, Agreement]:
        """Precision, recall and F1 against gold pairs and seed pairs, where these are given."""
        pairs, found = self.result.pairs, {}
        sides = (
            (self.result.candidates.source.files, pairs.source_files, pairs.source_lines),
            (self.result.candidates.target.files, pairs.target_files, pairs.target_lines),
        )
        # Known pairs are counted over all files.
        lines = [each.counted(names or (), some) if each else some for each, names, some in sides]
        if gold := {pair[:2] for pair in self.result.gold.pairs if pair.right}:
            mined = set(zip(*(each.tolist() for each in lines), strict=True))
            found["gold"] = agreement(mined, gold)
        if seeds := self.result.seeds.pairs:
            found["seed pairs"] = agreement_with_seeds(seeds, labels_of(seeds, *lines))
        return found

    @cached_property
    def warnings(self) -> list[str]:
        """What the user should know before trusting the pairs."""
        candidates, options = self.result.candidates, self.result.options
        said = list(self.result.warnings)
        for side in (candidates.source, candidates.target):
            said += phrases.unknown_to_encoder(side)
        wanted, scores = options.threshold, candidates.chosen.scores
        if isinstance(wanted, float) and 0 < wanted <= 1 and (scores >= wanted).all():
            said.append(
                f"--threshold {wanted:g} is the lowest score, and no pair has a lower one; "
                f"a probability is --min-prob {wanted:g}"
            )
        recall = candidates.neighbours.recall
        if recall is not None and recall < RECALL - _BY_CHANCE:
            said.append(
                f"the index found {recall:.3f} of the nearest neighbours, below {RECALL:g}: "
                "--index exact finds all"
            )
        return said + phrases.clamped_warning(candidates.scores.clamped)

    def histogram(self, most: int = 15) -> Histogram:
        """Count the pairs in bins by probability, or by score where nothing is estimated."""
        name = "score" if self.result.confidence is None else "prob"
        return bin_scores(*self.result.curve(), most, name)

    def head(self) -> list[str]:
        """Count pairs and sentences, and say where the threshold is."""
        mined, sides = self.result, (self.result.candidates.source, self.result.candidates.target)
        left, right = sides
        of_lines = "" if left.offsets is None else f" in {left.total:,} x {right.total:,} lines"
        of = f"{sides_in_words(sides, mined.languages)} sentences{of_lines}"
        return [f"{count(len(mined.pairs), 'pair')} from {of}", _threshold(mined)]

    def figures(self) -> Iterator[Figure]:
        """Give all figures in their order."""
        mined, candidates, cut = self.result, self.result.candidates, self.result.threshold
        found = candidates.neighbours
        yield Figure("pairs", len(mined.pairs))
        yield Figure("index", found.index)
        of_index = f"neighbours by {found.index}: {found.recall or 0:.3f} of the nearest found"
        yield Figure("recall", found.recall, of_index * (found.recall is not None))
        is_by_tokens = candidates.weights is not None
        yield Figure(
            "reranked", is_by_tokens, phrases.by_margin(mined.by_margin, mined.options.rerank)
        )
        yield Figure("", None, "" if mined.changes is None else told_changes(mined.changes))
        yield Figure("cut", cut.value)
        yield Figure("cut_how", cut.how)
        yield Figure("precision", mined.kept.precision, _expectation(mined))
        yield Figure("precision_interval", mined.kept.interval)
        yield Figure("doubt", None if mined.confidence is None else mined.confidence.doubt)
        yield Figure("translations", cut.translations)
        yield Figure("weakness", cut.weakness, cut.weakness)
        yield Figure("rising", round(mined.rising, 4), _order(mined))
        others = phrases.told("other cuts: --min-prob ", map(_cut, cut.others))
        yield Figure("other_cuts", [asdict(each) for each in cut.others], others)
        yield Figure("flags", self.flags, phrases.told("flags: ", phrases.counted(self.flags)))
        yield Figure(
            "dropped", mined.dropped, phrases.told("dropped: ", phrases.counted(mined.dropped))
        )
        merged = len(mined.pairs.merged or ())
        said = f"merged with a line beside: {count(merged, 'pair')}"
        yield Figure("merged", merged, said * (mined.pairs.merged is not None))
        for name, each in self.agreements.items():
            said = f"precision {each.precision:.3f}, recall {each.recall:.3f}, F1 {each.f1:.3f}"
            yield Figure(name.replace(" ", "_"), asdict(each), f"against {name}: {said}")
        for name, side in (("source", candidates.source), ("target", candidates.target)):
            facts = {"file": side.name, "lines": side.total, "sentences": len(side)}
            numbers = {"blank": side.blank, "repeated": side.repeated, "unknown": side.unknown}
            yield Figure(name, facts | numbers)
        yield Figure("clamped", candidates.scores.clamped)


def _threshold(mined: Mined) -> str:
    """Say where the threshold is, and how it was found."""
    cut, wanted = mined.threshold, mined.options.threshold
    if mined.confidence is None:
        return f"score at least {cut.value:.4f} ({cut.how})"
    if isinstance(wanted, float) and cut.value == 0:
        return f"score at least {wanted:.4f} (given)"
    return f"probability at least {cut.value:.4f} ({cut.how})"


def _expectation(mined: Mined) -> str:
    """Say how precise the pairs are expected to be."""
    kept, translations = mined.kept, mined.threshold.translations
    said = []
    if kept.precision is not None and kept.interval is not None:
        low, high = kept.interval
        said.append(f"expected precision {kept.precision:.2f} ({low:.2f} to {high:.2f})")
    if translations is not None and translations >= 1:
        said.append(f"about {count(round(translations), 'translation')} in the files")
    return ", ".join(said)


def _order(mined: Mined) -> str:
    if len(mined.pairs) < _FEWEST or mined.rising < _RISING:
        return ""
    return (
        f"{100 * mined.rising:.0f} % of the pairs rise together in both files, as in two versions "
        "of one text: `xmine align SOURCE TARGET` also pairs lines that are merged or split"
    )


def _cut(kept: Kept) -> str:
    precise = "" if kept.precision is None else f" ({kept.precision:.2f})"
    return f"{kept.cut:g} keeps {kept.pairs:,}{precise}"
