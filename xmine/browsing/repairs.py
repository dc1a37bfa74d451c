"""Pairs put right by hand: the beads that stand in the place of a pair."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from xmine.browsing.opened import FIGURES, Opened, TextColumn, TextSide
from xmine.pairs.pair import Pair
from xmine.text.segmentation import join

if TYPE_CHECKING:
    import polars as pl

    from xmine.browsing.word_alignment import Aligner

_AROUND = 200  # pairs that tell what is usual, and which texts come again
_PLACE = re.compile(r"(\d+)(?:\+(\d+))?")


class Unit(NamedTuple):
    """A line, or lines that cannot be told apart: their numbers as `figures_of` has them."""

    lines: str
    text: str


class Bead(NamedTuple):
    """The lines of both sides that belong together; a side may have none."""

    source: tuple[Unit, ...]
    target: tuple[Unit, ...]

    def text(self, side: int) -> str:
        """Put the lines of a side together, 0 or 1; one line stays as it is."""
        units = self[side]
        return units[0].text if len(units) == 1 else join(unit.text for unit in units)

    def lines(self, side: int) -> str:
        """Name the lines of a side: 12, or 12-14; empty for none."""
        names = [unit.lines for unit in self[side]]
        first, last = (names[0].split("-")[0], names[-1].split("-")[-1]) if names else ("", "")
        return first if first == last else f"{first}-{last}"

    def cut(self, side: int, start: int, stop: int) -> tuple[Unit, ...]:
        """Keep the characters of a side from one to before another; whole lines stay whole."""
        kept = []
        for unit, (begin, end) in zip(self[side], self.places(side), strict=True):
            if start <= begin and end <= stop:
                kept.append(unit)
            elif begin < stop and start < end:
                text = self.text(side)[max(start, begin) : min(stop, end)].strip()
                kept += [Unit(unit.lines, text)] if text else []
        return tuple(kept)

    def places(self, side: int) -> list[tuple[int, int]]:
        """Tell where each line begins and ends in the text of a side."""
        units = self[side]
        if len(units) == 1:
            return [(0, len(units[0].text))]
        ends = [len(join(unit.text for unit in units[: n + 1])) for n in range(len(units))]
        return [(end - len(unit.text.strip()), end) for end, unit in zip(ends, units, strict=True)]

    def without(self, units: Collection[Unit]) -> "Bead":
        """Leave some lines out."""
        return Bead(*(tuple(unit for unit in side if unit not in units) for side in self))

    def with_side(self, side: int, units: Sequence[Unit]) -> "Bead":
        """Give the bead another side."""
        return self._replace(**{self._fields[side]: tuple(units)})


class Figures(NamedTuple):
    """What is known anew of a bead: its flags, and the cosine where an encoder has told it."""

    flags: str = ""
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Repair:
    """The beads in the place of a pair, none if its lines are in others; and what was done.

    Attributes:
        how: what was done, with commas between.
        beads: in order.
        figures: of each bead; perhaps of none.
    """

    how: str
    beads: tuple[Bead, ...]
    figures: tuple[Figures, ...] = ()

    @property
    def parts(self) -> "list[Repair]":
        """Give each bead alone, with its figures."""
        figures = self.figures or (Figures(),) * len(self.beads)
        each = zip(self.beads, figures, strict=True)
        return [Repair(self.how, (bead,), (its,)) for bead, its in each]

    @property
    def is_pair(self) -> bool:
        """Whether a bead has text on both sides."""
        return any(all(bead) for bead in self.beads)

    @property
    def flags(self) -> str:
        """Name the flags of all beads, with commas between."""
        return ",".join(dict.fromkeys(filter(None, (each.flags for each in self.figures))))

    @property
    def cosine(self) -> float | None:
        """The highest cosine of a bead; None where none is known."""
        return max((each.cosine for each in self.figures if each.cosine is not None), default=None)

    def text(self, side: int) -> str:
        """Give the texts of a side, 0 or 1, one under the other."""
        return "\n".join(bead.text(side) for bead in self.beads)

    def lines(self, side: int) -> str:
        """Name the lines of a side."""
        return ",".join(filter(None, (bead.lines(side) for bead in self.beads)))

    def facts(self) -> dict[str, Any]:
        """Give what the file of judgements keeps."""
        return {"how": self.how, "pairs": self.beads, "figures": self.figures}

    @classmethod
    def of(cls, said: object) -> Self | None:
        """Read what the file keeps; None for no repair, or one that this is not."""
        with suppress(TypeError, ValueError, KeyError, AttributeError):
            how, pairs = said["how"], said["pairs"]  # type: ignore[index]
            beads = tuple(Bead(*(tuple(Unit(*unit) for unit in side) for side in b)) for b in pairs)
            texts = [each for bead in beads for side in bead for unit in side for each in unit]
            told = [Figures(*each) for each in said.get("figures", ())]  # type: ignore[attr-defined]
            figures = tuple(Figures(f, None if c is None else float(c)) for f, c in told)
            texts += [each.flags for each in figures]
            if all(isinstance(each, str) for each in (how, *texts)):
                return cls(how, beads, figures if len(figures) == len(beads) else ())
        return None


def in_place_of(opened: Opened, pair: Pair, repair: Repair) -> Iterator[Pair]:
    """Give the pairs that stand in the place of one: with first lines, and what is known anew.

    Those of an alignment name all their lines.
    """
    known = None if pair.flags is None else ""
    changed: dict[str, Any] = dict.fromkeys(FIGURES) | {"repaired": repair.how}
    for part in repair.parts:
        (bead,), ((flags, changed["cosine"]),) = part.beads, part.figures
        changed["flags"] = flags or known
        for name, units, text in zip(bead._fields, bead, map(bead.text, (0, 1)), strict=True):
            changed[name], first = text, units[0].lines if units else ""
            if opened.has_beads:
                changed[f"{name}_lines"] = bead.lines(bead._fields.index(name))
            elif (at := _PLACE.match(first)) and getattr(pair, f"{name}_line") is not None:
                line, files = int(at[1]), opened.side(name).files
                if files:
                    (changed[f"{name}_file"],), (line,) = files.places(np.array([line]))
                changed[f"{name}_line"], changed[f"{name}_offset"] = int(line), at[2] and int(at[2])
        yield pair._replace(**changed)


def standing(opened: Opened, repairs: Mapping[int, Repair]) -> Opened:
    """Give the pairs as they stand: with texts, lines, flags and figures of the repairs of rows.

    A row of several beads has the texts of all, one under the other.
    """
    if not repairs:
        return opened
    import polars as pl

    rows, told = np.array([*repairs]), [*repairs.values()]

    def anew(column: "pl.Series", values: Sequence[object]) -> "pl.Series":
        return column.clone().scatter(rows, pl.Series(values, dtype=column.dtype))

    def side_of(at: int) -> TextSide:
        _, side, own = opened.sides[at]
        lines, lasts = side.lines[own], side.lasts
        lasts = lines.copy() if lasts is None else lasts[own]
        for row, each in repairs.items():
            numbers = re.findall(r"(\d+)(?:\+\d+)?", each.lines(at)) or [lines[row], lines[row] - 1]
            lines[row], lasts[row] = int(numbers[0]), int(numbers[-1])
        return replace(
            side,
            texts=TextColumn(anew(side.texts.column[own], [each.text(at) for each in told])),
            lines=lines,
            offsets=None if side.offsets is None else side.offsets[own],
            lasts=None if side.lasts is None else lasts,
            columns={name: column.take(own) for name, column in side.columns.items()},
        )

    changed: dict[str, Sequence[object]] = dict.fromkeys(FIGURES, [None] * len(rows)) | {
        "cosine": [each.cosine for each in told],
        "flags": [each.flags for each in told],
        "eligible": [each.is_pair for each in told],
    }
    every = pl.int_range(len(opened), dtype=pl.Int64, eager=True)
    is_repaired = np.isin(every.to_numpy(), rows)
    frame = opened.frame.with_columns(
        *(anew(opened.frame[name], values).alias(name) for name, values in changed.items()),
        source=every,
        target=every,
        repaired=is_repaired,
    )
    return replace(opened, source=side_of(0), target=side_of(1), frame=frame)


def figures_anew(
    opened: Opened, beads: Sequence[Bead], rows: Collection[int], aligner: "Aligner | None"
) -> tuple[Figures, ...]:
    """Flag beads in the place of rows as `xmine align` and `xmine mine` do; tell cosines.

    The beads around, or else the best pairs, tell what is usual. `hub` and `high` are not told:
    these come from a search of all lines.

    Args:
        opened: the pairs.
        beads: those to look at; of one without text on a side nothing is told.
        rows: that are repaired: their texts count no more.
        aligner: where given, it tells cosines and `partial`.

    Raises:
        XmineError: the encoder cannot be loaded.
    """
    from xmine.aligning.pipeline import flags_of

    if not beads:
        return ()
    kept = np.setdiff1d(np.flatnonzero(opened.kept(opened.cut)), [*rows])
    near = np.abs(kept - min(rows, default=0)) if opened.has_beads else kept
    most = _AROUND if aligner is None or aligner.is_fast else 0
    whole = [bead for bead in beads if all(bead)]
    pairs = [Pair(bead.text(0), bead.text(1), prob=0.0) for bead in whole]
    pairs += opened.pairs(kept[np.argsort(near, kind="stable")[:most]])
    pairs = [each for each in pairs if each.source.strip() and each.target.strip()]
    loose, cosines = None, list[float | None]([None] * len(whole))
    if aligner and whole:
        loose, cosines[:] = aligner.figures(pairs, len(whole))
    flags = flags_of(pairs, opened.languages, loose)[: len(whole)]
    told = [*map(Figures, flags, cosines)]
    return tuple(told.pop(0) if all(bead) else Figures() for bead in beads)
