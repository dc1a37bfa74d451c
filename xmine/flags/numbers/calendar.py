"""Text -> its months and weekdays by name, and the months of dates in digits."""

import re
import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from xmine.flags.numbers.number import Number, number

WORDS = tomllib.loads(Path(__file__).parents[1].joinpath("words.toml").read_text("utf-8"))
MONTHS = (
    *("", "January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
WEEKDAYS = ("", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ANY_LETTERS = re.compile(r"(?<!\\[wS])\*")
_LETTER = r"[\w\u0900-\u0dff]"  # and the vowels of India
UNSPACED = {"zh", "ja", "ko"}
# 24.12.2026, 24/12/2026 or 12/24/2026, 2026-12-24
_DATE = re.compile(
    r"(?<![\d.,/-])(?:\d{4}([-/.])(\d\d?)\1\d\d?|(\d\d?)([-/.])(\d\d?)\4\d{4})(?!\d)"
)


def one_of(words: str, *, unspaced: bool = False) -> str:
    """Make an expression with a group for each of the words that white space parts."""
    groups = "|".join(f"({each})" for each in _ANY_LETTERS.sub(r"\\w*", words).split())
    return f"(?:{groups})" if unspaced else f"(?<!{_LETTER})(?:{groups})(?!{_LETTER})"


def named(kind: str, language: str) -> Callable[[str], set[float]] | None:
    """Give what reads the `months` or the `weekdays` of a language, counted from 1."""
    if not (words := WORDS[kind].get(language)):
        return None
    pattern = one_of(words, unspaced=language in UNSPACED)
    return partial(_found, re.compile(pattern, re.IGNORECASE))


def _found(pattern: re.Pattern[str], text: str) -> set[float]:
    return {float(match.lastindex or 0) for match in pattern.finditer(text)}


def by_name(found: set[float], names: Sequence[str]) -> list[Number]:
    """Make numbers of months or weekdays, which are told by name."""
    return [
        number({each}, digits=False)._replace(written=names[int(each)]) for each in sorted(found)
    ]


def months_of_dates(text: str) -> list[Number]:
    """Read which months a date in digits may mean."""
    found = []
    for _, second, first, mark, middle in _DATE.findall(text):
        may = {second or middle} | ({first} if mark and mark != "." else set())
        found.append(number({float(each) for each in may if int(each) <= 12}, digits=True))
    return [each for each in found if each.readings]
