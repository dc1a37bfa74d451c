"""Is a text in a language the encoder was made for? Told by script, then by function words.

A wrong language gives scores like any other, so it has to be noticed before mining.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache

# The script of a letter is the first word of its Unicode name.
_SCRIPTS = {
    "ar": {"ARABIC"},
    "bg": {"CYRILLIC"},
    "el": {"GREEK"},
    "he": {"HEBREW"},
    "hi": {"DEVANAGARI"},
    "ja": {"HIRAGANA", "KATAKANA", "CJK"},
    "ko": {"HANGUL"},
    "ru": {"CYRILLIC"},
    "th": {"THAI"},
    "uk": {"CYRILLIC"},
    "zh": {"CJK"},
}
_LATIN = {"LATIN"}
_SCRIPTS |= dict.fromkeys(
    "cs da de en es fi fr hu id it nl no pl pt ro sv sw tr vi".split(), _LATIN
)
_NAMES = {"CJK": "Chinese characters", "HIRAGANA": "Japanese kana", "KATAKANA": "Japanese kana"}

# More than a third of the words of English prose are of these, a quarter of those of an interface,
# and a few in a hundred of French, German or Vietnamese ones.
_FUNCTION_WORDS = {
    "en": frozenset(
        "the of and to in a is that for it was on with as be by are from at this have not or he "
        "you i his they we which an were their but has had if its can will one more when there "
        "who all would my so what up out about your she her him them these than into do does did "
        "no been our me how could some other only after over also then most such any should".split()
    )
}
_FEWEST_FUNCTION_WORDS = 0.12
_FEWEST_WORDS = 50
_SAMPLE = 1000
_WORD = re.compile(r"[^\W\d_]+")


def check_language(name: str, texts: Sequence[str], languages: Sequence[str]) -> str:
    """Say what makes a text look foreign to an encoder; an empty string if nothing does.

    Args:
        name: the file, for the message.
        texts: its sentences; about a thousand of them are looked at.
        languages: ISO 639-1 codes of the encoder's languages; nothing is checked if there are
            none, or one whose script is not known here.
    """
    if not languages or not set(languages) <= _SCRIPTS.keys():
        return ""
    sample = texts[:: max(1, len(texts) // _SAMPLE)]
    scripts = Counter(_script(letter) for text in sample for letter in text if letter.isalpha())
    letters = scripts.total()
    if not letters:
        return ""
    expected = set().union(*(_SCRIPTS[language] for language in languages))
    made_for = f"the encoder was made for {', '.join(languages)}; give another with --model"
    foreign = {script: count for script, count in scripts.items() if script not in expected}
    # Japanese is a third to a half kana; Chinese text quotes little of it.
    if sum(foreign.values()) > letters / 4:
        worst = max(foreign, key=foreign.__getitem__)
        return f"{name}: much of it is in {_NAMES.get(worst, worst.capitalize())}; {made_for}"
    latin = [language for language in languages if _SCRIPTS[language] == _LATIN]
    if scripts["LATIN"] > letters * 0.8 and set(latin) <= _FUNCTION_WORDS.keys():
        words = [word.casefold() for text in sample for word in _WORD.findall(text)]
        known = frozenset().union(*(_FUNCTION_WORDS[language] for language in latin))
        share = sum(word in known for word in words) / max(1, len(words))
        if len(words) >= _FEWEST_WORDS and share < _FEWEST_FUNCTION_WORDS:
            return f"{name}: does not read like {' or '.join(latin)}; {made_for}"
    return ""


@cache
def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNKNOWN").split(maxsplit=1)[0]
