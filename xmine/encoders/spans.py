"""Characters of a folded text -> the characters of the text that they stand for."""

import re
import unicodedata
from collections.abc import Callable
from functools import partial

from xmine.text import folding
from xmine.text.folding import nfkc

# Start and end in a text, in characters from 0.
Span = tuple[int, int]


def folded_spans(text: str, *, spaced: bool = True) -> tuple[str, list[Span]]:
    """Fold a text as `xmine.text.folding.fold`, and give the span of `text` of each character."""
    spans = [(place, place + 1) for place in range(len(text))]
    for _ in range(folding.ESCAPES):
        text, spans = _replaced(text, spans, folding.ENTITY, folding.resolved)
    text, spans = _replaced(text, spans, folding.TAG, folding.tag_becomes)
    spans = [(spans[start][0], spans[end - 1][1]) for start, end in nfkc_spans(text)]
    text = nfkc(text)
    for _, pattern, to in folding.PATTERNS if spaced else ():
        text, spans = _replaced(text, spans, re.compile(pattern), partial(_given, to))
    return text, spans


def _given(to: str, _: re.Match[str]) -> str:
    return to


def _replaced(
    text: str, spans: list[Span], pattern: re.Pattern[str], to: Callable[[re.Match[str]], str]
) -> tuple[str, list[Span]]:
    """Replace matches; what stands for one has the span of the whole match."""
    parts, kept, end = [], list[Span](), 0
    for match in pattern.finditer(text):
        start, stop = match.span()
        kept += spans[end:start]
        whole = (spans[start][0], spans[stop - 1][1]) if start < stop else (0, 0)
        kept += [whole] * len(to(match))
        parts += [text[end:start], to(match)]
        end = stop
    return "".join([*parts, text[end:]]), kept + spans[end:]


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
    start = end - len(text[start:end].lstrip())
    return start, start + len(text[start:end].rstrip())
