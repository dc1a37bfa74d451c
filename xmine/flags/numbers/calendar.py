"""Text -> its months and weekdays by name, and the months of dates in digits."""

import re
import tomllib
from calendar import day_name, month_name
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from xmine.flags.numbers.number import Number, number

WORDS = tomllib.loads(Path(__file__).parents[1].joinpath("words.toml").read_text("utf-8"))
MONTHS, WEEKDAYS = (*month_name,), ("", *day_name)
_ANY_LETTERS = re.compile(r"(?<!\\[wS])\*")
_LETTER = r"[\w\u0900-\u0dff]"  # and the vowels of India
UNSPACED = {"zh", "ja", "ko"}
# 24.12.2026, 24/12/2026 or 12/24/2026, 2026-12-24
_DATE = re.compile(
    r"(?<![\d.,/-])(?:\d{4}[-/.](\d\d?)[-/.]\d\d?|\d\d?\.(\d\d?)\.\d{4}"
    r"|(\d\d?)[-/](\d\d?)[-/]\d{4})(?!\d)"
)


def one_of(words: str, unspaced: bool) -> str:
    """Make an expression with a group for each of the words that white space parts."""
    groups = "|".join(f"({each})" for each in _ANY_LETTERS.sub(r"\\w*", words).split())
    return f"(?:{groups})" if unspaced else f"(?<!{_LETTER})(?:{groups})(?!{_LETTER})"


def named(kind: str, language: str) -> Callable[[str], set[float]] | None:
    """Give what reads the `months` or the `weekdays` of a language, counted from 1."""
    words, unspaced = WORDS[kind].get(language), language in UNSPACED
    return partial(_found, re.compile(one_of(words, unspaced), re.IGNORECASE)) if words else None


def _found(pattern: re.Pattern[str], text: str) -> set[float]:
    return {float(match.lastindex or 0) for match in pattern.finditer(text)}


def by_name(found: set[float], names: Sequence[str]) -> list[Number]:
    """Make numbers of months or weekdays, which are told by name; 30月 is none."""
    found = found.intersection(range(1, len(names)))
    return [Number(frozenset({x}), digits=False, written=names[int(x)]) for x in sorted(found)]


def months_of_dates(text: str) -> list[Number]:
    """Read which months a date in digits may mean."""
    return [number({float(x) for x in date if x}, digits=True) for date in _DATE.findall(text)]
