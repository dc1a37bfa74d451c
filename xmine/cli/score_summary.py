"""What `xmine score` says of its work: warnings, the summary."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from xmine.cli.mine_summary import counted, flag_counts, too_high, unknown_to_encoder, where
from xmine.mining.options import ScoringOptions
from xmine.units import count
from xmine.version import __version__

if TYPE_CHECKING:
    from xmine.flags.hubness import Hub
    from xmine.mining.aligned import AlignedScores


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave, for people and as JSON.

    Attributes:
        scored: the pairs, with their scores.
        pool: the two inputs with more lines to compare with, if they were given.
        vectors: where the vectors come from: the encoder's name, device and number type, or files.
        notes: what the output format could not hold.
        warnings: what the user should know before trusting the scores.
        hubs: lines that are neighbours of very many, if they were asked for.
        seconds: how long it took.
    """

    scored: "AlignedScores"
    pool: tuple[str, str] | None
    vectors: dict[str, object]
    notes: list[str]
    warnings: list[str]
    hubs: "list[Hub] | None"
    seconds: float

    @property
    def blank(self) -> int:
        """Count the pairs with a blank side."""
        pairs = self.scored.given
        return sum(not (pair.source.strip() and pair.target.strip()) for pair in pairs)

    @property
    def quartiles(self) -> list[float]:
        """Find the quartiles of the scores, lowest first; none without a score."""
        import numpy as np

        scores = self.scored.chosen.scores
        if not len(scores):
            return []
        return [round(each, 4) for each in np.quantile(scores, [0.25, 0.5, 0.75]).tolist()]

    @property
    def flags(self) -> dict[str, int]:
        """Count the pairs with each flag that was raised, in the order of FLAGS."""
        return flag_counts(self.scored.flags)

    @property
    def right(self) -> float | None:
        """Expect how many of the pairs are translations."""
        chances = self.scored.chances
        return None if chances is None else float(chances.sum())

    def summary(self) -> str:
        """Say it in a few lines."""
        from xmine.scoring.threshold import weakness_of

        lines, scored, blank = len(self.scored.given), len(self.scored.chosen), self.blank
        parts = [f"{count(lines, 'line')}: {count(scored, 'pair')} scored"]
        if blank:
            parts.append(f"{blank:,} blank")
        if unknown := lines - scored - blank:
            parts.append(f"{unknown:,} unknown to the encoder")
        parts.append(f"{where(self.vectors)}{self.seconds:.1f} s")
        said = [", ".join(parts)]
        if self.right is not None:
            said.append(f"about {self.right:,.0f} of them expected to be translations")
        said.append(weakness_of(self.scored.confidence))
        if self.quartiles:
            said.append("score quartiles {:.4f} {:.4f} {:.4f}".format(*self.quartiles))
        said.append("flags: " + (counted(self.flags) or "none"))
        if self.hubs is not None:
            said.append(count(len(self.hubs), "hub"))
        return "\n".join(filter(None, [*said, *self.notes]))

    def facts(self, options: ScoringOptions, *, plot: bool = False) -> dict[str, object]:
        """Tell everything, and with `plot` the histogram."""
        from xmine.scoring.histogram import bin_scores
        from xmine.scoring.threshold import weakness_of

        scored = self.scored
        facts: dict[str, object] = {
            "lines": len(scored.given),
            "scored": len(scored.chosen),
            "blank": self.blank,
            "unknown": len(scored.given) - len(scored.chosen) - self.blank,
            "expected_right": self.right,
            "weakness": weakness_of(scored.confidence),
            "score_quartiles": self.quartiles,
            "flags": self.flags,
            "compared_with": [len(scored.source), len(scored.target)],
            "pool": list(self.pool) if self.pool else None,
            "hubs": None if self.hubs is None else len(self.hubs),
            "languages": list(scored.languages),
            "vectors": self.vectors,
            "clamped": scored.clamped,
            "notes": self.notes,
            "warnings": self.warnings,
            "options": asdict(options),
            "seconds": round(self.seconds, 3),
            "version": __version__,
        }
        if plot:
            facts["histogram"] = bin_scores(scored.chosen.scores, scored.chances, None).facts()
        return facts


def warnings_of(scored: "AlignedScores", options: ScoringOptions, output: str | None) -> list[str]:
    """List what the user should know before trusting the scores, and the file they go to."""
    from xmine.pairs.paths import language_warnings

    warnings = list(scored.warnings)
    warnings += language_warnings(output, scored.languages) if output else []
    sides = scored.source, scored.target
    for side in sides:
        warnings += unknown_to_encoder(side)
    if min(map(len, sides)) <= options.neighborhood and options.margin != "absolute":
        warnings.append(
            f"only {len(sides[0]):,} and {len(sides[1]):,} different lines to compare pairs with; "
            "give more with --pool"
        )
    return warnings + too_high(scored.clamped)
