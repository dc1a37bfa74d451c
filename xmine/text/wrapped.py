"""Lines of a hard-wrapped text -> its paragraphs, each at the number of its first line.

A file is told as wrapped by pairs of lines: one is full if the first word of the next had no room
in it. A text with a sentence on each line has few such, and its lines end as sentences do.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple, Self

from xmine.files.reading import read_blocks
from xmine.files.suffixes import packing_of
from xmine.text.folding import EAST
from xmine.text.segmentation import UNSPACED, are_apart

# What a line begins with that could have stood behind the one before.
_FIRST_WORD = re.compile(rf"\s*([{UNSPACED}]|[^\s{UNSPACED}]{{1,24}}|)")
_ITEM = re.compile(r"\s*(?:[-*•·‣–—+]\s+|\(?(?:\d{1,3}[.)]|[A-Za-z]\)|[ivxlc]+\))\s+)")
_ENDS = re.compile(r"[.!?:;…。！？：；।॥؟۔][\"”»’')\]」』]*\s*$")
_INSIDE = re.compile(r"[.!?…؟।۔]\s|[。！？]\S")  # ends a sentence inside a line
_CASED = re.compile(r"[\s\"“”„«»'‘’(\[—–-]*([^\W\d_])")
# Marks of quoted mail and of headings, rules, and columns.
_NO_PROSE = re.compile(r"\s*[>|#]|(?:\s*[-=*_~+.•]){3,}\s*$|.*\S(?:\s{3,}|\t|\s*\|\s*)\S")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SPLIT = re.compile(r"(?<![^\W\d_])([^\W\d_]++)-\n\s*([^\W\d_]+)")  # once for each word
_CUT = re.compile(rf"(?<![^\W\d_])({_WORD.pattern})-$")
_TOGETHER = re.compile(rf".*(?:\S[-—].|[{EAST}].|.[{EAST}])", re.DOTALL)  # no space between
# Behind a hyphen that stands for the rest of a word, `Haupt- und Nebensatz`.
_AND = re.compile(r"(?:und|oder|bis|and|or|to|en|of|och|eller|og|e|o|y|et|ou|i|lub|a)\b")
_SAMPLE, _MOST = 1 << 16, 500  # bytes of each of three places; lines of a paragraph
_NARROWEST, _WIDEST, _LONG = 30, 140, 0.97  # columns; the share of lines up to the width
# Room left at the end of full lines, as of text that was set in pages, and of lines that a small
# letter follows; shares of the width.
_ROOM, _HALF = 0.12, 0.5
_PAIRS, _FULL, _OPEN, _SMALL, _FEW = 8, 0.8, 0.6, 0.3, 0.1  # the least pairs, and shares of them


class Joined(str):
    """A paragraph of several lines; `starts` has the place in it where each begins."""

    starts: Sequence[int] = (0,)


def span_of(text: str, start: int, length: int, row: int) -> tuple[int, ...]:
    """Give a row, and the first and the last line of a part of its paragraph, from 0."""
    if not isinstance(text, Joined):
        return ()
    return row, *(bisect_right(text.starts, at) - 1 for at in (start, start + length - 1))


class Wrapping(NamedTuple):
    """How a file is wrapped: at which width, and where most lines begin if paragraphs are set in;
    its words; and whether others that a line's end cuts are hyphenated.
    """

    width: int
    margin: int
    words: frozenset[str]
    is_hyphenated: bool
    counts: Counter[str]  # lines that are joined, and the paragraphs that they make

    @classmethod
    def of_file(cls, path: str) -> Self | None:
        """Look at the start of a file and, where it is not packed, at its middle and its end."""
        pieces, size = [next(read_blocks(path))[:_SAMPLE]], Path(path).stat().st_size
        with Path(path).open("rb") as file:
            if size > _SAMPLE and not packing_of(path):
                for at in (size // 2, size - _SAMPLE):
                    file.seek(at)
                    pieces.append(file.read(_SAMPLE).partition(b"\n")[2])
        return cls.of([each.decode("utf-8", "ignore") for each in pieces])

    @classmethod
    def of(cls, texts: Sequence[str]) -> Self | None:
        """Tell wrapped text by pieces of a file; None for every other file.

        Of the pairs of lines without a paragraph's end between, nearly all are full, most of these
        end inside a sentence, and many next ones begin with a small letter.
        """
        pieces = [
            text.rstrip("\n").split("\n") for text in texts
        ]  # the end of a file parts nothing
        every = [pair for piece in pieces for pair in pairwise(piece) if pair[0].strip()]
        pairs = [each for each in every if each[1].strip() and not _is_set_in(*each)]
        if len(pairs) < _PAIRS or len(pairs) == len(every):
            return None
        lines = [line for line, _ in every]
        width = sorted(len(line.rstrip()) for line in lines)[-int(-_LONG * len(lines)) - 1]
        ends = [each for each in every if not each[1].strip()]
        is_by_indents = len(pairs) + 2 * len(ends) < len(every)  # also between those of one line
        margin = sorted(map(_indent, lines))[len(lines) // 2] if is_by_indents else 1 << 30
        whole = "\n".join(texts).lower()
        found = cls(
            width, margin, frozenset(_WORD.findall(_SPLIT.sub(" ", whole))), True, Counter()
        )
        cut = _SPLIT.findall(whole)
        found = found._replace(is_hyphenated=2 * sum(found._are_words(*x) for x in cut) <= len(cut))
        full = [each for each in pairs if found._is_full(*each) and not _are_no_prose(*each)]
        cased = [x[1] for _, after in full if (x := _CASED.match(after))]
        cased = [each for each in cased if each.lower() != each.upper()]
        few, wide = _FEW * len(full), len(re.findall(f"[{EAST}]", whole)) > len(whole) / 4
        is_wrapped = (
            _NARROWEST <= width * (1 + wide) <= _WIDEST
            and len(full) >= _FULL * len(pairs) + 1  # of a few pairs one is not, at most
            and sum(not _ENDS.search(line) for line, _ in full) >= _OPEN * len(full)
            and (
                sum(map(str.islower, cased)) >= _SMALL * len(cased)
                if len(cased) > few
                else sum(bool(_INSIDE.search(line)) for line, _ in full) > few
            )
        )
        return found if is_wrapped else None

    def paragraphs(self, lines: Iterable[str]) -> Iterator[str]:
        """Give a text for each line: a paragraph at its first one, and a blank at others."""
        held, found = list[str](), Counter[str]()
        for line in chain(lines, [None]):
            if held and (line is None or len(held) == _MOST or not self._goes_on(held[-1], line)):
                yield self._joined(held) if len(held) > 1 else held[0]
                yield from [""] * (len(held) - 1)
                found += Counter(lines=len(held), paragraphs=1) if len(held) > 1 else Counter()
                held = []
            held += [] if line is None else [line]
        self.counts.clear()  # of the whole file alone
        self.counts.update(found)

    def _is_full(self, line: str, after: str, room: float = _ROOM) -> bool:
        first = _FIRST_WORD.match(after)
        needed = len(line.rstrip()) + 1 + len(first[1] if first else "")
        return needed > self.width * (1 - room)

    def _goes_on(self, line: str, after: str) -> bool:
        """Tell whether a paragraph goes on from a line to the next."""
        if not (line.strip() and after.strip()) or _are_no_prose(line, after):
            return False
        if _is_set_in(line, after) or _indent(after) > self.margin:
            return False
        if _ENDS.search(line):
            return self._is_full(line, after) and not _ITEM.match(after)
        return self._is_full(line, after, _HALF if after.lstrip()[0].islower() else 2 * _ROOM)

    def _joined(self, lines: Sequence[str]) -> Joined:
        whole, starts = lines[0].rstrip(), [0]
        for line in map(str.strip, lines[1:]):
            whole = self._before(whole, line)
            starts.append(len(whole))
            whole += line
        text = Joined(whole)
        text.starts = starts
        return text

    def _before(self, text: str, line: str) -> str:
        """Make ready what stands before a line: with a space, or without one and a hyphen."""
        cut, first = _CUT.search(text, max(0, len(text) - _WIDEST)), _WORD.match(line)
        if text[-1] in "\xad¬":
            return text[:-1]
        if not cut or not first:
            is_apart = are_apart(text, line) and not _TOGETHER.fullmatch(text[-2:] + line[:1])
            return text + " " * is_apart
        one, other = cut[1].lower(), first[0].lower()
        if one + other not in self.words:
            if _AND.match(line):
                return text + " "
            if "-" in one or line[0].isupper() or self._are_words(one, other):
                return text
        return text[:-1] if one + other in self.words or self.is_hyphenated else text

    def _are_words(self, one: str, other: str) -> bool:
        """Tell the halves of a compound; syllables are seldom words of the text themselves."""
        return f"{one}-{other}" in self.words or (one in self.words and other in self.words)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_set_in(line: str, after: str) -> bool:
    """Tell a line that stands farther in than the one before, as the first of a paragraph does."""
    item = _ITEM.match(line)
    return _indent(after) > (item.end() if item else _indent(line))


def _are_no_prose(*lines: str) -> bool:
    return any(map(_NO_PROSE.match, lines))
