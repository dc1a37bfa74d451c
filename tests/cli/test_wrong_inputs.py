"""Wrong inputs of every format: what is wrong, where, what to do; exit 1, nothing left behind."""

import re
from pathlib import Path

import pytest

from tests.toys.command import Command, Toy
from tests.toys.wrong_pairs import MOSES, PAIRS
from tests.toys.wrong_texts import TEXTS

TABLES = {"text": TEXTS, "pairs": PAIRS}


@pytest.mark.parametrize(
    ("kind", "what"), [(kind, what) for kind, table in TABLES.items() for what in table]
)
def test_a_wrong_input_fails_by_name_and_leaves_nothing(
    command: Command, tmp_path: Path, toy_files: Toy, toy_folder: Path, kind: str, what: str
) -> None:
    given, data, message, hint = TABLES[kind][what]
    Path(tmp_path, "old.tmx").write_text("old")
    if "," in given:
        Path(tmp_path, "p.en").write_bytes(MOSES)
    if data is not None:
        Path(tmp_path, given.split(",")[-1].split(":")[0]).write_bytes(data)
    arguments = {
        "text": ["mine", given, "zh.txt", "-o", "old.tmx", "--force", "--model", str(toy_folder)],
        "pairs": ["convert", given, "old.tmx", "--force"],
    }[kind]
    ended = command(*arguments)
    first, *rest = ended.err.splitlines()
    assert first.startswith(f"xmine: {message}")
    assert rest == [f"hint: {hint}"] * bool(hint)
    assert (ended.code, ended.out, ended.touched) == (1, "", set())


@pytest.mark.parametrize("words", ["mine A B", "align A B", "score A B", "search A B", "encode A"])
def test_every_command_tells_marks_and_long_lines(
    command: Command, tmp_path: Path, toy_files: Toy, toy_folder: Path, words: str
) -> None:
    text = toy_files[0].read_text("utf-8")
    Path(tmp_path, "a.ini").write_text(f"{text}{'bade ' * 30_000}\n", "utf-8")
    Path(tmp_path, "b.tbx").write_text(toy_files[1].read_text("utf-8") + "one\n", "utf-8")
    given = words.replace("A", "a.ini").replace("B", "b.tbx").split()
    output = ["-o", "x.npy"] if "encode" in words else []
    ended = command(*given, *output, "--model", toy_folder)
    for name in given[1:]:
        assert ended.err.count(f"{name}: read as plain text, with its keys and tags\n") == 1
    assert (
        len(re.findall(r"100,000 characters are (read of|exceeded in) line 61\b", ended.err)) == 1
    )
    assert ended.code == 0


def test_languages_of_converted_pairs_are_those_that_mining_names(
    command: Command, tmp_path: Path
) -> None:
    Path(tmp_path, "a.src").write_text("The ferry leaves at noon.\n")
    Path(tmp_path, "a.tgt").write_text("Die Fähre fährt mittags ab.\n", "utf-8")
    assert command("convert", "a.src,a.tgt", "a.tmx").err.startswith("xmine: a.tmx: 1 pair, ")
    told = Path(tmp_path, "a.tmx").read_text("utf-8")
    assert 'xml:lang="en"' in told and 'xml:lang="de"' in told
