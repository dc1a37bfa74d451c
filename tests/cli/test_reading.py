"""What the command reads: archives, standard input, odd lines, repeated lines."""

import gzip
import json
import lzma
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

Command = Callable[..., Any]
Toy = tuple[Path, Path, set[tuple[int, int]]]
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
    "plain": bytes,
}


@pytest.fixture
def plain(command: Command, toy_files: Toy, toy_folder: Path) -> str:
    """What mining the plain files prints."""
    out: str = command("mine", "en.txt", "zh.txt", "--model", toy_folder).out
    assert out.count("\n") >= 25
    return out


@pytest.mark.parametrize("packer", PACKERS)
def test_archives_are_read_whatever_their_name(
    command: Command, tmp_path: Path, toy_folder: Path, plain: str, packer: str
) -> None:
    target = Path(tmp_path, "zh.txt")
    packed = PACKERS[packer](target.read_bytes())
    Path(tmp_path, "packed.txt").write_bytes(packed)
    mine = ["mine", "en.txt"]
    assert command(*mine, "packed.txt", "--model", toy_folder).out == plain
    assert command(*mine, "-", "--model", toy_folder, stdin=packed).out == plain


def test_either_side_can_be_standard_input(
    command: Command, toy_files: Toy, toy_folder: Path, plain: str
) -> None:
    source, target, _ = toy_files
    left = command("mine", "-", "zh.txt", "--model", toy_folder, stdin=source.read_bytes())
    right = command("mine", "en.txt", "-", "--model", toy_folder, stdin=target.read_bytes())
    assert left.out == right.out == plain
    search = ["search", "--model", toy_folder, "-k", 1]
    assert (
        command(*search, "-", "zh.txt", stdin=source.read_bytes()).out
        == command(*search, "en.txt", "zh.txt").out
    )


def test_windows_files_give_the_same_pairs(
    command: Command, toy_files: Toy, toy_folder: Path, plain: str
) -> None:
    for path in toy_files[:2]:
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert command("mine", "en.txt", "zh.txt", "--model", toy_folder).out == plain


def test_line_numbers_are_those_of_sed_and_the_text_is_untouched(
    command: Command, toy_files: Toy, toy_folder: Path
) -> None:
    source, target, _ = toy_files
    for path in (source, target):
        odd: list[str] = []
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            odd += ["", " \t"][: number % 3]
            marks = (
                "\u2028",
                "\x0b",
                "\x85",
                "\r",
                "\x1c",
                "\u3000",
                "ﬁ",
                "Ａ",
                '"',
                "\\n",
                "e\u0301",
            )
            odd.append(f"{line}{marks[number % len(marks)]}{line}" + "\r" * (number % 4 == 0))
        path.write_bytes(b"\xef\xbb\xbf" + "\n".join(odd).encode())
    mine = ["mine", "en.txt", "zh.txt", "--model", toy_folder, "--threshold", "-inf"]
    assert command(*mine, "-o", "pairs.jsonl").code == 0
    rows = [
        json.loads(line)
        for line in (source.parent / "pairs.jsonl").read_bytes().decode().split("\n")[:-1]
    ]
    assert len(rows) >= 40
    for side, path in (("source", source), ("target", target)):
        for row in rows:
            shown = subprocess.run(
                ["sed", "-n", f"{row[side + '_line']}p", path], capture_output=True, check=True
            ).stdout
            shown = shown.removeprefix(b"\xef\xbb\xbf").removesuffix(b"\n").removesuffix(b"\r")
            assert row[side].encode() == shown


def test_repeated_lines_are_folded(command: Command, toy_files: Toy, toy_folder: Path) -> None:
    _, target, gold = toy_files
    lines = target.read_bytes().splitlines(keepends=True)
    first = min(number for _, number in gold)
    target.write_bytes(b"".join(lines) + lines[first - 1] * 6)
    mine = ["mine", "en.txt", "zh.txt", "--model", toy_folder, "--threshold", "-inf"]
    folded = command(*mine)
    assert json.loads(command(*mine, "--json").out)["target"] == {
        "file": "zh.txt",
        "lines": 66,
        "sentences": 60,
        "blank": 0,
        "repeated": 6,
        "unknown": 0,
    }
    row = next(row for row in folded.out.splitlines() if row.split("\t")[4] == str(first))
    assert float(row.split("\t")[0]) > 1.02
