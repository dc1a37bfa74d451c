"""What `xmine mine` says of its work: what was left out, warnings, the summary."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import xmine
from xmine.cli.console import Console
from xmine.formats.losses import count
from xmine.options import MiningOptions

if TYPE_CHECKING:
    from xmine.agreement import Agreement
    from xmine.mining import Mined
    from xmine.sentences import Sentences


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave, for people and as JSON.

    Attributes:
        mined: the pairs and where they come from.
        vectors: where the vectors come from: the encoder's name, device and number type, or files.
        notes: what the output format could not hold.
        warnings: what the user should know before trusting the pairs.
        agreement: with gold pairs, if there are some.
        seconds: how long it took.
    """

    mined: "Mined"
    vectors: dict[str, object]
    notes: list[str]
    warnings: list[str]
    agreement: "Agreement | None"
    seconds: float

    def summary(self) -> str:
        """Say it in one line."""
        scored, cut = self.mined.scored, self.mined.threshold
        left, right = scored.source, scored.target
        lines = "" if left.offsets is None else f" in {left.total:,} x {right.total:,} lines"
        text = (
            f"{count(len(self.mined.pairs), 'pair')} from {len(left):,} x {len(right):,} "
            f"sentences{lines}, threshold {cut.value:.4f} ({cut.how}), "
            f"{_where(self.vectors)}{self.seconds:.1f} s"
        )
        found = self.agreement
        gold = found and (
            f"; against gold: precision {found.precision:.3f}, recall {found.recall:.3f}, "
            f"F1 {found.f1:.3f}"
        )
        return ", ".join([text, *self.notes]) + (gold or "")

    def facts(self, options: MiningOptions) -> dict[str, object]:
        """Tell everything."""
        scored = self.mined.scored
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
            "pairs": len(self.mined.pairs),
            "threshold": self.mined.threshold.value,
            "threshold_how": self.mined.threshold.how,
            **sides,
            "languages": list(self.mined.languages),
            "vectors": self.vectors,
            "clamped": scored.scores.clamped,
            "notes": self.notes,
            "warnings": self.warnings,
            "options": asdict(options),
            "seconds": round(self.seconds, 3),
            "version": xmine.__version__,
        }
        return facts if self.agreement is None else {**facts, "gold": asdict(self.agreement)}


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
    console.detail(f"{len(scored.chosen):,} candidate pairs before the threshold")


def _cut_into(side: "Sentences") -> int:
    """Count the sentences that the lines of a side were cut into."""
    return len(side) + side.repeated + side.unknown


def warnings_of(mined: "Mined", output: str | None) -> list[str]:
    """List what the user should know before trusting the pairs, and the file they go to."""
    from xmine.formats.place import language_warnings
    from xmine.pairs import copies_inside

    scored, warnings = mined.scored, list(mined.warnings)
    warnings += language_warnings(output, mined.languages) if output else []
    for side in (scored.source, scored.target):
        if side.unknown:
            unit = "line" if side.offsets is None else "sentence"
            warnings.append(
                f"{side.name}: {count(side.unknown, unit)} left out: the encoder knows no piece"
            )
    if copies := copies_inside(mined.pairs):
        copied = count(copies, "pair")
        warnings.append(f"{copied} with the same text on both sides: copied, not translated")
    if scored.scores.clamped:
        warnings.append(
            f"{scored.scores.clamped:,} ratio scores have a neighbourhood mean near zero; "
            "they are too high to trust"
        )
    return warnings


def _where(vectors: dict[str, object]) -> str:
    """Name device and number type where they make a difference."""
    if vectors.get("architecture", "static") == "static":
        return ""
    return "{architecture} on {device} in {dtype}, ".format_map(vectors)
