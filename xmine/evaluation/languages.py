"""Languages of benchmark files: their codes, and which of them are measured.

Files name languages in several ways: `cmn`, `zho_simpl`, `zho_Hans` and `zh` are one.
"""

import re
from collections.abc import Sequence

from xmine.encoders.metadata import EncoderFacts
from xmine.errors import FileError
from xmine.evaluation.data import MissingData
from xmine.text import languages

ALL = "all"
_PAIR = re.compile("[a-z]{2,3}-[a-z]{2,3}")


def short_code(code: str) -> str:
    """Give the ISO 639-1 code of a language, as zh of `cmn` and `zho_Hans`, or codes of a pair."""
    if _PAIR.fullmatch(code):
        return "-".join(map(languages.short_code, code.split("-")))
    return languages.short_code(code)


def named_by(code: str, found: Sequence[str]) -> list[str]:
    """Give what a code names: itself, or else all that are of its language or pair of languages."""
    same = [each for each in found if each == code]
    return same or [each for each in found if short_code(each) == short_code(code)]


def chosen_languages(
    wanted: Sequence[str], found: Sequence[str], facts: EncoderFacts, lacking: str
) -> list[str]:
    """Choose the languages, or pairs of languages, to measure of those that are found.

    Wanted are codes of any kind, or `all`; if there are none, what the encoder was made for, or all
    there are where its facts do not say. `lacking` is the message, {} for a code.

    Raises:
        FileError: there is no file of a wanted one.
        MissingData: there is no file of any that the encoder was made for.
    """
    if ALL in wanted or not (wanted or facts.languages):
        return list(found)
    chosen = []
    for code in wanted:
        same = named_by(code, found)
        if not same:
            raise FileError(lacking.replace("{}", code), f"there are {', '.join(found)}")
        chosen += same
    known = set(map(short_code, facts.languages))
    own = [each for each in found if set(short_code(each).split("-")) <= known]
    if not (chosen or own):
        raise none_of_its_own(facts, found)
    return list(dict.fromkeys(chosen)) or own


def none_of_its_own(facts: EncoderFacts, found: Sequence[str]) -> MissingData:
    """Make the error that there are files of other languages alone."""
    what = f"files in languages of the encoder: {', '.join(facts.languages)}"
    hint = f"there are {', '.join(found)}; all in place of a language measures them"
    return MissingData(f"there are no {what}", hint, what)


def left_out_note(
    chosen: Sequence[str], found: Sequence[str], wanted: Sequence[str], name: str = "language"
) -> list[str]:
    """Say that there are more languages, where nobody chose; `name` is that of the option."""
    left = len(found) - len(chosen)
    if wanted or not left:
        return []
    return [f"{left} that the encoder was not made for are left out; --{name} all measures them."]
