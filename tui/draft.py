"""A pair or an alignment that is being repaired: lines are moved, beads merged and split.

In an alignment a line that a bead gains is one that its neighbour loses, so each line stays, once
and in order; in a run or a file of pairs the neighbour is any line of the text before or after.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from xmine.browsing.details import lines_around
from xmine.browsing.opened import Opened, TextSide
from xmine.browsing.repairs import Bead, Repair, Unit
from xmine.browsing.word_alignment import Aligner
from xmine.encoders.spans import Span
from xmine.errors import OptionError, XmineError
from xmine.run.folder import RUN_FILE
from xmine.run.run_file import read_tables
from xmine.text.inputs import input_of_run
from xmine.text.segmentation import UNSPACED, join, segment
from xmine.text.sentences import read_sentences

# Where a text may be cut: before a word, and before any character of a script without spaces.
_WORD = re.compile(rf"(?<=\s)\S|[{UNSPACED}]")
_LOOSE = " \t\n,;:，；：、-–—"  # what a text that was trimmed does not begin or end with


def beads_of(opened: Opened, row: int) -> dict[int, Bead]:
    """Give a pair as it was opened, or all beads of an alignment: by their rows.

    The lines of beads are told apart where the texts are found as they were aligned.
    """
    if opened.has_beads:
        sides = [_lines_of(opened, name) for name in ("source", "target")]
        return {at: Bead(*both) for at, both in enumerate(zip(*sides, strict=True))}
    source, target = int(opened.sources[row]), int(opened.targets[row])
    return {row: Bead((_unit(opened.source, source),), (_unit(opened.target, target),))}


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
        read = read_sentences(file, dedup=False, segment=options["segment"], language=code)
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


class _State(NamedTuple):
    beads: tuple[tuple[int, Bead], ...]  # in order, each with its row of `Opened`
    at: int  # the one that is worked at
    how: Mapping[int, tuple[str, ...]]  # what was done, by row


class Draft:
    """A pair that is being repaired; in an alignment all beads are at hand.

    Attributes:
        at: the bead that is worked at, of `beads`.
    """

    def __init__(self, opened: Opened, row: int, repair_of: Callable[[int], Repair | None]) -> None:
        """Begin with what stands in the place of the pairs now."""
        self._opened, self._given = opened, beads_of(opened, row)
        how, beads = {}, list[tuple[int, Bead]]()
        for each, bead in self._given.items():
            stands = repair_of(each)
            beads += [(each, one) for one in ((bead,) if stands is None else stands.beads)]
            how[each] = () if stands is None else tuple(filter(None, stands.how.split(",")))
        at = next((n for n, (owner, _) in enumerate(beads) if owner >= row), len(beads) - 1)
        self._start = _State(tuple(beads), max(at, 0), how)
        self._states = [self._start]

    @property
    def beads(self) -> tuple[tuple[int, Bead], ...]:
        """All beads in order, each with the row of `Opened` that it stands for."""
        return self._states[-1].beads

    @property
    def at(self) -> int:
        """The number of the bead that is worked at."""
        return self._states[-1].at

    @property
    def bead(self) -> Bead:
        """The bead that is worked at."""
        return self.beads[self.at][1] if self.beads else Bead((), ())

    def go(self, step: int) -> None:
        """Work at the next bead, or at the one before."""
        at = min(max(self.at + step, 0), len(self.beads) - 1)
        self._states[-1] = self._states[-1]._replace(at=at)

    def undo(self) -> bool:
        """Take the last step back; tell whether there was one."""
        if len(self._states) == 1:
            return False
        self._states.pop()
        return True

    def as_given(self) -> None:
        """Put the pair back as it was opened; in an alignment all whose lines have moved."""
        beads = tuple(self._given.items())
        row = self.beads[self.at][0] if self.beads else 0
        at = next((n for n, (owner, _) in enumerate(beads) if owner >= row), 0)
        self._states.append(_State(beads, at, dict.fromkeys(self._given, ())))

    def take(self, side: int, step: int) -> None:
        """Take in the next line of a side (`step` 1), or the one before (-1).

        Raises:
            OptionError: there is none.
        """
        at, bead, beads = self.at, self.bead, [*self.beads]
        other = at + step
        while 0 <= other < len(beads) and not beads[other][1][side]:
            other += step
        if self._opened.has_beads:
            if not 0 <= other < len(beads):
                raise OptionError("there is no further line")
            owner, giver = beads[other]
            units, rest = _parted(giver[side], -step)
            beads[other] = owner, giver.with_side(side, rest)
        else:
            units = self.beside(side, step)
            if not units:
                raise OptionError("no further line is near")
        whole = (*bead[side], *units) if step > 0 else (*units, *bead[side])
        beads[at] = beads[at][0], bead.with_side(side, whole)
        self._do("move" if self._opened.has_beads else "merge", beads, at)

    def beside(self, side: int, step: int) -> tuple[Unit, ...]:
        """Give the line after those of a pair in their text, or the one before; none if unknown."""
        of, units = (self._opened.source, self._opened.target)[side], self.bead[side]
        if not units:
            return ()
        line, _, offset = units[-(step > 0)].lines.split("-")[-(step > 0)].partition("+")
        rows = np.flatnonzero(of.lines == int(line)).tolist()
        row = next(row for row in rows if not offset or of.place(row)[1] == int(offset))
        near = lines_around(of, row)[step > 0]
        return () if near is None else (_unit(of, near),)

    def give(self, side: int, step: int) -> None:
        """Give the last line of a side (`step` 1), or the first one, to the bead beside it.

        A run or a file of pairs leaves the line out.

        Raises:
            OptionError: there is none, or no other is left in a pair.
        """
        at, beads = self.at, [*self.beads]
        owner, bead = beads[at]
        units, rest = _parted(bead[side], step)
        if not units or not (rest or self._opened.has_beads):
            raise OptionError("no line is left to give" if not units else "a pair has both texts")
        beads[at] = owner, bead.with_side(side, rest)
        if self._opened.has_beads:
            other = at + step
            if not 0 <= other < len(beads):
                other = max(other, 0)
                beads.insert(other, (owner, Bead((), ())))
                at += other <= at
            its, taker = beads[other]
            whole = (*units, *taker[side]) if step > 0 else (*taker[side], *units)
            beads[other] = its, taker.with_side(side, whole)
        self._do("move", beads, at)

    def merge(self, step: int) -> None:
        """Put the next bead (`step` 1), or the one before, into this one: of a pair both lines."""
        if not self._opened.has_beads:
            before, done = len(self._states), 0
            for side in (0, 1):
                with suppress(OptionError):
                    self.take(side, step)
                    done += 1
            if not done:
                raise OptionError("no further line is near")
            self._states[before:] = self._states[-1:]  # one step
            return
        at, other, beads = self.at, self.at + step, [*self.beads]
        if not 0 <= other < len(beads):
            raise OptionError("there is no further bead")
        first, second = (bead for _, bead in beads[min(at, other) : max(at, other) + 1])
        whole = Bead((*first.source, *second.source), (*first.target, *second.target))
        beads[at] = beads[at][0], whole
        del beads[other]
        self._do("merge", beads, min(at, other))

    def split(self, source: int, target: int) -> None:
        """Part the bead before a character of each text.

        Raises:
            OptionError: a part has no text at all or, of a pair, none on one side.
        """
        owner, bead = self.beads[self.at]
        cuts, far = (source, target), max(map(len, (bead.text(0), bead.text(1)))) + 1
        parts = [
            Bead(
                *(
                    bead.cut(side, 0, cut) if first else bead.cut(side, cut, far)
                    for side, cut in enumerate(cuts)
                )
            )
            for first in (True, False)
        ]
        enough = any if self._opened.has_beads else all
        if not all(enough(part) for part in parts):
            raise OptionError("a part would be empty: left and right move the cut, tab its side")
        beads = [*self.beads]
        beads[self.at : self.at + 1] = [(owner, part) for part in parts]
        self._do("split", beads, self.at)

    def keep(self, side: int, start: int, stop: int) -> None:
        """Keep the characters of a side from one to before another."""
        self._put(side, self.bead.cut(side, start, stop), "trim")

    def edit(self, side: int, text: str) -> None:
        """Give a side another text.

        Raises:
            OptionError: the text is empty.
        """
        if not text.strip():
            raise OptionError("no text is left")
        if text != self.bead.text(side):
            self._put(side, (Unit(self.bead.lines(side), text),), "edit")

    def _put(self, side: int, units: Sequence[Unit], how: str) -> None:
        owner, bead = self.beads[self.at]
        beads = [*self.beads]
        beads[self.at] = owner, bead.with_side(side, units)
        self._do(how, beads, self.at)

    def _do(self, how: str, beads: Sequence[tuple[int, Bead]], at: int) -> None:
        """Take a step; beads without any line go."""
        at -= sum(not any(bead) for _, bead in beads[:at])
        left, state = tuple(each for each in beads if any(each[1])), self._states[-1]
        done = dict(state.how)
        for row in _changed(state.beads, left):
            done[row] = tuple(dict.fromkeys((*done[row], how)))
        self._states.append(_State(left, min(at, len(left) - 1), done))

    def changes(self) -> dict[int, Repair | None]:
        """Give the repair of each row that another stands for now; None where none is left."""
        state, found = self._states[-1], _by_row(self.beads)
        return {
            row: None
            if found.get(row) == (self._given[row],)
            else Repair(",".join(state.how[row]), found.get(row, ()))
            for row in _changed(self._start.beads, state.beads)
        }


def _parted(units: tuple[Unit, ...], step: int) -> tuple[tuple[Unit, ...], tuple[Unit, ...]]:
    """Part the last line (`step` 1), or the first one, from the others."""
    return (units[-1:], units[:-1]) if step > 0 else (units[:1], units[1:])


def _by_row(beads: Sequence[tuple[int, Bead]]) -> dict[int, tuple[Bead, ...]]:
    grouped = groupby(beads, itemgetter(0))
    return {row: tuple(bead for _, bead in each) for row, each in grouped}


def _changed(before: Sequence[tuple[int, Bead]], now: Sequence[tuple[int, Bead]]) -> list[int]:
    """List the rows for which other beads stand."""
    old, new = _by_row(before), _by_row(now)
    return [row for row in sorted(old.keys() | new.keys()) if old.get(row) != new.get(row)]


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
        None where the rest is neither the beginning nor the end of the text.

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
    inside = text[slice(*kept)]
    begin = kept[0] + len(inside) - len(inside.lstrip(_LOOSE))
    return side, (begin, begin + len(inside.strip(_LOOSE)))
