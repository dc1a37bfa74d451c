"""Files of pairs, whatever is in them: the same bytes each time, little memory, full disks."""

import csv
import io
import random
import re
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pytest

from xmine.errors import FileError
from xmine.pairs.io import languages_of, read_pairs, write_pairs
from xmine.pairs.losses import Losses
from xmine.pairs.pair import Pair
from xmine.text.formats.units import one_line

FORMATS = [
    "p.tsv",
    "p.jsonl",
    "p.parquet",
    "p.tmx",
    "p.en,p.zh",
    *("p.csv", "p.xlsx", "p.po", "p.docx"),
]
PACKINGS = ["", ".gz", ".xz", ".zst"]
ZIPS = ("p.xlsx", "p.docx")  # which are packed already
NAMED = [(kind, end) for kind in FORMATS for end in PACKINGS[: 1 if kind in ZIPS else None]]

MINED = [
    Pair("One", "一", 1.23456, 3, 7, 0.98768, 0, 12, "web & co"),
    Pair("Two", "二", -0.5, None, 12, None, None, None, None),
    Pair("Three", "三", None, 5, 1, 0.25, 40, 0, "books"),
]


def name(kind: str, packing: str, folder: Path) -> str:
    return ",".join(f"{folder}/{each}{packing}" for each in kind.split(","))


@pytest.mark.parametrize(("kind", "packing"), NAMED)
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


def inside(path: Path, part: str) -> Element:
    text = zipfile.ZipFile(path).read(part).decode()
    return fromstring(re.sub(r'( xmlns(:\w)?="[^"]*")|(?<=</)w:|(?<=[ <])w:|xml:', "", text))


def cells(path: Path) -> list[list[str]]:
    """Read rows of texts as other programs do."""
    if path.suffix == ".csv":
        return [*csv.reader(io.StringIO(path.read_bytes().decode(), newline=""))]
    if path.suffix == ".po":
        return [[*pair[:2]] for pair in read_pairs(path, Losses())]
    if path.suffix == ".xlsx":
        rows = inside(path, "xl/sheet.xml").iter("row")
        texts = [["".join(cell.itertext()) for cell in row] for row in rows]
        code = re.compile("_x([0-9A-F]{4})_")
        return [[code.sub(lambda x: chr(int(x[1], 16)), each) for each in row] for row in texts]
    marks = {"tab": "\t", "br": "\n"}
    return [
        ["".join(marks.get(x.tag, x.text or "") for x in cell.iter()) for cell in row.iter("tc")]
        for row in inside(path, "word/document.xml").iter("tr")
    ]


@pytest.mark.parametrize("kind", FORMATS[5:])
def test_other_programs_read_each_text(tmp_path: Path, kind: str) -> None:
    draw = random.Random(7)
    letters = [*"ab一\t\r\n\r\n<>&\"'];,=_{}\\\x00\x0b\x85\u2028\ufeff😀 ", "\ud800", "_x0041_"]
    texts = ["a" + "".join(draw.choices(letters, k=draw.randrange(9))) for _ in range(900)]
    texts += ["=1+1", "{=1}", "00012", "http://a.b", "+1", "@a", "1e9", "=1+1"]
    pairs = [Pair(*sides) for sides in zip(texts[::2], texts[1::2], strict=True)]
    write_pairs(pairs, tmp_path / kind)
    lost = "[\x00\ud800]" if kind in ("p.csv", "p.po") else "[\x00\x0b\ud800]"
    kept = [[re.sub(lost, "\ufffd", text) for text in pair[:2]] for pair in pairs]
    if kind == "p.docx":
        kept = [[re.sub("\r\n?", "\n", text) for text in row] for row in kept]
    if kind == "p.po":
        kept = [[one_line(text) for text in row] for row in kept]
    head = [["source", "target"]] * (kind in ("p.csv", "p.xlsx"))
    assert cells(tmp_path / kind) == head + kept


def test_what_an_export_cannot_hold_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [Pair("a", "b", 1.23456, 3, 7, float("inf"), prob=0.5), Pair("", "c"), Pair("a", "d")]
    long = [Pair("x" * 32_768, "y")]
    lost, beyond = "probabilities and scores of 1 pair not kept", "characters beyond 32,767"
    assert write_pairs(pairs, tmp_path / "a.po", ("en", "pt-BR")).notes == [
        lost,
        "1 unit without a source passed over",
    ]
    assert (tmp_path / "a.po").read_text().split("\n\n")[1:] == [
        '#: source:3 target:7\nmsgid "a"\nmsgstr "b"',
        'msgctxt "3"\nmsgid "a"\nmsgstr "d"\n',
    ]
    assert languages_of(tmp_path / "a.po") == ("und", "pt_BR")
    told = ["line numbers and probabilities and scores of 1 pair not kept"]
    assert write_pairs(pairs, tmp_path / "a.docx").notes == told
    assert write_pairs(pairs, tmp_path / "a.xlsx").notes == []
    assert cells(tmp_path / "a.xlsx")[1] == ["1.2346", "a", "b", "3", "7", "", "0.5"]
    assert write_pairs(long, tmp_path / "b.xlsx").notes == [f"{beyond} of 1 pair not kept"]
    assert len(cells(tmp_path / "b.xlsx")[1][0]) == 32_767
    monkeypatch.setattr("xmine.pairs.exports._MOST_ROWS", 3)
    with pytest.raises(FileError, match="a sheet of Excel has 3 rows"):
        write_pairs(pairs, tmp_path / "c.xlsx")


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


@pytest.mark.parametrize(("kind", "packing"), NAMED)
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
