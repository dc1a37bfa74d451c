"""Archives of the web (WARC) -> the main texts of their pages, each with the page's address."""

from collections.abc import Iterator
from contextlib import suppress
from io import RawIOBase
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from xmine.errors import FileError
from xmine.files.reading import name_of, read_blocks
from xmine.text.formats.pages import page_texts
from xmine.text.formats.units import LeftOut, Passage, decoded_text, one_line

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

_LARGEST = 1 << 23  # bytes of a page
# Bytes that an archive may unpack to: pages pack to a tenth, and a bomb to a thousandth.
_MOST, _MOST_A_BYTE = 1 << 26, 100


class _Unpacked(RawIOBase):
    """The bytes of an archive as a stream, while they are what a file of its size can hold."""

    def __init__(self, path: str) -> None:
        self._name, self._rest, self._given, self._packed = name_of(path), b"", 0, 0
        self._blocks = read_blocks(path, self._see)

    def _see(self, block: bytes) -> None:
        self._packed += len(block)

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._given - len(self._rest)

    def read(self, size: int = -1) -> bytes:
        while len(self._rest) < size and (block := next(self._blocks, None)) is not None:
            self._rest += block
            self._given += len(block)
            if self._given > _MOST + _MOST_A_BYTE * self._packed:
                what = f"{self._packed:,} bytes unpack to more than {self._given:,}"
                raise FileError(f"{self._name}: {what}", "an archive of pages has no such")
        given, self._rest = self._rest[:size], self._rest[size:]
        return given


def read(path: str) -> Iterator[Passage | LeftOut]:
    """Read the pages that were answered with 200; the place is the address of the page.

    A text that stands on several pages of a host, as menus do, is given once, with the first.
    """
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    seen, wanted = set[tuple[str, int]](), WarcRecordType.response
    records = ArchiveIterator(_Unpacked(path), record_types=wanted, auto_decode="all")
    try:
        for record in records:
            address = str(record.headers.get("WARC-Target-URI", "")).strip("<>")
            host, own = urlsplit(address).netloc, set[tuple[str, int]]()
            for text in _page(record, address):
                if isinstance(text, LeftOut):
                    yield text
                elif (key := (host, hash(one_line(text)))) in seen:
                    yield LeftOut("texts of pages before")
                else:
                    own.add(key)
                    yield Passage(text, address)
            seen |= own
    except (OSError, ValueError) as error:
        raise FileError(f"{name_of(path)}: a broken archive: {error}", "copy it again") from error


def _page(record: "WarcRecord", address: str) -> Iterator[str | LeftOut]:
    """Give the texts of a page, or say why there are none."""
    headers, kind = record.http_headers, record.http_content_type or "no type"
    if headers is None or headers.status_code != 200:
        yield LeftOut(f"answers {headers.status_code if headers else 'without a status'}")
    elif kind not in ("text/html", "application/xhtml+xml"):
        yield LeftOut(f"files of {kind}")
    else:
        found = list[str | LeftOut]()
        with suppress(FileError, OSError, ValueError, LookupError):
            data, charset = record.reader.read(_LARGEST), record.http_charset
            text = data.decode(charset) if charset else ""
            text = text or decoded_text(data, address, says_charset=True)
            found = list(page_texts(text, address))
        yield from found or [LeftOut("pages without text, or broken")]
