"""The texts of a pair -> a sentence for each flag that texts alone explain, with its figures.

Rules that need figures of other pairs say more, see `xmine.flags.rules`; of a file of pairs these
figures are not known.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xmine.display import count
from xmine.extras import plugin
from xmine.flags.faults import garbled, markup
from xmine.flags.near_copies import letters_of, shared_letters
from xmine.flags.negation import negated_alone, negators
from xmine.flags.numbers import Number, differing, reader
from xmine.flags.placeholders import differing as placeholders
from xmine.flags.scripts import foreign_to, share_of_script
from xmine.text.folding import nfkc, without_markup
from xmine.text.languages import language_name, scripts_of
from xmine.text.rivals import rather_in

_MOST_SAID = 60  # characters of a stretch
_SCRIPTS = {"CJK": "Han"}

Both = tuple[str, str]


class Files(NamedTuple):
    """What is known of both sides: the codes of their languages, or `und`, and all their texts."""

    languages: Both
    texts: tuple[Sequence[str], Sequence[str]]


Explained = Callable[[Both, Files], str]


def text_reason(name: str, texts: Both, files: Files) -> str:
    """Say why a pair of texts has a flag; empty for a flag that nobody knows."""
    if name in _EXPLAINED:
        return _EXPLAINED[name](texts, files)
    found = plugin("flags", name)
    return str(found.reason(*texts)) if found else ""


def _near_copy(texts: Both, _: Files) -> str:
    ours, theirs = map(letters_of, texts)
    if ours == theirs:
        return "the letters of both sides are the same"
    return f"the sides share {shared_letters(ours, theirs):.0%} of their pairs of letters"


def _number(texts: Both, files: Files) -> str:
    found = differing(*texts, *map(reader, files.languages))
    return _sides("number", [list(map(_named, numbers)) for numbers in found or ()])


def _negation(texts: Both, files: Files) -> str:
    found = negated_alone(texts, *map(negators, files.languages))
    sides = zip(found, ("source", "target"), strict=True)
    said = ", ".join(f"'{word}' in the {side}" for word, side in sides if word)
    return said if all(found) else f"{said or 'a negator'}, no negation in the other side"


def _sides(what: str, found: Sequence[list[str]]) -> str:
    """Say what is on either side only, each once; `found` has it for the source and the target."""
    said = []
    for side, some in zip(("source", "target"), found, strict=False):
        if some:
            *others, last = dict.fromkeys(some)
            listed = f"{', '.join(others)} and {last}" if others else last
            said.append(f"{listed} on the {side} side only")
    return ", ".join(said) or f"a {what} is on one side only"


def _named(number: Number) -> str:
    """Name a number as it is written, or by its readings."""
    readings = sorted(number.readings)[:3]  # no comma in a year
    said = (f"{value:,.10g}" if value >= 10_000 else f"{value:.10g}" for value in readings)
    return number.written or " or ".join(said)


def _stretch(find: Callable[[str], str], fault: str) -> Explained:
    """Quote what has a fault, of the side that has one first."""

    def told(texts: Both, _: Files) -> str:
        at = 0 if find(texts[0]) else 1
        return f"'{find(texts[at])[:_MOST_SAID]}' in the {('source', 'target')[at]} {fault}"

    return told


def _language(texts: Both, files: Files) -> str:
    sides = zip(("source", "target"), files.languages, files.texts, texts, strict=True)
    said = "; ".join(filter(None, (_foreign(*side) for side in sides)))
    return said or "a side is not in its language"


def _foreign(name: str, language: str, side: Sequence[str], text: str) -> str:
    """Say why a text is not in its language; nothing if it may be."""
    text, letters = nfkc(without_markup(text)), letters_of(text)
    found = scripts_of(language, side)
    if not foreign_to(language, found)(text, letters):
        (code,) = rather_in(language, found)([text], [letters])
        return code and f"the {name} looks like {language_name(code)}"
    if (share := share_of_script(found, letters)) >= 0.5:
        return f"the {name} does not look like {language_name(language)}"
    scripts = " or ".join(_SCRIPTS.get(each, each.title()) for each in sorted(found))
    return f"{share:.0%} of the letters of the {name} are {scripts}"


_EXPLAINED: dict[str, Explained] = {
    "hub": lambda *_: "a side is near to very many lines",
    "copy": lambda *_: "both sides are the same text",
    "near-copy": _near_copy,
    "language": _language,
    "length": lambda texts, _: f"{count(len(texts[1]), 'character')} for {len(texts[0]):,}",
    "partial": lambda *_: "a stretch of a side has no counterpart",
    "number": _number,
    "negation": _negation,
    "high": lambda *_: "all neighbours are far away, which makes the score high",
    "duplicate": lambda *_: "a better pair has the same source or target",
    "markup": _stretch(markup, "is markup"),
    "garbled": _stretch(garbled, "is no text that people wrote"),
    "placeholder": lambda texts, _: _sides("placeholder", placeholders(*texts) or ()),
}
