"""The bytes of an XML file -> its characters, its elements, and the text inside them.

A file whose DOCTYPE declares anything is refused: entities could grow without end.
"""

import codecs
import re
from collections.abc import Iterable, Iterator, Set
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, fromstring
from xml.parsers.expat import ExpatError, ParserCreate

from xmine.errors import FileError
from xmine.files.reading import limited, name_of, read_blocks

_ENCODINGS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_ENCODINGS |= {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}
_SAID = re.compile(rb"""<\?xml[^>]*?encoding\s*=\s*["'](?!utf-16)([\w.:-]+)""", re.IGNORECASE)
# Formatting of other tools: what is inside is no text, or one of its own, as in a footnote.
CODES = {"bpt", "ept", "it", "ph", "ut", "sub"}
# Codes of a line break or a tab, in HTML, RTF or escapes; and as the type of a code.
BREAK = re.compile(
    r"<\s*+/?+\s*+(?:br|p|div|li|tr|td|tab)\b|\\(?:n|r|t|line|par|tab)\b|[\n\r\t]", re.IGNORECASE
)
_BREAK_TYPE = re.compile(r"(?:x-|xlf:)?(?:html-)?(?:lb|pb|br|tab|linebreak|newline)", re.IGNORECASE)
_TYPES = ("type", "ctype", "subType")
_BREAK_TAGS = {"br", "p", "div", "li", "byte"}  # inside a text of Android, and of Qt
_SHOWN = ("equiv-text", "disp")  # what an empty code of XLIFF says that it stands for
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
    head, lines = ParserCreate(), list[int]()
    head.StartDoctypeDeclHandler = lambda *facts: lines.append(facts[3] * head.CurrentLineNumber)
    head.StartElementHandler = lambda *_: next(iter(()))  # what comes behind may grow
    with suppress(StopIteration, ExpatError):  # ElementTree finds that fault, too
        head.Parse(text)
    if any(lines):
        hint = "leave it out, and write the texts of its entities in their places"
        raise FileError(f"{name}:{lines[0]}: a DOCTYPE with declarations", hint)
    try:
        return fromstring(text)
    except ParseError as error:
        why = re.sub(r": line \d+, column \d+$", "", str(error))
        hint = "copy it again, or mend the line: it may be cut off, or not in the encoding it names"
        raise FileError(f"{name}:{error.position[0]}: not XML: {why}", hint) from None


def text_of(segment: Element, codes: Set[str] = CODES) -> str:
    """Take the text of a segment without codes of formatting; those of a break leave a space."""
    parts, waiting = [segment.text or ""], list[Element | str](reversed(segment))
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            parts.append(each)
            continue
        text, is_code = _stands_for(each, codes)
        parts.append(text)
        waiting.append("\0" * (tag_of(each.tag) in _BREAK_TAGS) + (each.tail or ""))
        if not is_code:
            waiting += reversed(each)
    return re.sub(r" ?\0[ \0]*", " ", "".join(parts).strip("\0"))  # XML has no NUL


def _stands_for(element: Element, codes: Set[str]) -> tuple[str, bool]:
    """Tell what an element begins with, NUL for a break, and whether nothing inside is text."""
    tag, text = tag_of(element.tag), element.text or ""
    is_code, shown = tag in codes, next(filter(None, map(element.get, _SHOWN)), "")
    if shown and not len(element):
        text = shown.strip()
        is_code = text[:1] in ("", "<") or BREAK.fullmatch(text) is not None
    is_break = tag in _BREAK_TAGS or (is_code and BREAK.search(shown or text) is not None)
    is_break = is_break or any(_BREAK_TYPE.fullmatch(element.get(kind, "")) for kind in _TYPES)
    return "\0" * is_break + text * (not is_code), is_code


@lru_cache
def tag_of(name: str) -> str:
    """Drop the namespace of an element's name."""
    return name.rpartition("}")[2]
