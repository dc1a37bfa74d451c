"""HTML -> the text of each heading, paragraph, list item and cell; what is no text is counted."""

import re
from collections.abc import Container, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from xmine.errors import FileError
from xmine.files.xml_text import tag_of
from xmine.text.formats.units import LeftOut
from xmine.text.languages import read_table

if TYPE_CHECKING:
    from lxml.etree import _Element

ELEMENTS = read_table("elements")
_INLINE, _NO_TEXT, _SPACES = {*ELEMENTS["inline"].split()}, ELEMENTS["no_text"], {"br", "lb"}
# The number or the mark of a note or a page, and the attributes of an element that holds one.
_NUMBER = re.compile(
    r"[\[({]*(?:(?:page|pg|p)?[. ]?\d{1,4}|[ivxlcdm]{1,8}|[a-z]|[*†‡§¶↩↑^]{1,4}\ufe0e?)[\])}.:]*",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"note|\bft?n|backlink|page-?(?:break|num|no\b)|\bid=p(?:age|g)?[-_.]?[\divxlc]+\b",
    re.IGNORECASE,
)
# An element of 256 attributes and those beyond, of which the parser takes the square in time.
_ATTRIBUTE = r"""[\s/]*+[^\s<>=/"']++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s<>"']++))?+"""
_BEYOND = re.compile(rf"(<[a-zA-Z][^\s<>/]*+(?:{_ATTRIBUTE}){{256}}+)(?:{_ATTRIBUTE})++")


def parsed(text: str, name: str) -> "_Element":
    """Parse a page; `name` is that of its file, for messages.

    Raises:
        FileError: it is no HTML, or the parser does not reach its end.
    """
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True)
    page = _BEYOND.sub(r"\1", text)
    try:  # as bytes: a text may not say its encoding
        root = html.document_fromstring(page.encode("utf-8", "replace"), parser=parser)
        fatal = parser.error_log.filter_from_fatals()
        why = fatal[0].message.partition(",")[0] if len(fatal) else ""
    except (etree.LxmlError, ValueError) as error:
        why = str(error)
    if why:
        raise FileError(f"{name}: not HTML: {why}", "give a page")
    return root


def html_blocks(text: str, name: str) -> Iterator[str | LeftOut]:
    """Give the texts of all blocks of a page of a book, those of its pictures among them."""
    root = parsed(text, name)
    yield from bared(root)
    yield from blocks(root)


def bared(root: "_Element", *, pictures: bool = True) -> Iterator[LeftOut]:
    """Empty the elements that hold no text; the text of a picture is text where `pictures`."""
    from lxml import etree

    walk = etree.iterwalk(root, events=("start",))
    for _, element in walk:
        name = tag_of(element.tag).lower()
        if name == "img" and pictures:
            element.tag, element.text = "span", element.get("alt")
        elif name == "img" and element.get("alt", "").strip():
            yield LeftOut("texts of pictures")
        elif name in _NO_TEXT or (name in ("a", "span", "sup") and _is_number(element)):
            what = _NO_TEXT.get(name, "numbers of notes and pages")
            if what and any(map(str.strip, element.itertext())):
                yield LeftOut(what)
            walk.skip_subtree()
            element.clear(keep_tail=True)


def _is_number(element: "_Element") -> bool:
    """Tell whether an element holds no more than the number of a note or of a page."""
    parts = list(islice(element.itertext(), 9))
    text = "".join(parts).strip()
    if len(parts) == 9 or len(text) > 20 or not _NUMBER.fullmatch(text):
        return False
    is_raised, inside = element.tag == "sup", element.find("a")
    link = inside if is_raised and inside is not None else element
    if "#" in link.get("href", "") and (is_raised or element.find("sup") is not None):
        return True
    return _NUMBERED.search(" ".join(map("=".join, element.items()))) is not None or (
        "#" in element.get("href", "") and not text[0].isalnum()
    )


def blocks(root: "_Element", skipped: Container[str] = ()) -> Iterator[str]:
    """Give the text of each block that has any, as it stands around the blocks inside."""
    from lxml import etree

    walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    parts: list[str] = []
    for event, element in walk:
        name = tag_of(element.tag).lower() if event in ("start", "end") else ""
        if name in _SPACES:
            parts.append(" ")
        elif name and name not in _INLINE:
            if (inside := "".join(parts)).strip():
                yield inside
            parts = []
        if event == "start" and name in skipped:
            walk.skip_subtree()
        else:
            parts.append((element.text if event == "start" else element.tail) or "")
    if (inside := "".join(parts)).strip():
        yield inside
