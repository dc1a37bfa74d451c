"""Two texts -> the spans that both have: numbers, words and codes, addresses, Chinese."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from xmine.flags.numbers import Number, places
from xmine.text.folding import HAN, caseless
from xmine.text.segmentation import UNSPACED

Span = tuple[int, int]

# Only so much of a text is looked at: a few milliseconds of work, 60 if it is all numbers.
_LONGEST = 4_000
# Full-width letters are the same ones.
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
_ADDRESS = re.compile(r"(?:https?://|www\.)[!-~]*[A-Za-z0-9/]")
# Letters of scripts that put spaces between words, with the marks of those of India.
_LETTER = re.compile(rf"[^\W\d_{UNSPACED}]|[\u0300-\u036f\u064b-\u0652\u0900-\u0963]")
_LETTERS = f"(?:{_LETTER.pattern})+"
_SIGNS = rf"(?:{_LETTER.pattern}|\d)+"
_WORD = re.compile(rf"{_SIGNS}(?:[-._'’&@+/]{_SIGNS})*")
_PART = re.compile(rf"{_LETTERS}|\d+")
_CHINESE = re.compile(f"[{HAN}]+")


class Shared(NamedTuple):
    """Start and end of each part that both sides of a pair have, in order, without overlap."""

    sources: list[Span]
    targets: list[Span]


@lru_cache(maxsize=64)
def shared_parts(source: str, target: str, languages: tuple[str, str]) -> Shared:
    """Find the spans of equal content on both sides: twenty-one, 21 and 二十一."""
    source, target = source[:_LONGEST], target[:_LONGEST]
    ours, theirs = _numbers(source, target, languages)
    left, right = source.translate(_NARROW), target.translate(_NARROW)
    for pattern in (_ADDRESS, _WORD, _PART, _CHINESE):
        found = _same(pattern, left, right)
        ours, theirs = ours + found[0], theirs + found[1]
    return Shared(_apart(ours), _apart(theirs))


def _same(pattern: re.Pattern[str], left: str, right: str) -> tuple[list[Span], list[Span]]:
    ours, theirs = _words(pattern, left), _words(pattern, right)
    known = {word for word, _ in ours} & {word for word, _ in theirs}
    return (
        [span for word, span in ours if word in known],
        [span for word, span in theirs if word in known],
    )


def _words(pattern: re.Pattern[str], text: str) -> list[tuple[str, Span]]:
    """Give the words of a text; a letter alone is one, if it is a capital: a, but vitamin A."""
    return [
        (caseless(match[0]), match.span())
        for match in pattern.finditer(text)
        if len(match[0]) > 1 or not _LETTER.match(match[0]) or match[0].isupper()
    ]


def _numbers(source: str, target: str, languages: tuple[str, str]) -> tuple[list[Span], list[Span]]:
    ours = [each for each in places(source, languages[0]) if _tells(each[2])]
    theirs = [each for each in places(target, languages[1]) if _tells(each[2])]
    return _met(ours, theirs), _met(theirs, ours)


def _tells(number: Number) -> bool:
    """Leave out words that hardly count anything: one and 一样."""
    return number.digits or max(number.readings) > 1


def _met(
    numbers: Iterable[tuple[int, int, Number]], others: Iterable[tuple[int, int, Number]]
) -> list[Span]:
    known = {reading for *_, number in others for reading in number.readings}
    return [(start, end) for start, end, each in numbers if not known.isdisjoint(each.readings)]


def _apart(spans: list[Span]) -> list[Span]:
    """Put spans in order; what begins within another one is part of it."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
