"""The bytes of a TMX file -> its units, one by one; a unit that is no XML does not stop the others.

A unit is what stands from `<tu>` to `</tu>`, and is parsed by itself, without the DOCTYPE of the
file: an entity that the file declares is unknown, and cannot grow.
"""

import re
from collections.abc import Iterator
from html import escape  # that of xml.sax loads urllib: 35 ms at every start
from html.entities import html5
from itertools import chain
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring

from xmine.errors import FileError
from xmine.files.reading import BLOCK, name_of, read_blocks
from xmine.files.xml_text import decoded

_TAGS = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)"
    r"|<\?.*?(?:\?>|(?=</)|\Z)"  # a lost end costs no more than the unit
    r"|<(/?)(?:[\w.-]+:)?(tu|tmx|body)(?=[\s/>])(?:[^<>\"']|\"[^<\"]*\"|'[^<']*')*>",
    re.DOTALL,
)
_NAMED = re.compile(r"<!\[CDATA\[.*?\]\]>|&(?!(?:lt|gt|amp|quot|apos);)(\w+;)", re.DOTALL)


def raw_units(path: str | Path) -> Iterator[tuple[str, Element | str, str]]:
    """Give each unit's file, line and number; its element, or why there is none; and `srclang`.

    The file is never held.

    Raises:
        FileError: the file is no TMX, or ends before `</tmx>`.
    """
    name, number, line = name_of(path), 0, 1
    rest = waiting = opening = language = ""
    for block in chain(decoded(read_blocks(path), name), [""]):
        waiting += block
        if block and len(waiting) < max(BLOCK, len(rest)):  # or a long unit is searched with each
            continue
        text, waiting, end = rest + waiting, "", 0
        found: list[tuple[int, int, str]] = []
        if not opening:
            tags = (tag for tag in _TAGS.finditer(text) if tag[2] in ("tu", "body"))
            first = next((tag.start() if tag[2] == "tu" else tag.end() for tag in tags), None)
            start, language = _head(text[:first], name)
            opening, end = ("", 0) if first is None else (start, first)
        if opening:
            found, end = _cut(text, end)
        before = 0
        for begin, stop, fault in found:
            number, line, before = number + 1, line + text.count("\n", before, begin), begin
            element = fault or _parsed(opening, text[begin:stop])
            yield f"{name}:{line}: unit {number:,}", element, language
        line += text.count("\n", before, end)
        rest = text[end:]
    if not re.search(r"</(?:[\w.-]+:)?tmx\s*>", rest):
        line += rest.count("\n")
        raise FileError(f"{name}:{line}: ends before </tmx>", "copy it again")


def _head(head: str, name: str) -> tuple[str, str]:
    """Read what stands before the units: the start that their parser needs, and `srclang`."""
    tags = re.findall(
        r"<(?:[\w.-]++:)?(\w++)([^<>]*+)>", re.sub(r"(?s)<!--.*?(?:-->|\Z)", "", head)
    )
    if not tags or not head.lstrip().startswith("<"):
        raise FileError(f"{name}:1: not XML", "give a TMX file")
    if tags[0][0] != "tmx":
        raise FileError(f"{name}: not a TMX file: it begins with <{tags[0][0]}>", "give a TMX file")
    spaces = re.findall(r"""\sxmlns(?::[\w.-]+)?\s*=\s*(?:"[^"]*"|'[^']*')""", tags[0][1])
    headers = "".join(attributes for tag, attributes in tags if tag == "header")
    said = re.search(r"""\ssrclang\s*=\s*["']([^"']*)""", headers)
    return f"<tmx{''.join(spaces)}>", said[1] if said and said[1] != "*all*" else ""


def _cut(text: str, begin: int) -> tuple[list[tuple[int, int, str]], int]:
    """Find the units that end in a text: their begin, end and fault; and where the rest begins."""
    found: list[tuple[int, int, str]] = []
    is_open = False
    for tag in _TAGS.finditer(text, begin):
        closes, is_unit = tag[1], tag[2] == "tu"
        if tag[2] is None or not (closes or is_unit):
            continue
        start, end = tag.span()
        stop = end if closes and is_unit else start
        if is_open or "tuv" in _TAGS.sub("", text[begin:start]):
            fault = "" if is_open and stop == end else "a lost <tu> or </tu>"
            found.append((text.index("<", begin), stop, fault))
        begin = stop
        is_open = not closes and not tag[0].endswith("/>")
    return found, begin


def _parsed(opening: str, unit: str) -> Element | str:
    """Parse a unit, with the entities of HTML where they are needed; or tell why it is no XML."""
    try:
        return fromstring(f"{opening}{unit}</tmx>")[0]
    except ParseError as error:
        # A section of CDATA has none.
        known = _NAMED.sub(
            lambda x: escape(html5[x[1]], quote=False) if x[1] in html5 else x[0], unit
        )
        why = re.sub(r": line \d+, column \d+$", "", str(error))
        return why if known == unit else _parsed(opening, known)
