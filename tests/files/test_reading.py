"""The streaming readers against the ones that hold the file: same lines, same errors."""

import gzip
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from xmine.errors import FileError
from xmine.files import reading
from xmine.files.reading import read_blocks, read_bytes, read_lines, stream_lines

PACK: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}
PIECES = [b"a", b"\xe4\xb8\x80", b"\n", b"\n", b"\r\n", b"\r", b"\xe2\x80\xa8", b"\xc2\x85", b" "]
WRONG = [b"\x00", b"\xff", b"\xe4\xb8", b"\xff\xfe", b"\xfe\xff"]


def outcome(read: Callable[[Path], object], path: Path) -> object:
    try:
        return read(path)
    except FileError as error:
        # the hint counts broken lines, and a stream knows only those that it has not given yet
        return error.message


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("block", [8, 9, 11, 1 << 18])
def test_lines_that_stream_are_those_of_read_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, block: int
) -> None:
    monkeypatch.setattr(reading, "BLOCK", block)
    draw = random.Random(block)
    path = tmp_path / "text"
    for turn in range(60):
        data = b"".join(draw.choices(PIECES, k=draw.randrange(30)))
        if turn % 3 == 0:
            data = b"\xef\xbb\xbf" + data
        if turn % 2:
            at = draw.randrange(len(data) + 1)
            data = data[:at] + draw.choice(WRONG) + data[at:]
        path.write_bytes(PACK[kind](data))
        streamed = outcome(lambda path: list(stream_lines(path)), path)
        assert streamed == outcome(read_lines, path), data


@pytest.mark.parametrize("kind", ["gz", "xz", "zst"])
def test_archives_of_many_frames_are_read_and_cut_ones_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    draw = random.Random(4)
    frames = [PACK[kind](draw.randbytes(500)) for _ in range(3)]
    whole = b"".join(frames)
    texts = read_bytes_of(tmp_path, whole)
    assert len(texts) == 1500
    padded = frames[0] + bytes(4) + frames[1] + frames[2] + bytes(8)
    assert read_bytes_of(tmp_path, padded) == texts
    for block in (6, 1 << 18):
        monkeypatch.setattr(reading, "BLOCK", block)
        path = tmp_path / "archive"
        path.write_bytes(whole)
        assert b"".join(read_blocks(path)) == texts
        ends = {len(frames[0]), len(frames[0] + frames[1])}
        for cut in [n for n in range(8, len(whole), 31) if n not in ends] + [len(whole) - 1]:
            path.write_bytes(whole[:cut])
            with pytest.raises(FileError, match="a broken archive: it is cut off"):
                list(read_blocks(path))
            with pytest.raises(FileError, match="a broken archive: it is cut off"):
                read_bytes(path)
        path.write_bytes(whole + b"garbage")
        with pytest.raises(FileError, match="a broken archive"):
            list(read_blocks(path))


def test_frames_that_may_be_skipped_and_long_windows_are_read(tmp_path: Path) -> None:
    skipped = (0x184D2A53).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"hello"
    long = zstandard.ZstdCompressionParameters(window_log=28, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=long).compressobj()
    frame = packer.compress(b"long\n") + packer.flush()
    assert zstandard.get_frame_parameters(frame).window_size == 1 << 28
    data = skipped + frame + skipped + zstandard.compress(b"short\n")
    assert read_bytes_of(tmp_path, data) == b"long\nshort\n"


def read_bytes_of(folder: Path, data: bytes) -> bytes:
    (folder / "archive").write_bytes(data)
    return read_bytes(folder / "archive")


def test_a_stream_names_what_is_missing_when_it_is_asked(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "no", "no such file"), (tmp_path, "is a folder")):
        lines = stream_lines(path)
        with pytest.raises(FileError, match=message):
            next(lines)
