"""Two texts -> whether one is the other untranslated, or nearly so."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.text.folding import HAN, caseless, fold, nfkc, without_markup

# Two sentences that share this part of their pairs of letters are the same one, changed; where
# translations are in another script, and share no words, less is enough.
_NEAR = 0.8
_NEAR_ENOUGH = 0.5
# Accents that NFKC cannot join to their letters belong to them all the same, and so do the vowels
# of India and its neighbours; those of Arabic and Hebrew are left out as often as not.
_LETTERS = re.compile(
    r"[^\W\d_]+|[\u0300-\u036f]+|(?:(?![\d।॥])[\u0900-\u0fbc\u1000-\u109f\u1780-\u17d3])+"
)
# NFKC turns none of these characters into ASCII.
_CHINESE = re.compile(f"[{HAN}]")
_NOT_LATIN = re.compile("[\u0370-\u1dff\u1f00-\U0010ffff]+")
_UPPER = bytes(range(65, 91))
_LOWER = bytes.maketrans(_UPPER, _UPPER.lower())
_NO_ASCII_LETTERS = bytes(each for each in range(128) if not chr(each).isalpha())


def letters_of(text: str) -> str:
    """Leave only the letters of a text, of NFKC and folded case: what variants of a line share."""
    text = without_markup(text)
    if text.isascii():  # ten times faster
        return text.encode().translate(_LOWER, _NO_ASCII_LETTERS).decode()
    # In this order, or texts that `same_texts` finds equal, as x² and x2, had other letters.
    return caseless("".join(_LETTERS.findall(nfkc(text))))


def beyond_latin(letters: str) -> bool:
    """Tell whether some letters are of another script than Latin."""
    return not letters.isascii() and _NOT_LATIN.search(letters) is not None


def latin_characters(text: str) -> int:
    """Count the characters that are ASCII or letters of Latin script with accents."""
    return len(text) if text.isascii() else len(_NOT_LATIN.sub("", text))


def too_unequal(shorter: Any, longer: Any, *, same_script: bool) -> Any:  # noqa: ANN401
    """Tell whether texts of so many letters, or each pair of many such, share too few to be near.

    No more pairs of letters can be shared than the shorter one has: most pairs end here.
    """
    near = _NEAR if same_script else _NEAR_ENOUGH
    return 2 * (shorter - 1) < near * (shorter + longer - 2)


def copied(source: str, target: str, *, same_script: bool = True) -> str:
    """Tell `copy` from `near-copy`; an empty string where a pair of texts is neither.

    `same_script` tells whether a translation is in the same script.
    """
    source_letters, target_letters = letters_of(source), letters_of(target)
    if source_letters == target_letters:
        if _spaced(source) == _spaced(target):
            return "copy"
        return "near-copy" if source_letters else ""
    shorter, longer = sorted((source_letters, target_letters), key=len)
    if too_unequal(len(shorter), len(longer), same_script=same_script):
        return ""
    if beyond_latin(source_letters) != beyond_latin(target_letters):
        return ""  # translated, with the names left as they are
    near = _NEAR if same_script else _NEAR_ENOUGH
    return "near-copy" if shared_letters(shorter, longer) >= near else ""


def same_texts(sources: Iterable[str], targets: Iterable[str]) -> NDArray[np.bool_]:
    """Mark the pairs that have the flag `copy`: their texts are the same, but for white space."""
    pairs = zip(sources, targets, strict=True)
    return np.fromiter((_is_same(source, target) for source, target in pairs), dtype=bool)


def _is_same(source: str, target: str) -> bool:
    if source.isascii() != target.isascii() and _CHINESE.search(source + target):
        return False  # English beside Chinese: known in a ninth of the time
    return _spaced(source) == _spaced(target)


def _spaced(text: str) -> str:
    return " ".join(fold(text).split())


def shared_letters(first: str, second: str) -> float:
    """Measure the share of pairs of letters that two texts have in common (Dice's coefficient)."""
    ours, theirs = (set(map(str.__add__, text, text[1:])) for text in (first, second))
    return 2 * len(ours & theirs) / max(len(ours) + len(theirs), 1)
