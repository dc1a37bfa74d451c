"""Columns and fields, cut lines, vectors that exist: texts through the command."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from tests.toys.command import Command, Toy
from tests.toys.wrong_texts import as_parquet, as_tsv
from xmine.encoders.encoder import SentenceEncoder


def as_jsonl(lines: list[str]) -> bytes:
    return "".join(json.dumps({"id": 1, "doc": {"text": line}}) + "\n" for line in lines).encode()


@pytest.mark.parametrize(
    ("given", "convert"),
    [
        ("a.tsv.gz:2", lambda lines: gzip.compress(as_tsv(lines))),
        ("a.jsonl.zst:doc.text", lambda lines: zstandard.compress(as_jsonl(lines))),
        ("a.parquet:text", as_parquet),
    ],
)
def test_a_column_gives_what_the_file_of_its_lines_gives(
    command: Command,
    tmp_path: Path,
    toy_files: Toy,
    toy_folder: Path,
    given: str,
    convert: Callable[[list[str]], bytes],
) -> None:
    lines = [*toy_files[1].read_text("utf-8").splitlines(), "", "一 丄"]
    toy_files[1].write_text("\n".join(lines) + "\n", "utf-8")
    Path(tmp_path, given.split(":")[0]).write_bytes(convert(lines))
    model = ["--model", toy_folder]
    mined = command("mine", "en.txt", given, *model).out
    assert mined and mined == command("mine", "en.txt", "zh.txt", *model).out
    plain = command("search", "zh.txt", "en.txt", *model).out
    assert command("search", given, "en.txt", *model).out == plain
    assert command("encode", given, "-o", "a.npy", *model).code == 0
    assert command("encode", "zh.txt", "-o", "b.npy", *model).code == 0
    assert Path(tmp_path, "a.npy").read_bytes() == Path(tmp_path, "b.npy").read_bytes()


def test_summaries_and_warnings_name_the_column(
    command: Command, tmp_path: Path, toy_files: Toy, toy_folder: Path
) -> None:
    Path(tmp_path, "ru.tsv").write_text("1\tbade Он знал её давно.\n2\t\n")
    ended = command("mine", "en.txt", "ru.tsv:2", "--model", toy_folder, "--json")
    facts = json.loads(ended.out)
    assert (facts["target"]["file"], facts["target"]["lines"]) == ("ru.tsv:2", 2)
    assert facts["target"]["blank"] == 1
    assert any(warning.startswith("ru.tsv:2: much of it is") for warning in facts["warnings"])
    assert facts["languages"] == ["und", "ru"]


def test_hostile_text_passes_and_keeps_the_rows_whole(
    command: Command, tmp_path: Path, toy_files: Toy, toy_folder: Path
) -> None:
    """Every odd character inside a sentence whose translation is there."""
    source, _, gold = toy_files
    english = source.read_text("utf-8").splitlines()
    odd = ["\t", "\n", "\x00", "\r", "\r\n", "\u2028", "\x85", "\u202e", "\x1b[31m", '"', "\\"]
    for at, mark in enumerate(odd):
        english[at] = english[at].replace(" ", f" {mark} ", 1)
    english[30] = "lu" * 5_000
    Path(tmp_path, "en.jsonl").write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in english)
    )
    mine = ["mine", "en.jsonl:text", "zh.txt", "--model", toy_folder, "--threshold", "-inf"]
    for score, text, _, left, right, cosine, _, _ in command(*mine).rows:
        held = english[int(left) - 1].replace("\r\n", " ").replace("\x00", "\ufffd")
        assert text == re.sub("[\t\r\n]", " ", held)
        assert float(score) and float(cosine) and int(right)
    assert command(*mine, "-o", "pairs.jsonl").code == 0
    rows = [json.loads(row) for row in Path(tmp_path, "pairs.jsonl").read_text().split("\n")[:-1]]
    assert all(row["source"] == english[row["source_line"] - 1] for row in rows)
    found = {(row["source_line"], row["target_line"]) for row in rows}
    assert sum(pair in found for pair in gold if pair[0] <= len(odd)) >= len(odd) - 1


def test_segment_cuts_and_says_lines_and_sentences(
    command: Command, tmp_path: Path, toy_files: Toy, toy_folder: Path
) -> None:
    for path, mark in zip(toy_files[:2], (". ", "。"), strict=True):
        lines = [line.capitalize() + mark for line in path.read_text("utf-8").splitlines()]
        path.write_text("\n".join("".join(lines[at : at + 4]) for at in range(0, 60, 4)), "utf-8")
    mine = ["mine", "en.txt", "zh.txt", "--segment", "--model", toy_folder]
    ended = command(*mine, "-v")
    assert "xmine: en.txt: 15 lines, 0 blank, 60 sentences, 0 repeated\n" in ended.err
    assert " from 60 unknown x 60 Chinese sentences in 15 x 15 lines, " in ended.err
    facts = json.loads(command(*mine, "--json").out)
    assert (facts["source"]["lines"], facts["source"]["sentences"]) == (15, 60)
    assert facts["options"]["segment"] is True
    texts = [path.read_text("utf-8").split("\n") for path in toy_files[:2]]
    rows = ended.rows
    assert len(rows) >= 25
    for _, source, target, left, right, _, start, first, _, _ in rows:
        assert texts[0][int(left) - 1][int(start) :].startswith(source)
        assert texts[1][int(right) - 1][int(first) :].startswith(target)
    gold = "".join(f"{row[3]}\t{row[4]}\n" for row in rows)
    Path(tmp_path, "gold.tsv").write_text("".join(sorted(set(gold.splitlines(keepends=True)))))
    agreed = json.loads(command(*mine, "--json", "--gold", "gold.tsv").out)["gold"]
    assert (agreed["precision"], agreed["recall"]) == (1.0, 1.0)  # lines, each pair once


def test_vectors_take_the_place_of_an_encoder(
    command: Command,
    tmp_path: Path,
    toy_files: Toy,
    toy_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for path in toy_files[:2]:
        path.write_text("\n" + path.read_text("utf-8") * 2, "utf-8")
    model = ["--model", toy_folder]
    for side in ("en", "zh"):
        assert command("encode", f"{side}.txt", "-o", f"{side}.npy", *model).code == 0
    expected = command("mine", "en.txt", "zh.txt", *model).out
    assert expected.count("\n") >= 25
    expected = expected.replace("\tpartial\n", "\t\n")  # vectors of the user do not add up
    monkeypatch.setattr(SentenceEncoder, "load", lambda *_: 1 / 0)  # none is needed
    mine = ["mine", "en.txt", "zh.txt"]
    npy = ["--src-vectors", "en.npy", "--tgt-vectors", "zh.npy"]
    assert command(*mine, *npy).out == expected
    idle = command(*mine, *npy, "--batch-size", 8)
    assert idle.out == expected
    assert "warning: --batch-size: no effect without a transformer\n" in idle.err
    verbose = command(*mine, *npy, "-v")
    assert "xmine: vectors of en.npy and zh.npy, dimension 32\n" in verbose.err


def test_vectors_and_what_contradicts_them(
    command: Command, tmp_path: Path, toy_files: Toy, toy_folder: Path
) -> None:
    assert command("encode", "en.txt", "-o", "en.npy", "--model", toy_folder).code == 0
    Path(tmp_path, "raw").write_bytes(b"\0" * 100)
    Path(tmp_path, "two.txt").write_text("one\ntwo\n")
    both = ["--src-vectors", "en.npy", "--tgt-vectors", "en.npy"]
    for files, extra, code, message in (
        (["en.txt", "zh.txt"], both[:2], 2, "vectors of one side only"),
        (["en.txt", "zh.txt"], both[2:], 2, "vectors of one side only"),
        (["en.txt", "zh.txt"], [*both, "--model", toy_folder], 2, "--model and vectors"),
        (["en.txt", "zh.txt"], [*both, "--segment"], 2, "--segment and vectors"),
        (["en.txt", "zh.txt"], [*both[:3], "raw"], 1, "raw: not a .npy file, or a broken one"),
        (["en.txt", "zh.txt"], [*both[:3], "no.npy"], 1, "no.npy: No such file or directory"),
        (["en.txt", "two.txt"], both, 1, "two.txt has 2 lines, its vectors have 60 rows"),
    ):
        ended = command("mine", *files, *extra, "-o", "pairs.tsv")
        assert ended.err.startswith(f"xmine: {message}"), extra
        assert (ended.code, ended.out, ended.touched) == (code, "", set())
