"""Pairs put right by hand: the beads that stand in the place of a pair."""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from xmine.browsing.opened import Opened
from xmine.pairs.pair import Pair
from xmine.text.segmentation import join

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


@dataclass(frozen=True, slots=True)
class Repair:
    """The beads in the place of a pair, none if its lines are in others; and what was done."""

    how: str
    beads: tuple[Bead, ...]

    def text(self, side: int) -> str:
        """Give the texts of a side, 0 or 1, one under the other."""
        return "\n".join(bead.text(side) for bead in self.beads)

    def lines(self, side: int) -> str:
        """Name the lines of a side."""
        return ",".join(filter(None, (bead.lines(side) for bead in self.beads)))

    def facts(self) -> dict[str, Any]:
        """Give what the file of judgements keeps."""
        return {"how": self.how, "pairs": self.beads}

    @classmethod
    def of(cls, said: object) -> Self | None:
        """Read what the file keeps; None for no repair, or one that this is not."""
        with suppress(TypeError, ValueError, KeyError):
            how, pairs = said["how"], said["pairs"]  # type: ignore[index]
            beads = tuple(Bead(*(tuple(Unit(*unit) for unit in side) for side in b)) for b in pairs)
            texts = [each for bead in beads for side in bead for unit in side for each in unit]
            if all(isinstance(each, str) for each in (how, *texts)):
                return cls(how, beads)
        return None


def in_place_of(opened: Opened, pair: Pair, repair: Repair) -> Iterator[Pair]:
    """Give the pairs that stand in the place of one: with its figures, their first lines, no flags.

    Those of an alignment name all their lines.
    """
    flags = None if pair.flags is None else ""
    for bead in repair.beads:
        changed: dict[str, Any] = {"flags": flags, "repaired": repair.how}
        for name, units, text in zip(bead._fields, bead, map(bead.text, (0, 1)), strict=True):
            changed[name] = text
            if opened.has_beads:
                changed[f"{name}_lines"] = bead.lines(bead._fields.index(name))
            elif (at := _PLACE.match(units[0].lines)) and getattr(pair, f"{name}_line") is not None:
                line, files = int(at[1]), opened.side(name).files
                if files:
                    (changed[f"{name}_file"],), (line,) = files.places(np.array([line]))
                changed[f"{name}_line"], changed[f"{name}_offset"] = int(line), at[2] and int(at[2])
        yield pair._replace(**changed)
