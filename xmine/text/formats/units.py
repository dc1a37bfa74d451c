"""One text of a file and where it stands, and how much of a file; its bytes -> its characters."""

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from time import thread_time
from typing import NamedTuple, TypeVar
from zipfile import BadZipFile

from xmine.errors import FileError
from xmine.files.reading import decode, exists, limited, name_of, read_blocks

_SAID = re.compile(rb"""(?:charset|encoding)=["']?([\w.:-]+)""", re.IGNORECASE)
_LOOKED_AT = 4096
_LONGEST_PLACE = 200  # characters
# What a reader may give: text for each byte of the file and of any file, where each thing that is
# given counts as so many characters; and seconds of the processor, of any file and for each byte.
_TEXT_A_BYTE, _TEXT, _EACH = 64, 1 << 26, 16
_SECONDS, _SECONDS_A_BYTE = 30.0, 2e-5
_Found = TypeVar("_Found", bound=tuple[object, ...])


class Passage(NamedTuple):
    """One text of a file; `place` says where it stands, as a person looks it up."""

    text: str
    place: str


class LeftOut(NamedTuple):
    """Texts of a file that its reader does not give, in the words of the summary: `footnotes`."""

    what: str
    number: int = 1


# Faults of a translation that a file says itself, and of a text that two languages do not share.
LOCKED, OTHER_FORM = 'marked translate="no"', "in a further form"


class Translation(NamedTuple):
    """One text of a catalogue and its translation; `fault` tells why the two are no pair."""

    source: str
    target: str
    place: str
    fault: str = ""


def most_of(size: int) -> tuple[int, float]:
    """Tell how many characters a file of so many bytes may give, and in how many seconds."""
    return _TEXT + _TEXT_A_BYTE * size, _SECONDS + _SECONDS_A_BYTE * size


def within_budget(path: str | Path, found: Iterator[_Found]) -> Iterator[_Found]:
    """Give what a reader finds, rows with texts, while it is what a file of that size can hold.

    Raises:
        FileError: the texts and places are too much, or took too long to find; or what is in the
            file is nested too deep.
    """
    name, spent, seconds = name_of(path), 0, 0.0
    size = Path(path).stat().st_size if exists(str(path)) else 0
    most, longest = most_of(size)
    hint = "open it in its program, and save its texts as plain text"
    while True:
        begun = thread_time()
        try:
            each = next(found, None)
        except RecursionError:
            raise FileError(f"{name}: nested deeper than can be read", hint) from None
        seconds += thread_time() - begun
        if each is None:
            return
        spent += _EACH + sum(len(text) for text in each if isinstance(text, str))
        if spent > most or seconds > longest:
            cost = f"{spent:,} characters in {seconds:.0f} seconds"
            raise FileError(f"{name}: {size:,} bytes gave {cost}, and were not at their end", hint)
        yield each


def short(place: str) -> str:
    """Cut a place that nobody reads to its end; a digest keeps it apart from others."""
    if len(place) <= _LONGEST_PLACE:
        return place
    digest = blake2b(place.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{place[:_LONGEST_PLACE]}…{digest}"


def one_line(text: str) -> str:
    """Make one space of line breaks, tabs and the spaces around them."""
    return re.sub(r"[ \t\r\n\f\v]+", " ", text).strip()


def read_text(path: str | Path, *, says_charset: bool = False, may_be: str = "") -> str:
    r"""Read a whole file, see `decoded_text`, in UTF-8 or what it `may_be`; lines end in `\n`."""
    name, data = name_of(path), limited(path, read_blocks(path))
    if not data.strip():
        raise FileError(f"{name}: the file is empty")
    try:
        text = decoded_text(data, name, says_charset=says_charset)
    except FileError:
        if not may_be:
            raise
        text = data.decode(may_be)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decoded_text(data: bytes, name: str, *, says_charset: bool = False) -> str:
    """Decode UTF-16 with a mark, what `charset=` in the head says if that may be, or UTF-8."""
    said = _SAID.search(data[:_LOOKED_AT]) if says_charset else None
    encoding = said[1].decode().lower() if said else "utf-8"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    if encoding in ("utf-8", "utf8", "charset"):  # CHARSET stands in a new gettext template
        return decode(data.removeprefix(b"\xef\xbb\xbf"), name)
    try:
        return data.decode(encoding)
    except (LookupError, ValueError) as error:
        raise FileError(f"{name}: cannot be decoded: {error}", "save it again as UTF-8") from None


@contextmanager
def unzipping(path: str | Path) -> Iterator[None]:
    """Name the archive in which something is wrong, in whatever way zipfile says so."""
    try:
        yield
    except FileNotFoundError:
        raise FileError(f"{name_of(path)}: no such file") from None
    except (BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OSError) as error:
        raise FileError(f"{name_of(path)}: a broken archive: {error}", "copy it again") from error


def line_of(text: str, at: int) -> int:
    """Tell the line, from 1, of a place in a text."""
    return text.count("\n", 0, at) + 1
