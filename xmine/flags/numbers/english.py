"""English text -> its numbers: digits with their scales, number words, months, decades."""

import re

from xmine.flags.numbers.calendar import WORDS
from xmine.flags.numbers.number import (
    DIGITS,
    Number,
    Reader,
    at_digits,
    in_digits,
    number,
    value_of,
    without_zero_minutes,
)

_READ: dict[str, dict[str, set[float]]] = {
    kind: {
        word: {*map(float, values.split())}
        for values, said in table.items()
        for word in said.split()
    }
    for kind, table in WORDS["english"].items()
}
_WORDS, _SCALES = ({x: max(_READ[kind][x]) for x in _READ[kind]} for kind in ("words", "scales"))
_OTHERS = _READ["others"]  # months, and words of several readings
# After digits these may be something else, too: metres, decades in digits, twenty points.
_LETTERS = {"k", "m", "b", "score", "scores", "decade", "decades", "century", "centuries"}
_SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))
_DIGITS = re.compile(
    rf"({DIGITS})(?:(st|nd|rd|th|'?s)\b|[\s-]?(%|percent\b|per cent\b)|[\s-]?({_SCALE})\b"
    r"|\s?(p)\.?m\b)?",
    re.IGNORECASE,
)
_COUNTED = {*_WORDS, *_SCALES} - {"k", "m", "b", "mn", "mln", "bn", "tn"}
_ONES_OR_MORE = frozenset(word for word, value in _WORDS.items() if value > 0)
_JOINING = {"and", "a", "an", "half"}
_WORD = re.compile(r"[a-z]+")
# What two dozen and two decades are may be said in another way.
_VAGUE = {"dozen", "score", "decade", "century", "half", "dozens", "scores", "decades", "centuries"}
_TIME = re.compile(r"\b(\d{1,2})[:.](\d\d)(?=\s?([ap])\.?m\b)", re.IGNORECASE)
_ONE = "|".join(sorted(_COUNTED, key=len, reverse=True))
# May is a verb, too; half and quarter are too many numbers to be found again.
_NAMED = "|".join(word for word, values in _OTHERS.items() if len(values) == 1 and word != "may")
# Digits with what scales them, number words that stand together, months.
_PLACES = re.compile(
    rf"{_DIGITS.pattern}|\b(?:{_ONE})(?:(?:[ -]| and )(?:{_ONE}))*\b"
    rf"|\b(?:{_NAMED})\b",
    re.IGNORECASE,
)


def english_digits(text: str) -> list[Number]:
    """Read what is written in digits, with the word that scales it."""
    found: list[Number] = []
    if ":" in text or ".m" in text or "am" in text or "pm" in text:
        for hour, minute, half in _TIME.findall(text):
            later = 12 if half in "pP" else 0
            found.append(number({float(hour), float(hour) + later}, digits=True))
            found += [number({float(minute)}, digits=True)] if minute != "00" else []
        text = without_zero_minutes(_TIME.sub(" ", text))
    for match in at_digits(_DIGITS, text):
        digits, suffix, percent, scale, afternoon = match.groups()
        value = value_of(digits)
        values = {value}
        if suffix and suffix.lower().endswith("s") and len(suffix) < 3:  # the 90s, 1990's
            values |= {1900 + value, 2000 + value} if value < 100 else {value // 100 + 1}
        elif percent:
            values.add(value / 100)
        elif afternoon:
            values.add(value + 12)
        elif scale:
            times = _SCALES[scale.lower()]
            values = {value * times} | ({value} if scale.lower() in _LETTERS else set())
        elif suffix is None and value < 100 and text[max(match.start() - 1, 0)] in "'’-/–":
            values |= {1900 + value, 2000 + value}  # '98, 2018-19
        found.append(in_digits(text, match, values))
    return found


def english_words(text: str) -> list[Number]:
    """Read number words and months."""
    found: list[Number] = []
    together: list[str] = []
    for word in [*_WORD.findall(text.casefold()), ""]:
        if word in _COUNTED or (together and word in _JOINING):
            together.append(word)
            continue
        if together:
            first, *others = _word_values(together)
            counts = _VAGUE.isdisjoint(together) and not _ONES_OR_MORE.isdisjoint(together)
            found.append(number(first, digits=False, counts=counts))
            found += [number(each, digits=False) for each in others]
            together = []
        if word in _OTHERS:
            found.append(number(_OTHERS[word], digits=False))
            if word == "half":
                together = [word]
    return found


def _word_values(words: list[str]) -> list[set[float]]:
    """Read number words that stand together: one number, but also each word for itself."""
    total = current = years = 0.0
    scale = 1.0  # of the scale that was read last, if no number followed
    for word in words:
        if word == "half":  # half a million; two and a half million; a million and a half
            total, current = (total + scale / 2, current) if scale > 1 else (total, current + 0.5)
        elif (times := _SCALES.get(word, 1)) >= 1e3:
            total, current = total + (current or 1) * times, 0.0
        elif times > 1:
            current = (current or 1) * times
        elif word in _WORDS:
            if 10 <= current < 100 and _WORDS[word] >= 10:  # nineteen ninety-five
                years, current = current * 100, 0.0
            current += _WORDS[word]
        if word in _COUNTED:
            scale = _SCALES.get(word, 1)
    values = {total + current, total + current + years}
    alone = [{(_WORDS | _SCALES)[word]} for word in words if word in _COUNTED]
    if len(words) == 2 and words[1] in _WORDS:  # two-thirds
        values |= {_WORDS.get(words[0], 1) / max(_WORDS[words[1]], 1)}
    if len(words) == 1 and words[0].endswith(("rd", "th")) and 2 < _WORDS.get(words[0], 0) < 20:
        values |= {1 / _WORDS[words[0]]}  # a fifth
    if words[-1].endswith("ies"):
        values |= {1900 + total + current}
    return [values, *alone]


ENGLISH = Reader(
    english_digits,
    english_words,
    lambda text: not _ONES_OR_MORE.isdisjoint(_WORD.findall(text.lower())),
    _PLACES,
)
