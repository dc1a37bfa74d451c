"""Text -> its numbers: digits of any language, number words of nine.

A number may be read in several ways (90年代 is 90 or 1990, `5 p.m.` is 5 or 17); two texts agree
about it when one reading is found on the other side.
"""

import re
from collections.abc import Iterator
from functools import cache, partial
from itertools import chain

from xmine.flags.numbers.anywhere import ANYWHERE, SCALED_IN, SPELLED, digits_anywhere
from xmine.flags.numbers.calendar import MONTHS, WEEKDAYS, by_name, months_of_dates, named
from xmine.flags.numbers.chinese import CHINESE, from_japanese, from_korean
from xmine.flags.numbers.english import ENGLISH
from xmine.flags.numbers.number import Number, Reader, at_digits, in_place, number, plain
from xmine.text.folding import ENTITY, without_markup
from xmine.text.languages import short_code

__all__ = ["Number", "Reader", "differing", "places", "reader"]

# What the source alone has, and what the target alone has.
Differing = tuple[list[Number], list[Number]]


_READERS = SPELLED | {
    "en": ENGLISH,
    "zh": CHINESE,
    "ja": CHINESE._replace(may_count=ANYWHERE.may_count, adapted=from_japanese, reads_all=False),
    "ko": CHINESE._replace(
        words=ANYWHERE.words, may_count=ANYWHERE.may_count, adapted=from_korean, reads_all=False
    ),
}


@cache
def reader(language: str) -> Reader:
    """Give the functions that read the numbers of a language, named by a code."""
    code = short_code(language)
    read = _READERS.get(code, ANYWHERE)
    if code in SCALED_IN:
        read = read._replace(digits=partial(digits_anywhere, language=code), scales=True)
    months, weekdays = named("months", code), named("weekdays", code)
    return read._replace(months=months or read.months, weekdays=weekdays or read.weekdays)


def places(text: str, language: str = "und") -> Iterator[tuple[int, int, Number]]:
    """Find where the numbers of a text stand: start, end, and what each alone may mean.

    A number that is read together with what stands around it (下午5点) has fewer readings here.
    """
    read = reader(language)
    text = ENTITY.sub(lambda entity: " " * len(entity[0]), text)
    for match in read.places.finditer(read.adapted(in_place(text))):
        alone = plain(match[0])
        found = read.digits(alone) or read.words(alone)[:1]
        months = read.months(alone)
        if months:
            found = [number(months, digits=True)]
        if found:
            readings = found[0].readings.union(*(each.readings for each in found if each.digits))
            yield (
                match.start(),
                match.start() + len(match[0].rstrip()),
                found[0]._replace(readings=readings),
            )


_DIGIT = re.compile(r"\d")
_POINT = re.compile(r"(?<![^\s$€£¥(])\.(?=\d)")  # .5
_VERSE = re.compile(r"(\d+):(\d+)")
_RAW = re.compile(r"\d+(?:[.,]\d+)*")
_SCALED = re.compile("[万亿萬億만억조]")
_SCALED_BY_WORDS = re.compile(r"(?i)\d[ -]?(?:[mbt]r?[iy]l|m(?:io|ln|rd)|м[илі]л|thou|tau|ты)")
# The time of day in words is said in too many ways: a quarter to five is 四点三刻.
_CLOCK = re.compile(r"(?i)\b(?:quarter|half|five|ten|twenty) (?:to|past) \w|[点點](?:半|[一三]刻)")
_LIST_MARK = re.compile(r"\W*(\d{1,3})(?:[.)\]、]|\s+(?=[A-Z一-鿿]))")
_FOOTNOTE = re.compile(r"[^\W\d](?:[.,;。；]?|\W*\[)(\d{1,3})\W*$")


def differing(source: str, target: str, left: Reader, right: Reader) -> Differing | None:
    """Give the numbers that each side has and the other one lacks; None if they do not differ.

    A number in digits is to be found there in digits or in words. A mark of a list before the text,
    or of a footnote behind it, may be missing from a side, and so may a number that is part of a
    name. Number words and months are said in more ways, or left out: both sides must have a word
    that the other one lacks, and months if one side has another month. Where not all number
    words of a side are read, both sides must have a number that the other lacks: in digits, or a
    word for three and more.

    Returns:
        what the source alone has and what the target alone has, of the kind that differs: digits,
        or else words, or else months or weekdays.
    """
    source, target = without_markup(source), without_markup(target)  # &#39; is no number
    if found := _digits_differ(source, target, left, right):
        return found
    turned = len(target) < len(source)  # the shorter is looked at first
    if turned:
        source, target, left, right = target, source, right, left
    found = _words_differ(source, target, left, right)
    found = found or _days_differ(source, target, left, right)
    return found[::-1] if found and turned else found


def _words_differ(source: str, target: str, left: Reader, right: Reader) -> Differing | None:
    if not (left.may_count(source) and right.may_count(target)):
        return None
    if _CLOCK.search(source) or _CLOCK.search(target):
        return None
    source, target = left.adapted(plain(source)), right.adapted(plain(target))
    ours, theirs = left.words(source), right.words(target)
    lacking = [each for each in ours if each.counts]
    missing = [each for each in theirs if each.counts]
    lacking = _lacking(lacking, theirs + right.digits(target)) if missing else []
    if not lacking:
        return None
    missing = _lacking(missing, ours + left.digits(source))
    if not (left.reads_all and right.reads_all):  # one and two are said in more ways
        lacking, missing = ([x for x in each if max(x.readings) > 2] for each in (lacking, missing))
    return (lacking, missing) if lacking and missing else None


def _days_differ(source: str, target: str, left: Reader, right: Reader) -> Differing | None:
    """Find months, and else weekdays, of which each side has one that the other one lacks."""
    source, target = left.adapted(plain(source)), right.adapted(plain(target))
    if ours := by_name(left.months(source), MONTHS) + months_of_dates(source):
        theirs = by_name(right.months(target), MONTHS) + months_of_dates(target)
        if (lacking := _lacking(ours, theirs)) and (missing := _lacking(theirs, ours)):
            return lacking, missing
    if ours := by_name(left.weekdays(source), WEEKDAYS):
        theirs = by_name(right.weekdays(target), WEEKDAYS)
        if (lacking := _lacking(ours, theirs)) and (missing := _lacking(theirs, ours)):
            return lacking, missing
    return None


def _as_verses(text: str, other: str) -> str:
    """Write 2,1 and 2.1 as 2:1 where another text has that: a verse, or a time of day."""
    for chapter, verse in _VERSE.findall(other) if ":" in other else ():
        text = re.sub(rf"(?<![\d.,]){chapter}[.,]{verse}(?!\d|[.,]\d)", f"{chapter}:{verse}", text)
    return text


def _digits_differ(source: str, target: str, left: Reader, right: Reader) -> Differing | None:
    if not _DIGIT.search(source) and not _DIGIT.search(target):
        return None
    digits = {match[0] for match in at_digits(_RAW, source)}
    scaled = _SCALED_BY_WORDS if left.scales and right.scales else _SCALED
    if digits == {match[0] for match in at_digits(_RAW, target)} and not (
        digits and (_SCALED.search(source + target) or scaled.search(f"{source}\n{target}"))
    ):
        return None
    source, target = (_POINT.sub("0.", plain(text)) for text in (source, target))
    source, target = _as_verses(source, target), _as_verses(target, source)
    source, target = left.adapted(source), right.adapted(target)
    ours, theirs = left.digits(source), right.digits(target)
    lacking = _lacking(ours, theirs)
    if lacking:  # perhaps it stands there in words
        lacking = _lacking(lacking, right.words(target))
    missing = _lacking(theirs, ours)
    if missing:
        missing = _lacking(missing, left.words(source))
    if not lacking and not missing:
        return None
    if not (left.reads_all and right.reads_all):
        if not missing:
            missing = _spelled(lacking, right.words(target), ours + left.words(source))
        elif not lacking:
            lacking = _spelled(missing, left.words(source), theirs + right.words(target))
        # A word that is not read may say it; but not both, unless one is part of a name.
        names = [all(each.named for each in side) for side in (lacking, missing)]
        return (lacking, missing) if lacking and missing and names[0] == names[1] else None
    if lacking and missing:
        return lacking, missing
    here, there = (source, target) if lacking else (target, source)
    alone = [each.readings for each in lacking + missing if not each.named]
    return (lacking, missing) if alone and alone != [_mark(here, there)] else None


def _spelled(digits: list[Number], words: list[Number], others: list[Number]) -> list[Number]:
    """Find words for three and more in place of whole numbers in digits."""
    if any(x.named or min(x.readings) % 1 or max(x.readings) <= 2 for x in digits):
        return []
    return _lacking([x for x in words if x.counts and max(x.readings) > 2], others)


def _lacking(numbers: list[Number], others: list[Number]) -> list[Number]:
    known = frozenset[float]().union(*chain.from_iterable((x.readings, *x.parts) for x in others))
    possible = known.union(*(each.scaled for each in others))
    return [
        each
        for each in numbers
        if possible.isdisjoint(each.readings)
        and known.isdisjoint(each.scaled)
        and (not each.parts or any(map(known.isdisjoint, each.parts)))
    ]


def _mark(here: str, there: str) -> frozenset[float]:
    """Read the mark of a list or a footnote that only the first of two texts has."""
    for match, other in (
        (_LIST_MARK.match(here), _LIST_MARK.match(there)),
        (_FOOTNOTE.search(here), _FOOTNOTE.search(there)),
    ):
        if match and not other:
            return frozenset({float(match[1])})
    return frozenset()
