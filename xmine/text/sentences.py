"""Lines of text -> sentence table: one row per sentence, with its line and its place in it."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from math import inf

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.files import scratch
from xmine.progress import Progress, Report, silent
from xmine.text.columns import NoColumnError
from xmine.text.file_lines import FileLines
from xmine.text.folding import MOST_CHARACTERS, nfkc, without_markup
from xmine.text.hashing import first_equal
from xmine.text.identification import sure_language
from xmine.text.inputs import TextInput, Texts, text_input
from xmine.text.packed import PackedTexts, TextPacker
from xmine.text.segmentation import segment as sentences_of
from xmine.text.wrapped import span_of

_LINES_A_REPORT = 50_000  # about a tenth of a second
_LINES_A_REPORT_CUT = 500  # about a second of English paragraphs
FEW = 5  # lines that are named
_CUT = "mine and align cut lines into sentences with --segment"
_LINES_OF_A_GUESS = 1000


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of one file.

    Attributes:
        name: the path as the user gave it.
        texts: one sentence per row, as it stands in the file; packed, in whatever is read.
        lines: int64 [rows], the 1-based line of each row.
        total: lines in the file.
        blank: lines without text, which have no row.
        repeated: sentences folded into an earlier one, which have no row.
        unknown: sentences without a token that the encoder knows, which mining leaves out.
        unknown_lines: the lines of the first few of them.
        too_long: the lines of sentences that are left out for their length.
        offsets: int64 [rows], where each sentence starts in its line, in characters from 0; None
            where a line is a sentence.
        occurrences: int64 [rows], how often each stands in the file, folded ones counted; None
            where that was not counted.
        stands_for: int64 [total], for each line of the file the line that is in the table for it:
            itself, or its first occurrence; None where lines were cut into sentences.
        files: those whose lines are counted as those of one file; None for one file.
        spans: int64 [rows, 2], the first and the last line of each row of a text whose lines are
            joined, where `lines` has those of paragraphs; None for no such text.
        places: where each row stands in a file without lines; None for a file of lines.
        documents: int64 [rows], the document of each, see `with_documents`; None for no documents.
        line_documents: int64 [total], the document of each line; None for no documents.
        document_names: of all documents.
        kept: other columns of the input by name, a text for each row, see `with_kept`.
    """

    name: str
    texts: Sequence[str]
    lines: NDArray[np.int64]
    total: int
    blank: int
    repeated: int
    unknown: int = 0
    unknown_lines: tuple[int, ...] = ()
    too_long: tuple[int, ...] = ()
    offsets: NDArray[np.int64] | None = None
    occurrences: NDArray[np.int64] | None = None
    stands_for: NDArray[np.int64] | None = None
    files: FileLines | None = None
    spans: NDArray[np.int64] | None = None
    places: PackedTexts | None = None
    documents: NDArray[np.int64] | None = None
    line_documents: NDArray[np.int64] | None = None
    document_names: tuple[str, ...] = ()
    kept: Mapping[str, PackedTexts] = field(default_factory=dict)

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.texts)

    @property
    def packed(self) -> PackedTexts:
        """The texts as UTF-8 in one buffer."""
        return self.texts if isinstance(self.texts, PackedTexts) else PackedTexts.of(self.texts)

    def digest(self) -> str:
        """Hash the texts in their order; tables with the same texts have the same."""
        return self.packed.digest()

    def standing_for(self, line: int) -> int:
        """Give the line that is in the table for a line of the file, both from 1."""
        return line if self.stands_for is None else int(self.stands_for[line - 1])

    def known(self, rows: NDArray[np.intp]) -> "Sentences":
        """Keep the rows with a token that an encoder knows, and count the others."""
        left_out = np.ones(len(self), dtype=bool)
        left_out[rows] = False
        others = np.flatnonzero(left_out)
        lines = (*self.unknown_lines, *self.lines[others[:FEW]].tolist())[:FEW]
        unknown = self.unknown + len(others)
        return replace(self.take(rows), unknown=unknown, unknown_lines=lines)

    def take(self, rows: NDArray[np.intp]) -> "Sentences":
        """Keep some rows, in the order of `rows`."""
        return replace(
            self,
            texts=self.packed.take(rows),
            lines=scratch.taken(self.lines, rows),
            offsets=None if self.offsets is None else scratch.taken(self.offsets, rows),
            occurrences=None if self.occurrences is None else scratch.taken(self.occurrences, rows),
            spans=None if self.spans is None else self.spans[rows],
            places=None if self.places is None else self.places.take(rows),
            documents=None if self.documents is None else scratch.taken(self.documents, rows),
            kept={name: column.take(rows) for name, column in self.kept.items()},
        )

    def with_documents(self, given: TextInput, column: str = "") -> "Sentences":
        """Tell the document of each row: its file, or what a column of the input names.

        Raises:
            FileError: a file has no such column.
        """
        if column:
            values = list(given.other_column(column))
            names = tuple(dict.fromkeys(values))
            numbers = {name: number for number, name in enumerate(names)}
            of_lines = np.fromiter((numbers[each] for each in values), np.int64, len(values))
        elif self.files:
            every = np.arange(1, self.total + 1)
            names, of_lines = self.files.names, np.searchsorted(self.files.before, every) - 1
        else:
            names, of_lines = (given.path,), np.zeros(self.total, np.int64)
        own = of_lines[self.lines - 1]
        return replace(self, documents=own, line_documents=of_lines, document_names=names)

    def held(self, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Tell which documents hold each row: rising rows, and a document for each.

        A repeated sentence is in several; in more than `most`, it counts for the first one.
        """
        own = np.arange(len(self)), self.documents
        if self.stands_for is None or self.line_documents is None or own[1] is None:
            return own[0], np.zeros(0, np.int64) if own[1] is None else own[1]
        rows = np.searchsorted(self.lines, self.stands_for)
        rows = np.where(rows < len(self), rows, 0)
        there = self.lines[rows] == self.stands_for  # blank lines have no row
        every = np.unique(np.stack([rows[there], self.line_documents[there]], axis=1), axis=0)
        rows, of = every.T
        few = np.bincount(rows, minlength=len(self)) <= most
        kept = few[rows] | (of == own[1][rows])
        return rows[kept], of[kept]

    def with_kept(self, given: TextInput, columns: Sequence[str]) -> "Sentences":
        """Keep those of some other columns that the input has."""
        kept = {}
        for name in columns:
            with suppress(NoColumnError):
                kept[name] = self._of_lines(given.other_column(name))
        return replace(self, kept=kept)

    def _of_lines(self, values: Iterable[str]) -> PackedTexts:
        """Pick the texts of the rows among those of all lines."""
        every = list(values)
        return PackedTexts.of(every[line - 1] for line in self.lines.tolist())


def read_sentences(
    given: Texts,
    *,
    dedup: bool = True,
    segment: bool = False,
    language: str = "",
    report: Report = silent,
) -> Sentences:
    """Read the sentences of a text input; see `TextInput.texts` and `sentence_table`."""
    file = text_input(given)
    total = file.survey.lines if report is not silent and file.is_rereadable else 0
    found = sentence_table(
        file.name,
        file.texts(),
        dedup=dedup,
        segment=segment,
        language=language,
        report=report,
        total=total,
        longest=MOST_CHARACTERS,
    )
    found = replace(found, files=file.files)
    if (stand := file.places()) is None:
        return found
    return replace(found, places=found._of_lines(stand))


def sentence_table(
    name: str,
    every_line: Iterable[str],
    *,
    dedup: bool = True,
    segment: bool = False,
    language: str = "",
    report: Report = silent,
    total: int = 0,
    longest: float = inf,
) -> Sentences:
    """Make the table of a file's lines without the blank and, with `dedup`, the repeated ones.

    Two lines repeat each other when `folded` makes them equal; the first one stays. Without `dedup`
    a line's copies fill its neighbourhood, and all its ratio scores are 1.000. `segment` cuts lines
    into sentences, as is right for `language`, a code, or what the first lines look like; and
    sentences are folded. `report` is called if `total`, the number of lines, is known. What has
    more than `longest` characters is no sentence, and has no row.
    """
    language, every_line = _told(every_line, language, segment=segment)
    texts, hashes = TextPacker(), array("q")
    lines, offsets, spans = array("q"), array("q"), array("q")
    too_long = list[int]()
    blank = number = 0
    stage = "segmenting" if segment else "reading"
    pace = _LINES_A_REPORT_CUT if segment else _LINES_A_REPORT
    for number, line in enumerate(every_line, start=1):
        if total and (number % pace == 0 or number == total):
            report(Progress(stage, number, total))
        if not line.strip():
            blank += 1
            continue
        blank -= len(getattr(line, "starts", "1")) - 1  # the other lines of a paragraph
        pieces = list(sentences_of(line, language)) if segment else [(0, line)]
        if len(line) > longest:
            short = [each for each in pieces if len(each[1]) <= longest]
            too_long += [number] * (len(pieces) - len(short))
            pieces = short
        for offset, text in pieces:
            hashes.append(hash(folded(text)) if dedup else len(texts))
            spans.extend(span_of(line, offset, len(text), len(texts)))
            texts.append(text)
            lines.append(number)
            offsets.append(offset)
    if not len(texts):
        what = f"lines of more than {longest:,} characters" if too_long else "blank lines"
        raise FileError(f"{name}: no text in it, only {what}", _CUT if too_long else "")
    own, starts, keys = (np.frombuffer(each, np.int64) for each in (lines, offsets, hashes))
    first = first_equal(keys)  # two of a million texts have one hash in 30 million runs
    stands_for = None
    if not segment:
        stands_for = scratch.empty(number, np.int64)
        stands_for[:] = np.arange(1, number + 1)
        stands_for[own - 1] = own[first]
    every = Sentences(
        name,
        texts.packed(),
        scratch.stored(own),
        number,
        blank,
        repeated=0,
        too_long=tuple(too_long),
        offsets=scratch.stored(starts) if segment else None,
        occurrences=scratch.stored(np.bincount(first, minlength=len(own))),
        stands_for=stands_for,
        spans=_spans(own, np.frombuffer(spans, np.int64).reshape(-1, 3)) if spans else None,
    )
    rows = np.flatnonzero(first == np.arange(len(own)))
    again = len(own) - len(rows)
    return replace(every.take(rows), repeated=again) if again else every


def _spans(lines: NDArray[np.int64], joined: NDArray[np.int64]) -> NDArray[np.int64]:
    """Tell the lines that rows stand on; `joined` has rows, and their lines within paragraphs."""
    spans = np.stack([lines, lines], axis=1)
    spans[joined[:, 0]] += joined[:, 1:]
    return spans


def _told(lines: Iterable[str], language: str, *, segment: bool) -> tuple[str, Iterable[str]]:
    """Guess the language of lines by the first ones where it is asked for; and give all lines."""
    if language or not segment:
        return language, lines
    lines = iter(lines)
    first = list(islice(lines, _LINES_OF_A_GUESS))
    return sure_language(first), chain(first, lines)


def folded(text: str) -> str:
    """Make the key by which lines repeat each other: NFKC, without markup, case and spaces."""
    return " ".join(nfkc(without_markup(text)).casefold().split())
