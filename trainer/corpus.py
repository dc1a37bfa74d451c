"""Files -> what there is to train on: pairs, triplets, labelled pairs, texts of one language."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.pairs import ParallelText
from xmine.reading import read_lines
from xmine.trainer.vocabulary import folding_table
from xmine.vocabulary import nfkc

LABELS = ("entailment", "neutral", "contradiction")


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
        excluded: how many rows were left out, see `without`.
    """

    pairs: ParallelText | None = None
    triplets: tuple[Triplets, ...] = ()
    labelled: Labelled | None = None
    texts: Sequence[str] = field(default_factory=tuple)
    excluded: int = 0

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
        return digest.hexdigest()

    def without(self, files: Iterable[str]) -> "Corpus":
        """Leave out rows with a text that occurs in a file, as a line or as a column of one.

        Compared after NFKC, case folding and traditional to simplified, by letters and digits
        alone.

        Raises:
            FileError: a file cannot be read.
        """
        seen = {
            _letters(part)
            for file in files
            for line in read_lines(file)
            for part in (line, *line.split("\t"))
        } - {""}
        if not seen:
            return self

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
        return replace(changed, excluded=left_out)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, nfkc(text).translate(folding_table())))


def read_triplets(path: str) -> Triplets:
    """Read rows of three columns with tabs between: anchor, entailed, contradicting.

    Raises:
        FileError: it cannot be read, or a row has another number of columns.
    """
    rows = list(_columns(path, 3, "anchor, entailed and contradicting sentence"))
    return Triplets(*([row[column] for row in rows] for column in range(3)))


def read_labelled(path: str) -> Labelled:
    """Read rows of three columns with tabs between: premise, hypothesis, label.

    Labels are the words of LABELS, or 0, 1, 2 in that order.

    Raises:
        FileError: it cannot be read, or a row has no such label.
    """
    known = {**{name: at for at, name in enumerate(LABELS)}, **{str(i): i for i in range(3)}}
    premises, hypotheses, labels = [], [], []
    for number, row in enumerate(_columns(path, 3, "premise, hypothesis and label"), start=1):
        if row[2].strip() not in known:
            raise FileError(
                f"{path}:{number}: no label is {row[2]!r}", f"labels are {', '.join(LABELS)}"
            )
        premises.append(row[0])
        hypotheses.append(row[1])
        labels.append(known[row[2].strip()])
    return Labelled(premises, hypotheses, np.array(labels, dtype=np.int64))


def _columns(path: str, count: int, names: str) -> Iterator[list[str]]:
    for number, line in enumerate(read_lines(path), start=1):
        row = line.split("\t")
        if len(row) != count:
            found = "one column" if len(row) == 1 else f"{len(row)} columns"
            raise FileError(f"{path}:{number}: {found}; {count} are needed: {names}")
        yield row
