"""A pair or an alignment that is being repaired: lines are moved, beads merged and split.

In an alignment a line that a bead gains is one that its neighbour loses, so each line stays, once
and in order; in a run or a file of pairs the neighbour is any line of the text before or after.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import groupby, zip_longest
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from xmine.browsing.details import lines_around
from xmine.browsing.opened import Opened, TextSide
from xmine.browsing.repairs import Bead, Repair, Unit, figures_anew
from xmine.errors import OptionError, XmineError
from xmine.run.folder import RUN_FILE
from xmine.run.run_file import read_tables
from xmine.text.inputs import input_of_run, text_input
from xmine.text.segmentation import join, segment
from xmine.text.sentences import read_sentences

if TYPE_CHECKING:
    from xmine.browsing.word_alignment import Aligner
    from xmine.encoders.spans import Span

# Where a text may be cut: before a word behind white space, and best behind punctuation.
_WORDS = re.compile(r"(?<=\s)\S")
_CLAUSES = re.compile(r"[,;:!?،؛؟፣।॥][\"”»’)]*\s+|[。，、；：！？…—]+(?!(?<=\d.)\d)[\s”’」』）\"]*")
_LOOSE = " \t\n,;:，；：、-–—"  # what a text that was trimmed does not begin or end with
_MIDDLE = 1e-3  # what a cut costs that is at an end of the text, where all else is equal
_LEAST = 4  # a trimmed text has at least a fourth of what it was
_SIDES = "source", "target"
_BESIDE = -1  # stands for no row: lines around a pair
_LINES = 8  # before and after a pair
_NEAR = 200  # beads before and after one of an alignment that its repair may reach

Mended = Callable[[int], Repair | None]  # tells what stands in the place of a row
Beads = tuple[tuple[int, Bead], ...]  # in order, each with the row that it stands for


def _unit(side: TextSide, row: int) -> Unit:
    line, offset = side.place(row)
    return Unit(f"{line}" if offset is None else f"{line}+{offset}", side.texts[row])


def _lines_of(opened: Opened, name: str) -> Sequence[tuple[Unit, ...]]:
    side = opened.side(name)
    texts = side.texts[:]
    whole = [(Unit(side.numbers(row), text),) * bool(text) for row, text in enumerate(texts)]
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


def given_beads(opened: Opened, row: int = 0) -> Beads:
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


class Draft:
    """A pair that is being repaired between the lines around it; or beads of an alignment.

    A step that cannot be taken raises an OptionError.
    """

    def __init__(
        self, opened: Opened, given: Beads, row: int, repair_of: Mended, part: int = 0
    ) -> None:
        """Begin with what stands in the place of the pairs now, at a part of that of a row.

        `given` are those of `given_beads`.
        """
        self._opened, self._row, self._repair_of = opened, row, repair_of
        self._given = given
        if opened.has_beads:
            self._given = given[max(row - _NEAR, 0) : row + _NEAR + 1]
        beads = list[tuple[int, Bead]]()
        for owner, bead in self._given:
            stands = None if owner == _BESIDE else repair_of(owner)
            beads += [(owner, one) for one in ((bead,) if stands is None else stands.beads)]
        if not opened.has_beads and (own := [bead for each, bead in beads if each == row]):
            taken = {unit for bead in own for units in bead for unit in units}  # of those around
            beads = [(o, b if o == row else b.without(taken)) for o, b in beads]
        self._begun = tuple(each for each in beads if any(each[1]))
        self.beads: Beads = self._begun
        self.at = min(_first(self.beads, row) + part, len(self.beads) - 1)  # that is worked at
        self._how: tuple[str, ...] = ()  # what was done
        self._before: list[tuple[Beads, int, tuple[str, ...]]] = []  # beads, `at` and `how`

    @property
    def done(self) -> str:
        """Say what was done; empty for nothing."""
        return ", ".join(self._how) or "as it was" * (self.beads != self._begun)

    @property
    def bead(self) -> Bead:
        return self.beads[self.at][1]

    @property
    def is_beside(self) -> bool:
        """Whether it is a line around the pair."""
        return self.beads[self.at][0] == _BESIDE

    @property
    def place(self) -> tuple[int, int]:
        """The row that the bead stands for, and which of the beads of that row it is."""
        owner = self.beads[self.at][0]
        return owner, self.at - _first(self.beads, owner)

    def go(self, step: int) -> None:
        """Work at the next bead or line, or at the one before."""
        self.at = min(max(self.at + step, 0), len(self.beads) - 1)

    def undo(self) -> None:
        if self._before:
            self.beads, self.at, self._how = self._before.pop()

    def as_given(self) -> None:
        """Put the bead, and repaired ones beside it, back as they were opened."""
        row = self.beads[self.at][0] if self._opened.has_beads else self._row
        now, given = _by_row(self.beads), _by_row(self._given)
        changed = [each for each in given if now.get(each, ()) != given[each]]
        run = {row}.intersection(changed)
        if not run:
            raise OptionError("it is as it was")
        for each in (*changed, *reversed(changed)):
            run |= {each} if run & {each - 1, each + 1} else set()
        beads = [*self._given]
        if self._opened.has_beads:
            kept = [each for each in self.beads if each[0] not in run]
            beads = sorted([*kept, *(e for e in beads if e[0] in run)], key=itemgetter(0))
        self._take(tuple(beads), _first(beads, row), ())

    def move(self, side: int, step: int) -> None:
        """Move the last line of a side to the bead below (`step` 1), or the first one up (-1)."""
        at, beads, other = self.at, [*self.beads], self.at + step
        if not self.bead[side]:
            raise OptionError(f"no {_SIDES[side]} is left to move")
        if not 0 <= other < len(beads):
            owner = beads[at][0] if self._opened.has_beads else _BESIDE
            at, other = at + (other < 0), max(other, 0)
            beads.insert(other, (owner, Bead((), ())))
        (owner, bead), (its, taker) = beads[at], beads[other]
        units, old = bead[side], taker[side]
        moved, left = (units[-1:], units[:-1]) if step > 0 else (units[:1], units[1:])
        beads[at] = owner, bead.with_side(side, left)
        beads[other] = its, taker.with_side(side, (*moved, *old) if step > 0 else (*old, *moved))
        self._do("move", beads, at if any(beads[at][1]) else other)

    def merge(self) -> None:
        at, beads = self.at, [*self.beads]
        if at + 1 == len(beads):
            raise OptionError("no further line is near")
        (owner, first), (its, second) = beads[at : at + 2]
        whole = Bead((*first.source, *second.source), (*first.target, *second.target))
        beads[at : at + 2] = [(its if owner == _BESIDE else owner, whole)]
        self._do("merge", beads, at)

    def split(self, source: int, target: int) -> None:
        """Part the bead before a character of each text."""
        bead = self.bead
        cuts = (source, len(bead.text(0)) + 1), (target, len(bead.text(1)) + 1)
        first = Bead(*(bead.cut(side, 0, cut) for side, (cut, _) in enumerate(cuts)))
        second = Bead(*(bead.cut(side, cut, end) for side, (cut, end) in enumerate(cuts)))
        if not (any(first) and any(second)):
            raise OptionError("a part would be empty: h and l move │")
        self._put("split", first, second)

    def keep(self, side: int, start: int, stop: int) -> None:
        """Keep the characters of a side from one to before another."""
        self._put("trim", self.bead.with_side(side, self.bead.cut(side, start, stop)))

    def edit(self, side: int, text: str) -> None:
        if not text.strip():
            raise OptionError("no text is left")
        if text != self.bead.text(side):
            lines = self.bead.lines(side)
            self._put("edit", self.bead.with_side(side, [Unit(lines, text)]))

    def _put(self, how: str, *beads: Bead) -> None:
        """Put beads in the place of the one that is worked at."""
        at, owner = self.at, self.beads[self.at][0]
        if self.is_beside:
            raise OptionError("this line is not in the pair: , . < > move it, + merges")
        own = [(owner, bead) for bead in beads]
        self._do(how, [*self.beads[:at], *own, *self.beads[at + 1 :]], at)

    def _do(self, how: str, beads: Sequence[tuple[int, Bead]], at: int) -> None:
        """Take a step; beads without any line go."""
        if not self._opened.has_beads and not all(all(b) for o, b in beads if o == self._row):
            raise OptionError("a pair needs text on both sides")
        at -= sum(not any(bead) for _, bead in beads[:at])
        left = tuple(each for each in beads if any(each[1]))
        self._take(left, at, tuple(dict.fromkeys((*self._how, how))))

    def _take(self, beads: Beads, at: int, how: tuple[str, ...]) -> None:
        self._before.append((self.beads, self.at, self._how))
        self.beads, self.at, self._how = beads, at, how

    def changes(self, aligner: "Aligner | None" = None) -> dict[int, Repair | None]:
        """Give the repair of each row that another stands for now; None where none is left.

        With flags of the beads, and what an `aligner` tells besides.

        Raises:
            OptionError: somebody else has repaired one of them since.
            XmineError: the encoder cannot be loaded.
        """
        given, begun, now = map(_by_row, (self._given, self._begun, self.beads))
        found: dict[int, Repair | None] = {}
        rows = [row for row in given if now.get(row, ()) != begun.get(row, ())]
        repaired = [row for row in given if now.get(row, ()) != given[row]] or rows
        changed = [bead for row in rows for bead in now.get(row, ())]
        figures = iter(figures_anew(self._opened, changed, repaired, aligner))
        for row in rows:
            beads, before = now.get(row, ()), self._repair_of(row)
            if begun.get(row, ()) != (given[row] if before is None else before.beads):
                raise OptionError("another window has repaired these pairs: nothing is kept")
            how = dict.fromkeys([*(before.how.split(",") if before else ()), *self._how])
            told = tuple(next(figures) for _ in beads)
            found[row] = None if beads == given[row] else Repair(",".join(how), beads, told)
        return found


def _first(beads: Sequence[tuple[int, Bead]], row: int) -> int:
    """Give the number of the first bead of a row, or of the next one."""
    return next((n for n, (owner, _) in enumerate(beads) if owner >= row), 0)


def _by_row(beads: Beads) -> dict[int, tuple[Bead, ...]]:
    grouped = groupby(beads, itemgetter(0))
    return {row: tuple(bead for _, bead in each) for row, each in grouped if row != _BESIDE}


def places_to_cut(bead: Bead, side: int, language: str) -> tuple[list[int], list[int]]:
    """List where a text may be cut, and the best of these places, in characters; no end is one.

    Words are never cut. Between lines it is best, or else between sentences, or at punctuation.
    """
    text, sentences = bead.text(side), set[int]()
    with suppress(OptionError):  # no mark ends the sentences of the language
        sentences = {start for start, _ in segment(text, language)}
    lines = {begin for begin, _ in bead.places(side)}
    clauses = {found.end() for found in _CLAUSES.finditer(text)} | sentences | lines
    every = clauses | {found.start() for found in _WORDS.finditer(text)}
    inside = [sorted(each - {0, len(text)}) for each in (lines, sentences, clauses, every)]
    return inside[-1], next(filter(None, inside), [])


def best_cut(bead: Bead, languages: tuple[str, str], aligner: "Aligner") -> list[int]:
    """Choose where to split a bead, a character of each text; one that cannot be cut stays whole.

    Matched words stay together (their phi coefficient), and both cuts stand in like places: so 320
    of 321 merged neighbours of three alignments come apart, and 96 % if their lines are not known.
    """
    texts = [bead.text(side) for side in (0, 1)]
    best = [places_to_cut(bead, side, languages[side])[1] or [len(texts[side])] for side in (0, 1)]
    source, target = (np.array(each) for each in best)
    shares = source[:, None] / len(texts[0] or " "), target / len(texts[1] or " ")
    worth = -np.abs(shares[0] - shares[1]) - _MIDDLE * np.abs(shares[0] - 0.5)
    with suppress(XmineError):
        if found := aligner.align_fast(*texts):
            pairs = [(w.start, w.partner[0], w.cosine) for w in found.words[0] if w.partner]
            pairs += [(w.partner[0], w.start, w.cosine) for w in found.words[1] if w.partner]
            x, y, weights = np.array(pairs).reshape(-1, 3).T ** [[1], [1], [2]]
            first, there = (x < source[:, None]) * weights, y < target[:, None]  # [places, words]
            # Weights of words: in the first part, and of these on the other side; of all of them.
            ours, theirs, all_ = first.sum(1)[:, None], there @ weights, weights.sum() + 1e-9
            spread = ours * (all_ - ours) * theirs * (all_ - theirs)
            worth += (first @ there.T * all_ - ours * theirs) / np.sqrt(spread + 1e-9)
    at = np.unravel_index(worth.argmax(), worth.shape)
    return [int(source[at[0]]), int(target[at[1]])]


def matched_part(aligner: "Aligner", bead: Bead) -> "tuple[int, Span]":
    """Find the side that says more than the other, 0 or 1, and the part of it that has a match.

    Raises:
        OptionError: the rest is neither the beginning nor the end of the text, or nearly all of it.
        XmineError: the words cannot be aligned.
    """
    if not all(bead):
        raise OptionError("no text stands on the other side: nothing of it has a match")
    found = aligner.align(bead.text(0), bead.text(1))
    side = found.looser
    (start, end), text = found.loosest[side], bead.text(side)
    matched = [word for word in found.words[side] if word.is_matched]
    ends = [word for word in matched if any(map(str.isalnum, text[word.start : word.end]))]
    if start >= end:
        raise OptionError("each word has a match: - splits, f2 edits")
    before = any(word.end <= start for word in ends)
    after = any(word.start >= end for word in ends)
    kept = (0, start) if before else (end, len(text))
    if (before and after) or (kept[1] - kept[0]) * _LEAST < len(text):
        where = "inside, or nearly all of,"
        raise OptionError(f"what has no match is {where} the {_SIDES[side]}: - splits, f2 edits")
    inside = text[slice(*kept)]
    begin = kept[0] + len(inside) - len(inside.lstrip(_LOOSE))
    return side, (begin, begin + len(inside.strip(_LOOSE)))
