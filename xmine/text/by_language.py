"""Files in several languages -> one text of each language.

`corpus@de` is the German text of the folder `corpus`: the files whose names say so (`x.de`,
`x_de.txt`, `de/x.txt`), and of files that name no language the lines that look German.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from xmine.files.suffixes import packing_of
from xmine.text.identification import tell_apart
from xmine.text.inputs import ManyFiles, Page, Survey, TextInput, Texts, text_input
from xmine.text.languages import ISO_639_3, UNKNOWN_LANGUAGE, short_code

_TOKEN = re.compile(r"(?:^|[._-])([A-Za-z]{2,3}(?:[-_][A-Z][A-Za-z]{1,3})?)$")
# A file is in one language if so many of the lines that tell one are in it; fewer than the second
# share are lines that look like another.
_ONE, _FEW, _SAMPLE = 0.9, 0.05, 200


@dataclass(frozen=True)
class LinesIn(TextInput):
    """The lines of a file that look like one language; others are blank, so that lines keep their
    numbers.
    """

    language: str = ""
    among: tuple[str, ...] = ()

    @cached_property
    def survey(self) -> Survey:
        """Survey the file; the digest is that of the language's text."""
        whole = super().survey
        return whole._replace(digest=f"{whole.digest}{self.language}")

    def texts(self) -> Iterator[str]:
        """Every text of the language, and a blank for others."""
        for text in super().texts():
            yield text if tell_apart(text, self.among) == self.language else ""


def split_by_language(
    given: Texts, codes: Sequence[str], known: Sequence[str] = ()
) -> dict[str, TextInput]:
    """Find the texts of some languages in a folder, a pattern or a list of files.

    There is one for each of `codes` that is there, in that order; without codes, for all that the
    names of files say, or, of those `known`, that lines look like.
    """
    whole = text_input(given)
    parts = whole.parts if isinstance(whole, ManyFiles) else (whole,)
    # The address of a page has words that are no languages.
    names = ["" if isinstance(x, Page) else language_of_name(x.path, whole.path) for x in parts]
    named = dict(zip(parts, names, strict=True))
    among = tuple(codes) or tuple(sorted({*named.values(), *map(short_code, known)} - {""}))
    of: dict[str, list[TextInput]] = {code: [] for code in among}
    for part, code in named.items():
        if code:
            of.get(code, []).append(part)
            continue
        told = Counter(_told(part, among))
        for most, times in told.most_common(1):
            if isinstance(part, Page) or times >= _ONE * told.total():
                of[most].append(part)
                told.clear()
        for code in [each for each in told if told[each] >= _FEW * told.total()]:
            which = part.given, part.path, part.column, part.join
            of[code].append(LinesIn(*which, code, among))
    return {
        code: ManyFiles(f"{whole.given}@{code}", whole.path, whole.column, parts=tuple(some))
        for code, some in of.items()
        if some
    }


def _told(part: TextInput, codes: tuple[str, ...]) -> Iterator[str]:
    """Tell the languages of lines spread over a file."""
    texts = [text for text in part.texts() if text.strip()]
    for text in texts[:: max(1, len(texts) // _SAMPLE)]:
        if (code := tell_apart(text, codes)) != UNKNOWN_LANGUAGE:
            yield code


def without_language(path: str) -> tuple[str, str]:
    """Give the name of a file without the language that it names, and the code of that, or none.

    book.txt and en of `book_en.txt` and `book.en.txt`, `.txt` and en of `en.txt`.
    """
    name = Path(path[: len(path) - len(packing_of(path))]).name
    for part in (name, Path(name).stem):
        found = _TOKEN.search(part)
        code = short_code(found[1]) if found else ""
        if found and code in ISO_639_3:
            return part[: found.start()] + name[len(part) :], code
    return name, ""


def language_of_name(path: str, top: str = "") -> str:
    """Read the language in the name of a file or, below `top`, of a folder; nothing for none."""
    file = Path(path)
    inner = file.relative_to(top) if file.is_relative_to(top) else file
    parts = [inner.name, *reversed(inner.parts[:-1])]
    return next((code for code in (without_language(part)[1] for part in parts) if code), "")
