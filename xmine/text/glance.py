"""The files of a folder -> which of them are texts, how long, in which language, and their pairs.

A look costs little: a language is told by the first lines, and long files are not counted.
"""

from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from xmine.display import count
from xmine.errors import XmineError
from xmine.files.digests import Identity, identity
from xmine.files.suffixes import MARKED, PROGRAMS, TABLES, kind_of, suffix_of
from xmine.text.by_language import without_language
from xmine.text.formats import KEYED, has_units
from xmine.text.identification import guess_language
from xmine.text.inputs import text_input
from xmine.text.languages import UNKNOWN_LANGUAGE, language_name

_COUNTED = 50_000_000  # bytes
_PARSED = 5_000_000  # bytes of a file that is no plain text
_LINES = 200  # that tell a language


class Glance(NamedTuple):
    """A text: its lines, such as `375 lines`, or nothing, and its language."""

    lines: str = ""
    language: str = UNKNOWN_LANGUAGE

    @property
    def in_words(self) -> str:
        """The name of the language; empty where that is not known."""
        return "" if self.language == UNKNOWN_LANGUAGE else language_name(self.language)


def is_text(path: str) -> bool:
    """Tell a text by its name; that of a catalogue, which programs have as well, has a language."""
    kind, suffix = kind_of(path), suffix_of(path)
    if kind in KEYED or not (kind or suffix in PROGRAMS | MARKED):
        plain = suffix.removeprefix(".") in TABLES["suffixes"][""].split()
        return plain or bool(without_language(path)[1])
    return has_units(kind)


def glance(path: str) -> Glance:
    """Count the lines of a text, and tell its language; nothing of one that cannot be read."""
    with suppress(OSError, XmineError):  # whoever reads it is told
        return _glance(path, identity(path))
    return Glance()


@lru_cache(maxsize=200)
def _glance(path: str, _: Identity) -> Glance:
    given, size = text_input(path, join=False), Path(path).stat().st_size
    if given.has_units and size > _PARSED:
        return Glance(language=without_language(path)[1] or UNKNOWN_LANGUAGE)
    first = [text for text in islice(given.texts(), 2 * _LINES) if text.strip()]
    language = guess_language(first[:_LINES])
    if language == UNKNOWN_LANGUAGE:
        language = without_language(path)[1] or language
    return Glance(count(given.survey.lines, "line") if size <= _COUNTED else "", language)


def pairs_of(texts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pair texts whose names differ in a language alone; or else two texts in two languages.

    Of several languages English, or else the first one, is in each pair.

    Args:
        texts: the path and the language of each; the language of a name counts more.
    """
    named: dict[str, dict[str, str]] = {}
    alone: list[tuple[str, str]] = []
    for path, language in sorted(texts):
        name, code = without_language(path)
        if code:
            named.setdefault(name, {}).setdefault(code, path)
        else:
            alone.append((language, path))
    if len(alone) == len(dict(alone).keys() - {UNKNOWN_LANGUAGE}) == 2:
        named[""] = dict(alone)
    found = []
    for paths in named.values():
        first = "en" if "en" in paths else min(paths)
        found += [(paths[first], paths[code]) for code in sorted(paths) if code != first]
    return found
