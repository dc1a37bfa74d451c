"""Lines of a hard-wrapped text -> its paragraphs, each at the number of its first line.

A file is told as wrapped by pairs of lines: one is full if the first word of the next had no room
in it. A text with a sentence on each line has few such, and its lines end as sentences do.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple, Self

from xmine.files.reading import read_blocks
from xmine.files.suffixes import packing_of
from xmine.text.folding import EAST
from xmine.text.segmentation import UNSPACED, are_apart

_WIDE = re.compile(
    "[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]"
)
# What a line begins with that could have stood behind the one before.
_FIRST_WORD = re.compile(rf"\s*([{UNSPACED}]|[^\s{UNSPACED}]{{1,24}})")
_ITEM = re.compile(r"\s*(?:[-*•·‣–—+]\s+|\(?(?:\d{1,3}[.)]|[A-Za-z]\)|[ivxlc]+\))\s+)")
_ENDS = re.compile(r"[.!?:;…。！？：；।॥؟۔][\"”»’')\]」』]*$")
_CASED = re.compile(r"[\s\"“”„«»'‘’(\[—–-]*([^\W\d_])")
# Marks of quoted mail and of headings, rules, and columns.
_NO_PROSE = re.compile(r"\s*[>|#]|(?:\s*[-=*_~+.•]){3,}\s*$|.*\S(?:\s{3,}|\t|\s*\|\s*)\S")
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_SPLIT = re.compile(r"([^\W\d_]+)[-\u2010]\n\s*([^\W\d_]+)")
_CUT = re.compile(rf"({_WORD.pattern})[-\u2010]$")
# A sentence that ends inside a line; and what has no space between, dashes and Chinese characters.
_INSIDE = re.compile(r"[.!?…؟।۔]\s|[。！？]\S")
_TOGETHER = re.compile(rf".*(?:\S[-\u2010—].|[{EAST}].|.[{EAST}])", re.DOTALL)
# Behind a hyphen that stands for the rest of a word, `Haupt- und Nebensatz`.
_AND = re.compile(r"(?:und|oder|bis|and|or|to|en|of|och|eller|og|e|o|y|et|ou|i|lub|a)\b")
_NARROWEST, _WIDEST, _LONG = 30, 140, 0.97  # characters; the share of lines up to the width
# Room that may be left at a line's end, as a share of the width: of text that was set in pages.
_ROOM, _HALF = 0.12, 0.5
_PAIRS, _FULL, _OPEN, _SMALL, _FEW = 8, 0.8, 0.6, 0.3, 0.1  # shares of pairs, see `_told`
_MOST = 500  # lines of a paragraph
_SAMPLE = 1 << 16  # bytes that are looked at, of three places


class Joined(str):
    """A paragraph of several lines; `starts` has the place in it where each begins."""

    starts: Sequence[int]


def lines_of(text: str) -> int:
    """Count the lines that a text of a file stands on."""
    return len(text.starts) if isinstance(text, Joined) else 1


def span_of(text: str, start: int, length: int, row: int) -> tuple[int, ...]:
    """Give a row, and the first and the last line of a part of its paragraph, from 0."""
    if not isinstance(text, Joined):
        return ()
    return row, *(bisect_right(text.starts, at) - 1 for at in (start, start + length - 1))


class Wrapping(NamedTuple):
    """How the lines of a file are wrapped: their width, how it is measured, and words they have."""

    width: int
    measure: Callable[[str], int]
    words: frozenset[str] = frozenset()
    is_hyphenated: bool = False
    margin: int = 1 << 30

    @classmethod
    def of_file(cls, path: str) -> Self | None:
        """Look at the start of a file and, where it is not packed, at its middle and its end."""
        pieces = [next(read_blocks(path))[:_SAMPLE]]
        size = 0 if packing_of(path) else Path(path).stat().st_size
        with Path(path).open("rb") as file:
            for at in (size // 2, size - _SAMPLE) if size > _SAMPLE else ():
                file.seek(at)
                pieces.append(file.read(_SAMPLE))
        lines = [each.decode("utf-8", "ignore").split("\n") for each in pieces]
        cut = [each[1:] for each in lines[1:]]  # a line that begins before the piece
        return cls.of([lines[0], *cut])

    @classmethod
    def of(cls, pieces: Sequence[Sequence[str]]) -> Self | None:
        """Tell wrapped text by pieces of a file; None for every other file.

        Of the pairs of lines without a paragraph's end between, nearly all are full, most of these
        end inside a sentence, and many next ones begin with a small letter.
        """
        both = [each for piece in pieces for each in pairwise(piece) if each[0].strip()]
        pairs = [each for each in both if not _begins(*each)]
        if len(pairs) < _PAIRS or len(pairs) == len(both):
            return None
        lines = [line for piece in pieces for line in piece if line.strip()]
        measures = (_columns, _twice) if any(map(_WIDE.search, lines)) else (_characters,)
        found = [wrapping._told(pairs) for wrapping in (cls._measured(lines, x) for x in measures)]
        full, best = max(found, key=lambda each: each[0])
        set_in = sum(bool(after.strip()) and _begins(line, after) for line, after in both)
        if 2 * set_in > len(both) - len(pairs):  # paragraphs of one line are set in alike
            best = best._replace(margin=sorted(map(_indent, lines))[len(lines) // 2])
        return best._with_words(pieces) if full else None

    @classmethod
    def _measured(cls, lines: Sequence[str], measure: Callable[[str], int]) -> Self:
        widths = sorted(map(measure, lines))
        return cls(widths[-int(-_LONG * len(widths)) - 1], measure)

    def _told(self, pairs: Sequence[tuple[str, str]]) -> tuple[int, Self]:
        """Count the full ones of pairs of lines, 0 where they do not tell a wrapped text."""
        full = [each for each in pairs if self.is_full(*each) and not _are_no_prose(*each)]
        cased = [x[1] for _, after in full if (x := _CASED.match(after))]
        cased = [each for each in cased if each.lower() != each.upper()]
        small, few = sum(map(str.islower, cased)), _FEW * len(full)
        is_wrapped = (
            _NARROWEST <= self.width <= _WIDEST
            and len(full) >= _FULL * len(pairs) + 1  # of a few pairs one is not, at most
            and sum(not _ENDS.search(line.rstrip()) for line, _ in full) >= _OPEN * len(full)
            and (
                small >= _SMALL * len(cased)
                if len(cased) > few
                else sum(bool(_INSIDE.search(line)) for line, _ in full) > few
            )
        )
        return is_wrapped * len(full), self

    def is_full(self, line: str, after: str, room: float = _ROOM) -> bool:
        """Tell a line in which the first word of the next had no room."""
        first = _FIRST_WORD.match(after)
        needed = self.measure(line) + 1 + (self.measure(first[1]) if first else 0)
        return needed > self.width * (1 - room)

    def goes_on(self, line: str, after: str) -> bool:
        """Tell whether a paragraph goes on from a line to the next."""
        is_set_in = _begins(line, after) or _indent(after) > self.margin
        if not line.strip() or is_set_in or _are_no_prose(line, after):
            return False
        if _ENDS.search(line.rstrip()):
            return self.is_full(line, after) and not _ITEM.match(after)
        return self.is_full(line, after, _HALF if after.lstrip()[0].islower() else 2 * _ROOM)

    def paragraphs(self, lines: Iterable[str], counts: Counter[str]) -> Iterator[str]:
        """Give a text for each line: a paragraph at its first one, and a blank at others.

        At the end `counts` has the lines that are joined, and the paragraphs that they make.
        """
        held, found = list[str](), Counter[str]()
        for line in chain(lines, [None]):
            if held and (line is None or len(held) == _MOST or not self.goes_on(held[-1], line)):
                yield self.joined(held) if len(held) > 1 else held[0]
                yield from [""] * (len(held) - 1)
                found += Counter(lines=len(held), paragraphs=1) if len(held) > 1 else Counter()
                held = []
            held += [] if line is None else [line]
        counts.clear()
        counts.update(found)

    def joined(self, lines: Sequence[str]) -> Joined:
        """Put lines together, with what they begin and end with."""
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
        if text[-1] in "\xad¬":
            return text[:-1]
        cut, first = _CUT.search(text), _WORD.match(line)
        if not cut or not first:
            is_apart = are_apart(text, line) and not _TOGETHER.fullmatch(text[-2:] + line[:1])
            return text + " " * is_apart
        one, other = cut[1].lower(), first[0].lower()
        if one + other in self.words:
            return text[:-1]
        if _AND.match(line):
            return text + " "
        is_word = "-" in one or line[0].isupper() or self._are_words(one, other)
        return text if is_word or not self.is_hyphenated else text[:-1]

    def _are_words(self, one: str, other: str) -> bool:
        """Tell the halves of a compound; syllables are seldom words of the text themselves."""
        return f"{one}-{other}" in self.words or (one in self.words and other in self.words)

    def _with_words(self, pieces: Sequence[Sequence[str]]) -> Self:
        """Gather the words that no line's end cuts, and tell whether others are hyphenated."""
        texts = ["\n".join(piece) for piece in pieces]
        whole = _WORD.findall(" ".join(_SPLIT.sub(" ", each) for each in texts).lower())
        found = self._replace(words=frozenset(each.replace("\u2010", "-") for each in whole))
        cut = [each for text in texts for each in _SPLIT.findall(text.lower())]
        kept = sum(found._are_words(*each) for each in cut)
        return found._replace(is_hyphenated=2 * kept <= len(cut))


def _begins(line: str, after: str) -> bool:
    """Tell a line that begins a paragraph behind another: it is set in; or the end of one."""
    if not after.strip():
        return True
    item = _ITEM.match(line)
    return _indent(after) > (item.end() if item else _indent(line))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _are_no_prose(*lines: str) -> bool:
    return any(map(_NO_PROSE.match, lines))


def _characters(line: str) -> int:
    return len(line.rstrip())


def _columns(line: str) -> int:
    """Count the columns of a terminal, of which a Chinese character takes two."""
    return len(line.rstrip()) + len(_WIDE.findall(line))


def _twice(line: str) -> int:
    """Count the columns where each character takes two."""
    return 2 * len(line.rstrip())
