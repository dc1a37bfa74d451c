"""A line and the language of its file -> whether it is in another script, or not in English.

Names stay in Latin letters in text of any script, so a line of Latin letters is judged by its words
that are not capitalised.
"""

import re
from collections.abc import Callable, Sequence

from xmine.languages import function_words, scripts_of

_RANGES = {
    "LATIN": "A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ",
    "GREEK": "Ͱ-Ͽἀ-῿",
    "CYRILLIC": "Ѐ-ԯ",
    "HEBREW": "֐-׿",
    "ARABIC": "؀-ۿݐ-ݿ",
    "DEVANAGARI": "ऀ-ॿ",
    "THAI": "฀-๿",
    "HANGUL": "ᄀ-ᇿ가-힯",
    "HIRAGANA": "ぁ-ゟ",
    "KATAKANA": "゠-ヿ",
    "CJK": "々㐀-䶿一-鿿豈-﫿\U00020000-\U0003ffff",
}
# A line with a smaller share of letters in its own script is not written in it; most of a line in
# its own script is, however many names of other scripts it quotes.
_LEAST_OWN = 0.05
_MOST_OTHERS = 0.5
_FEWEST_LETTERS = 4  # a sign of the zodiac, a formula
_FEWEST_WORDS = 4  # that are not capitalised; a name has fewer ("of the")
# Of 7,400 English lines of that many words, one in 300 has a smaller share of function words; of
# German, Czech and French ones, 24 in 25.
_WORDS_OF_A_SENTENCE = 7
_LEAST_FUNCTION_WORDS = 0.11
_LATIN = _RANGES["LATIN"]
_WORD = re.compile(rf"[{_LATIN}]+")
_SMALL_WORD = re.compile(r"\b[a-zß-öø-ÿ][^\W\d_]+")


def foreign_lines(language: str, texts: Sequence[str]) -> Callable[[str, str], bool]:
    """Make the test of the lines of a side.

    Args:
        language: its code; where it is `und`, the main script of the side counts as its own.
        texts: its lines.

    Returns:
        a function of a line and its letters (`xmine.copies.letters_of`).
    """
    scripts = scripts_of(language, texts)
    ranges = "".join(_RANGES.get(script, "") for script in scripts)
    if not ranges:
        return lambda text, letters: False
    others = re.compile(f"[{ranges}]+")
    if "LATIN" not in scripts:
        return lambda text, letters: _in_another_script(text, letters, others)
    words = function_words(language)
    return lambda text, letters: (
        _not_latin(letters, others) or (bool(words) and _in_another_language(text, words))
    )


def _in_another_script(text: str, letters: str, own: re.Pattern[str]) -> bool:
    foreign = own.sub("", letters)
    if len(foreign) < max(_FEWEST_LETTERS, _MOST_OTHERS * len(letters)):
        return False
    if len(_WORD.sub("", foreign)) >= max(_FEWEST_LETTERS, _MOST_OTHERS * len(letters)):
        return True
    if len(letters) - len(foreign) > _LEAST_OWN * len(letters):
        return False
    return len(_SMALL_WORD.findall(text)) >= _FEWEST_WORDS


def _not_latin(letters: str, own: re.Pattern[str]) -> bool:
    if letters.isascii():
        return False
    foreign = len(own.sub("", letters))
    return foreign >= max(_FEWEST_LETTERS, _MOST_OTHERS * len(letters))


def _in_another_language(text: str, function_words: frozenset[str]) -> bool:
    words = text.lower().split()
    fewest = _LEAST_FUNCTION_WORDS * len(words)
    if len(words) < _WORDS_OF_A_SENTENCE or len(function_words.intersection(words)) >= fewest:
        return False  # most lines end here
    words = _WORD.findall(text.lower())
    found = sum(word in function_words for word in words)
    if len(words) < _WORDS_OF_A_SENTENCE or found >= _LEAST_FUNCTION_WORDS * len(words):
        return False
    return len(_SMALL_WORD.findall(text)) >= _FEWEST_WORDS
