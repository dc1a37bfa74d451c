"""Labels of people: accepted, rejected or unsure pairs; each label is on the disk at once.

Several judges and processes may label the same pairs at the same time: all write to the file beside
the pairs, see `xmine.pairs.judgements`.
"""

import getpass
import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Self

import numpy as np
from numpy.typing import NDArray

from xmine.browsing.opened import Opened, Rows
from xmine.errors import OptionError
from xmine.pairs.judgements import (
    LABELS,
    TAKEN_BACK,
    Label,
    PairKey,
    append,
    file_beside,
    hash_of,
    now,
    read_from,
    why_not_writable,
)

# The codes of labels in `Judgements.codes`; 0 for a pair that nobody has judged.
CODES = {name: code for code, name in enumerate(("", *LABELS))}
# Seconds that a key may wait for another process that writes a label.
KEY_PATIENCE = 0.15
# Scanning the pairs for the pair of one label costs as much as a twentieth of all the codes.
_MANY = 20
_NEAR = 1000  # rows by which a pair of a file may have moved


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of some pairs are judged, and how."""

    accept: int
    reject: int
    unsure: int
    pairs: int

    @property
    def judged(self) -> int:
        """Count those with any label."""
        return self.accept + self.reject + self.unsure


def _latest(said: dict[str, str]) -> str:
    return next(reversed(said.values()), "")


def key_of(opened: Opened, row: int) -> PairKey:
    """Name a pair so that its label stays with it when the pairs are written or mined anew."""
    source, target = int(opened.sources[row]), int(opened.targets[row])
    left, right = opened.source, opened.target
    texts = hash_of(left.texts[source], right.texts[target])
    if not opened.lined:
        return PairKey(row + 1, None, None, None, texts)
    (line, offset), (other_line, other_offset) = left.place(source), right.place(target)
    return PairKey(line, other_line, offset, other_offset, texts)


def row_of(opened: Opened, key: PairKey) -> int | None:
    """Find the pair of a key; in a file without lines, it may be some rows away by now."""
    if opened.lined:
        ours, theirs = opened.source.lines[opened.sources], opened.target.lines[opened.targets]
        rows = np.flatnonzero((ours == key.source_line) & (theirs == key.target_line)).tolist()
        return next((row for row in rows if key_of(opened, row) == key), None)
    at, every = key.source_line - 1, range(len(opened))
    near = sorted(every[max(0, at - _NEAR) : max(0, at + _NEAR)], key=lambda row: abs(row - at))
    return next((row for row in near if key_of(opened, row).texts == key.texts), None)


def judge_name() -> str:
    """Name who judges: XMINE_JUDGE, or the login name."""
    try:
        name = os.environ.get("XMINE_JUDGE", "") or getpass.getuser()
    except (OSError, KeyError):  # a container may have no name for its user
        name = ""
    return "".join(each if each.isprintable() else " " for each in name).strip() or "unknown"


class Judgements:
    """The labels of some pairs, in the file `path`; `by` names who labels here."""

    def __init__(self, opened: Opened, path: Path, by: str, patience: float = KEY_PATIENCE) -> None:
        """Begin without any; see `open`."""
        self.path, self.by, self._patience = path, by, patience
        self._opened = opened
        # The label of each judge for each pair, the latest at the end.
        self._said: dict[PairKey, dict[str, str]] = {}
        self._moved: dict[PairKey, PairKey] = {}  # see `_moves`
        # What was done here, each of it at once: pairs, and what `by` had said of them before.
        self._done: list[list[tuple[PairKey, str]]] = []
        self._seen: tuple[int, int, int] | None = None  # inode, size and time of the file
        self._end = 0  # of what was read of it
        self._codes: NDArray[np.int8] | None = None
        self._lock = RLock()  # `codes` may be asked for in a thread while a label comes

    @classmethod
    def open(cls, opened: Opened, by: str = "", patience: float = KEY_PATIENCE) -> Self:
        """Read the judgements beside a run or a file of pairs."""
        judgements = cls(opened, file_beside(opened.path), by or judge_name(), patience)
        judgements.refresh()
        return judgements

    @property
    def problem(self) -> str:
        """Say why a label could not be kept, to be told before the first; empty if it can."""
        return why_not_writable(self.path)

    def of(self, row: int) -> str:
        """Give the latest label of a pair; empty if there is none."""
        if not self._said:
            return ""
        return _latest(self._said.get(key_of(self._opened, row), {}))

    def by_judge(self, row: int) -> dict[str, str]:
        """Give the label of each judge for a pair, the latest at the end."""
        return dict(self._said.get(key_of(self._opened, row), {}))

    def unsaid(self, rows: Rows) -> list[int]:
        """List those of some pairs that `by` has not judged, in their order."""
        return [row for row in rows.tolist() if self.by not in self.by_judge(row)]

    def judge(self, row: int, judgement: str) -> bool:
        """Say `accept`, `reject` or `unsure` of a pair, or `none` to take back what was said."""
        return bool(self.judge_all([row], judgement))

    def judge_all(self, rows: Iterable[int], judgement: str) -> int:
        """Say the same of some pairs; one `undo` takes all of it back.

        Pairs of which `by` has said it already are left out, unless another judge spoke later.

        Returns:
            how many pairs are left.
        """
        before = []
        for row in rows:
            said = self.by_judge(row)
            own = said.get(self.by, TAKEN_BACK)
            if own != judgement:
                before.append((key_of(self._opened, row), own))
            elif said and list(said)[-1] != self.by and own != TAKEN_BACK:
                # Taken back, the other label is the latest again.
                before.append((key_of(self._opened, row), TAKEN_BACK))
        if before:
            self._write([(key, judgement) for key, _ in before])
            self._done.append(before)
        return len(before)

    def undo(self, there: int | None = None) -> list[int]:
        """Take back the last labels that were given here at once, and name their pairs.

        If none are left, that of `by` on the pair `there`; name none where there is no such label.
        """
        if not self._done:
            if there is None or self.by not in self.by_judge(there):
                return []
            self._write([(key_of(self._opened, there), TAKEN_BACK)])
            return [there]
        before = dict(self._done[-1])
        self._write(list(before.items()))
        self._done.pop()
        return [row for row in self._near(before) if key_of(self._opened, row) in before]

    def refresh(self) -> bool:
        """Read what others have said since; tell whether there was any."""
        try:
            found = self.path.stat()
            seen = (found.st_ino, found.st_size, found.st_mtime_ns)
        except OSError:
            seen = None
        if seen == self._seen:
            return False
        grown = self._seen and seen and self._seen[0] == seen[0] and seen[1] > self._seen[1]
        labels, end = read_from(self.path, self._end if grown else 0)
        with self._lock:
            if not grown:
                self._said.clear()
                self._moved = self._moves({label.key for label in labels})
            if not grown or len(labels) > _MANY:
                self._codes = None
            for label in labels:
                self._take(label)
        self._seen, self._end = seen, end
        return bool(labels) or not grown

    def codes(self) -> NDArray[np.int8]:
        """Tell the label on every pair, int8 [pairs], as CODES has them."""
        with self._lock:
            if self._codes is None:
                codes = np.zeros(len(self._opened), dtype=np.int8)
                for row in self.rows().tolist():
                    codes[row] = CODES[self.of(row)]
                self._codes = codes
            return self._codes

    def rows(self) -> Rows:
        """Find the pairs that are judged, int64 [judged], in the order of the pairs."""
        return np.array([row for row in self._near(self._said) if self.of(row)], dtype=np.int64)

    def _near(self, keys: Iterable[PairKey]) -> list[int]:
        """List pairs of the lines of some keys, in the order of the pairs."""
        source, target = self._lines
        lines = [(key.source_line, key.target_line or 0) for key in keys]
        left, right = np.array(lines, dtype=np.int64).reshape(-1, 2).T
        return np.flatnonzero(np.isin(source, left) & np.isin(target, right)).tolist()

    def counts(self, rows: Rows | None = None) -> Counts:
        """Count labels on some pairs, or on all of them."""
        codes = self.codes() if rows is None else self.codes()[rows]
        accept, reject, unsure = np.bincount(codes, minlength=4)[1:].tolist()
        return Counts(accept, reject, unsure, len(codes))

    def _write(self, said: list[tuple[PairKey, str]]) -> None:
        known, time = (*LABELS, TAKEN_BACK), now()
        for _, judgement in said:
            if judgement not in known:
                choose = f"choose from {', '.join(known)}"
                raise OptionError(f"{judgement!r} is no judgement", choose)
        labels = [Label(key, each, self.by, time) for key, each in said]
        append(self.path, labels, self._patience)
        self.refresh()  # it holds these labels, and what others said before them

    def _take(self, label: Label) -> None:
        key = self._moved.get(label.key, label.key)
        said = self._said.setdefault(key, {})
        said.pop(label.judge, None)
        if label.judgement != TAKEN_BACK:
            said[label.judge] = label.judgement
        elif not said:
            del self._said[key]
        if self._codes is not None:
            code = CODES[_latest(said)]
            for row in self._rows_at(key).tolist():
                if key_of(self._opened, row) == key:
                    self._codes[row] = code

    def _moves(self, keys: set[PairKey]) -> dict[PairKey, PairKey]:
        """Find pairs without lines that stand in another row by now: the keys of then and of now.

        A pair may have moved by _NEAR rows. Of several rows with its texts, the nearest one that no
        other label is for is taken.
        """
        opened, every = self._opened, range(len(self._opened))
        if opened.lined:
            return {}
        rows = {key: key.source_line - 1 for key in keys if key.target_line is None}
        fit = {key for key, row in rows.items() if row in every and key_of(opened, row) == key}
        lost = sorted(rows.keys() - fit, key=lambda key: rows[key])
        is_near = np.zeros(len(opened), dtype=bool)
        for key in lost:
            is_near[max(0, rows[key] - _NEAR) : rows[key] + _NEAR + 1] = True
        having = defaultdict(list)
        for row in np.flatnonzero(is_near).tolist():
            having[key_of(opened, row).texts].append(row)
        taken, moved = {rows[key] for key in fit}, {}
        for key in lost:
            found = [row for row in having[key.texts] if abs(row - rows[key]) <= _NEAR]
            if free := [row for row in found if row not in taken or len(found) == 1]:
                taken.add(row := min(free, key=lambda row: abs(row - rows[key])))
                moved[key] = key_of(opened, row)
        return moved

    def _rows_at(self, key: PairKey) -> Rows:
        source, target = self._lines
        return np.flatnonzero((source == key.source_line) & (target == (key.target_line or 0)))

    @cached_property
    def _lines(self) -> tuple[Rows, Rows]:
        opened = self._opened
        if opened.lined:
            return opened.source.lines[opened.sources], opened.target.lines[opened.targets]
        numbers = np.arange(1, len(opened) + 1)
        return numbers, np.zeros_like(numbers)
