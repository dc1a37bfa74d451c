"""The result of aligning two texts, and the report of its figures."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.aligning.band import are_matched, matched
from xmine.aligning.lines import Alignment
from xmine.aligning.options import AligningOptions
from xmine.display import count
from xmine.mining import phrases
from xmine.mining.phrases import Figure, Report, sides_in_words
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair
from xmine.pairs.rows import PairRows
from xmine.scoring.threshold import LIKELY, UNLIKELY_LEFT_OUT
from xmine.text.languages import who_knows
from xmine.text.segmentation import join
from xmine.text.sentences import Sentences

# Mean probability below which beads are of texts without a common order, and the cut of these.
_UNCLEAR, _CUT = 0.35, 0.5
_FEW = 5  # beads that tell nothing of that
_MOST_KINDS = 6  # kinds of beads that are counted by name


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Aligned(PairRows):
    """What aligning two texts gave.

    Attributes:
        source, target: the lines, or sentences, of both sides.
        alignment: their beads, all of them.
        languages: codes of both sides, as given or guessed; `und` where that failed.
        options: of the alignment.
        flags: of each bead with text on both sides, see `xmine.pairs.pair.Pair`.
        warnings: those of reading.
        unknown: the names of sides in a language that the encoder was not made for.
        vectors: facts of the encoder.
    """

    source: Sentences
    target: Sentences
    alignment: Alignment
    languages: tuple[str, str]
    options: AligningOptions
    flags: Sequence[str] = ()
    warnings: list[str] = field(default_factory=list)
    unknown: Sequence[str] = ()
    vectors: Mapping[str, object] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Count the beads, which would fill the screen."""
        return f"<Aligned: {count(len(matched(self.alignment.beads)), 'bead')}>"

    @property
    def cut(self) -> float:
        """The lowest probability of beads that are kept."""
        return self.chosen[0]

    @property
    def chosen(self) -> tuple[float, str]:
        """The cut, and what a wanted precision made of it, for the summary."""
        probs, wanted = np.sort(self.probs)[::-1], self.options.precision
        if wanted is None or not len(probs):
            usual = _CUT if self.is_unclear else 0.0
            return usual if self.options.min_prob is None else self.options.min_prob, ""
        means = np.cumsum(probs) / np.arange(1, len(probs) + 1)
        precise, likely = int((means >= wanted).sum()), int((probs >= LIKELY).sum())
        kept = min(precise, likely)
        how = f"precision {wanted:g}{UNLIKELY_LEFT_OUT * (likely < precise)}"
        return float(probs[kept - 1]) if kept else 1.01, f" ({how})"

    @property
    def is_unclear(self) -> bool:
        """Whether the texts do not look like versions of one document."""
        return not len(self.probs) or float(self.probs.mean()) < _UNCLEAR

    @property
    def probs(self) -> NDArray[np.float64]:
        """The probabilities of the beads with lines on both sides, float64 [beads]."""
        return self.alignment.probs[are_matched(self.alignment.beads)]

    def beads(self) -> Iterator[Pair]:
        """Walk through all beads, in the order of the texts; of lines alone one side is empty."""
        flags = iter(self.flags)
        for (top, bottom, left, right), prob in zip(
            self.alignment.beads.tolist(), self.alignment.probs.tolist(), strict=True
        ):
            is_bead = top < bottom and left < right
            ours, theirs = _where(self.source, top, bottom), _where(self.target, left, right)
            yield Pair(
                join(self.source.texts[at] for at in range(top, bottom)),
                join(self.target.texts[at] for at in range(left, right)),
                prob=prob if is_bead else None,
                flags=next(flags, "") if is_bead else None,
                source_lines=ours[0],
                target_lines=theirs[0],
                source_place=ours[1],
                target_place=theirs[1],
            )

    def rows(self) -> Iterator[Pair]:
        """Walk through the beads that are kept; with `all` through all."""
        cut = self.cut
        for bead in self.beads():
            is_above = bead.prob is not None and bead.prob >= cut
            if self.options.all or (is_above and not self.dropped(bead.flags)):
                yield bead

    def dropped(self, flags: str | None) -> list[str]:
        """Name the flags for which a bead with these is left out."""
        return [name for name in self.options.drop if name in (flags or "").split(",")]

    def report(self) -> "AligningReport":
        """Report the numbers of beads, the expected precision, flags, and warnings."""
        return AligningReport(self)

    def save(self, path: str | Path) -> list[str]:
        """Write the beads to a file, see `xmine.Mined.save`; give what the format cannot hold."""
        return write_pairs(self.rows(), str(path), self.languages).notes


def _where(side: Sentences, start: int, stop: int) -> tuple[str, str | None]:
    """Name the lines of some rows, 12 or 12-13, and their place, see `Pair`."""
    if start == stop:
        return "", None
    spans = (side.lines, side.lines) if side.spans is None else side.spans.T
    first, last = int(spans[0][start]), int(spans[1][stop - 1])
    lines = str(first) if first == last else f"{first}-{last}"
    if side.places is None:
        return lines, None
    begin, end = side.places[start], side.places[stop - 1]
    times = begin.partition(" --> ")[0], end.rpartition(" --> ")[2]
    is_time = " --> " in begin and " --> " in end
    return lines, " --> ".join(times) if is_time else ", ".join(dict.fromkeys((begin, end)))


class AligningReport(Report):
    """The figures of an alignment, which is `result`."""

    result: Aligned

    @cached_property
    def kinds(self) -> dict[str, int]:
        """The number of beads of each kind, such as 1-2, the commonest first."""
        beads = matched(self.result.alignment.beads)[self.result.probs >= self.result.cut]
        every = zip(beads, self._above, strict=True)
        beads = np.array([x for x, each in every if not self.result.dropped(each.flags)])
        beads = beads.reshape(-1, 4)
        return dict(Counter(f"{b - a}-{d - c}" for a, b, c, d in beads.tolist()).most_common())

    @cached_property
    def kept(self) -> "list[Pair]":
        """The beads that are kept."""
        return [each for each in self._above if not self.result.dropped(each.flags)]

    @cached_property
    def _above(self) -> "list[Pair]":
        """The beads above the cut."""
        cut = self.result.cut
        return [each for each in self.result.beads() if each.prob is not None and each.prob >= cut]

    @property
    def precision(self) -> float | None:
        """The expected share of beads that are exactly right; None without beads."""
        return float(np.mean([each.prob for each in self.kept])) if self.kept else None

    @cached_property
    def warnings(self) -> list[str]:
        """What the user should know before trusting the beads."""
        said = list(self.result.warnings)
        for side in (self.result.source, self.result.target):
            said += phrases.unknown_to_encoder(side)
        if self.result.unknown:
            names = " and ".join(self.result.unknown)
            better = who_knows(self.result.languages)
            said.append(
                f"the encoder was not made for the language of {names}: lengths and a lexicon of "
                f"the two texts align them{better and f'; {better}'}"
            )
        if (timing := self.result.alignment.timing) and not timing.fits:
            said.append("at no shift do the times of both go together: the texts alone align them")
        if len(self.result.probs) <= _FEW:
            said.append("too few lines to tell whether these are versions of one document")
        elif self.result.is_unclear:
            said.append(
                "these do not look like two versions of one document in the same order; xmine mine "
                "--as lines finds translations in any order"
            )
        return said

    @property
    def _unit(self) -> str:
        return "lines" if self.result.source.offsets is None else "sentences"

    def head(self) -> list[str]:
        """Count beads and lines, and say where the cut is."""
        aligned = self.result
        of = f"{sides_in_words((aligned.source, aligned.target), aligned.languages)} {self._unit}"
        cut = f"probability at least {aligned.cut:.4f}{aligned.chosen[1]}" if aligned.cut else ""
        return [f"{count(len(self.kept), 'bead')} from {of}", cut]

    def figures(self) -> Iterator[Figure]:
        """Give all figures in their order."""
        aligned, precise = self.result, self.precision
        yield Figure("beads", len(self.kept))
        yield Figure("cut", aligned.cut)
        said = f"expected precision {precise or 0:.2f}, of beads that are exactly right"
        yield Figure("precision", precise, said * (precise is not None))
        shown = dict(list(self.kinds.items())[:_MOST_KINDS])
        if others := sum(self.kinds.values()) - sum(shown.values()):
            shown["others"] = others
        yield Figure("kinds", self.kinds, phrases.told("beads: ", phrases.counted(shown)))
        beads = aligned.alignment.beads
        alone = [int((beads[:, at] == beads[:, at + 1]).sum()) for at in (2, 0)]
        said = f"without counterpart: {alone[0]:,} x {alone[1]:,} {self._unit}"
        yield Figure("without_counterpart", alone, said * any(alone))
        weights = zip(("encoder", "lexicon"), aligned.alignment.weights, strict=True)
        yield Figure("weights", dict(weights))
        timing = aligned.alignment.timing
        told = (
            timing
            and timing.fits
            and "times: those of the source x {:.4f} {:+.1f} s".format(*timing)
        )
        yield Figure("times", timing and {**timing._asdict(), "fits": timing.fits}, told or "")
        dropped = phrases.flag_counts(",".join(aligned.dropped(each.flags)) for each in self._above)
        yield Figure("dropped", dropped, phrases.told("dropped: ", phrases.counted(dropped)))
        flags = phrases.flag_counts(each.flags for each in self.kept)
        yield Figure("flags", flags, phrases.told("flags: ", phrases.counted(flags)))
        for name, side in (("source", aligned.source), ("target", aligned.target)):
            sizes = {"lines": side.total, "sentences": len(side), "blank": side.blank}
            yield Figure(name, {"file": side.name, **sizes})
