"""Characters of a normalised text -> the characters of the text that they stand for."""

import unicodedata

from xmine.text.nfkc import nfkc

# Start and end in a text, in characters from 0.
Span = tuple[int, int]


def nfkc_spans(text: str) -> list[Span]:
    """Give the span of `text` that each character of `nfkc(text)` stands for.

    Characters that NFKC joins, as a letter and an accent, have one span; so have those that it
    makes of one character, as the three of ㎢.
    """
    if text.isascii() or unicodedata.is_normalized("NFKC", text):
        return [(place, place + 1) for place in range(len(text))]
    spans: list[Span] = []
    start = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and _belongs(text[start:end], text[end]):
            continue
        spans += [(start, end)] * len(nfkc(text[start:end]))
        start = end
    return spans


def _belongs(before: str, character: str) -> bool:
    """Tell whether NFKC may join a character, or move it, with those before it."""
    if unicodedata.combining(unicodedata.normalize("NFKD", character)[0]):
        return True
    return nfkc(before + character) != nfkc(before) + nfkc(character)


def without_space(text: str, start: int, end: int) -> Span:
    """Leave out the white space at both ends of a span."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
