"""Files -> what there is to train on: pairs, triplets, labelled pairs, texts of one language."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError, TrainingError
from xmine.files.reading import exists, name_of, read_lines
from xmine.files.records import csv_rows, json_objects, open_parquet
from xmine.files.scratch import scratch_in
from xmine.files.suffixes import kind_of
from xmine.judging.export import standing_pairs
from xmine.pairs.io import ParallelText, read_pairs, read_parallel
from xmine.pairs.paths import FOREIGN
from xmine.text.folding import fold
from xmine.text.formats import has_units
from xmine.text.inputs import read_texts
from xmine.text.packed import TextPacker, picked

from .inference import Labelled, Triplets, read_labelled, read_triplets
from .vocabulary import folding_table

_HASHED_AT_ONCE = 65_536


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
        apart: pairs of origins that are held out whole, see `parted`.
    """

    pairs: ParallelText | None = None
    triplets: tuple[Triplets, ...] = ()
    labelled: Labelled | None = None
    texts: Sequence[str] = field(default_factory=tuple)
    text_files: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    excluded: int = 0
    apart: ParallelText | None = None

    @classmethod
    def read(
        cls,
        pairs: str | Sequence[str] | None = None,
        triplets: Sequence[str] = (),
        nli: str | None = None,
        texts: Sequence[str] = (),
        folder: Path | None = None,
    ) -> "Corpus":
        """Read files.

        Args:
            pairs: see `xmine.pairs.io.read_parallel`; of several files, each in two languages.
            triplets: see `read_triplets`; a file for each language, of the same items.
            nli: see `read_labelled`.
            texts: see `xmine.text.inputs`; blank lines are left out.
            folder: where long texts lie, in files without a name; None for memory.

        Raises:
            FileError: one cannot be read, is empty, or not in its languages; or triplets of two
                languages are not as many.
        """
        if folder:
            with scratch_in(folder):
                return cls.read(pairs, triplets, nli, texts)
        tables = tuple(map(read_triplets, triplets))
        for name, table in zip(triplets, tables, strict=True):
            if len(table) != len(tables[0]):
                raise FileError(
                    f"{triplets[0]} has {len(tables[0]):,} triplets, {name} {len(table):,}",
                    "the same row of both must be the same item in two languages",
                )
        packer, ends = TextPacker(), [0]
        for given in texts:
            for text in filter(str.strip, read_texts(given)):
                packer.append(text)
            if len(packer) == ends[-1]:
                raise FileError(f"{name_of(given)}: no text in it")
            ends.append(len(packer))
        names = [pairs] if isinstance(pairs, str) else pairs
        return cls(
            pairs=read_parallel(*names, read=standing_pairs) if names else None,
            triplets=tables,
            labelled=None if nli is None else read_labelled(nli),
            texts=packer.packed(),
            text_files=np.repeat(np.arange(len(texts)), np.diff(ends)),
        )

    def every_text(self) -> Iterator[Sequence[str]]:
        """Walk through all columns of text, and the texts of each file."""
        if self.pairs:
            yield self.pairs.sources
            yield self.pairs.targets
        for table in self.triplets:
            yield from table.columns()
        if self.labelled:
            yield self.labelled.premises
            yield self.labelled.hypotheses
        if len(self.text_files):
            for file in np.unique(self.text_files):
                yield picked(self.texts, np.flatnonzero(self.text_files == file))
        elif self.texts:
            yield self.texts

    def fingerprint(self) -> str:
        """Hash everything, so that a run is not resumed with other data."""
        digest = hashlib.blake2b(digest_size=16)
        origins: Sequence[str] = self.pairs.origins if self.pairs else ()
        labels = self.labelled.labels.tobytes() if self.labelled else b""
        for column in (*self.every_text(), origins):
            for at in range(0, len(column), _HASHED_AT_ONCE):
                digest.update(
                    (b"\n" if at else b"") + "\n".join(column[at : at + _HASHED_AT_ONCE]).encode()
                )
            digest.update(b"\0")
        digest.update(labels)
        if self.pairs and (languages := self.pairs.languages):
            digest.update(",".join(languages.names).encode())
            digest.update(languages.of_rows.tobytes())
        return digest.hexdigest()

    def without(self, files: Sequence[str]) -> "Corpus":
        """Leave out rows with a text that occurs in a file, see `texts_in`.

        Compared after foldings, case and traditional to simplified, by letters and digits alone.
        """
        if not files:
            return self
        seen = {_letters(text) for file in files for text in texts_in(file)} - {""}

        changes: dict[str, Any] = {"excluded": 0}

        def kept(*columns: Sequence[str]) -> NDArray[np.intp]:
            rows = [
                at
                for at, row in enumerate(zip(*columns, strict=True))
                if not any(_letters(text) in seen for text in row)
            ]
            changes["excluded"] += len(columns[0]) - len(rows)
            return np.array(rows, dtype=np.intp)

        if self.pairs:
            changes["pairs"] = self.pairs.take(kept(self.pairs.sources, self.pairs.targets))
        if self.triplets:
            rows = kept(*(column for table in self.triplets for column in table.columns()))
            changes["triplets"] = tuple(each.take(rows) for each in self.triplets)
        if self.labelled:
            sides = self.labelled.premises, self.labelled.hypotheses
            changes["labelled"] = self.labelled.take(kept(*sides))
        if self.texts:
            rows = kept(self.texts)
            changes["texts"] = picked(self.texts, rows)
            if len(self.text_files):
                changes["text_files"] = self.text_files[rows]
        return replace(self, **changes)

    def unseen(self, columns: Iterable[Sequence[str]]) -> NDArray[np.intp]:
        """Tell which rows of some columns have no text that is here, compared as in `without`."""
        rows = [{_letters(text) for text in row} - {""} for row in zip(*columns, strict=True)]
        wanted = set[str]().union(*rows)
        every = chain.from_iterable(self.every_text())
        seen = {letters for text in every if (letters := _letters(text)) in wanted}
        return np.array([at for at, row in enumerate(rows) if row.isdisjoint(seen)], dtype=np.intp)

    def parted(self, origins: Sequence[str]) -> "Corpus":
        """Put the pairs of some origins apart, and leave out those that share a sentence with them.

        Raises:
            TrainingError: no pair is of an origin that is named.
        """
        if not origins or not self.pairs:
            return self
        known = set(self.pairs.origins)
        for name in origins:
            if name not in known:
                raise TrainingError(
                    f"held_out_origins {name}: no pair has this origin",
                    f"known: {', '.join(sorted(known - {''})[:12]) or 'none'}",
                )
        apart = np.array([each in origins for each in self.pairs.origins])
        held = self.pairs.take(np.flatnonzero(apart))
        texts = {*held.sources, *held.targets}  # which pairs of other origins may have, too
        sides = zip(self.pairs.sources, self.pairs.targets, strict=True)
        shared = np.array([not texts.isdisjoint(pair) for pair in sides])
        return replace(self, pairs=self.pairs.take(np.flatnonzero(~shared)), apart=held)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold(text).translate(folding_table())))


def texts_in(given: str) -> Iterator[str]:
    """Give the texts of a file: lines and their columns, cells, fields, or sides of pairs.

    Args:
        given: a text input (`file.tsv:2` is one column), or pairs as `read_pairs` takes them.

    Raises:
        FileError: the file cannot be read.
    """
    kind = kind_of(given)
    if kind in ("tmx", *FOREIGN) or Path(given).is_dir() or ("," in given and not exists(given)):
        for pair in read_pairs(given):
            yield from (pair.source, pair.target)
    elif not exists(given) or (has_units(kind) and kind != "json"):  # or says what is not there
        yield from read_texts(given)
    elif kind == "csv":
        for _, _, cells in csv_rows(given):
            yield from cells
    elif kind in ("jsonl", "json"):
        for _, row in json_objects(given):
            yield from _strings(row)
    elif kind == "parquet":
        with open_parquet(given) as file:
            yield from file.every_text()
    else:
        for line in read_lines(given):
            yield from (line, *line.split("\t"))


def _strings(value: Any) -> Iterator[str]:  # noqa: ANN401 - what JSON holds
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)
