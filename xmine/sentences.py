"""Lines of text -> sentence table: one row per sentence, with its line and its place in it."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.progress import Progress, Report, silent
from xmine.reading import name_of
from xmine.segments import segment as sentences_of
from xmine.texts import read_texts

_LINES_A_REPORT = 500  # about a second of English paragraphs


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of one file.

    Attributes:
        name: the path as the user gave it.
        texts: one sentence per row, as it stands in the file.
        lines: int64 [rows], the 1-based line of each row.
        total: lines in the file.
        blank: lines without text, which have no row.
        repeated: sentences folded into an earlier one, which have no row.
        unknown: sentences that the encoder knows no piece of, which mining leaves out.
        offsets: int64 [rows], where each sentence starts in its line, in characters from 0; None
            where a line is a sentence.
        occurrences: int64 [rows], how often each stands in the file, folded ones counted; None
            where that was not counted.
        stands_for: int64 [total], for each line of the file the line that is in the table for it:
            itself, or its first occurrence; None where lines were cut into sentences.
    """

    name: str
    texts: list[str]
    lines: NDArray[np.int64]
    total: int
    blank: int
    repeated: int
    unknown: int = 0
    offsets: NDArray[np.int64] | None = None
    occurrences: NDArray[np.int64] | None = None
    stands_for: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.texts)

    def take(self, rows: NDArray[np.intp]) -> "Sentences":
        """Keep some rows, in the order of `rows`."""
        texts = [self.texts[row] for row in rows.tolist()]
        offsets = None if self.offsets is None else self.offsets[rows]
        counts = None if self.occurrences is None else self.occurrences[rows]
        return replace(
            self, texts=texts, lines=self.lines[rows], offsets=offsets, occurrences=counts
        )


def read_sentences(
    path: str | Path, *, dedup: bool = True, segment: bool = False, report: Report = silent
) -> Sentences:
    """Read the sentences of a text input; see `xmine.texts.read_texts` and `sentence_table`."""
    lines = read_texts(path)
    return sentence_table(name_of(path), lines, dedup=dedup, segment=segment, report=report)


def sentence_table(
    name: str,
    every_line: Sequence[str],
    *,
    dedup: bool = True,
    segment: bool = False,
    report: Report = silent,
) -> Sentences:
    """Make the table of a file's lines without the blank and, with `dedup`, the repeated ones.

    Two lines repeat each other when `folded` makes them equal; the first one stays. Without this
    a line's own copies fill its neighbourhood and every ratio score of it is 1.000. With `segment`
    a line may hold several sentences, and what is said of lines holds for sentences; `report` is
    called meanwhile.

    Raises:
        FileError: no line has text.
    """
    texts: list[str] = []
    lines: list[int] = []
    counts: list[int] = []
    offsets, blank, repeated = [], 0, 0
    stands_for = np.arange(1, len(every_line) + 1)
    seen: dict[str, int] = {}  # rows
    for number, line in enumerate(every_line, start=1):
        if segment and (number % _LINES_A_REPORT == 0 or number == len(every_line)):
            report(Progress("segmenting", number, len(every_line)))
        if not line.strip():
            blank += 1
            continue
        for offset, text in sentences_of(line) if segment else [(0, line)]:
            if dedup:
                key = folded(text)
                if (row := seen.setdefault(key, len(texts))) < len(texts):
                    stands_for[number - 1] = lines[row]
                    counts[row] += 1
                    repeated += 1
                    continue
            texts.append(text)
            counts.append(1)
            lines.append(number)
            offsets.append(offset)
    if not texts:
        raise FileError(f"{name}: no text in it, only blank lines")
    return Sentences(
        name,
        texts,
        np.array(lines, dtype=np.int64),
        len(every_line),
        blank,
        repeated,
        offsets=np.array(offsets, dtype=np.int64) if segment else None,
        occurrences=np.array(counts, dtype=np.int64),
        stands_for=None if segment else stands_for,
    )


def folded(text: str) -> str:
    """Make the key by which lines repeat each other: NFKC, case folding, white space joined."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.casefold().split())
