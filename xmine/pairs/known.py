"""Labelled pairs, right or wrong: read from a file, resolved to sentences, matched with pairs.

Labelled pairs are numbers of lines, as `xmine mine` prints them: gold pairs are all right pairs,
seed pairs are some.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError, XmineWarning
from xmine.files.reading import read_lines
from xmine.pairs.judgements import (
    ACCEPT,
    REJECT,
    broken_lines,
    file_beside,
    hash_of,
    is_label_file,
    standing_in,
)
from xmine.scoring.gold import Agreement, agreement_of
from xmine.text.sentences import Sentences


class LabelledPair(NamedTuple):
    """Two lines, from 1, and whether they are translations of each other."""

    source: int
    target: int
    right: bool = True


class LabelledPairs(NamedTuple):
    """Labelled pairs, the name of their file, and for messages the line of each in that file."""

    name: str
    pairs: list[LabelledPair]
    numbers: Sequence[int] | None = None  # of lines; None where every line has a pair
    texts: Sequence[str] | None = None  # hashes of the texts that were judged, see `hash_of`
    left_out: int = 0  # judged pairs whose lines have other texts now

    def resolved(self, source: Sentences, target: Sentences) -> "LabelledPairs":
        """Name the lines that stand for repeated ones; leave out judged pairs of other texts.

        Raises:
            FileError: a line is not in its file, or no judged pair is in the files.
        """
        if self.texts is not None and source.offsets is None and target.offsets is None:
            return self._with_same_texts(source, target)
        for at, pair in enumerate(self.pairs):
            for line, side in zip(pair[:2], (source, target), strict=True):
                if not 1 <= line <= side.total:
                    raise FileError(
                        f"{self.name}:{self.numbers[at] if self.numbers else at + 1}: line {line} "
                        f"of {side.name}, which has {side.total:,}",
                        "the first column is a line of the first file, the second of the second",
                    )
        pairs = [
            LabelledPair(source.standing_for(x), target.standing_for(y), right)
            for x, y, right in self.pairs
        ]
        return LabelledPairs(self.name, pairs, self.numbers)

    def _with_same_texts(self, source: Sentences, target: Sentences) -> "LabelledPairs":
        """Keep the pairs whose lines have the texts that were judged."""
        pairs = list[LabelledPair]()
        for (first, second, right), texts in zip(self.pairs, self.texts or (), strict=True):
            x, own = _line_and_text(first, source)
            y, other = _line_and_text(second, target)
            if own and other and texts == hash_of(own, other):
                pairs.append(LabelledPair(x, y, right))
        left_out = len(self.pairs) - len(pairs)
        if not pairs:
            raise FileError(
                f"{self.name}: none of the {left_out:,} judged pairs is in {source.name} and "
                f"{target.name}: the lines have other texts",
                "give the files that were mined when the pairs were judged",
            )
        return LabelledPairs(self.name, pairs, left_out=left_out)

    @property
    def warning(self) -> str:
        """Say how many pairs were left out; empty if none was."""
        if not self.left_out:
            return ""
        were = "judged pair is" if self.left_out == 1 else "judged pairs are"
        return f"{self.name}: {self.left_out:,} {were} left out: the lines have other texts now"


def _line_and_text(line: int, side: Sentences) -> tuple[int, str]:
    """Give the line that stands for another one, and its text; no text where there is no line."""
    if not 1 <= line <= side.total:
        return line, ""
    line = side.standing_for(line)
    row = int(np.searchsorted(side.lines, line))
    there = row < len(side) and int(side.lines[row]) == line
    return line, side.texts[row] if there else ""


NOTHING_KNOWN = LabelledPairs("", [])


@dataclass(frozen=True, slots=True)
class SettledPairs:
    """Pairs whose probability is known from a run before, as of those that trained the encoder.

    Such pairs stand further out than other translations, so they say nothing of these.

    Attributes:
        lines: int64 [pairs, 2], the source and target line of each pair, no pair twice.
        probs: float64 [pairs].
        others: the other pairs of that run, whose probability stands where no translation can be
            told among those that are left; None for none.
    """

    lines: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    probs: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    others: "SettledPairs | None" = None

    def probs_of(
        self, source_lines: NDArray[np.int64], target_lines: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Look pairs of lines up, float64 [pairs]; NaN for pairs that are not settled."""
        found = np.full(len(source_lines), np.nan)
        if len(self.lines):
            own, others = (x << 32 | y for x, y in (self.lines.T, (source_lines, target_lines)))
            order = np.argsort(own)
            at = order[np.minimum(np.searchsorted(own, others, sorter=order), len(own) - 1)]
            found = np.where(own[at] == others, self.probs[at], np.nan)
        return found


NOTHING_SETTLED = SettledPairs()


def read_known(path: str | Path) -> LabelledPairs:
    """Read `LINE<TAB>LINE`, and behind another tab, if a pair has been judged, 1 or 0.

    Judgements are read as well, from their file, or from a run or a file of pairs that has been
    judged: accepted pairs are right, rejected ones wrong, and unsure or repaired ones left out.

    Raises:
        FileError: the file cannot be read, or a line has no two numbers of lines.
    """
    path = known_file(Path(path))
    if path.is_file() and is_label_file(start := path.read_bytes()):
        return _judged(path, start.decode("utf-8", "replace").rstrip("\n").split("\n"))
    lines = read_lines(path)
    known: list[LabelledPair] = []
    places: dict[LabelledPair, int] = {}
    for number, line in enumerate(lines, start=1):
        columns = line.split("\t")
        are_lines = all(each.isdecimal() and len(each) <= 18 for each in columns[:2])
        if not (2 <= len(columns) <= 3 and are_lines):
            raise FileError(
                f"{path}:{number}: expected two line numbers with a tab between",
                "a third column may say 1 for a right pair and 0 for a wrong one",
            )
        if columns[2:] and columns[2] not in ("0", "1"):
            raise FileError(f"{path}:{number}: the third column is {columns[2]!r}, not 1 or 0")
        pair = LabelledPair(int(columns[0]), int(columns[1]), columns[2:] != ["0"])
        if (other := places.get(pair._replace(right=not pair.right))) is not None:
            raise FileError(
                f"{path}:{number}: judged right and wrong, the other way in line {other}"
            )
        places[pair] = number
        known.append(pair)
    return LabelledPairs(str(path), known)


def known_pairs(given: LabelledPairs | str | Path) -> LabelledPairs:
    """Read labelled pairs, see `read_known`, unless they are read."""
    return given if isinstance(given, LabelledPairs) else read_known(given)


def known_file(path: Path) -> Path:
    """Name the file of labels: of a run or of judged pairs the file of judgements beside them."""
    if not path.exists():
        return path
    beside = file_beside(path)
    if beside.exists():
        return beside
    if path.is_dir():
        raise FileError(f"{path}: no pair of it has been judged", f"xmine browse {path}")
    return path


def _judged(path: Path, lines: list[str]) -> LabelledPairs:
    """Take the label that stands for each pair, in the order of the lines."""
    known = []
    if broken := broken_lines(path):
        warnings.warn(broken, XmineWarning, stacklevel=3)
    for number, label in standing_in(path, lines):
        key = label.key
        if label.judgement not in (ACCEPT, REJECT) or label.more.get("repair"):
            continue  # of a repaired pair other texts were accepted than those of its lines
        if key.target_line is None:
            raise FileError(
                f"{path}:{number}: a pair of a file without lines was judged",
                "known pairs are lines; judge the run, or pairs with source_line and target_line",
            )
        if key.source_offset is not None:
            raise FileError(
                f"{path}:{number}: a sentence of a line was judged, not the line",
                "known pairs are lines; what was mined with --segment cannot be given",
            )
        right = label.judgement == ACCEPT
        pair = LabelledPair(key.source_line, key.target_line, right)
        known.append((pair, number, key.texts))
    if not known:
        raise FileError(f"{path}: no pair is accepted or rejected", "judge some: xmine browse")
    known.sort()
    pairs, numbers, texts = zip(*known, strict=True)
    return LabelledPairs(str(path), list(pairs), list(numbers), list(texts))


def labels_of(
    known: Sequence[LabelledPair], source_lines: NDArray[np.int64], target_lines: NDArray[np.int64]
) -> NDArray[np.int8]:
    """Label pairs, int8 [pairs]: 1 right, 0 wrong, -1 not labelled; the lines are int64 [pairs].

    A pair is wrong, too, if one of its lines belongs to a right pair with another line.
    """
    labels = np.full(len(source_lines), -1, dtype=np.int8)
    if not known:
        return labels
    right = {pair[:2] for pair in known if pair.right}
    wrong = {pair[:2] for pair in known if not pair.right}
    sources, targets = {source for source, _ in right}, {target for _, target in right}
    named = [sorted({pair[side] for pair in known}) for side in (0, 1)]
    rows = np.flatnonzero(np.isin(source_lines, named[0]) | np.isin(target_lines, named[1]))
    for row in rows.tolist():
        pair = int(source_lines[row]), int(target_lines[row])
        taken = pair[0] in sources or pair[1] in targets
        labels[row] = 1 if pair in right else 0 if taken or pair in wrong else -1
    return labels


def agreement_with_seeds(known: Sequence[LabelledPair], labels: NDArray[np.int8]) -> Agreement:
    """Compare pairs, given their labels, with seed pairs; pairs without a label do not count."""
    gold = len({pair[:2] for pair in known if pair.right})
    right, judged = int((labels == 1).sum()), int((labels >= 0).sum())
    return agreement_of(judged, gold, right)
