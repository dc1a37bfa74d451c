"""Files of pairs, whatever is in them: the same bytes each time, little memory, full disks."""

import gzip
import io
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from xmine.errors import FileError
from xmine.pairs.io import read_pairs, write_pairs
from xmine.pairs.pair import Pair

FORMATS = ["p.tsv", "p.jsonl", "p.parquet", "p.tmx", "p.en,p.zh"]
PACKINGS = ["", ".gz", ".xz", ".zst"]

MINED = [
    Pair("One", "一", 1.23456, 3, 7, 0.98768, 0, 12, "web & co"),
    Pair("Two", "二", -0.5, None, 12, None, None, None, None),
    Pair("Three", "三", None, 5, 1, 0.25, 40, 0, "books"),
]


def name(kind: str, packing: str, folder: Path) -> str:
    return ",".join(f"{folder}/{each}{packing}" for each in kind.split(","))


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("kind", FORMATS)
def test_the_same_pairs_give_the_same_bytes(tmp_path: Path, kind: str, packing: str) -> None:
    contents = []
    for folder in ("one", "another"):
        (tmp_path / folder).mkdir()
        path = name(kind, packing, tmp_path / folder)
        write_pairs(iter(MINED), path)
        contents.append([Path(each).read_bytes() for each in path.split(",")])
    assert contents[0] == contents[1]
    if packing == ".gz":
        flags, time = contents[0][0][3], contents[0][0][4:8]
        assert (flags, time) == (0, bytes(4))  # no name, no time


def test_archives_are_known_by_their_first_bytes(tmp_path: Path) -> None:
    write_pairs(MINED, str(tmp_path / "p.jsonl"))
    expected = list(read_pairs(tmp_path / "p.jsonl"))
    packed = gzip.compress((tmp_path / "p.jsonl").read_bytes())
    for misnamed in ("q.jsonl", "q.jsonl.zst"):
        (tmp_path / misnamed).write_bytes(packed)
        assert list(read_pairs(tmp_path / misnamed)) == expected
    (tmp_path / "q.jsonl.gz").write_bytes((tmp_path / "p.jsonl").read_bytes())
    assert list(read_pairs(tmp_path / "q.jsonl.gz")) == expected


def many(count: int) -> Iterator[Pair]:
    for at in range(count):
        yield Pair(f"{at} " + "word " * 250, "字" * 500, at / 7, at, at, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["p.tsv", "p.jsonl.gz", "p.tmx", "p.en,p.zh"])
def test_neither_writing_nor_reading_holds_all_pairs(tmp_path: Path, kind: str) -> None:
    path = name(kind, "", tmp_path)
    tracemalloc.start()
    try:
        assert write_pairs(many(8_000), path).count == 8_000  # 14 million characters
        assert sum(1 for _ in read_pairs(path)) == 8_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 9_000_000


@pytest.mark.long
def test_parquet_holds_one_group_of_rows(tmp_path: Path) -> None:
    def rows() -> Iterator[Pair]:
        for at in range(100_000):
            yield Pair(f"sentence {at}", f"句子 {at}")

    path = str(tmp_path / "p.parquet")
    tracemalloc.start()
    try:
        assert write_pairs(rows(), path).count == 100_000
        assert sum(1 for _ in read_pairs(path)) == 100_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 24_000_000  # all of them take 50 million bytes


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("kind", FORMATS)
def test_a_full_disk_is_named_in_every_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, packing: str
) -> None:
    class Full(io.FileIO):
        def write(self, data: object) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", lambda path, mode: Full(path, mode))
    with pytest.raises(FileError, match="cannot be written: No space left on device"):
        write_pairs(MINED, name(kind, packing, tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_no_file(tmp_path: Path) -> None:
    script = """
import os, signal, threading
from pathlib import Path
from xmine.pairs.io import Pair, write_pairs

def pairs():
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    while True:
        yield Pair("One", "\u4e00")

try:
    write_pairs(pairs(), "p.parquet")
except KeyboardInterrupt:
    print(os.listdir())
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert ended.stdout == "[]\n", ended.stderr
