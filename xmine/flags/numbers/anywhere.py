"""Text in a language that has no reader of its own -> its numbers in digits.

A separator may group thousands or mark decimals, and a word behind digits may scale them: every
reading that may be meant is given. Number words of six languages are read by text2num.
"""

import re
from functools import partial

from xmine.flags.numbers.calendar import WORDS, one_of
from xmine.flags.numbers.number import (
    Number,
    Reader,
    at_digits,
    exactly,
    fraction_of,
    is_named,
    number,
    without_zero_minutes,
)

_DIGITS = re.compile(
    r"\d{1,3}([ .,'’])\d{3}(?:\1\d{3})*(?!\d)(?:[.,]\d+)?"  # 1,234.5; 1.234,5; 1 234,5
    r"|\d{1,2}(?:,\d\d)+,\d{3}(?!\d)(?:\.\d+)?"  # 12,34,567 in India
    r"|(?<!\d[.,])\d+[.,]\d+(?![.,]?\d)"  # 1.5; 1,5; 14.30, but no date
    r"|\d+"
)
# Behind a number, or the first of two, a word; or one of those that a language scales numbers by.
_RANGE = r"(\s?[-–—]\s?\d[\d.,]*|\s\w{1,4}\s\d[\d.,]*)??[ -]?"
_SCALED = re.compile(rf"{_RANGE}[^\W\d_]")
SCALED_IN = {
    code: re.compile(_RANGE + one_of(words, True) + r"(?!\w)", re.IGNORECASE)
    for code, words in WORDS["scales"].items()
}
_BETWEEN = re.compile(r" [^\W\d_]+\.? ")
# Thousand, lakh, million, crore, billion, thousand crore, trillion.
_SCALES = (1e3, 1e5, 1e6, 1e7, 1e9, 1e10, 1e12)
_SCALES_IN = (1e3, 1e6, 1e9, 1e12, 1e5, 1e7, 1e10)
_LEAST, _LARGE = 2.0, 1e6  # one and two are said in more ways, and so are `bilioni`
_ARE = re.compile(r"\bsei\b", re.IGNORECASE)  # Italian for six, and for a form of to be
_ORDINAL = re.compile(r"(\d+)[^\s\d.,:;!?)'’\"”»]")  # 8º, 5e; also a part: un quinto
_TIME = re.compile(r"(\d+)[.,]([0-5]\d)")
_MINUTES = re.compile(r"\s?[:h]\s?(\d\d)(?!\d)", re.IGNORECASE)


def digits_anywhere(text: str, language: str = "und") -> list[Number]:
    """Read what is written in digits."""
    text = without_zero_minutes(text)
    found: list[Number] = []
    end = 0
    for match in at_digits(_DIGITS, text):
        values = _values(match[0], match[1])
        scaled = _scaled(values, text, match.end(), language)
        if match[0].isdecimal():
            value = float(match[0])
            years = {1900 + value, 2000 + value} if value < 100 else {value % 100}
            # '98, los 70 and 80er are years, and the other way round.
            values |= years if value < 100 or 1900 <= value < 2100 else set()
            values |= fraction_of(text, match.end(), value)
            if minutes := _MINUTES.match(text, match.end()):
                values |= _hours(value) | {value + float(minutes[1]) / 100}  # or 6.30
        if match[1] == " " and " 0" not in match[0]:  # or two numbers
            values |= {*map(float, re.split(r"\D", match[0]))}
        if found and _BETWEEN.fullmatch(text, end, match.start()):  # 4 bin 300; 2 млн 750 тысяч
            last = found[-1]
            whole = {more + value for more in last.scaled for value in values | scaled}
            found[-1] = last._replace(readings=last.readings | exactly(whole))
            values |= whole
        read = number(values, digits=True, named=is_named(text, *match.span()))
        parts = _clock(match[0])
        found.append(read._replace(scaled=exactly(scaled), parts=parts, written=match[0]))
        end = match.end()
    return found


def _scaled(values: set[float], text: str, end: int, language: str) -> set[float]:
    """Scale digits by the word behind them: as it says, or if it is not read, in every way."""
    match = SCALED_IN.get(language, _SCALED).match(text, end)
    at = match.lastindex if match and language in SCALED_IN else None
    scales = _SCALES_IN[at - 2 : at - 1] if at else _SCALES if match else ()
    return {value * scale for value in values for scale in scales}


def _values(digits: str, grouped: str | None) -> set[float]:
    """Read digits with separators."""
    *first, last = re.split(r"\D", digits)
    if not first:
        return {float(last)}
    decimal = float(f"{''.join(first)}.{last}")
    if len(first) > 1:  # grouped, and the last separator is that of decimals if it is another one
        is_decimal = digits[-len(last) - 1] != digits[len(first[0])]
        values = {decimal if is_decimal else float("".join((*first, last)))}
    elif len(last) == 3 and grouped:
        values = {decimal, float(first[0] + last)} if grouped in ".," else {float(first[0] + last)}
    else:
        values = {decimal}
    return values


def _clock(digits: str) -> tuple[frozenset[float], ...]:
    """Read 14.30 as an hour and minutes, which may be two numbers elsewhere, as in 2:30 p.m."""
    match = _TIME.fullmatch(digits)
    if not match:
        return ()
    hour, minutes = float(match[1]), float(match[2])
    hours = frozenset({hour} | _hours(hour))
    return (hours, frozenset({minutes})) if minutes else (hours,)


def _hours(hour: float) -> set[float]:
    """Read an hour of the day as one of the clock, and the other way round."""
    return {hour, hour + 12 if hour < 12 else hour - 12} if hour <= 24 else set()


ANYWHERE = Reader(
    digits=digits_anywhere,
    words=lambda _: [],
    may_count=lambda _: False,
    places=_DIGITS,
    reads_all=False,
    scales=False,
)


def _words(language: str, text: str) -> list[Number]:
    from text_to_num import alpha2digit

    spelled = alpha2digit(_ARE.sub(" ", text), language, _LEAST)
    ordinals = _ORDINAL.findall(spelled)
    return [
        x._replace(digits=False, counts=min(x.readings) < _LARGE and x.written not in ordinals)
        for x in digits_anywhere(spelled, language)
        if x.written not in text
    ]


SPELLED = {
    code: ANYWHERE._replace(words=partial(_words, code), may_count=partial(_words, code))
    for code in ("de", "fr", "es", "it", "pt", "nl")
}
