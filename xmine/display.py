"""What people see: numbers in words; a text with nothing that a terminal obeys or hides.

One character stands for one, so that a place in the text stays the same place. What is shown has
the same width in every terminal: where terminals disagree (joined emoji, skin tones, variation
selectors), what they agree on is shown instead. Unicode Standard Annexes 9 and 11, and Technical
Standard 51.
"""

import re
import unicodedata
from functools import cache

UNKNOWN = 0xFFFD  # �: C1 controls, lone surrogates, what has no meaning (yet)
HIDDEN = 0x2422  # ␢: what has no width and no picture
TURN = 0x21C4  # ⇄: what changes the direction of the text behind it
BREAK = 0x2424  # ␤: a line or a paragraph ends here, though not for xmine
TIE = 0x2040  # ⁀: joins two emoji to one where a terminal can do so
SHADE = 0x2592  # ▒: the tone of a skin
BASE = 0x25CC  # ◌: a mark with no letter below it, or one mark too many

_DIRECTIONS = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_NON_JOINER, _JOINER = 0x200C, 0x200D
# Letters and marks that are drawn as nothing at all.
_BLANK = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0}
_TONES = range(0x1F3FB, 0x1F400)
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_AS_TEXT, _AS_PICTURE = "\ufe0e", "\ufe0f"
_MOST_MARKS = 6  # on one letter; Vietnamese, Hebrew and Thai need three


class _Symbols(dict[int, int]):
    """Code point -> the code point that is shown, found at its first use."""

    def __missing__(self, code: int) -> int:
        self[code] = symbol = _symbol(code)
        return symbol


def _symbol(code: int) -> int:
    if code in _DIRECTIONS:
        return TURN
    if code == _JOINER:
        return TIE
    if code in _TONES:
        return SHADE
    if code in _BLANK:
        return HIDDEN
    category = unicodedata.category(chr(code))
    if category == "Cc":
        return 0x2421 if code == 0x7F else 0x2400 + code if code < 0x20 else UNKNOWN
    if category == "Cf" and code != _NON_JOINER:
        return HIDDEN
    return {"Cs": UNKNOWN, "Cn": UNKNOWN, "Zl": BREAK, "Zp": BREAK}.get(category, code)


_SYMBOLS = _Symbols({ord("\t"): ord("\t"), ord("\n"): ord("\n")})
# Persian and the languages of India spell with it.
_STRAY_NON_JOINER = re.compile(r"(?<![\u0600-\u109f])\u200c|\u200c(?![\u0600-\u109f])")
# Latin and Chinese text without marks: the pattern of all marks takes 30 ms to make.
_MARKLESS = re.compile(r"[\0-\u02ff\u2000-\u20cf\u3000-\u3029\u3400-\u9fff\uff00-\uffef]*")
_SELECTED = re.compile(rf"(\A|.)([{_SELECTORS}]+)", re.DOTALL)


def visible(text: str) -> str:
    """Replace characters that a terminal would obey, hide or misplace by symbols of known width.

    Controls, marks of direction, characters without width or meaning become one symbol each; tabs,
    newlines and all other text stay as they are.
    """
    if text.isascii():
        return text if text.isprintable() else text.translate(_SYMBOLS)
    text = text.translate(_SYMBOLS)
    if "\u200c" in text:
        text = _STRAY_NON_JOINER.sub(chr(HIDDEN), text)
    if _SELECTED.search(text):
        text = _SELECTED.sub(_select, text)
    if _MARKLESS.fullmatch(text):
        return text
    stray = _stray_marks()
    return stray.sub(lambda marks: chr(BASE) * len(marks[0]), text) if stray.search(text) else text


def _select(match: re.Match[str]) -> str:
    """Keep the first selector behind a character, in the form that does not change its width."""
    before, selectors = match.groups()
    first, more = selectors[0], len(selectors) - 1
    if not before:
        first = chr(HIDDEN)
    elif first in (_AS_TEXT, _AS_PICTURE):
        wide = unicodedata.east_asian_width(before) in "WF"
        first = _AS_PICTURE if wide else _AS_TEXT
    return f"{before}{first}{chr(HIDDEN) * more}"


@cache
def _stray_marks() -> re.Pattern[str]:
    """Make the pattern of marks at the start of a text, or behind many others.

    The first would be drawn on what is left of the text, the others on what is above it.
    """
    codes = [
        code
        for code in (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))
        if unicodedata.category(chr(code)) in ("Mn", "Me")
        or 0x1161 <= code < 0x1200  # vowels and finals of Korean syllables
        or 0xD7B0 <= code < 0xD7FC
    ]
    starts = [code for code, before in zip(codes, [0, *codes], strict=False) if code != before + 1]
    ends = [code for code, after in zip(codes, [*codes[1:], 0], strict=True) if after != code + 1]
    pairs = zip(starts, ends, strict=True)
    mark = f"[{''.join(f'{chr(start)}-{chr(end)}' for start, end in pairs)}]"
    return re.compile(rf"\A{mark}+|(?<={mark}{{{_MOST_MARKS}}}){mark}")


_UNITS = ("bytes", "KB", "MB", "GB", "TB")


def in_words(size: float) -> str:
    """Say a number of bytes: 1.5 GB."""
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            break
        size /= 1000
    if size == 1 and unit == _UNITS[0]:
        return "1 byte"
    return f"{size:.0f} {unit}" if size >= 10 or unit == _UNITS[0] else f"{size:.1f} {unit}"


def duration(seconds: float) -> str:
    """Say how long: under a second, 45 s, 12 min, 3.4 h."""
    if seconds < 1:
        return "under a second"
    if seconds < 100:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 6000 else f"about {seconds / 3600:.1f} h"


def short(number: float) -> str:
    """Write a number in a few characters."""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"


def count(number: int, noun: str) -> str:
    """Say how many there are: 1 pair, 1,200 pairs."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
