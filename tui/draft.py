"""A pair or an alignment that is being repaired: lines are moved, beads merged and split.

In an alignment a line that a bead gains is one that its neighbour loses, so each line stays, once
and in order; in a run or a file of pairs the neighbour is any line of the text before or after.
"""

import re
from collections.abc import Callable, Sequence
from itertools import groupby, zip_longest
from operator import itemgetter
from typing import NamedTuple

from xmine.browsing.details import lines_around
from xmine.browsing.opened import Opened, TextSide
from xmine.browsing.repairs import Bead, Repair, Unit
from xmine.browsing.word_alignment import Aligner
from xmine.encoders.spans import Span
from xmine.errors import OptionError, XmineError
from xmine.run.folder import RUN_FILE
from xmine.run.run_file import read_tables
from xmine.text.inputs import input_of_run, text_input
from xmine.text.segmentation import UNSPACED, join, segment
from xmine.text.sentences import read_sentences

# Where a text may be cut: before a word, and before any character of a script without spaces.
_WORD = re.compile(rf"(?<=\s)\S|[{UNSPACED}]")
Mended = Callable[[int], Repair | None]  # tells what stands in the place of a row
Beads = tuple[tuple[int, Bead], ...]  # in order, each with the row that it stands for
_LOOSE = " \t\n,;:，；：、-–—"  # what a text that was trimmed does not begin or end with


_LEAST = 4  # a trimmed text has at least a fourth of what it was
_BESIDE = -1  # stands for no row: lines around a pair
_LINES = 8  # before and after a pair


def _unit(side: TextSide, row: int) -> Unit:
    line, offset = side.place(row)
    return Unit(f"{line}" if offset is None else f"{line}+{offset}", side.texts[row])


def _lines_of(opened: Opened, name: str) -> Sequence[tuple[Unit, ...]]:
    side = opened.side(name)
    texts = side.texts[:]
    whole = [(Unit(side.numbers(row), text),) if text else () for row, text in enumerate(texts)]
    try:
        tables = read_tables(opened.path / RUN_FILE)
        known, options = tables["texts"], tables["options"]
        file = input_of_run(known[name], opened.path, known[f"{name}_digest"])
        code = options["src_lang" if name == "source" else "tgt_lang"]
        given = text_input(file, join=options["join"])
        read = read_sentences(given, dedup=False, segment=options["segment"], language=code)
    except (XmineError, OSError, KeyError):
        return whole
    lines, found, at = [*zip(map(str, read.lines.tolist()), read.texts, strict=True)], [], 0
    for text in texts:
        end = at
        while end < len(lines) and len(join(each for _, each in lines[at:end])) < len(text):
            end += 1
        if join(each for _, each in lines[at:end]) != text:
            return whole  # there are other texts by now
        found.append(tuple(Unit(*each) for each in lines[at:end]))
        at = end
    return found


def _beads_around(opened: Opened, row: int, step: int) -> list[tuple[int, Bead]]:
    """Give the lines before (`step` -1) or after a pair, in their order."""
    found: list[list[tuple[Unit, ...]]] = [[], []]
    for units, side, rows in zip(
        found, (opened.source, opened.target), (opened.sources, opened.targets), strict=True
    ):
        at = int(rows[row])
        while len(units) < _LINES and (near := lines_around(side, at)[step > 0]) is not None:
            units.append((_unit(side, at := near),))
    return [(_BESIDE, Bead(*both)) for both in zip_longest(*found, fillvalue=())][::step]


def _given(opened: Opened, row: int) -> Beads:
    """Give all beads of an alignment, or a pair between the lines around it, as they were opened.

    The lines of beads are told apart where the texts are found as they were aligned.
    """
    if opened.has_beads:
        sides = [_lines_of(opened, name) for name in ("source", "target")]
        return tuple((at, Bead(*both)) for at, both in enumerate(zip(*sides, strict=True)))
    source, target = int(opened.sources[row]), int(opened.targets[row])
    pair = Bead((_unit(opened.source, source),), (_unit(opened.target, target),))
    before, after = (_beads_around(opened, row, step) for step in (-1, 1))
    return (*before, (row, pair), *after)


class _State(NamedTuple):
    beads: Beads
    at: int  # the bead that is worked at
    how: tuple[str, ...]  # what was done


class Draft:
    """A pair that is being repaired between the lines around it; of an alignment all beads."""

    def __init__(self, opened: Opened, row: int, repair_of: Mended) -> None:
        """Begin with what stands in the place of the pairs now."""
        self._opened, self._row, self._repair_of = opened, row, repair_of
        self._given = _given(opened, row)
        beads = list[tuple[int, Bead]]()
        for owner, bead in self._given:
            stands = None if owner == _BESIDE else repair_of(owner)
            beads += [(owner, one) for one in ((bead,) if stands is None else stands.beads)]
        if not opened.has_beads and (own := [bead for each, bead in beads if each == row]):
            taken = {unit for bead in own for units in bead for unit in units}  # of those around
            beads = [(o, b if o == row else b.without(taken)) for o, b in beads]
        self._begun = tuple(each for each in beads if any(each[1]))
        self._states = [_State(self._begun, self._place(self._begun, row), ())]

    def _place(self, beads: Beads, row: int) -> int:  # of its bead, or of the next one
        return next((n for n, (owner, _) in enumerate(beads) if owner >= row), len(beads) - 1)

    @property
    def beads(self) -> Beads:
        """All beads in order, each with the row of `Opened` that it stands for."""
        return self._states[-1].beads

    @property
    def at(self) -> int:
        """The number of the bead that is worked at."""
        return self._states[-1].at

    @property
    def bead(self) -> Bead:
        """The bead that is worked at."""
        return self.beads[self.at][1]

    def go(self, step: int) -> None:
        """Work at the next bead, or at the one before."""
        at = self.at + step
        if 0 <= at < len(self.beads):
            self._states[-1] = self._states[-1]._replace(at=at)

    def undo(self) -> None:
        """Take the last step back, if there is one."""
        del self._states[max(len(self._states) - 1, 1) :]

    def as_given(self) -> None:
        """Put all back as it was opened."""
        at = self._place(self._given, self.beads[self.at][0])
        self._states.append(_State(self._given, at, ()))

    def take(self, side: int, step: int) -> None:
        """Take in the next line of a side (`step` 1), or the one before (-1).

        Raises:
            OptionError: there is none.
        """
        at, beads, other = self.at, [*self.beads], self.at + step
        while 0 <= other < len(beads) and not beads[other][1][side]:
            other += step
        if not 0 <= other < len(beads):
            raise OptionError("no further line is near")
        self._move(beads, other, at, side, -step)
        self._do("move" if self._opened.has_beads else "merge", beads, at)

    def give(self, side: int, step: int) -> None:
        """Give the last line of a side (`step` 1), or the first one, to the bead beside it.

        Raises:
            OptionError: there is none, or no other is left in a pair.
        """
        at, beads, other = self.at, [*self.beads], self.at + step
        if not self.bead[side]:
            raise OptionError("no line is left to give")
        if not 0 <= other < len(beads):
            owner = beads[at][0] if self._opened.has_beads else _BESIDE
            at, other = at + (other < 0), max(other, 0)
            beads.insert(other, (owner, Bead((), ())))
        self._move(beads, at, other, side, step)
        self._do("move", beads, at)

    def _move(
        self, beads: list[tuple[int, Bead]], giver: int, taker: int, side: int, step: int
    ) -> None:
        """Move the last line of a side (`step` 1), or the first one, from a bead to another."""
        (owner, bead), (its, other) = beads[giver], beads[taker]
        units, old = bead[side], other[side]
        moved, left = (units[-1:], units[:-1]) if step > 0 else (units[:1], units[1:])
        beads[giver] = owner, bead.with_side(side, left)
        beads[taker] = its, other.with_side(side, (*moved, *old) if step > 0 else (*old, *moved))

    def merge(self, step: int) -> None:
        """Put the next bead (`step` 1), or the one before, into this one.

        Raises:
            OptionError: there is none.
        """
        at, other, beads = self.at, self.at + step, [*self.beads]
        if not 0 <= other < len(beads):
            raise OptionError("no further line is near")
        (_, first), (_, second) = beads[min(at, other) : max(at, other) + 1]
        whole = Bead((*first.source, *second.source), (*first.target, *second.target))
        beads[at] = beads[at][0], whole
        del beads[other]
        self._do("merge", beads, min(at, other))

    def split(self, source: int, target: int) -> None:
        """Part the bead before a character of each text.

        Raises:
            OptionError: a part has no text at all or, of a pair, none on one side.
        """
        bead = self.bead
        cuts = (source, len(bead.text(0)) + 1), (target, len(bead.text(1)) + 1)
        first = Bead(*(bead.cut(side, 0, cut) for side, (cut, _) in enumerate(cuts)))
        second = Bead(*(bead.cut(side, cut, end) for side, (cut, end) in enumerate(cuts)))
        if not (any(first) and any(second)):
            raise OptionError("a part would be empty: left and right move │")
        self._put("split", first, second)

    def keep(self, side: int, start: int, stop: int) -> None:
        """Keep the characters of a side from one to before another."""
        self._put("trim", self.bead.with_side(side, self.bead.cut(side, start, stop)))

    def edit(self, side: int, text: str) -> None:
        """Give a side another text.

        Raises:
            OptionError: the text is empty.
        """
        if not text.strip():
            raise OptionError("no text is left")
        if text != self.bead.text(side):
            lines = self.bead.lines(side)
            self._put("edit", self.bead.with_side(side, [Unit(lines, text)]))

    def _put(self, how: str, *beads: Bead) -> None:
        """Put beads in the place of the one that is worked at."""
        at, owner = self.at, self.beads[self.at][0]
        own = [(owner, bead) for bead in beads]
        self._do(how, [*self.beads[:at], *own, *self.beads[at + 1 :]], at)

    def _do(self, how: str, beads: Sequence[tuple[int, Bead]], at: int) -> None:
        """Take a step; beads without any line go."""
        if not self._opened.has_beads and not all(all(b) for o, b in beads if o == self._row):
            raise OptionError("a pair needs text on both sides")
        at -= sum(not any(bead) for _, bead in beads[:at])
        left = tuple(each for each in beads if any(each[1]))
        done = tuple(dict.fromkeys((*self._states[-1].how, how)))
        self._states.append(_State(left, min(at, len(left) - 1), done))

    def changes(self) -> dict[int, Repair | None]:
        """Give the repair of each row that another stands for now; None where none is left.

        Raises:
            OptionError: somebody else has repaired one of them since.
        """
        state, given, begun, now = (
            self._states[-1],
            *map(_by_row, (self._given, self._begun, self.beads)),
        )
        found: dict[int, Repair | None] = {}
        for row in given:
            beads = now.get(row, ())
            if beads != begun.get(row, ()):
                before = self._repair_of(row)
                if begun.get(row, ()) != (given[row] if before is None else before.beads):
                    raise OptionError("another window has repaired these pairs: nothing is kept")
                how = dict.fromkeys([*(before.how.split(",") if before else ()), *state.how])
                found[row] = None if beads == given[row] else Repair(",".join(how), beads)
        return found


def _by_row(beads: Beads) -> dict[int, tuple[Bead, ...]]:
    grouped = groupby(beads, itemgetter(0))
    return {row: tuple(bead for _, bead in each) for row, each in grouped if row != _BESIDE}


def places_to_cut(bead: Bead, side: int, language: str) -> tuple[list[int], int]:
    """List where a text may be cut, and where best: between lines or sentences, near the middle."""
    text = bead.text(side)
    words = {match.start() for match in _WORD.finditer(text)} - {0}
    best = {begin for begin, _ in bead.places(side)} - {0} or {
        start for start, _ in segment(text, language)
    } - {0}
    every = sorted({0, *words, *best, len(text)})
    return every, min(best or words or {len(text)}, key=lambda at: abs(2 * at - len(text)))


def matched_part(aligner: Aligner, bead: Bead) -> tuple[int, Span] | None:
    """Find the side that says more than the other, 0 or 1, and the part of it that has a match.

    Returns:
        None where the rest is neither the beginning nor the end of the text, or nearly all of it.

    Raises:
        XmineError: the words cannot be aligned.
    """
    found = aligner.align(bead.text(0), bead.text(1))
    side = found.looser
    (start, end), text = found.loosest[side], bead.text(side)
    matched = [word for word in found.words[side] if word.is_matched]
    ends = [word for word in matched if any(map(str.isalnum, text[word.start : word.end]))]
    if start < end and not any(word.end <= start for word in ends):
        kept = end, len(text)
    elif start < end and not any(word.start >= end for word in ends):
        kept = 0, start
    else:
        return None
    if (kept[1] - kept[0]) * _LEAST < len(text):
        return None
    inside = text[slice(*kept)]
    begin = kept[0] + len(inside) - len(inside.lstrip(_LOOSE))
    return side, (begin, begin + len(inside.strip(_LOOSE)))
