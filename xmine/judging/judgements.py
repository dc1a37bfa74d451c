"""Labels of people, notes and repairs of pairs; each is on the disk at once.

Several judges and processes may label the same pairs at the same time: all write to the file beside
the pairs, see `xmine.pairs.judgements`.
"""

import getpass
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple, Self

import numpy as np

from xmine.browsing.opened import Bools, Opened, Rows
from xmine.browsing.repairs import Repair, in_place_of, standing
from xmine.browsing.where import MANY
from xmine.display import count
from xmine.errors import FileError, OptionError, XmineWarning
from xmine.files.digests import identity
from xmine.files.hub_files import SCHEME
from xmine.judging.counts import CODES, GIVEN, Codes, Counts
from xmine.judging.keys import key_of, rows_of
from xmine.pairs.judgements import (
    ACCEPT,
    KINDS,
    REJECT,
    TAKEN_BACK,
    WORDS,
    Label,
    PairKey,
    Said,
    append,
    as_time,
    broken_lines,
    file_beside,
    hear,
    now,
    read_from,
    settled,
    verdict_of,
    why_not_writable,
)
from xmine.pairs.pair import Pair

_RATHER_WRONG, _LIKELY = 0.5, 0.9  # probabilities of pairs that are worth a look, and how much
# Seconds that a key may wait for another process that writes a label.
KEY_PATIENCE = 0.15


class Given(NamedTuple):
    """What a judge says of a row, in one of WORDS or `none`; `decides` if it adjudicates."""

    row: int
    judge: str
    word: str
    note: str = ""
    decides: bool = False


def judge_name(kept: str = "") -> str:
    """Name who judges: XMINE_JUDGE, or the name that was kept, or the login name."""
    try:
        name = os.environ.get("XMINE_JUDGE", "") or kept or getpass.getuser()
    except (OSError, KeyError):  # a container may have no name for its user
        name = ""
    return printable(name) or "unknown"


def printable(name: str) -> str:
    """Leave out of a name what a line of the file cannot hold."""
    return "".join(each if each.isprintable() else " " for each in name).strip()


class Judgements:
    """The labels of some pairs, in the file `path`; `by` names who labels here.

    Attributes:
        opened: the pairs.
        done: what was done here at once, the last at the end: the labels that take it back.
        times: of each judge when each label was given.
    """

    def __init__(self, opened: Opened, path: Path, by: str, patience: float = KEY_PATIENCE) -> None:
        """Begin without any; see `open`."""
        self.opened, self.path, self.by, self._patience = opened, path, by, patience
        # Row -> the word of each judge, the latest at the end; the note of each; its repair.
        self._said: dict[int, Said] = {}
        self._notes: dict[int, dict[str, str]] = {}
        self._repairs: dict[int, Repair] = {}
        self._standing: tuple[dict[int, Repair], Opened] = {}, opened
        # Of each pair the code of what `of` gives, that of the label of `by`, and whether the run
        # was mined with a label of it: int8 [3, pairs].
        self._codes = np.zeros((3, len(opened)), np.int8)
        self._places: dict[PairKey, list[int]] = {}  # of all labels
        self._keys: dict[tuple[int, str], PairKey] = {}  # by which each judge speaks of a row
        self._lost: dict[PairKey, Said] = {}  # labels of no pair
        # Verdicts of before say nothing of how right a run is that was mined with them.
        given = opened.run.get("also", {}).get("seed_pairs")
        mined = identity(opened.path / "source.parquet") if given else None
        self._mined = as_time(mined[2] / 1e9) if mined else ""
        self.times: dict[str, list[str]] = {}
        self.done: list[list[Label]] = []
        self._seen: Any = None  # see `identity`
        self._end = 0  # of what was read of it
        self._lock = RLock()  # `codes` may be asked for in a thread while a label comes

    @classmethod
    def open(
        cls,
        opened: Opened,
        by: str = "",
        patience: float = KEY_PATIENCE,
        beside: Path | None = None,
    ) -> Self:
        """Read the judgements beside a run or a file, or `beside` another of the same texts.

        An XmineWarning tells of lines that are no labels, and of labels that have lost their pairs.
        """
        if (name := str(opened.path)).startswith(SCHEME):
            hint = f"copy them: xmine convert {name.replace(':/', '://', 1)} pairs.parquet"
            raise FileError(f"{name}: pairs are judged here, not on a hub", hint)
        path = file_beside(beside or opened.path)
        judgements = cls(opened, path, by or judge_name(), patience)
        judgements.refresh()
        for told in filter(None, (broken_lines(path), "" if beside else judgements.lost)):
            warnings.warn(told, XmineWarning, stacklevel=2)
        return judgements

    def speak_as(self, judge: str) -> None:
        """Label in another name."""
        self.by, self._seen = judge, None
        self.refresh()

    @property
    def lost(self) -> str:
        """Say how many verdicts are of no pair any more; empty if none is."""
        number = sum(map(len, self._lost.values()))
        have = "has lost its pair" if number == 1 else "have lost their pairs"
        said = f"{self.path}: {count(number, 'verdict')} {have}; all stay in the file"
        return said if number else ""

    @property
    def problem(self) -> str:
        """Say why a label could not be kept, to be told before the first; empty if it can."""
        return why_not_writable(self.path)

    def of(self, row: int) -> str:
        """Give the label that stands for a pair, see `settled`; empty if there is none."""
        return verdict_of(self.word(row))

    def word(self, row: int) -> str:
        """Give what `of` does, of a rejected pair its kind."""
        return settled(self._said.get(row, {}), self.by)

    def differ(self, row: int) -> bool:
        """Tell whether judges accept and reject a pair, and nobody has decided."""
        said = self._said.get(row, {})  # asked for every row of a table
        if len(said) < 2 or any(decides for decides, _ in said):
            return False
        return {ACCEPT, REJECT} <= {*map(verdict_of, said.values())}

    def words(self, row: int) -> dict[str, str]:
        """Give the word of each judge for a pair, one of WORDS, the latest at the end."""
        said = self._said.get(row, {}).items()
        return {judge: word for (decides, judge), word in said if not decides}

    def given(self, row: int) -> list[Given]:
        """List what judges and adjudicators say of a pair, the latest at the end."""
        notes, said = self.notes(row), self._said.get(row, {}).items()
        return [Given(row, x, word, notes.get(x, ""), decides) for (decides, x), word in said]

    def decided(self, row: int) -> Given | None:
        """Give the last word of an adjudicator on a pair; None without any."""
        return next((each for each in reversed(self.given(row)) if each.decides), None)

    def judge(self, row: int, word: str, *, adjudicates: bool = False) -> bool:
        """Say one of WORDS of a pair, or `none` to take back what was said.

        Who adjudicates decides what stands; what all judges have said stays beside it.
        """
        return bool(self.judge_all([row], word, adjudicates=adjudicates))

    def judge_all(self, rows: Iterable[int], word: str, *, adjudicates: bool = False) -> int:
        """Say the same of some pairs, which one `undo` takes back; count those it is new for."""
        labels, before = list[Label](), list[Label]()
        for row in rows:
            if (own := self._said.get(row, {}).get((adjudicates, self.by), TAKEN_BACK)) != word:
                labels.append(self._label(row, word, decides=adjudicates))
                before.append(self._label(row, own, decides=adjudicates))
        if labels:
            self._do(labels, before)
        return len(labels)

    def take(self, labels: Iterable[Given]) -> int:
        """Keep labels that were given elsewhere, all or none; count those that are new."""
        taken = []
        for each in labels:
            if not any(each in (x, x._replace(note="")) for x in self.given(each.row)):
                more = {"note": each.note} if each.note else {}
                taken.append(self._label(each.row, each.word, each.judge, each.decides, **more))
        if taken:
            self._write(taken)
        return len(taken)

    def note(self, row: int, text: str) -> None:
        """Say something of a pair, beside the verdict; an empty text says no more."""
        own, before = self._own_of(row), self.notes(row).get(self.by, "")
        labels = [self._label(row, own, note=each) for each in (text, before)]
        self._do(labels[:1], labels[1:])

    def repair(self, repairs: Mapping[int, Repair | None]) -> None:
        """Put beads in the place of some rows, all at once, and accept these; None: none any more.

        A row of which no pair is left loses the label that a repair gave.
        """
        said, before = [], []
        for row, repair in repairs.items():
            own, then = self._own_of(row), self.repair_of(row)
            accepted = own if then is None else TAKEN_BACK
            accepted = ACCEPT if repair is not None and repair.is_pair else accepted
            said.append(self._label(row, accepted, repair=repair and repair.facts()))
            before.append(self._label(row, own, repair=then and then.facts()))
        self._do(said, before)

    def _own_of(self, row: int) -> str:
        return self.words(row).get(self.by, TAKEN_BACK)

    def _label(
        self, row: int, word: str, judge: str = "", decides: bool = False, **more: object
    ) -> Label:
        if word not in (known := (*WORDS, TAKEN_BACK)):
            raise OptionError(f"{word!r} is no judgement", f"choose from {', '.join(known)}")
        judge = printable(judge) or self.by
        key = self._keys.get((row, judge)) or key_of(self.opened, row)
        more |= {"kind": word} if word in KINDS else {}
        more |= {"adjudicates": True} if decides else {}
        return Label(key, verdict_of(word), judge, now(), more)

    def _do(self, labels: list[Label], before: list[Label]) -> None:
        self._write(labels)
        self.done.append(before)

    def undo(self, there: int | None = None) -> list[int]:
        """Take back the last that was done here at once, and name its pairs.

        If nothing is left, the label of `by` on the pair `there`; name none where there is no such
        label.
        """
        if not self.done:
            if there is None or not self._codes[1, there]:
                return []
            self._write([self._label(there, TAKEN_BACK)])
            return [there]
        before = self.done[-1]
        self._write([replace(label, time=now()) for label in before])
        self.done.pop()
        return sorted({row for label in before for row in self._places.get(label.key, ())})

    def notes(self, row: int) -> dict[str, str]:
        """Give what each judge notes about a pair."""
        return dict(self._notes.get(row, {}))

    def repair_of(self, row: int) -> Repair | None:
        """Give what stands in the place of a pair; None for the pair itself."""
        return self._repairs.get(row)

    def parts(self, rows: Rows) -> tuple[Rows, Rows]:
        """Repeat rows by their beads, and number the beads of each: a row without any goes."""
        if not self._repairs:  # as a rule: nothing is copied
            return rows, np.zeros_like(rows)
        numbers = np.ones(len(self.opened), dtype=np.int64)
        for row, repair in self._repairs.items():
            numbers[row] = len(repair.beads)
        some = numbers[rows]
        return rows.repeat(some), np.arange(some.sum()) - (some.cumsum() - some).repeat(some)

    def part(self, row: int, part: int) -> Repair | None:
        """Give one of the beads that stand in the place of a pair; None for the pair itself."""
        repair = self.repair_of(row)
        return None if repair is None else (repair.parts[part : part + 1] or [repair])[0]

    def reopened(self, opened: Opened) -> None:
        """Take a run that was read again: the same pairs, others of them kept."""
        self.opened, self._standing = opened, ({}, opened)

    def standing(self) -> Opened:
        """Give all pairs as they stand now; see `repairs.standing`."""
        with self._lock:
            if self._repairs != self._standing[0]:
                self._standing = dict(self._repairs), standing(self.opened, self._repairs)
            return self._standing[1]

    def worth_a_look(self) -> Bools:
        """Mark pairs that nobody has judged, bool [pairs]: those that are rather wrong than right.

        With none left those that are flagged, unlikely, or without a counterpart.
        """
        opened, left = self.standing(), self.codes() == 0
        found = np.zeros(len(opened), bool) if opened.flags is None else ~opened.flags.none()
        if opened.probs is not None:
            wrong: Bools = left & (opened.probs < _RATHER_WRONG)
            if wrong.any():
                return wrong
            found |= opened.probs < _LIKELY
        for _, side, rows in opened.sides if opened.has_beads else ():
            assert side.lasts is not None
            found |= side.lasts[rows] < side.lines[rows]
        worth: Bools = found & left
        return worth

    def texts(self, rows: Rows) -> tuple[list[str], list[str]]:
        """Give both texts of some pairs as they stand now, but for lines without a counterpart."""
        pairs = [x for x in self.pairs(rows, written=False) if x.source and x.target]
        return [x.source for x in pairs], [x.target for x in pairs]

    def pairs(self, rows: Rows, *, written: bool = True) -> Iterator[Pair]:
        """Give some pairs as they stand now: those of a repair in its place, with notes and kinds.

        See `Opened.written_pairs` for `written`.
        """
        opened = self.opened
        # TSV has no room for a column that none of the first pairs has.
        repaired, note = (None if not some else "" for some in (self._repairs, self._notes))
        has_kinds = any(word in KINDS for said in self._said.values() for word in said.values())
        given = opened.written_pairs(rows) if written else opened.pairs(rows)
        for row, pair in zip(rows.tolist(), given, strict=True):
            repair, notes = self.repair_of(row), self.notes(row)
            said = "; ".join(
                note if len(notes) == 1 else f"{judge}: {note}" for judge, note in notes.items()
            )
            word = self.word(row)
            kind = (word if word in KINDS else "") if has_kinds else None
            pair = pair._replace(repaired=repaired, note=None if note is None else said, kind=kind)
            yield from (pair,) if repair is None else in_place_of(opened, pair, repair)

    def refresh(self) -> bool:
        """Read what others have said since; tell whether there was any."""
        seen, before = identity(self.path), self._seen
        if seen == before:
            return False
        grown = before and seen and before[0] == seen[0] and seen[1] > before[1]
        labels, end = read_from(self.path, self._end if grown else 0)
        self._hear(labels, anew=not grown)
        self._seen, self._end = seen, end
        return bool(labels) or not grown

    def _hear(self, labels: Sequence[Label], *, anew: bool) -> None:
        """Take labels, in their order, behind those that are known, or in their place."""
        if anew:
            self._places = {}
        unknown: dict[PairKey, set[str]] = {}
        for label in labels:
            if label.key not in self._places:
                unknown.setdefault(label.key, set()).add(label.judge)
        self._places |= rows_of(self.opened, unknown) if unknown else {}
        with self._lock:
            if anew:
                self._codes[:] = 0
                for known in (self._said, self._notes, self._repairs, self._lost):
                    known.clear()
                self._keys, self.times = {}, {}
            for label in labels:
                self.times.setdefault(label.judge, []).append(label.time)
                rows = self._places.get(label.key, ())
                if not rows:
                    hear(self._lost.setdefault(label.key, {}), label)
                for row in rows:
                    self._take(label, row)

    def codes(self, *, own: bool = False, given: bool = True) -> Codes:
        """Tell the label that stands for every pair, see `settled`, int8 [pairs], as CODES.

        Those of `by` where only these are wanted (`own`). Without `given` GIVEN stands for pairs
        with a label that the run was mined with.
        """
        with self._lock:
            codes, is_given = self._codes[int(own)], self._codes[2] & (self._codes[0] > 0)
            return codes.copy() if given else np.where(is_given, GIVEN, codes).astype(np.int8)

    def said(self, column: str) -> tuple[list[list[str]], Rows]:
        """List all that people say of a pair, and which of it each pair has, int64 [pairs].

        As `judge` all who judge it, with what they say, `ann` and `ann: accept`; as `verdict` what
        `of` gives, the kind, `judged` or `unjudged`, and perhaps `repaired` and `conflict`.
        """
        found, places = [[MANY[column]]], np.zeros(len(self.opened), np.int64)
        with self._lock:
            for row in {*self._said, *self._repairs}:
                said = [x for each in self.words(row).items() for x in (each[0], ": ".join(each))]
                said += [f"{x}: {REJECT}" for x, word in self.words(row).items() if word in KINDS]
                if column == "verdict":
                    word = self.word(row)
                    said = [verdict_of(word), word, "judged"] if word else ["unjudged"]
                    said += ["conflict"] * self.differ(row)
                    said += ["repaired"] * (row in self._repairs)
                if said:
                    places[row] = len(found)
                    found.append(said)
        return found, places

    def rows(self) -> Rows:
        """Find the pairs that are judged, int64 [judged], in the order of the pairs."""
        return np.array(sorted(self._said), dtype=np.int64)

    def counts(self, rows: Rows | None = None) -> Counts:
        """Count the labels of `by` on some pairs, or on all of them."""
        own = self.codes(own=True)
        return Counts.of(own if rows is None else own[rows])

    def _write(self, labels: list[Label]) -> None:
        append(self.path, labels, self._patience)
        self.refresh()  # it holds these labels, and what others said before them

    def _take(self, label: Label, row: int) -> None:
        if "repair" in label.more:
            self._repairs.pop(row, None)
            if repair := Repair.of(label.more["repair"]):
                self._repairs[row] = repair
        said, notes = self._said.pop(row, {}), self._notes.pop(row, {})
        if isinstance(note := label.more.get("note"), str):
            notes[label.judge] = note
        notes = {judge: each for judge, each in notes.items() if each}
        hear(said, label)
        self._said |= {row: said} if said else {}
        self._notes |= {row: notes} if notes else {}
        self._keys[row, label.judge] = label.key
        own = verdict_of(self.words(row).get(self.by, ""))
        codes = self._codes[:, row]
        codes[:2] = CODES[self.of(row)], CODES[own]
        if label.time < self._mined:
            codes[2] = codes[0] > 0
