"""Files -> what there is to train on: pairs, triplets, labelled pairs, texts of one language."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import xmine
from xmine.encoders.tokenizer import nfkc
from xmine.errors import FileError
from xmine.files.reading import name_of, read_lines, stream_lines
from xmine.files.records import csv_rows, json_objects, json_text, listed
from xmine.files.suffixes import kind_of
from xmine.pairs.io import ParallelText, read_parallel
from xmine.pairs.known import read_known
from xmine.text.inputs import read_texts

from .vocabulary import folding_table

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

    def __len__(self) -> int:
        """Count the pairs."""
        return len(self.premises)


@dataclass(frozen=True, slots=True)
class Corpus:
    """All that a run trains on.

    Attributes:
        pairs: translations, and where each comes from.
        triplets: one table per language; row i is the same item in all of them.
        labelled: natural language inference with labels.
        texts: sentences of one language each, with no translation known.
        text_files: int64 [texts], the number of the file that each is from; empty if from none.
        excluded: how many rows were left out, see `without`.
        excludes: the files that they were left out for.
    """

    pairs: ParallelText | None = None
    triplets: tuple[Triplets, ...] = ()
    labelled: Labelled | None = None
    texts: Sequence[str] = field(default_factory=tuple)
    text_files: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    excluded: int = 0
    excludes: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        pairs: str | None = None,
        triplets: Sequence[str] = (),
        nli: str | None = None,
        texts: Sequence[str] = (),
    ) -> "Corpus":
        """Read files.

        Args:
            pairs: a file of pairs, see `xmine.pairs.io.read_pairs`.
            triplets: see `read_triplets`; a file for each language, of the same items.
            nli: see `read_labelled`.
            texts: text inputs, see `xmine.text.inputs`; blank lines are left out.

        Raises:
            FileError: one cannot be read, or has nothing in it; or triplets of two languages are
                not as many.
        """
        tables = tuple(map(read_triplets, triplets))
        for name, table in zip(triplets, tables, strict=True):
            if len(table) != len(tables[0]):
                raise FileError(
                    f"{triplets[0]} has {len(tables[0]):,} triplets, {name} {len(table):,}",
                    "the same row of both must be the same item in two languages",
                )
        files = list(map(_full_texts, texts))
        return cls(
            pairs=None if pairs is None else read_parallel(pairs),
            triplets=tables,
            labelled=None if nli is None else read_labelled(nli),
            texts=[text for each in files for text in each],
            text_files=np.repeat(np.arange(len(files)), [len(each) for each in files]),
        )

    @property
    def kinds(self) -> tuple[str, ...]:
        """Name what there is: `pairs`, `triplets`, `nli`, `texts`."""
        there = {
            "pairs": self.pairs is not None,
            "triplets": bool(self.triplets),
            "nli": self.labelled is not None,
            "texts": bool(self.texts),
        }
        return tuple(name for name, is_there in there.items() if is_there)

    def every_text(self) -> Iterator[Sequence[str]]:
        """Walk through all columns of text."""
        if self.pairs:
            yield self.pairs.sources
            yield self.pairs.targets
        for table in self.triplets:
            yield from table.columns()
        if self.labelled:
            yield self.labelled.premises
            yield self.labelled.hypotheses
        if self.texts:
            yield self.texts

    def fingerprint(self) -> str:
        """Hash everything, so that a run is not resumed with other data."""
        digest = hashlib.blake2b(digest_size=16)
        origins: Sequence[str] = self.pairs.origins if self.pairs else ()
        labels = self.labelled.labels.tobytes() if self.labelled else b""
        for column in (*self.every_text(), origins):
            digest.update("\n".join(column).encode())
            digest.update(b"\0")
        digest.update(labels)
        if len(np.unique(self.text_files)) > 1:
            digest.update(self.text_files.tobytes())
        return digest.hexdigest()

    def without(self, files: Sequence[str]) -> "Corpus":
        """Leave out rows with a text that occurs in a file, as a line or as a column of one.

        Compared after NFKC, case folding and traditional to simplified, by letters and digits
        alone. What was left out for these files already is not looked for again.

        Raises:
            FileError: a file cannot be read.
        """
        if tuple(files) == self.excludes:
            return self
        seen = {
            _letters(part)
            for file in files
            for line in read_lines(file)
            for part in (line, *line.split("\t"))
        } - {""}

        def kept(*columns: Sequence[str]) -> NDArray[np.intp]:
            rows = zip(*columns, strict=True)
            return np.array(
                [at for at, row in enumerate(rows) if not any(_letters(x) in seen for x in row)],
                dtype=np.intp,
            )

        changed, left_out = self, 0
        if self.pairs:
            rows = kept(self.pairs.sources, self.pairs.targets)
            left_out += len(self.pairs) - len(rows)
            changed = replace(changed, pairs=self.pairs.take(rows))
        if self.triplets:
            rows = kept(*(column for table in self.triplets for column in table.columns()))
            left_out += len(self.triplets[0]) - len(rows)
            changed = replace(changed, triplets=tuple(each.take(rows) for each in self.triplets))
        if self.labelled:
            rows = kept(self.labelled.premises, self.labelled.hypotheses)
            left_out += len(self.labelled) - len(rows)
            labelled = Labelled(
                [self.labelled.premises[row] for row in rows],
                [self.labelled.hypotheses[row] for row in rows],
                self.labelled.labels[rows],
            )
            changed = replace(changed, labelled=labelled)
        if self.texts:
            rows = kept(self.texts)
            left_out += len(self.texts) - len(rows)
            changed = replace(changed, texts=[self.texts[row] for row in rows])
            if len(self.text_files):
                changed = replace(changed, text_files=self.text_files[rows])
        return replace(changed, excluded=left_out, excludes=tuple(files))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, nfkc(text).translate(folding_table())))


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


def examples() -> Corpus:
    """Read the example sentences of xmine: English, Chinese, and which lines are translations."""
    inside = Path(xmine.__file__).parent / "examples"  # of a wheel
    folder = inside if inside.is_dir() else Path(xmine.__file__).parents[1] / "examples"
    english, chinese = (read_lines(folder / f"{language}.txt") for language in ("en", "zh"))
    known = [pair for pair in read_known(folder / "gold.tsv").pairs if pair.right]
    sources = [english[pair.source - 1] for pair in known]
    targets = [chinese[pair.target - 1] for pair in known]
    return Corpus(ParallelText(sources, targets, [""] * len(known)))


def _full_texts(given: str) -> list[str]:
    """Read a text input without its blank lines."""
    texts = [text for text in read_texts(given) if text.strip()]
    if not texts:
        raise FileError(f"{name_of(given)}: no text in it")
    return texts


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
        if row is None:
            continue
        for name in _FIELDS:
            if name not in row:
                raise FileError(f"{where}: no field {name!r}, only {listed('field', row)}")
        sides = [json_text(row[name], name, where) for name in _FIELDS[:2]]
        yield where, [*sides, str(row["label"])]


def _refuse_blank(where: str, row: Sequence[str]) -> None:
    for column, text in enumerate(row, start=1):
        if not text.strip():
            raise FileError(f"{where}: column {column} is blank", "leave the row out")
