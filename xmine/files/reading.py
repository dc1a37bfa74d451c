"""Files -> bytes and lines: archives opened, UTF-8 checked, every error with file and line.

Lines are bytes up to `\\n`, so that a row's number is what `sed -n Np` shows: U+2028, form feeds,
a lone carriage return, blank lines and a byte-order mark never shift it.
"""

import lzma
import re
import shlex
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from xmine.errors import FileError
from xmine.files.suffixes import LOOKED_AT, NO_TEXT, content_of

STDIN = "-"
BLOCK = 1 << 18
_SLICE = 1 << 13
_MOST_HELD = 1 << 29  # bytes of a file
_BOM = b"\xef\xbb\xbf"
# The likeliest encoding of a text, and others: of other scripts, and of Latin letters with accents.
_ENCODINGS = (
    ("GB18030", "BIG5, SHIFT_JIS, EUC-KR, CP1251 for Russian"),
    ("CP1252", "CP1250 for Czech, Polish or Hungarian"),
)


def read_lines(path: str | Path) -> list[str]:
    r"""Every line of a UTF-8 file, without its `\n` or `\r\n`; a byte-order mark is dropped.

    gzip, xz and zstandard are known by their first bytes. `-` is standard input.
    """
    return list(stream_lines(path))


def stream_lines(path: str | Path, *, may_be_empty: bool = False) -> Iterator[str]:
    """Give the lines of `read_lines` one by one, with the same errors, never holding the file.

    With `may_be_empty`, a file without lines is none of them.
    """
    name, number = name_of(path), 0
    for chunk in _whole_lines(read_blocks(path)):
        data = chunk if number else chunk.removeprefix(_BOM)
        if not number and b"\n" not in data and data.count(b"\r") > 1:
            raise FileError(
                f"{name}: lines end in carriage returns alone",
                f"tr '\\r' '\\n' < {in_command(name)} > lines.txt",
            )
        lines = decode(data, name, number).split("\n")
        if lines[-1] == "":  # the end of the last line is not another line
            lines.pop()
        yield from (line.removesuffix("\r") for line in lines)
        number += len(lines)
    if not number and not may_be_empty:
        raise FileError(f"{name}: the file is empty")


def _whole_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut blocks anew, where lines end."""
    rest: list[bytes] = []
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*rest, block[:end]])
            rest = []
        rest.append(block[end:])
    if last := b"".join(rest):
        yield last


def readable(path: str) -> str:
    """Write a path whose bytes are no UTF-8 as a text that files can hold."""
    return path.encode("utf-8", "replace").decode("utf-8")


def name_of(path: str | Path) -> str:
    """Name a file in messages: its path, or `standard input`."""
    return "standard input" if str(path) == STDIN else str(path)


def in_command(name: str) -> str:
    """Name a file of text as a shell does; what came packed or from a pipe is none yet."""
    packed = name == name_of(STDIN) or name.endswith((".gz", ".xz", ".zst")) or ": " in name
    return "FILE" if packed else shlex.quote(name)


def exists(path: str) -> bool:
    """Tell whether a path is there; one that no file can have is not."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # longer than a name can be, or with a NUL in it
        return False


def read_bytes(path: str | Path) -> bytes:
    """Read a whole file; gzip, xz and zstandard are known by their first bytes and unpacked."""
    return b"".join(read_blocks(path))


def limited(path: str | Path, blocks: Iterable[bytes]) -> bytes:
    """Put blocks together; half a gigabyte is refused, which a bomb has and no such file."""
    data = bytearray()
    for block in blocks:
        data += block
        if len(data) > _MOST_HELD:
            raise FileError(
                f"{name_of(path)}: more than {_MOST_HELD >> 20} MiB", "cut it into files"
            )
    return bytes(data)


def raw_blocks(
    path: str | Path, see: Callable[[bytes], object] = lambda _: None
) -> Iterator[bytes]:
    """Give the bytes of a file as they are, block by block; `see` is called with each."""
    with _opened(path) as stream:
        while block := stream.read(BLOCK):
            see(block)
            yield block


def read_blocks(
    path: str | Path, see_raw: Callable[[bytes], object] = lambda _: None, kind: str = ""
) -> Iterator[bytes]:
    """Give the bytes of `read_bytes` block by block; `see_raw` is called with each packed block.

    Raises:
        FileError: its first bytes are of a file without plain text, and not of this `kind`.
    """
    name, start = name_of(path), b""
    blocks = _unpacked(raw_blocks(path, see_raw), name)
    while len(start) < LOOKED_AT and (block := next(blocks, None)) is not None:
        start += block
    found = content_of(start, name)
    if found and not (kind and found.get("kind") in (kind, "zip")):  # an archive of whatever
        hint = found.get("hint", NO_TEXT).replace("FILE", in_command(name))
        raise FileError(f"{name}: {found['name']}", hint)
    yield start
    start = block = b""  # may be large, of an archive
    yield from blocks


@contextmanager
def _opened(path: str | Path) -> Iterator[BinaryIO]:
    try:
        if str(path) == STDIN:
            if sys.stdin is None:  # so Python says `<&-`
                raise FileError("standard input: is closed", "give a file, or pipe one in")
            yield sys.stdin.buffer
        else:
            with Path(path).open("rb") as stream:
                yield stream
    except FileNotFoundError:
        raise FileError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise FileError(f"{path}: is a folder", "give a text file") from None
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from error


def _unpacked(blocks: Iterator[bytes], name: str) -> Iterator[bytes]:
    first = next(blocks, b"")
    unpackers = [make for magic, make in _ARCHIVES.items() if re.match(magic, first)]
    if not unpackers:
        yield first
        yield from blocks
        return
    try:
        frame = unpackers[0]()
        every = chain([first], blocks)  # cut: each may unpack to a thousand times its size
        for block in (x[at : at + _SLICE] for x in every for at in range(0, len(x), _SLICE)):
            while block:
                if frame.eof:  # frame after frame; zeros between them are padding
                    block = block.lstrip(b"\x00")
                    frame = unpackers[0]() if block else frame
                    continue
                yield frame.decompress(block)
                block = frame.unused_data
        if not frame.eof:  # zstandard's own stream reader takes a cut-off frame for a whole one
            raise EOFError("it is cut off")
    except (EOFError, lzma.LZMAError, zlib.error, zstandard.ZstdError) as error:
        raise FileError(f"{name}: a broken archive: {error}", "copy it again") from error


_MARKS = rb"\xff\xfe(?:\x00\x00)?|\xfe\xff|\x00\x00\xfe\xff"  # of UTF-16 and UTF-32
# First bytes -> what unpacks one frame of such an archive; zstandard may skip frames.
_ARCHIVES: dict[bytes, Callable[[], Any]] = {
    rb"\x1f\x8b": lambda: zlib.decompressobj(zlib.MAX_WBITS | 16),
    rb"\xfd7zXZ\x00": lzma.LZMADecompressor,
    rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18": lambda: zstandard.ZstdDecompressor(
        max_window_size=1 << 31  # as zstd --long=31
    ).decompressobj(),
}


def decode(data: bytes, name: str, before: int = 0) -> str:
    """Decode UTF-8 text without NUL bytes.

    Args:
        data: a file's bytes, or some whole lines of it.
        name: of the file, for messages.
        before: lines of the file before `data`.
    """
    file = in_command(name)
    if not before and (mark := re.match(_MARKS, data)):
        encoding = "UTF-32" if b"\x00" in mark[0] else "UTF-16"
        raise FileError(f"{name}:1: {encoding} text", _to_utf8(encoding, file))
    if (nul := data.find(b"\x00")) >= 0:
        line = before + data.count(b"\n", 0, nul) + 1
        hint = f"leave the NUL bytes out: tr -d '\\0' < {file} > clean.txt"
        hint = f"give a text file; of UTF-16 text {_to_utf8('UTF-16LE', file)}; or {hint}"
        raise FileError(f"{name}:{line}: a binary file (it has a NUL byte)", hint)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = before + data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        is_latin = 5 * len(data.translate(None, bytes(range(128)))) < 2 * len(data)
        likely, others = _ENCODINGS[is_latin]
        raise FileError(
            f"{name}:{line}: not UTF-8: byte {column} of the line is 0x{data[error.start]:02x}",
            f"{_to_utf8(likely, file)} (or {others}); or leave bad bytes out: "
            f"iconv -c -f UTF-8 -t UTF-8 {file} > clean.txt",
        ) from None


def _to_utf8(encoding: str, file: str) -> str:
    return f"convert it, for example: iconv -f {encoding} -t UTF-8 {file} > utf8.txt"
