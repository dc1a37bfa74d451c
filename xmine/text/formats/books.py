"""Word files and EPUB books -> their paragraphs; both are zip archives of XML."""

import posixpath
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from xml.etree.ElementTree import Element

from xmine.errors import FileError
from xmine.files.reading import limited, name_of, raw_blocks
from xmine.files.xml_text import parsed_xml, tag_of
from xmine.text.formats.pages import html_blocks
from xmine.text.formats.units import Unit, decoded_text, unzipping

_MOST = 1 << 29  # bytes of an archive, unpacked
_MOST_RATIO = 200  # of these to those of the archive, from a size on that can hurt
_HURTS = 1 << 24
_BREAKS = {"tab", "br", "cr"}
_ELSEWHERE = {"p", "moveFrom"}  # a paragraph in a box inside this one; text that was moved away


@contextmanager
def opened(path: str) -> Iterator[tuple[zipfile.ZipFile, bytes]]:
    """Open a zip archive that is whole and no bomb; give its bytes, too."""
    name, data = name_of(path), limited(path, raw_blocks(path))
    if not data:
        raise FileError(f"{name}: the file is empty")
    with unzipping(path), zipfile.ZipFile(BytesIO(data)) as archive:
        size = sum(each.file_size for each in archive.infolist())
        if size > _MOST or (size > _HURTS and size > _MOST_RATIO * len(data)):
            raise FileError(f"{name}: unpacks to {size:,} bytes, which no book has")
        yield archive, data


def read_docx(path: str) -> Iterator[Unit]:
    """Read paragraphs and cells in their order; inserted text is there, deleted text is not."""
    import docx
    from docx.opc.exceptions import OpcError
    from docx.oxml.ns import qn
    from lxml.etree import LxmlError

    name = name_of(path)
    with opened(path) as (_, data):
        try:
            body = docx.Document(BytesIO(data)).element.body
        except (OpcError, LxmlError, KeyError, ValueError, AttributeError) as error:
            raise FileError(
                f"{name}: no Word document: {error}", "save it again as .docx"
            ) from None
    everywhere = body.iter(qn("w:p")) if body is not None else ()
    once = (each for each in everywhere if next(each.iterancestors("{*}Fallback"), None) is None)
    for number, paragraph in enumerate(once, start=1):
        yield Unit("".join(_runs(paragraph)), f"paragraph {number}")


def _runs(paragraph: "Element") -> Iterator[str]:
    for child in paragraph:
        tag = tag_of(child.tag) if isinstance(child.tag, str) else ""
        if tag == "t":
            yield child.text or ""
        elif tag in _BREAKS:
            yield " "
        elif tag not in _ELSEWHERE:
            yield from _runs(child)


def read_epub(path: str) -> Iterator[Unit]:
    """Read the chapters in the order of the book; the place names the file of the chapter."""
    from urllib.parse import unquote  # 6 ms at every start

    with opened(path) as (archive, _):
        container = _xml(archive, "META-INF/container.xml", path)
        named = [each.get("full-path") for each in container.iter() if each.get("full-path")]
        if not named:
            raise FileError(f"{name_of(path)}: META-INF/container.xml names no book")
        package = named[0] or ""
        root, folder = _xml(archive, package, path), posixpath.dirname(package)
        items = {each.get("id"): each for each in root.iter() if tag_of(each.tag) == "item"}
        for reference in root.iter():
            item = items.get(reference.get("idref") or "")
            if item is None or "nav" in item.get("properties", "").split():
                continue
            inside = posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
            where = f"{name_of(path)}: {inside}"
            page = decoded_text(_member(archive, inside, path), where, says_charset=True)
            for number, text in enumerate(html_blocks(page, where), start=1):
                yield Unit(text, f"{posixpath.basename(inside)} paragraph {number}")


def _xml(archive: zipfile.ZipFile, inside: str, path: str) -> Element:
    where = f"{name_of(path)}: {inside}"
    return parsed_xml(decoded_text(_member(archive, inside, path), where), where)


def _member(archive: zipfile.ZipFile, inside: str, path: str) -> bytes:
    try:
        return archive.read(inside)
    except KeyError:
        raise FileError(
            f"{name_of(path)}: {inside} is not in it", "the book is not whole"
        ) from None
