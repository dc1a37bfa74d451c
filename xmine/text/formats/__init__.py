"""Files of the trade -> their texts, one by one, each with the place where it stands.

Subtitles, catalogues of translations, pages and books. A library is loaded only when a file that
needs it is read. Nothing here pairs texts or writes a file.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType

from xmine.errors import FileError
from xmine.extras import needs
from xmine.files.reading import name_of
from xmine.files.suffixes import plugged
from xmine.text.formats import (
    books,
    gettext,
    keyed,
    pages,
    pandoc,
    pdf,
    subtitles,
    warc,
    xcstrings,
    xliff,
)
from xmine.text.formats.units import (
    LOCKED,
    OTHER_FORM,
    LeftOut,
    Passage,
    one_line,
    short,
    within_budget,
)


def _side(module: ModuleType, path: str, *language: str) -> Iterator[Passage | LeftOut]:
    """Read the translations, or if there are none but drafts, as in a template, the sources."""
    found = list(within_budget(path, module.translations(path, *language)))
    at = int(any(each.fault in ("", OTHER_FORM) for each in found))
    for each in found:
        fault = each.fault.removesuffix(OTHER_FORM)
        if not at and fault != LOCKED:
            fault = f"translations {fault}" * bool(each.target)
            yield from [LeftOut(fault)] * bool(fault)
            yield Passage(each.source, each.place)
        else:
            yield LeftOut(f"texts {fault}") if fault else Passage(each[at], each.place)


# Kinds of files with two languages or more: `languages`, source first, and `translations`.
BILINGUAL = {"gettext": gettext, "xliff": xliff, "qt": xliff, "xcstrings": xcstrings}
# Kind of file -> the module that it needs, or nothing, and what reads its units in their order.
READERS: dict[str, tuple[str, Callable[..., Iterator[Passage | LeftOut]]]] = {
    "subtitles": ("", subtitles.read),
    **{kind: ("", partial(_side, module)) for kind, module in BILINGUAL.items()},
    "gettext": ("polib", partial(_side, gettext)),
    **keyed.READERS,
    "markdown": ("markdown_it", pages.read_markdown),
    "html": ("trafilatura", pages.read_html),
    "pdf": ("pypdfium2", pdf.read),
    "warc": ("fastwarc", warc.read),
    "docx": ("", books.read_docx),
    **dict.fromkeys(pandoc.KINDS, ("pypandoc", pandoc.read)),
    "epub": ("trafilatura", books.read_epub),
}
KEYED = {*keyed.READERS, *BILINGUAL}  # kinds whose places are keys


def has_units(kind: str) -> bool:
    """Tell a kind of files with units, perhaps of another package."""
    return kind in READERS or bool(getattr(plugged(kind), "units", None))


def read_units(path: str, kind: str, left_out: Counter[str], *language: str) -> Iterator[Passage]:
    """Give the texts of a file that are not blank; a line break inside one becomes a space.

    `left_out` counts the texts that the reader of a `kind` does not give, by what they are. Of a
    kind in BILINGUAL the texts are the translations, of .xcstrings those in a `language`.

    Raises:
        XmineError: the extra that reads this kind is not installed, before anything is read.
        FileError: the file is not what its name says, ends too early, has no text, or more than
            its size can hold, see `within_budget`.
    """
    module, read = READERS.get(kind) or ("", plugged(kind).units)
    if module:
        needs(name_of(path), module)
    found = False
    for each in within_budget(path, read(path, *language)):
        if isinstance(each, LeftOut):
            left_out += Counter({each.what: each.number})
        elif text := one_line(each[0]):  # a plain pair, of another package
            found = True
            yield Passage(text, short(each[1]))
    if not found:
        raise FileError(f"{name_of(path)}: there is no text in it")
