"""What a number in a text is, and what readers of different languages share."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Number(NamedTuple):
    """A number in a text, by its readings.

    Attributes:
        digits: whether the text has it in digits; most words are read too freely to accuse by.
        named: whether it is part of a name, such as B2B, km2 or COVID-19, which the other side may
            spell out or say in another way.
        counts: whether it is a word that is a number and hardly anything else.
        scaled: more readings, if a word that is not read scales it, such as a million. One of them
            is found on the other side where that is a reading there.
        parts: readings of the numbers that say it together, such as an hour and minutes; all of
            these are found on the other side, where the number itself is not.
        written: as the text has it, where there are too many readings to tell.
    """

    readings: frozenset[float]
    digits: bool
    named: bool = False
    counts: bool = False
    scaled: frozenset[float] = frozenset()
    parts: tuple[frozenset[float], ...] = ()
    written: str = ""


class Reader(NamedTuple):
    """How a language writes its numbers: functions that read `plain` text.

    `may_count` tells quickly, of the text as it stands, whether a number word is in it; `months`
    and `weekdays` read these by name or character, from 1 on; `places` matches numbers in the
    text that `in_place` makes; `adapted` makes plain text of the same length that others read;
    `reads_all` tells whether all number words are read, `scales` whether those behind digits are.
    """

    digits: Callable[[str], list[Number]]
    words: Callable[[str], list[Number]]
    may_count: Callable[[str], object]
    places: re.Pattern[str]
    adapted: Callable[[str], str] = str
    reads_all: bool = True
    scales: bool = True
    months: Callable[[str], set[float]] = lambda _: set()
    weekdays: Callable[[str], set[float]] = lambda _: set()


# Thousands are grouped by commas, or by spaces as the United Nations do.
DIGITS = r"\d{1,3}(?:[, ]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?"

# Digits of Arabic, Persian, Hindi, Bengali and Thai, full-width characters, Arabic separators,
# spaces, superscripts (km², footnotes), marks of lists and of the direction of writing.
_PLAIN: dict[int, int | None] = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
_PLAIN |= {ord(zero) + digit: ord("0") + digit for zero in "٠۰०০๐" for digit in range(10)}
_PLAIN |= dict(zip(map(ord, "٫٬٪"), map(ord, ".,%"), strict=True))
_PLAIN |= dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u202f\u3000"), ord(" "))
_PLAIN |= dict.fromkeys(map(ord, "\u200e\u200f\u2066\u2067\u2068\u2069"))
_PLAIN |= dict.fromkeys(map(ord, "⁰¹²³⁴⁵⁶⁷⁸⁹①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"))
_TRADITIONAL, _SIMPLIFIED = "萬億兩點時年間紀幾後餘廿卅○", "万亿两点时年间纪几后余二三〇"
_PLAIN |= dict(zip(map(ord, _TRADITIONAL), map(ord, _SIMPLIFIED), strict=True))
_IN_PLACE = {code: ord(" ") if other is None else other for code, other in _PLAIN.items()}
_DIGIT = re.compile(r"\d")
_DENOMINATOR = re.compile(r"/(\d|10)(?![\d/])")
_WHOLE_HOUR = re.compile(r"(?<=\d):00\b")


def plain(text: str) -> str:
    """Make full-width text ASCII and numerals simplified, and leave out superscripts and ①.

    Takes a third of the time of NFKC.
    """
    return text if text.isascii() else text.translate(_PLAIN)


def in_place(text: str) -> str:
    """Make a text plain, but with a space where a character is left out: places stay the same."""
    return text if text.isascii() else text.translate(_IN_PLACE)


def at_digits(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Find what starts with a digit, three times as fast as the pattern would."""
    digit = _DIGIT.search(text)
    while digit and (match := pattern.match(text, digit.start())):
        yield match
        digit = _DIGIT.search(text, match.end())


def number(
    values: set[float], *, digits: bool, named: bool = False, counts: bool = False
) -> Number:
    """Make a number of some values."""
    return Number(exactly(values), digits, named, counts)


def exactly(values: set[float]) -> frozenset[float]:
    """Leave out what multiplying and dividing leave in the last digits."""
    return frozenset(value if value % 1 == 0 else float(f"{value:.10g}") for value in values)


def value_of(digits: str) -> float:
    """Read digits with separators."""
    return float(digits.replace(",", "").replace(" ", ""))


def fraction_of(text: str, end: int, value: float) -> set[float]:
    """Read 1/3, whose first digits end at a place, as a third or by what it divides."""
    match = _DENOMINATOR.match(text, end)
    if not match or value >= (whole := float(match[1])):
        return set()
    return {whole, value / whole}


def in_digits(text: str, match: re.Match[str], values: set[float]) -> Number:
    """Make a number of digits, the first group of a match; 0300 may be an hour, and 1/3 a third."""
    (start, end), digits = match.span(1), match[1]
    hour = {float(digits[:2])} if re.fullmatch(r"0\d{3}", digits) else set()
    values = values | hour | fraction_of(text, end, value_of(digits))
    return number(values, digits=True, named=is_named(text, start, end))


def without_zero_minutes(text: str) -> str:
    """Make 14:00 14."""
    return _WHOLE_HOUR.sub("", text) if ":" in text else text


def is_named(text: str, start: int, end: int) -> bool:
    """Tell whether the digits of a place are part of a name."""
    if end - start == 1 and start and text[start - 1].isascii() and text[start - 1].isalpha():
        return True
    return text[max(start - 6, 0) : start].upper() == "COVID-"
