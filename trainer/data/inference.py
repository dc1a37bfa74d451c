"""Files of natural language inference -> triplets, or pairs with labels."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.files.reading import name_of, stream_lines
from xmine.files.records import csv_rows, json_objects, json_text, listed
from xmine.files.suffixes import kind_of

LABELS = ("entailment", "neutral", "contradiction")
_FIELDS, _TRIPLET = ("premise", "hypothesis", "label"), ("sent0", "sent1", "hard_neg")
_Rows = Iterator[tuple[str, list[str]]]


@dataclass(frozen=True, slots=True)
class Triplets:
    """Sentences, each with one that it entails and one that it contradicts, in one language."""

    anchors: Sequence[str]
    positives: Sequence[str]
    negatives: Sequence[str]

    def columns(self) -> tuple[Sequence[str], ...]:
        """Give the three, in this order."""
        return self.anchors, self.positives, self.negatives

    def take(self, rows: NDArray[np.intp]) -> "Triplets":
        """Gather some rows."""
        return Triplets(*([column[row] for row in rows] for column in self.columns()))

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.anchors)


@dataclass(frozen=True, slots=True)
class Labelled:
    """Pairs of a premise and a hypothesis, and what the one says of the other.

    Attributes:
        premises, hypotheses: the sentences.
        labels: int64 [pairs], places in LABELS.
    """

    premises: Sequence[str]
    hypotheses: Sequence[str]
    labels: NDArray[np.int64]

    def take(self, rows: NDArray[np.intp]) -> "Labelled":
        """Gather some pairs."""
        premises, hypotheses = (
            [column[row] for row in rows] for column in (self.premises, self.hypotheses)
        )
        return Labelled(premises, hypotheses, self.labels[rows])

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.premises)


def read_triplets(path: str) -> Triplets:
    """Read rows of three columns: anchor, entailed, contradicting; with tabs between, or `.csv`.

    A first row that says `sent0,sent1,hard_neg` is a head.

    Raises:
        FileError: it cannot be read, is empty, or a row has another number of columns or a blank
            one.
    """
    names = "anchor, entailed and contradicting sentence"
    rows = [row for _, row in _columns(_rows(path), names, _TRIPLET)]
    if not rows:
        raise FileError(f"{name_of(path)}: no triplets in it")
    return Triplets(*([row[column] for row in rows] for column in range(3)))


def read_labelled(path: str) -> Labelled:
    """Read premises, hypotheses and labels: three columns, or JSONL with these three fields.

    Labels are the words of LABELS, or 0, 1, 2 in that order.

    Raises:
        FileError: it cannot be read, is empty, or a row has no such label, another number of
            columns or a blank one.
    """
    known = {**{name: at for at, name in enumerate(LABELS)}, **{str(i): i for i in range(3)}}
    rows = []
    for where, (premise, hypothesis, label) in _columns(_rows(path), ", ".join(_FIELDS), _FIELDS):
        if label.strip() not in known:
            said = f"{where}: no label is {label.strip()!r}"
            raise FileError(said, f"labels are {', '.join(LABELS)}")
        rows.append((premise, hypothesis, known[label.strip()]))
    if not rows:
        raise FileError(f"{name_of(path)}: no labelled pairs in it")
    premises, hypotheses, labels = map(list, zip(*rows, strict=True))
    return Labelled(premises, hypotheses, np.array(labels, dtype=np.int64))


def _columns(rows: _Rows, names: str, head: Sequence[str]) -> _Rows:
    """Give `file:line` and the three columns of each row behind the head, none of them blank."""
    begun = False
    for where, row in rows:
        if len(row) != 3:
            found = "one column" if len(row) == 1 else f"{len(row)} columns"
            raise FileError(f"{where}: {found}; three are needed: {names}")
        if begun := begun or row != list(head):
            for column, text in enumerate(row, start=1):
                if not text.strip():
                    raise FileError(f"{where}: column {column} is blank", "leave the row out")
            yield where, row


def _rows(path: str) -> _Rows:
    if kind_of(path) == "csv":
        yield from ((where, cells) for where, _, cells in csv_rows(path))
        return
    if kind_of(path) == "jsonl":  # of premise, hypothesis and label
        for where, row in json_objects(path):
            for name in _FIELDS:
                if name not in row:
                    raise FileError(f"{where}: no field {name!r}, only {listed('field', row)}")
            yield where, [*(json_text(row[x], x, where) for x in _FIELDS[:2]), str(row["label"])]
        return
    for number, line in enumerate(stream_lines(path), start=1):
        yield f"{name_of(path)}:{number}", line.split("\t")
