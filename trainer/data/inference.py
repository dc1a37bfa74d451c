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
_FIELDS = ("premise", "hypothesis", "label")


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
    rows: list[list[str]] = []
    for where, row in _columns(path, "anchor, entailed and contradicting sentence"):
        if not rows and row == ["sent0", "sent1", "hard_neg"]:
            continue
        _refuse_blank(where, row)
        rows.append(row)
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
    premises: list[str] = []
    hypotheses: list[str] = []
    labels: list[int] = []
    rows = _objects(path) if kind_of(path) == "jsonl" else _columns(path, ", ".join(_FIELDS))
    for where, row in rows:
        if not premises and row == list(_FIELDS):
            continue
        _refuse_blank(where, row)
        label = row[2].strip()
        if label not in known:
            raise FileError(f"{where}: no label is {label!r}", f"labels are {', '.join(LABELS)}")
        premises.append(row[0])
        hypotheses.append(row[1])
        labels.append(known[label])
    if not labels:
        raise FileError(f"{name_of(path)}: no labelled pairs in it")
    return Labelled(premises, hypotheses, np.array(labels, dtype=np.int64))


def _columns(path: str, names: str) -> Iterator[tuple[str, list[str]]]:
    """Give `file:line` and the three columns of each row."""
    for where, row in _rows(path):
        if len(row) != 3:
            found = "one column" if len(row) == 1 else f"{len(row)} columns"
            raise FileError(f"{where}: {found}; three are needed: {names}")
        yield where, row


def _rows(path: str) -> Iterator[tuple[str, list[str]]]:
    if kind_of(path) == "csv":
        yield from ((where, cells) for where, _, cells in csv_rows(path))
        return
    for number, line in enumerate(stream_lines(path), start=1):
        yield f"{name_of(path)}:{number}", line.split("\t")


def _objects(path: str) -> Iterator[tuple[str, list[str]]]:
    """Give `file:line` and premise, hypothesis and label of each object."""
    for where, row in json_objects(path):
        for name in _FIELDS:
            if name not in row:
                raise FileError(f"{where}: no field {name!r}, only {listed('field', row)}")
        sides = [json_text(row[name], name, where) for name in _FIELDS[:2]]
        yield where, [*sides, str(row["label"])]


def _refuse_blank(where: str, row: Sequence[str]) -> None:
    for column, text in enumerate(row, start=1):
        if not text.strip():
            raise FileError(f"{where}: column {column} is blank", "leave the row out")
