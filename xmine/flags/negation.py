"""Texts of a pair -> what negates one of them alone, or says the opposite of the other one."""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from xmine.flags.numbers.calendar import UNSPACED, WORDS, one_of
from xmine.text.folding import nfkc, without_markup
from xmine.text.languages import short_code


class Negators(NamedTuple):
    """What negates in a language, and what else a translation may have in its place."""

    plain: re.Pattern[str]
    other: re.Pattern[str]  # looks like a negator
    any: re.Pattern[str]
    opposites: re.Pattern[str]  # a group for each word, those of a pair side by side


@cache
def negators(language: str) -> Negators | None:
    """Give what negates in a language, named by a code; None if no list is known."""
    code = short_code(language)
    if code not in WORDS["negators"]:
        return None
    kinds = "negators", "no-negators", "half-negators", "opposites"
    lists = [WORDS[kind].get(code, "(?!)") for kind in kinds]  # which is found nowhere
    lists[2] = " ".join(lists[:3])
    patterns = (one_of(words, code in UNSPACED) for words in lists)
    return Negators(*(re.compile(pattern, re.IGNORECASE) for pattern in patterns))


def negated_alone(
    texts: Sequence[str], left: Negators | None, right: Negators | None
) -> tuple[str, str]:
    """Find what negates each of two texts alone, where nothing of the other one may say so.

    Where neither is negated, find words of both that say the opposite. Else give empty strings.
    """
    if not left or not right:
        return "", ""
    source, target = (nfkc(without_markup(text)) for text in texts)
    if left.plain.search(source) or right.plain.search(target):
        return _alone(source, target, left, right), _alone(target, source, right, left)
    ours = {match.lastindex or 0: match[0] for match in left.opposites.finditer(source)}
    found = right.opposites.finditer(target) if ours else ()
    theirs = {match.lastindex or 0: match[0] for match in found}
    for at, word in ours.items():
        across = at + 1 if at % 2 else at - 1
        if across in theirs and across not in ours and at not in theirs:
            return word, theirs[across]
    return "", ""


def _alone(text: str, other: str, ours: Negators, theirs: Negators) -> str:
    found = ours.plain.search(text) and ours.plain.search(ours.other.sub(" ", text))
    return found[0] if found and not theirs.any.search(other) else ""
