"""Word files and EPUB books -> their paragraphs; both are zip archives of XML."""

import posixpath
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import chain, starmap
from xml.etree.ElementTree import Element

from xmine.errors import FileError
from xmine.files.reading import limited, name_of, raw_blocks
from xmine.files.xml_text import parsed_xml, tag_of
from xmine.text.formats.html_blocks import html_blocks
from xmine.text.formats.units import LeftOut, Passage, decoded_text, unzipping

_MOST = 1 << 29  # bytes of an archive, unpacked
_MOST_RATIO = 200  # of these to those of the archive, from a size on that can hurt
_HURTS = 1 << 24
_CHARACTERS = {"br": " ", "cr": " ", "noBreakHyphen": "-", "ptab": " ", "tab": " "}
# A paragraph in a box inside this one, read by itself; text that was moved away; how text looks.
_ELSEWHERE = {"moveFrom", "p", "pPr", "rPr"}
_LEFT_OUT = {"del": "deleted texts", "rt": "readings"}
# Kinds of parts of a Word file -> where their paragraphs stand, or what the summary calls them.
_PARTS = {"document.main": "paragraph", "footnotes": "footnote", "endnotes": "endnote"}
_BESIDE = {"comments": "comments", "header": "headers and footers", "footer": "headers and footers"}


@contextmanager
def opened(path: str) -> Iterator[zipfile.ZipFile]:
    """Open a zip archive that is whole and no bomb."""
    name, data = name_of(path), limited(path, raw_blocks(path))
    if not data:
        raise FileError(f"{name}: the file is empty")
    with unzipping(path), zipfile.ZipFile(BytesIO(data)) as archive:
        size = sum(each.file_size for each in archive.infolist())
        if size > _MOST or (size > _HURTS and size > _MOST_RATIO * len(data)):
            raise FileError(f"{name}: unpacks to {size:,} bytes, which no book has")
        yield archive


def read_docx(path: str) -> Iterator[Passage | LeftOut]:
    """Read paragraphs and cells, then notes; inserted text is there, deleted text is not."""
    with opened(path) as archive:
        listed, parts = "[Content_Types].xml", defaultdict[str, list[str]](list)
        for each in _xml(archive, listed, path) if listed in archive.NameToInfo else ():
            kind = each.get("ContentType", "").rpartition("wordprocessingml.")[2]
            parts[kind.removesuffix("+xml")].append(each.get("PartName", "").lstrip("/"))
        if not parts["document.main"]:
            raise FileError(f"{name_of(path)}: no Word document", "save it again as .docx")
        for kind, place in (_PARTS | _BESIDE).items():
            roots = (_xml(archive, name, path) for name in dict.fromkeys(parts[kind]))
            for found in chain.from_iterable(_paragraphs(root, place) for root in roots):
                if kind in _PARTS:
                    yield found
                elif isinstance(found, Passage) and found.text.strip():
                    yield LeftOut(place)


def _paragraphs(root: Element, place: str) -> Iterator[Passage | LeftOut]:
    number = 0
    for element in root.iter():
        if tag_of(element.tag) == "AlternateContent":  # one text in two forms
            element[:] = [each for each in element if tag_of(each.tag) != "Fallback"]
        elif tag_of(element.tag) == "p":
            left_out, number = Counter[str](), number + 1
            yield Passage("".join(_said(element, left_out)), f"{place} {number}")
            yield from starmap(LeftOut, (+left_out).items())


def _said(paragraph: Element, left_out: Counter[str]) -> Iterator[str]:
    """Give the text of a paragraph without those inside, and count what is left out."""
    waiting = [*reversed(paragraph)]
    while waiting:
        element = waiting.pop()
        tag = tag_of(element.tag)
        if what := "hidden texts" if _is_hidden(element) else _LEFT_OUT.get(tag):
            inside = (each.text for each in element.iter() if tag_of(each.tag) in ("t", "delText"))
            if any(text and text.strip() for text in inside):
                left_out[what] += 1
        elif tag == "t":
            yield element.text or ""
        elif tag == "sym":  # a place in a font of symbols
            left_out["symbols"] += 1
        elif tag not in _ELSEWHERE:
            yield _CHARACTERS.get(tag, "")
            waiting.extend(reversed(element))


def _is_hidden(run: Element) -> bool:
    """Tell whether a run says itself that its text is hidden."""
    looks = next((each for each in run if tag_of(each.tag) == "rPr"), ())
    told = next((each for each in looks if tag_of(each.tag) == "vanish"), None)
    return told is not None and not {*told.attrib.values()} & {"0", "false", "off"}


def read_epub(path: str) -> Iterator[Passage | LeftOut]:
    """Read the chapters in the order of the book; the place names the file of the chapter."""
    from urllib.parse import unquote  # 6 ms at every start

    with opened(path) as archive:
        container = _xml(archive, "META-INF/container.xml", path)
        named = [each.get("full-path") for each in container.iter() if each.get("full-path")]
        if not named:
            raise FileError(f"{name_of(path)}: META-INF/container.xml names no book")
        package = named[0] or ""
        root, folder = _xml(archive, package, path), posixpath.dirname(package)
        items = {each.get("id"): each for each in root.iter() if tag_of(each.tag) == "item"}
        chapters = set[str]()
        for reference in root.iter():
            item = items.get(reference.get("idref") or "")
            if item is None:
                continue
            inside = posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
            if inside in chapters or "nav" in item.get("properties", "").split():
                again = inside in chapters
                yield LeftOut("repeated chapters" if again else "tables of contents")
                continue
            chapters.add(inside)
            where, number = f"{name_of(path)}: {inside}", 0
            page = decoded_text(_member(archive, inside, path), where, says_charset=True)
            for each in html_blocks(page, where):
                number += isinstance(each, str)
                place = f"{posixpath.basename(inside)} paragraph {number}"
                yield Passage(each, place) if isinstance(each, str) else each


def _xml(archive: zipfile.ZipFile, inside: str, path: str) -> Element:
    where = f"{name_of(path)}: {inside}"
    return parsed_xml(decoded_text(_member(archive, inside, path), where), where)


def _member(archive: zipfile.ZipFile, inside: str, path: str) -> bytes:
    try:
        return archive.read(inside)
    except KeyError:
        raise FileError(
            f"{name_of(path)}: {inside} is not in it", "it is not whole: copy it again"
        ) from None
