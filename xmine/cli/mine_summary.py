"""What `xmine mine` says of its work: what was left out, warnings, the summary."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from xmine.cli.console import Console
from xmine.flags.names import FLAGS
from xmine.mining.options import MiningOptions
from xmine.units import count
from xmine.version import __version__

if TYPE_CHECKING:
    from xmine.mining.selection import Mined
    from xmine.scoring.gold import Agreement
    from xmine.scoring.threshold import Kept
    from xmine.text.sentences import Sentences


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave, for people and as JSON.

    Attributes:
        mined: the pairs and where they come from.
        vectors: where the vectors come from: the encoder's name, device and number type, or files.
        notes: what the output format could not hold.
        warnings: what the user should know before trusting the pairs.
        seconds: how long it took.
    """

    mined: "Mined"
    vectors: dict[str, object]
    notes: list[str]
    warnings: list[str]
    seconds: float

    def summary(self) -> str:
        """Say it in a few lines."""
        mined, notes = self.mined, self.notes
        left, right = mined.scored.source, mined.scored.target
        lines = "" if left.offsets is None else f" in {left.total:,} x {right.total:,} lines"
        said = [
            f"{count(len(mined.pairs), 'pair')} from {len(left):,} x {len(right):,} "
            f"sentences{lines}, {_cut_at(mined)}, {where(self.vectors)}{self.seconds:.1f} s",
            _search(mined),
            _expectation(mined),
            mined.threshold.weakness,
            "other cuts: --min-prob " + ", ".join(map(_cut, mined.threshold.others)),
            "flags: " + counted(self.flags),
            "dropped: " + counted(mined.dropped),
            *(
                f"against {name}: precision {found.precision:.3f}, recall {found.recall:.3f}, "
                f"F1 {found.f1:.3f}"
                for name, found in self.agreements.items()
            ),
            *notes,
        ]
        return "\n".join(each for each in said if each and not each.endswith((": ", "prob ")))

    @property
    def flags(self) -> dict[str, int]:
        """Count the pairs with each flag that was raised, in the order of FLAGS."""
        return flag_counts(self.mined.pairs.flags or [])

    @property
    def agreements(self) -> "dict[str, Agreement]":
        """Compare the pairs with those that are known."""
        from xmine.pairs.known import agreement_with_seeds, labels_of
        from xmine.scoring.gold import agreement

        pairs, found = self.mined.pairs, {}
        lines = pairs.source_lines, pairs.target_lines
        if gold := {pair[:2] for pair in self.mined.gold.pairs if pair.right}:
            mined = set(zip(*(each.tolist() for each in lines), strict=True))
            found["gold"] = agreement(mined, gold)
        if seeds := self.mined.seeds.pairs:
            found["seed pairs"] = agreement_with_seeds(seeds, labels_of(seeds, *lines))
        return found

    def facts(self, options: MiningOptions, *, plot: bool = False) -> dict[str, object]:
        """Tell everything, and with `plot` the histogram."""
        mined, scored = self.mined, self.mined.scored
        sides = {
            name: {
                "file": side.name,
                "lines": side.total,
                "sentences": len(side),
                "blank": side.blank,
                "repeated": side.repeated,
                "unknown": side.unknown,
            }
            for name, side in (("source", scored.source), ("target", scored.target))
        }
        facts: dict[str, object] = {
            "pairs": len(mined.pairs),
            "cut": mined.threshold.value,
            "cut_how": mined.threshold.how,
            "precision": mined.kept.precision,
            "precision_interval": mined.kept.interval,
            "translations": mined.threshold.translations,
            "weakness": mined.threshold.weakness,
            "other_cuts": [asdict(each) for each in mined.threshold.others],
            "flags": self.flags,
            "dropped": mined.dropped,
            **sides,
            "languages": list(mined.languages),
            "vectors": self.vectors,
            "clamped": scored.scores.clamped,
            "index": scored.neighbours.index,
            "recall": scored.neighbours.recall,
            "notes": self.notes,
            "warnings": self.warnings,
            "options": asdict(options),
            "seconds": round(self.seconds, 3),
            "version": __version__,
        }
        if plot:
            from xmine.scoring.histogram import bin_scores

            facts["histogram"] = bin_scores(*mined.curve(), name=ranked_by(mined)).facts()
        known = {name.replace(" ", "_"): asdict(each) for name, each in self.agreements.items()}
        return facts | known


def ranked_by(mined: "Mined") -> str:
    """Name what the pairs are ordered and cut by: `prob`, or `score` where nothing is estimated."""
    return "score" if mined.confidence is None else "prob"


def flag_counts(flags: Iterable[str | None]) -> dict[str, int]:
    """Count the pairs with each flag that was raised, in the order of FLAGS."""
    raised = Counter(name for each in flags for name in (each or "").split(","))
    return {name: raised[name] for name in FLAGS if raised[name]}


def _search(mined: "Mined") -> str:
    """Say how neighbours were found if that was not by looking at all of them."""
    found = mined.scored.neighbours
    if found.recall is None:
        return ""
    return f"neighbours by {found.index}: {found.recall:.3f} of the nearest found"


def _cut_at(mined: "Mined") -> str:
    """Say where the cut is, and how it was found."""
    cut, wanted = mined.threshold, mined.options.threshold
    if mined.confidence is None:
        return f"score at least {cut.value:.4f} ({cut.how})"
    if isinstance(wanted, float) and cut.value == 0:
        return f"score at least {wanted:.4f} (given)"
    return f"probability at least {cut.value:.4f} ({cut.how})"


def _expectation(mined: "Mined") -> str:
    """Say how precise the pairs are expected to be."""
    kept, translations = mined.kept, mined.threshold.translations
    said = []
    if kept.precision is not None and kept.interval is not None:
        low, high = kept.interval
        said.append(f"expected precision {kept.precision:.2f} ({low:.2f} to {high:.2f})")
    if translations is not None and translations >= 1:
        said.append(f"about {count(round(translations), 'translation')} in the files")
    return ", ".join(said)


def _cut(kept: "Kept") -> str:
    precise = "" if kept.precision is None else f" ({kept.precision:.2f})"
    return f"{kept.cut:g} keeps {kept.pairs:,}{precise}"


def counted(numbers: dict[str, int]) -> str:
    """Name numbers."""
    return ", ".join(f"{name} {number:,}" for name, number in numbers.items())


def explain(console: Console, mined: "Mined") -> None:
    """Tell what was left out, and why."""
    scored = mined.scored
    for side in (scored.source, scored.target):
        cut = "" if side.offsets is None else f", {_cut_into(side):,} sentences"
        console.detail(
            f"{side.name}: {side.total:,} lines, {side.blank:,} blank{cut}, "
            f"{side.repeated:,} repeated"
        )
    console.detail(f"languages: {mined.languages[0]} and {mined.languages[1]}")
    console.detail(f"{len(scored.chosen):,} candidate pairs before the cut")


def _cut_into(side: "Sentences") -> int:
    """Count the sentences that the lines of a side were cut into."""
    return len(side) + side.repeated + side.unknown


def warnings_of(mined: "Mined", options: MiningOptions, output: str | None) -> list[str]:
    """List what the user should know before trusting the pairs, and the file they go to."""
    from xmine.pairs.paths import language_warnings

    scored, warnings = mined.scored, list(mined.warnings)
    warnings += language_warnings(output, mined.languages) if output else []
    for side in (scored.source, scored.target):
        warnings += unknown_to_encoder(side)
    wanted = options.threshold
    if isinstance(wanted, float) and 0 < wanted <= 1 and (scored.chosen.scores >= wanted).all():
        warnings.append(
            f"--threshold {wanted:g} is the lowest score, and no pair has a lower one; "
            f"a probability is --min-prob {wanted:g}"
        )
    recall = scored.neighbours.recall
    if recall is not None and recall < options.recall:
        warnings.append(
            f"the index found {recall:.3f} of the nearest neighbours, --recall is "
            f"{options.recall:g}: give a higher one, or --index exact"
        )
    return warnings + too_high(scored.scores.clamped)


def unknown_to_encoder(side: "Sentences") -> list[str]:
    """Warn of what was left out of a side, and name some lines; nothing if all is in."""
    if not side.unknown:
        return []
    unit = "line" if side.offsets is None else "sentence"
    more = ", ..." * (side.unknown > len(side.unknown_lines))
    lines = "line" + "s" * (side.unknown > 1) + " " + ", ".join(map(str, side.unknown_lines))
    return [
        f"{side.name}: {count(side.unknown, unit)} left out: the encoder knows nothing of {lines}"
        + more
    ]


def too_high(clamped: int) -> list[str]:
    """Warn of ratios whose denominator is next to nothing."""
    if not clamped:
        return []
    return [
        f"{count(clamped, 'score')} too high to trust: a sentence with no neighbour at all makes "
        "any ratio large; --margin distance makes none"
    ]


def where(vectors: dict[str, object]) -> str:
    """Name device and number type where they make a difference."""
    if vectors.get("architecture", "static") == "static":
        return ""
    return "{architecture} on {device} in {dtype}, ".format_map(vectors)
