"""Files of the trade -> their texts, one by one, each with the place where it stands.

Subtitles, catalogues of translations, pages and books. A library is loaded only when a file that
needs it is read. Nothing here pairs texts or writes a file.
"""

from collections import Counter
from collections.abc import Callable, Iterator

from xmine.errors import FileError
from xmine.extras import needs
from xmine.files.reading import name_of
from xmine.files.suffixes import plugged
from xmine.text.formats import books, gettext, keyed, pages, subtitles, warc, xliff
from xmine.text.formats.units import LeftOut, Passage, one_line, short, within_budget

# Kind of file -> the module that it needs, or nothing, and what reads its units in their order.
READERS: dict[str, tuple[str, Callable[[str], Iterator[Passage | LeftOut]]]] = {
    "subtitles": ("", subtitles.read),
    "gettext": ("polib", gettext.read),
    "xliff": ("", xliff.read),
    **dict.fromkeys(keyed.KINDS, ("", keyed.read)),
    "markdown": ("markdown_it", pages.read_markdown),
    "html": ("trafilatura", pages.read_html),
    "warc": ("fastwarc", warc.read),
    "docx": ("", books.read_docx),
    "epub": ("trafilatura", books.read_epub),
}


def has_units(kind: str) -> bool:
    """Tell a kind of files with units, perhaps of another package."""
    return kind in READERS or hasattr(plugged(kind), "units")


def read_units(path: str, kind: str, left_out: Counter[str]) -> Iterator[Passage]:
    """Give the texts of a file that are not blank; a line break inside one becomes a space.

    `left_out` counts the texts that the reader of a `kind` does not give, by what they are.

    Raises:
        XmineError: the extra that reads this kind is not installed, before anything is read.
        FileError: the file is not what its name says, ends too early, has no text, or more than
            its size can hold, see `within_budget`.
    """
    module, read = READERS.get(kind) or ("", plugged(kind).units)
    if module:
        needs(name_of(path), module)
    found = False
    for each in within_budget(path, read(path)):
        if isinstance(each, LeftOut):
            left_out += Counter({each.what: each.number})
        elif text := one_line(each[0]):  # a plain pair, of another package
            found = True
            yield Passage(text, short(each[1]))
    if not found:
        raise FileError(f"{name_of(path)}: there is no text in it")
