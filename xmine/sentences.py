"""Text file -> sentence table: one row per sentence, with the number of its line.

Lines are bytes up to `\\n`, so that a row's number is what `sed -n Np` shows: U+2028, form feeds,
a lone carriage return, blank lines and a byte-order mark never shift it.
"""

import gzip
import lzma
import sys
import unicodedata
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import zstandard
from numpy.typing import NDArray

from xmine.errors import FileError

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of one file.

    Attributes:
        name: the path as the user gave it.
        texts: one sentence per row, as it stands in the file.
        lines: int64 [rows], the 1-based line of each row.
        total: lines in the file.
        blank: lines without text, which have no row.
        repeated: lines folded into an earlier one, which have no row.
        unknown: lines that the encoder knows no piece of, which mining leaves out.
    """

    name: str
    texts: list[str]
    lines: NDArray[np.int64]
    total: int
    blank: int
    repeated: int
    unknown: int = 0

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.texts)

    def take(self, rows: NDArray[np.intp]) -> "Sentences":
        """Keep some rows, in the order of `rows`."""
        texts = [self.texts[row] for row in rows.tolist()]
        return replace(self, texts=texts, lines=self.lines[rows])


def read_sentences(path: str | Path, *, dedup: bool = True) -> Sentences:
    """Read a file with one sentence per line; see `read_lines` and `sentence_table`."""
    return sentence_table(name_of(path), read_lines(path), dedup=dedup)


def sentence_table(name: str, every_line: Sequence[str], *, dedup: bool = True) -> Sentences:
    """Make the table of a file's lines without the blank and, with `dedup`, the repeated ones.

    Two lines repeat each other when `folded` makes them equal; the first one stays. Without this
    a line's own copies fill its neighbourhood and every ratio score of it is 1.000.

    Raises:
        FileError: no line has text.
    """
    texts, lines, seen, blank = [], [], set(), 0
    for number, text in enumerate(every_line, start=1):
        if not text.strip():
            blank += 1
            continue
        if dedup:
            key = folded(text)
            if key in seen:
                continue
            seen.add(key)
        texts.append(text)
        lines.append(number)
    if not texts:
        raise FileError(f"{name}: no text in it, only blank lines")
    repeated = len(every_line) - blank - len(texts)
    return Sentences(name, texts, np.array(lines, dtype=np.int64), len(every_line), blank, repeated)


def read_lines(path: str | Path) -> list[str]:
    r"""Every line of a UTF-8 file, without its `\n` or `\r\n`; a byte-order mark is dropped.

    gzip, xz and zstandard are known by their first bytes. `-` is standard input.

    Raises:
        FileError: the file is missing, empty, a folder, binary, not UTF-8 or a broken archive;
            the message names the line where there is one.
    """
    name = name_of(path)
    data = _decompress(_read_bytes(path), name).removeprefix(b"\xef\xbb\xbf")
    if not data:
        raise FileError(f"{name}: the file is empty")
    text = _decode(data, name)
    lines = text.split("\n")
    if lines[-1] == "":  # the end of the last line is not another line
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def name_of(path: str | Path) -> str:
    """Name a file in messages: its path, or `standard input`."""
    return "standard input" if str(path) == STDIN else str(path)


def folded(text: str) -> str:
    """Make the key by which lines repeat each other: NFKC, case folding, white space joined."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.casefold().split())


def _read_bytes(path: str | Path) -> bytes:
    try:
        if str(path) == STDIN:
            return sys.stdin.buffer.read()
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise FileError(f"{path}: is a folder", "give a text file") from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error


def _unzstd(data: bytes) -> bytes:
    unpacked = []
    while data:  # frame by frame: the stream reader takes a cut-off frame for a whole one
        frame = zstandard.ZstdDecompressor().decompressobj()
        unpacked.append(frame.decompress(data))
        if not frame.eof:
            raise EOFError("the last frame is cut off")
        data = frame.unused_data
    return b"".join(unpacked)


_ARCHIVES: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x1f\x8b": gzip.decompress,
    b"\xfd7zXZ\x00": lzma.decompress,
    b"\x28\xb5\x2f\xfd": _unzstd,
}


def _decompress(data: bytes, name: str) -> bytes:
    for magic, unpack in _ARCHIVES.items():
        if data.startswith(magic):
            try:
                return unpack(data)
            except (EOFError, OSError, lzma.LZMAError, zlib.error, zstandard.ZstdError) as error:
                raise FileError(f"{name}: a broken archive: {error}", "copy it again") from error
    return data


def _decode(data: bytes, name: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileError(f"{name}:1: UTF-16 text", _to_utf8("UTF-16", name))
    nul = data.find(b"\x00")
    if nul >= 0:
        line = data.count(b"\n", 0, nul) + 1
        raise FileError(f"{name}:{line}: a binary file (it has a NUL byte)", "give a text file")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise FileError(
            f"{name}:{line}: not UTF-8: byte {column} of the line is 0x{data[error.start]:02x}",
            _how_to_mend(data, name),
        ) from None


def _how_to_mend(data: bytes, name: str) -> str:
    """Tell a file in another encoding from one with a few broken lines."""
    lines = [line for line in data.split(b"\n") if not line.isascii()]
    broken = sum(not _is_utf8(line) for line in lines)
    if broken > len(lines) / 2:
        return _to_utf8("GB18030", name) + " (or -f BIG5, if it is in traditional characters)"
    return (
        f"broken in {broken:,} lines; iconv leaves the bad bytes out: "
        f"iconv -c -f UTF-8 -t UTF-8 {name} > clean.txt"
    )


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _to_utf8(encoding: str, name: str) -> str:
    return f"convert it, for example: iconv -f {encoding} -t UTF-8 {name} > utf8.txt"
