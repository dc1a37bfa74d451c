"""Archives of the web (WARC) -> the main texts of their pages, each with the page's address."""

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from xmine.errors import FileError
from xmine.files.reading import limited, name_of, read_blocks
from xmine.text.formats.pages import page_texts
from xmine.text.formats.units import LeftOut, Passage, decoded_text, one_line

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

_LARGEST = 1 << 23  # bytes of a page
# Bytes that an archive may unpack to: pages pack to a tenth, and a bomb to a thousandth.
_MOST, _MOST_A_BYTE = 1 << 26, 100


def read(path: str) -> Iterator[Passage | LeftOut]:
    """Read the pages that were answered with 200; the place is the address of the page.

    A text that stands on several pages of a host, as menus do, is given once, with the first.
    """
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    name, seen, size = name_of(path), dict[tuple[str, int], int](), 0
    most = _MOST + _MOST_A_BYTE * Path(path).stat().st_size
    try:
        # It unpacks all but .xz itself.
        given = BytesIO(limited(path, read_blocks(path))) if path.endswith(".xz") else path
        for number, record in enumerate(ArchiveIterator(given, auto_decode="all")):
            size += record.content_length  # as its head says, before it is unpacked
            if size > most:
                raise FileError(f"{name}: unpacks to more than {most:,} bytes", "crawl fewer pages")
            if record.record_type != WarcRecordType.response:
                continue
            address = str(record.headers.get("WARC-Target-URI", "")).strip("<>")
            host = address.partition("//")[2].partition("/")[0]
            for text in _page(record, address):
                if isinstance(text, LeftOut):
                    yield text
                elif seen.setdefault((host, hash(one_line(text))), number) < number:
                    yield LeftOut("texts of pages before")
                else:
                    yield Passage(text, address)
        deque(read_blocks(path), 0)  # refuses what is cut off
    except (OSError, ValueError) as error:
        raise FileError(f"{name}: a broken archive: {error}", "copy it again") from error


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
