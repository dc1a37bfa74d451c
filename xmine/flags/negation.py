"""Texts of a pair -> what negates one of them, where nothing does so on the other side."""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from xmine.flags.numbers.calendar import UNSPACED, WORDS, one_of
from xmine.text.folding import without_markup
from xmine.text.languages import short_code


class Negators(NamedTuple):
    """What negates in a language, and what else a translation may have in its place."""

    plain: re.Pattern[str]
    other: re.Pattern[str]  # looks like a negator
    any: re.Pattern[str]


@cache
def negators(language: str) -> Negators | None:
    """Give what negates in a language, named by a code; None if no list is known."""
    code = short_code(language)
    kinds = "negators", "no-negators", "half-negators"
    lists = [WORDS[kind].get(code, "") for kind in kinds]

    def compiled(words: str) -> re.Pattern[str]:
        return re.compile(one_of(words, unspaced=code in UNSPACED), re.IGNORECASE)

    return Negators(*map(compiled, (*lists[:2], " ".join(lists)))) if lists[0] else None


def negated_alone(
    texts: Sequence[str], left: Negators | None, right: Negators | None
) -> tuple[str, str]:
    """Find what negates each of two texts alone; empty strings where the other may do so, too."""
    if not left or not right:
        return "", ""
    source, target = map(without_markup, texts)
    return _alone(source, target, left, right), _alone(target, source, right, left)


def _alone(text: str, other: str, ours: Negators, theirs: Negators) -> str:
    found = ours.plain.search(ours.other.sub(" ", text)) if ours.plain.search(text) else None
    return found[0] if found and not theirs.any.search(other) else ""
