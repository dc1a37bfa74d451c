"""Chinese text -> its numbers: digits and numerals with 万 and 亿, fractions, decades.

Japanese and Korean text is first made text of the same length with numbers as Chinese writes them.
"""

import re
from math import prod

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

_NUMERALS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 1e4, "亿": 1e8, "兆": 1e12}
_N = "[零〇一二三四五六七八九十百千万亿兆两]"
_EVENINGS = tuple("下午 晚上 傍晚 当晚 晚间 晚 午后".split())
_NUMBER = re.compile(
    rf"({DIGITS})\s?(?:[多余几来数]|个(?=[万亿]))?([十百千万亿兆]*)"
    r"(?:\s?世纪\s?(\d{2})\s?年代|(年代?|后)|(%|个百分点)|(?:分之(\d+))|(成|折))?"
)
_WORDS = re.compile(rf"({_N}+(?:点{_N}+)?)(?:(分之)({_N}+(?:点{_N}+)?|\d+)|(成|折)|(年代?))?")
_DIGITS = re.compile(r"\d+")
_ABOUT = re.compile("(十)?([一二两三四五六七八])([二三四五六七八九])([十百千万亿兆]*)")
_ONES = re.compile("[二两兩三四五六七八九]|十(?!分)")
_NO_COUNT = tuple(
    "周期拜0123456789多余几来数十百千万亿"
)  # 周三 is Wednesday, 3千五 a number in digits
_MONTHS = re.compile(
    r"((?:\d{1,2}\s?[-–—~到至、和及或]\s?)*)(\d{1,2}|[一二三四五六七八九十]{1,2})\s?月"
)
_JAPANESE, _KOREAN, _SIGNS = (
    dict(each.split(":") for each in WORDS["east-asian"][name].split())
    for name in ("ja", "ko", "ko-units")
)
_JAPANESE_WORD = re.compile("午後|夜|分の|割|数|(?<=[0-9])・(?=[0-9])")
# Units and marks of dates count behind digits alone: 만 is also `only`, 조 an article (제1조).
_KOREAN_UNITS = re.compile(
    r"(?<!제\d)(?<!제\d\d)(?:(?<=\d)|(?<=\d ))(?:[십백천만억조]+(?!큼)|년(?!대)|월)"
)
_KOREAN_SIGNS = str.maketrans(_SIGNS)
_KOREAN_WORD = re.compile("|".join(_KOREAN))
_APART = re.compile(r"(?<=[千万亿兆])( )(\d[\d,.]*\d|\d)")
_UNITS = "米瓦克卡赫伏帕焦字比位吨安伏欧"
# Months, digits with what scales them, several of these in a row (1亿5千万), numerals.
_PLACES = re.compile(
    rf"(?:\d{{1,2}}|[一二三四五六七八九十]{{1,2}})\s?月"
    rf"|(?:(?:{DIGITS})[十百千万亿兆]+)+(?:{DIGITS})[十百千万亿兆]*"
    rf"|{_NUMBER.pattern}|{_WORDS.pattern}"
)


def chinese_digits(text: str) -> list[Number]:
    """Read what is written in digits, with the numerals that scale it."""
    text = without_zero_minutes(text)
    found: list[Number] = []
    end, last = -1, 0.0
    for match in at_digits(_NUMBER, text):
        digits, scales, decade, year, percent, parts, tenths = match.groups()
        value = value_of(digits)
        times = _times(scales)
        values = {value * times}
        if scales and scales[-1] in "千兆" and text[match.end() : match.end() + 1] in _UNITS:
            values.add(value * times / _SCALES[scales[-1]])  # kilometres, megawatts
        if text.endswith(_EVENINGS, 0, match.start()):
            values.add(value + 12)
        if decade:  # 20世纪90年代
            values = {(value - 1) * 100 + float(decade)}
        elif year and value < 100:
            values |= {1900 + value, 2000 + value}
        elif percent:
            values.add(value / 100)
        elif parts and value:
            values |= {float(parts) / value, float(parts)}
        elif tenths:
            values |= {value * 10, value / 10, 100 - value * 10}
        if match.start() == end and last > value * times:  # 1亿2000万, 1万3200
            values |= {value * times + total for total in found[-1].readings}
            found.pop()
        end, last = match.end(), times
        found.append(in_digits(text, match, values))
    return found


def chinese_words(text: str) -> list[Number]:
    """Read numerals; 一 in 一样 is read, too, since words accuse no pair."""
    found: list[Number] = []
    for match in _WORDS.finditer(text):
        word, of, share, tenths, year = match.groups()
        value = _value(word)
        values = {value} | _about(word)
        if of:
            parts_of = float(share) if share.isdecimal() else _value(share)
            values = {parts_of / max(value, 1), 100 * parts_of / max(value, 1), parts_of, value}
        elif tenths:
            values |= {value * 10, value / 10, 100 - value * 10}
        elif year and value < 100:
            values |= {1900 + value, 2000 + value}
        counts = bool(
            _ONES.match(text, match.start()) or _ONES.search(word, 1)
        ) and not text.endswith(_NO_COUNT, 0, match.start())
        found.append(number(values, digits=False, counts=counts))
    if "半" in text:
        found.append(number({0.5, 50, 30, 6, 5}, digits=False))
    return found


def chinese_months(text: str) -> set[float]:
    """Read 9月, 九月 and the ends of 1-9月."""
    found: set[float] = set()
    for others, last in _MONTHS.findall(text) if "月" in text else ():
        found |= {float(month) for month in _DIGITS.findall(others)}
        found.add(float(last) if last.isdecimal() else _value(last))
    return found


def _times(scales: str) -> float:
    return prod(_SCALES[scale] for scale in scales)


def _about(word: str) -> set[float]:
    """Read 六七级 and 四五千 as six or seven, four or five thousand."""
    match = _ABOUT.fullmatch(word)
    if not match:
        return set()
    ten, low, high, scales = match.groups()
    times = _times(scales)
    return {((10 if ten else 0) + _NUMERALS[each]) * times for each in (low, high)}


def _value(word: str) -> float:
    whole, _, fraction = word.partition("点")
    if not set(whole) & set(_SCALES):  # 二〇一九
        value = float("".join(str(_NUMERALS[char]) for char in whole))
    else:
        total = section = digit = largest = 0.0
        for char in whole:
            if char in _NUMERALS:
                digit = _NUMERALS[char]
            elif (scale := _SCALES[char]) >= 1e4:
                part = section + digit
                if scale > largest:  # 一万亿 is ten thousand times 亿
                    total = (total + part or 1) * scale
                else:
                    total += (part or 1) * scale
                largest, section, digit = max(largest, scale), 0.0, 0.0
            else:
                section, digit = section + (digit or 1) * scale, 0.0
        value = total + section + digit
    for place, char in enumerate(fraction, start=1):
        value += _NUMERALS.get(char, 0) / 10**place
    return value


def from_japanese(text: str) -> str:
    """Write 午後3時, 3分の1, 3割 and 1・5 as Chinese does."""
    return _JAPANESE_WORD.sub(lambda found: _JAPANESE[found[0]], text)


def from_korean(text: str) -> str:
    """Write 3만 5천, 90년대, 9월 and 오후 3시 as Chinese does, without a space inside a number."""
    text = _KOREAN_WORD.sub(lambda found: _KOREAN[found[0]], text)
    text = _KOREAN_UNITS.sub(lambda found: found[0].translate(_KOREAN_SIGNS), text)
    return _APART.sub(r"\2\1", text)


CHINESE = Reader(
    chinese_digits,
    chinese_words,
    lambda text: _ONES.search(text) is not None,
    _PLACES,
    months=chinese_months,
)
