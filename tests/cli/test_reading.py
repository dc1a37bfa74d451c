"""What the command reads: archives, standard input, odd lines, repeated lines."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
Toy = tuple[Path, Path, set[tuple[int, int]]]


@pytest.fixture
def plain(command: Command, toy_files: Toy, toy_folder: Path) -> str:
    """What mining the plain files prints."""
    out: str = command("mine", "en.txt", "zh.txt", "--model", toy_folder).out
    assert out.count("\n") >= 25
    return out


def test_either_side_can_be_an_archive_from_standard_input(
    command: Command, toy_files: Toy, toy_folder: Path, plain: str
) -> None:
    source, target, _ = toy_files
    model = ["--model", toy_folder]
    left = command("mine", "-", "zh.txt", *model, stdin=gzip.compress(source.read_bytes()))
    right = command("mine", "en.txt", "-", *model, stdin=target.read_bytes())
    assert left.out == right.out == plain
    search = ["search", "--model", toy_folder, "-k", 1]
    assert (
        command(*search, "-", "zh.txt", stdin=source.read_bytes()).out
        == command(*search, "en.txt", "zh.txt").out
    )


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
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")  # as sed counts
        for row in rows:
            assert row[side].encode() == lines[row[f"{side}_line"] - 1].removesuffix(b"\r")


def test_repeated_lines_are_folded_unless_asked(
    command: Command, toy_files: Toy, toy_folder: Path
) -> None:
    _, target, gold = toy_files
    lines = target.read_bytes().splitlines(keepends=True)
    first = min(number for _, number in gold)
    target.write_bytes(b"".join(lines) + lines[first - 1] * 6)
    mine = ["mine", "en.txt", "zh.txt", "--model", toy_folder, "--threshold", "-inf"]
    folded, every = command(*mine), command(*mine, "--no-dedup")
    assert json.loads(command(*mine, "--json").out)["target"] == {
        "file": "zh.txt",
        "lines": 66,
        "sentences": 60,
        "blank": 0,
        "repeated": 6,
        "unknown": 0,
    }
    assert json.loads(command(*mine, "--no-dedup", "--json").out)["target"]["sentences"] == 66
    row = next(row for row in folded.out.splitlines() if row.split("\t")[4] == str(first))
    assert float(row.split("\t")[0]) > 1.02
    text = lines[first - 1].decode().rstrip("\n")
    copies = [line.split("\t") for line in every.out.splitlines()]
    ruined = [float(copy[0]) for copy in copies if copy[2] == text]
    assert ruined and max(ruined) < float(row.split("\t")[0])
