"""The bytes of an XML file -> its characters, its elements, and the text inside them.

A file whose DOCTYPE declares anything is refused: entities could grow without end.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring

from xmine.errors import FileError
from xmine.files.reading import limited, name_of, read_blocks

_ENCODINGS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_ENCODINGS |= {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}
_SAID = re.compile(rb"""<\?xml[^>]*?encoding\s*=\s*["'](?!utf-16)([\w.:-]+)""", re.IGNORECASE)
_DECLARES = re.compile(
    r"\A(?:\s|(?><\?.*?\?>)|(?><!--.*?-->))*+<!DOCTYPE(?:[^\[>\"']|\"[^\"]*\"|'[^']*')*+\[",
    re.DOTALL,
)
_CODES = {"bpt", "ept", "it", "ph", "ut"}  # formatting of other tools: what is inside is no text
# Codes of a line break or a tab, in HTML, RTF or escapes, and as the type of a code.
_BREAK = re.compile(
    r"<\s*/?\s*(?:br|p|div|li|tr|td|tab)\b|\\(?:n|r|t|line|par|tab)\b|[\n\r\t]", re.IGNORECASE
)
_BREAK_TYPES = {"lb", "br", "tab", "x-lb", "x-br", "x-tab", "x-linebreak", "x-newline"}
# Bytes that are no text become a character that XML does not have: it is their unit that fails.
codecs.register_error("no XML", lambda error: ("\0", error.end))  # type: ignore[attr-defined]


def decoded(data: Iterable[bytes], name: str) -> Iterator[str]:
    """Decode by the mark, by the bytes of the first `<`, or as the first line says."""
    blocks, first = filter(None, data), b""
    while len(first) < 200 and (block := next(blocks, b"")):
        first += block
    if not first:
        raise FileError(f"{name}: the file is empty")
    said = _SAID.match(first)
    encoding = next(
        (_ENCODINGS[mark] for mark in _ENCODINGS if first.startswith(mark)),
        said[1].decode() if said else "utf-8",
    )
    try:
        "<".encode(encoding)  # "hex" and other codecs that make no text are unknown here
        decoder = codecs.getincrementaldecoder(encoding)("no XML")
        for block in chain([first], blocks):
            yield decoder.decode(block)
        yield decoder.decode(b"", final=True)
    except (LookupError, ValueError) as error:
        raise FileError(f"{name}: cannot be decoded: {error}", "save it again as UTF-8") from error


def root_of(path: str | Path) -> Element:
    """Parse a whole file.

    Raises:
        FileError: it is no XML, which a cut file is not either.
    """
    name = name_of(path)
    return parsed_xml("".join(decoded([limited(path, read_blocks(path))], name)), name)


def parsed_xml(text: str, name: str) -> Element:
    """Parse a text; `name` is that of its file, for messages."""
    if found := _DECLARES.match(text):
        where = f"{name}:{text.count(chr(10), 0, found.end()) + 1}"
        hint = "leave it out, and write the texts of its entities in their places"
        raise FileError(f"{where}: a DOCTYPE with declarations", hint)
    try:
        return fromstring(text)
    except ParseError as error:
        why = re.sub(r": line \d+, column \d+$", "", str(error))
        hint = "copy it again, or mend the line: it may be cut off, or not in the encoding it names"
        raise FileError(f"{name}:{error.position[0]}: not XML: {why}", hint) from None


def text_of(segment: Element) -> str:
    """Take the text of a segment without the codes of formatting inside."""
    if len(segment) == 0:
        return segment.text or ""
    for element in list(segment.iter()):
        if tag_of(element.tag) in _CODES:
            after, kind = element.tail, element.get("type")
            is_break = kind in _BREAK_TYPES or _BREAK.search(element.text or "")
            element.clear()
            element.text, element.tail = "\0" if is_break else "", after  # XML has no NUL
    return re.sub(r" ?\0[ \0]*", " ", "".join(segment.itertext()).strip("\0"))


@lru_cache
def tag_of(name: str) -> str:
    """Drop the namespace of an element's name."""
    return name.rpartition("}")[2]
