"""A line and the language of its file -> whether it is in another script or language.

Scripts and function words tell most; from twenty letters on, `xmine.text.rivals` tells what is in
another language than its side, if that is not English.

Names stay in Latin letters in text of any script, so a line of Latin letters is judged by the words
that names do not have: those that are not capitalised, and function words.
"""

import re
from collections.abc import Callable, Sequence

from xmine.text.folding import HAN
from xmine.text.languages import ENGLISH_WORDS, TABLE, UNKNOWN_LANGUAGE, short_code
from xmine.text.rivals import rather_in

_RANGES: dict[str, str] = {**TABLE["ranges"], "CJK": HAN}  # classes of regular expressions
# A line with a smaller share of letters in its own script is not written in it; most of a line in
# its own script is, however many names of other scripts it quotes.
_LEAST_OWN = 0.05
_MOST_OTHERS = 0.5
_FEWEST_LETTERS = 4  # a sign of the zodiac, a formula
_FEWEST_WORDS = 3  # that names do not have
_IN_NAMES = frozenset(("of", "the", "and"))
# English prose has more than twice as many function words as this. A line with fewer is in another
# language if it has more of the words below, which are frequent in twenty other languages and not
# English, or many with accents. This hits 2 of 10,000 English lines.
_FUNCTION_WORDS = 0.16
_ACCENTED_WORDS = 0.12
_FEWEST_SMALL_WORDS = 3
_OTHER_FUNCTION_WORDS = frozenset(TABLE["words"]["others"].split())
# English words that are hardly words of another language. Prose has a seventh of them, of three
# kinds; of two kinds there must be more.
_IN_DUTCH_OR_GERMAN = ("was", "will", "had", "over")
_ENGLISH = {word for word in ENGLISH_WORDS if len(word) > 2 or word == "of"}
_ENGLISH -= {*_IN_DUTCH_OR_GERMAN}
_ENGLISH_SHARE = 0.45
# Japanese and Korean have Chinese characters, but a line of so many without their own is Chinese.
_OWN = {"HIRAGANA": (re.compile("[ぁ-ヿ]"), 10), "HANGUL": (re.compile("[가-힯]"), 4)}
_LATIN = _RANGES["LATIN"]
_WORD = re.compile(rf"[{_LATIN}]+")
_CHINESE = re.compile(f"[{HAN}]")
# Tags, and the words of messages of ICU: {n, plural, one{…} other{…}}.
_CODE = re.compile(r"<[^<>]*>|\{\s*\w+\s*,\s*\w+\s*,|[\w=]*\{\w*\}?")


def foreign_to(language: str, scripts: set[str]) -> Callable[[str, str], bool]:
    """Make a function of a line and its letters that tells whether the line is foreign to a side.

    `language` is the code of the side, `scripts` are those of `scripts_of`.
    """
    ranges = "".join(_RANGES.get(script, "") for script in scripts)
    if not ranges:
        return lambda text, letters: False
    eastern = [each for script, each in _OWN.items() if script in scripts]
    own = re.compile(f"[{ranges}{HAN * len(eastern)}]+")
    by_words = _is_not_english if short_code(language) == "en" else _in_english
    tells_words = "LATIN" in scripts and language != UNKNOWN_LANGUAGE
    return lambda text, letters: (
        any(not x.search(letters) and len(_CHINESE.findall(letters)) >= n for x, n in eastern)
        or _in_another_script(text, letters, own)
        or (tells_words and by_words(text))
    )


def foreign_lines(
    language: str, scripts: set[str]
) -> Callable[[Sequence[str], Sequence[str]], list[bool]]:
    """Make a function of lines and their letters that marks the lines that are foreign to a side.

    `language` and `scripts` are as in `foreign_to`.
    """
    by_words, other = foreign_to(language, scripts), rather_in(language, scripts)
    return lambda texts, letters: [
        bool(code) or by_words(*line)
        for code, *line in zip(other(texts, letters), texts, letters, strict=True)
    ]


def share_of_script(scripts: set[str], letters: str) -> float:
    """Tell which share of letters is of some scripts, 0 to 1; 1 if there is none."""
    ranges = "".join(_RANGES.get(script, "") for script in scripts)
    if not ranges or not letters:
        return 1.0
    return 1 - len(re.sub(f"[{ranges}]", "", letters)) / len(letters)


def _in_another_script(text: str, letters: str, own: re.Pattern[str]) -> bool:
    foreign = own.sub("", letters)
    if len(foreign) < max(_FEWEST_LETTERS, _MOST_OTHERS * len(letters)):
        return False
    if len(_WORD.sub("", foreign)) >= max(_FEWEST_LETTERS, _MOST_OTHERS * len(letters)):
        return True
    if len(letters) - len(foreign) > _LEAST_OWN * len(letters):
        return False
    words = [
        word.lower()
        for word in _WORD.findall(_plain(text))
        if len(word) > 1 and (word.islower() or word.lower() in ENGLISH_WORDS)
    ]
    return sum(word not in _IN_NAMES for word in words) >= _FEWEST_WORDS


def _in_english(text: str) -> bool:
    words = [word.lower() for word in _WORD.findall(_plain(text))]
    english = [word for word in words if word in _ENGLISH]
    kinds = len({*english})
    return kinds > 1 and min(kinds, 3) * len(english) >= _ENGLISH_SHARE * len(words)


def _plain(text: str) -> str:
    """Leave out code; make a line in capitals throughout, where they mark no names, lower case."""
    if "<" in text or "{" in text:
        text = _CODE.sub(" ", text)
    return text.lower() if text.isupper() else text


def _is_not_english(text: str) -> bool:
    text = _plain(text)
    words = text.lower().split()
    if len(ENGLISH_WORDS.intersection(words)) >= _FUNCTION_WORDS * len(words):
        return False  # most lines end here
    written = _WORD.findall(text)
    small = [word for word in written if word.islower()]
    own = sum(word.lower() in ENGLISH_WORDS for word in written)
    if len(small) < _FEWEST_SMALL_WORDS or own >= _FUNCTION_WORDS * len(written):
        return False
    others = sum(word in _OTHER_FUNCTION_WORDS for word in small)
    accented = sum(not word.isascii() for word in small)
    return others > own or accented >= max(2, _ACCENTED_WORDS * len(written))
