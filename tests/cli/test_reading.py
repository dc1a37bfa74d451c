"""What the command reads: archives, standard input, odd lines, repeated lines."""

import gzip
from pathlib import Path

import pytest

from tests.toys.command import Command, Toy


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
