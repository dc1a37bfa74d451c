"""`xmine score` as its users meet it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.toys.command import Command
from tests.toys.sentences import example_pairs, toy_sentences
from xmine.pairs.io import read_pairs


def write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


@pytest.fixture
def corpus(tmp_path: Path, toy_folder: Path) -> list[str | Path]:
    """Sixty aligned lines, a blank one on each side, a wrong and a repeated pair, an odd one."""
    english, chinese, _ = toy_sentences(60, seed=21)
    english[6], chinese[7] = " ", ""
    chinese[10] = chinese[11]
    english[20], chinese[20] = english[19], chinese[19]
    english[30] = "☃"
    write(tmp_path / "a.en", english)
    write(tmp_path / "a.zh", chinese)
    return ["score", "a.en", "a.zh", "--model", toy_folder]


def test_every_line_gets_a_row_in_its_place(
    command: Command, tmp_path: Path, corpus: list[str]
) -> None:
    ended = command(*corpus, "--rerank", "off")
    assert (ended.code, ended.touched) == (0, set())
    rows = ended.rows
    sides = [Path(tmp_path, name).read_text("utf-8").splitlines() for name in ("a.en", "a.zh")]
    assert [row[1] for row in rows] == sides[0]
    assert [row[2] for row in rows] == sides[1]
    assert [row[3:5] for row in rows] == [[str(n), str(n)] for n in range(1, 61)]
    assert {len(row) for row in rows} == {8}
    unscored = [at for at, row in enumerate(rows) if not row[0]]
    assert unscored == [6, 7, 30]
    assert all(rows[at][5:] == ["", "", ""] for at in unscored)
    assert float(rows[10][0]) < 0.9 < 1.1 < float(rows[11][0])
    assert rows[19][0] == rows[20][0]
    assert float(rows[10][6]) < 0.5 < float(rows[11][6])
    assert (
        "\nxmine: warning: a.en: 1 line left out: the encoder knows nothing of line 31\n"
        "xmine: 60 lines: 57 pairs scored, 2 blank, 1 unknown to the encoder, "
    ) in ended.err
    said = ended.err.split("\nxmine: 60 lines")[1].split("\n")[1:-1]
    right = sum(float(row[6]) for row in rows if row[6])
    said[0] = re.sub(r"\(5\d to 57\) ", "", said[0])
    assert said[0] == f"       about {right:.0f} of them expected to be translations"
    assert re.fullmatch(r" {7}score quartiles \d\.\d{4} \d\.\d{4} \d\.\d{4}", said[1])
    assert said[2].startswith("       flags: ") and len(said) == 3


def test_files_and_forms_of_input(command: Command, tmp_path: Path, corpus: list[str]) -> None:
    options = [*corpus[3:], "--src-lang", "en", "--tgt-lang", "zh"]
    shown = command("score", "a.en", "a.zh", *options).out
    for output in ("b.tsv", "b.jsonl.gz", "b.parquet", "b.tmx"):
        ended = command("score", "a.en", "a.zh", *options, "-o", output)
        assert (ended.code, ended.out, ended.touched) == (0, "", {output})
        assert len(list(read_pairs(tmp_path / output))) == 60
        assert command("score", output, *options).out == shown, output
    assert Path(tmp_path, "b.tsv").read_text("utf-8") == shown
    assert command("score", "a.en,a.zh", *options).out == shown
    assert command("score", "b.jsonl.gz:source", "b.jsonl.gz:target", *options).out == shown
    both = Path(tmp_path, "b.tsv").read_bytes()
    assert command("score", "-", *options, stdin=both).out == shown
    side = Path(tmp_path, "a.zh").read_bytes()
    assert command("score", "a.en", "-", *options, stdin=side).out == shown
    moses = command("score", "b.parquet", "-o", "c.en,c.zh", *options)
    assert Path(tmp_path, "c.zh").read_text("utf-8") == Path(tmp_path, "a.zh").read_text("utf-8")
    lost = (
        "\n       line numbers of 60 pairs not kept"
        "\n       flags and margins and probabilities and scores of 57 pairs not kept\n"
    )
    assert lost in moses.err


def test_the_summary_is_an_object_with_json(
    command: Command, tmp_path: Path, corpus: list[str]
) -> None:
    ended = command(*corpus, "--json", "-o", "b.tsv", "--pool", "a.en", "a.zh")
    assert (ended.code, ended.err) == (0, "")
    facts = json.loads(ended.out)
    counts = {name: facts[name] for name in ("lines", "scored", "blank", "unknown")}
    assert counts == {"lines": 60, "scored": 57, "blank": 2, "unknown": 1}
    scores = [pair.score for pair in read_pairs(tmp_path / "b.tsv") if pair.score is not None]
    quartiles = np.quantile(scores, [0.25, 0.5, 0.75])
    np.testing.assert_allclose(facts["score_quartiles"], quartiles, atol=2e-4)
    assert facts["pool"] == ["a.en", "a.zh"]
    assert facts["compared_with"] == [57, 57]
    assert facts["options"]["margin"] == "ratio"
    assert facts["warnings"][-1] == "a.en: 1 line left out: the encoder knows nothing of line 31"
    assert json.loads(command(*corpus, "--json").out)["scored"] == 57


def test_the_object_says_what_is_expected_and_how_weak_that_is(
    command: Command, tmp_path: Path, corpus: list[str]
) -> None:
    facts = json.loads(command(*corpus, "--json", "-o", "b.tsv", "--plot", "-").out)
    pairs = [pair for pair in read_pairs(tmp_path / "b.tsv") if pair.prob is not None]
    assert facts["expected_right"] == pytest.approx(sum(pair.prob or 0 for pair in pairs), abs=0.01)
    assert 54 < facts["expected_right"] < 57 and facts["weakness"] == ""
    assert sum(each["pairs"] for each in facts["histogram"]) == facts["scored"] == 57
    assert "histogram" not in json.loads(command(*corpus, "--json").out)
    # The wrong way round no line has the translation of the same line, and many others do.
    lines = Path(tmp_path, "a.zh").read_text("utf-8").splitlines()
    write(tmp_path / "turned.zh", lines[::-1])
    turned = ["score", "a.en", "turned.zh", *corpus[3:]]
    facts = json.loads(command(*turned, "--json").out)
    assert facts["expected_right"] < 3
    assert facts["weakness"].startswith("no pair stands out from the others")
    assert f"\n       {facts['weakness']}\n" in command(*turned).err
    write(tmp_path / "one", lines[:1])
    facts = json.loads(command("score", "one", "one", *corpus[3:], "--json").out)
    assert facts["expected_right"] is None and facts["weakness"].startswith("too few lines")
    assert "expected to be translations" not in command("score", "one", "one", *corpus[3:]).err


def test_rows_that_stand_in_the_wrong_place_are_named(command: Command, tmp_path: Path) -> None:
    """Lines 101 to 120 of the examples have the translation of the line before."""
    pairs = example_pairs()
    english, chinese = list(pairs.sources), list(pairs.targets)
    write(tmp_path / "a.en", english)
    write(tmp_path / "a.zh", chinese)
    right = command("score", "a.en", "a.zh", "--json")
    assert json.loads(right.out)["blocks"] == []
    translations = list(chinese)
    chinese[100:120] = [chinese[119], *chinese[100:119]]
    write(tmp_path / "moved.zh", chinese)
    moved = json.loads(command("score", "a.en", "moved.zh", "--json").out)
    expected = {"first": 101, "last": 120, "rows": 20, "wrong": 20, "elsewhere": 20}
    assert moved["blocks"] == [expected]
    said = "rows 101-120: 20 of 20 are no translations; the counterparts of 20 stand elsewhere"
    assert f"\n       {said}\n" in command("score", "a.en", "moved.zh").err
    put_right = command("score", "a.en", "moved.zh", "--repair", "b.en,b.zh", "--json")
    assert json.loads(put_right.out)["repair"] == {
        "pairs": len(english),
        "moved": 20,
        "left_out": [0, 0],
        "exchanged": [],
    }
    assert [pair[:2] for pair in read_pairs("b.en,b.zh")] == list(
        zip(english, translations, strict=True)
    )
    for options in (["-o", "c.tsv"], ["--src-vectors", "a.npy", "--tgt-vectors", "a.npy"]):
        assert command("score", "a.en", "moved.zh", "--repair", "c.tsv", *options).code == 2


def test_near_copies_in_the_wrong_language_go_as_copies_do(
    command: Command, tmp_path: Path
) -> None:
    pairs = example_pairs()
    faulty = ["Thc barn was empty all wintcr.", "Hcr sister sells applcs and pears."]
    clean = ["The barn was empty all winter.", "Her sister sells apples and pears."]
    write(tmp_path / "a.en", [*pairs.sources, *faulty])
    write(tmp_path / "a.zh", [*pairs.targets, *clean])
    scored = command("score", "a.en", "a.zh")
    mined = command("mine", "a.en", "a.zh", "--as", "lines")
    assert [row[6] for row in scored.rows if row[2] in clean] == ["0.0000"] * 2
    assert "dropped: copy 2" in mined.err and not any(row[2] in clean for row in mined.rows)


def test_options_change_the_scores(command: Command, tmp_path: Path, corpus: list[str]) -> None:
    rows = {
        options: [row[0] for row in command(*corpus, *options.split()).rows]
        for options in ("", "--margin distance", "--margin absolute", "-k 1", "-k 20")
    }
    assert len({tuple(scores) for scores in rows.values()}) == len(rows)
    Path(tmp_path, "run.toml").write_text("margin = 'distance'\n")
    file = [row[0] for row in command(*corpus, "--options", "run.toml").rows]
    assert file == rows["--margin distance"]


def test_vectors_take_the_place_of_an_encoder(
    command: Command, tmp_path: Path, corpus: list[str]
) -> None:
    for name in ("en", "zh"):
        command("encode", f"a.{name}", "-o", f"{name}.npy", *corpus[3:])
    vectors = ["--src-vectors", "en.npy", "--tgt-vectors", "zh.npy"]
    ended = command("score", "a.en", "a.zh", *vectors)
    assert (ended.code, ended.out) == (0, command(*corpus, "--rerank", "off").out)
    ended = command("score", "a.en", "a.zh", *vectors, "--pool", "a.en", "a.zh")
    assert ended.err.startswith("xmine: --pool and vectors: the lines of a pool would have none")
    assert (ended.code, ended.out) == (2, "")


def test_a_handful_of_lines_is_warned_of(
    command: Command, tmp_path: Path, corpus: list[str]
) -> None:
    write(tmp_path / "x.en", ["bade fifi", "golu", "golu"])
    write(tmp_path / "x.zh", ["一", "二", "三"])
    few = "xmine: warning: only 2 and 3 different lines to compare pairs with; give more with"
    few_lines = ["score", "x.en", "x.en", *corpus[3:]]
    write(tmp_path / "y.en", ["bade", "fifi", "mane"])
    write(tmp_path / "four", ["bade", "fifi", "mane", "golu", "golu"])
    write(tmp_path / "five", ["bade", "fifi", "mane", "golu", "tuba"])
    assert command("score", "x.en", "y.en", *corpus[3:]).err.startswith(few)
    assert "only 4 and 5" in command("score", "four", "five", *corpus[3:]).err
    assert "only" not in command("score", "five", "five", *corpus[3:]).err
    assert "only" not in command(*few_lines, "--pool", "a.en", "a.en").err
    assert "only" not in command(*few_lines, "--margin", "absolute").err


def test_lines_that_all_others_find_are_flagged(command: Command, tmp_path: Path) -> None:
    """Line 6 of the target points where all of the source does; line 7 does but for its digits."""
    draw = np.random.default_rng(4)
    vectors = {side: draw.standard_normal((300, 64)) for side in ("en", "zh")}
    vectors["en"] += 1
    vectors["zh"] -= vectors["zh"].mean(axis=1, keepdims=True)
    vectors["zh"][5:7] = 1
    vectors["zh"][9] = 1 + 0.3 * vectors["zh"][9]
    for side, rows in vectors.items():
        np.save(tmp_path / f"{side}.npy", rows.astype(np.float32))
        write(tmp_path / f"a.{side}", [f"{side} {'xyz'[n % 3] * (n + 1)}" for n in range(300)])
    lines = Path(tmp_path, "a.zh").read_text().splitlines()
    lines[5:7] = ["Page 1\tof 2", "Page 2\tof 2"]
    write(tmp_path / "a.zh", lines)
    inputs = ["score", "a.en", "a.zh", "--src-vectors", "en.npy", "--tgt-vectors", "zh.npy"]
    ended = command(*inputs, "-o", "b.tsv")
    pairs = list(read_pairs(tmp_path / "b.tsv"))
    flagged = [pair.source_line for pair in pairs if "hub" in (pair.flags or "").split(",")]
    assert flagged == [6, 7, 10]
    assert "hub 3" in ended.err
    assert ended.err.endswith("\n       tabs turned into spaces in 2 sentences\n")


def test_ratios_of_next_to_nothing_are_warned_of(command: Command, tmp_path: Path) -> None:
    vectors = np.eye(20, dtype=np.float32)
    for side, rows in (("en", vectors[:10]), ("zh", vectors[10:])):
        np.save(tmp_path / f"{side}.npy", rows)
        write(tmp_path / f"a.{side}", [f"{side} {'x' * n}" for n in range(10)])
    inputs = ["score", "a.en", "a.zh", "--src-vectors", "en.npy", "--tgt-vectors", "zh.npy"]
    near_zero = "10 scores too high to trust: a sentence with no neighbour at all makes "
    near_zero += "any ratio large; --margin distance makes none"
    assert f"xmine: warning: {near_zero}\n" in command(*inputs).err
    assert near_zero not in command(*inputs, "--margin", "distance").err


WRONG: dict[str, tuple[int, str]] = {
    "a.en": (1, "a.en:1: 1 column, and no line names them\nhint: give the files of both"),
    "a.en short.zh": (1, "a.en has 60 lines, short.zh 2\nhint: the same line of both must be a"),
    "a.en,short.zh": (1, "a.en has 60 lines, short.zh 2\nhint: "),
    "a.en nowhere": (1, "nowhere: no such file"),
    "nowhere.tsv": (1, "nowhere.tsv: no such file"),
    "a.en a.zh --pool a.en nowhere": (1, "nowhere: no such file"),
    "a.en blank": (1, "blank: no text in it, only blank lines"),
    "- -": (2, "only one side can be standard input\n"),
    "a.en a.zh --pool - -": (2, "only one side can be standard input\n"),
    "a.en a.zh -o new.ods": (2, "new.ods: unknown format\nhint: end it in .tsv, "),
    "a.en a.zh -o old.tsv": (1, "old.tsv: exists already\nhint: "),
    "a.en a.zh -o no/new.tsv": (1, "no: no such folder\nhint: "),
    "a.en a.zh -o a.en,new.zh --force": (2, "a.en: input and output are the same file\nhint: "),
    "old.tsv:1 old.tsv:2 -o old.tsv --force": (2, "old.tsv: input and output are the same file"),
    "old.tsv -o ./old.tsv --force": (2, "old.tsv: input and output are the same file"),
    "a.en a.zh --pool old.tsv:1 a.zh -o old.tsv --force": (2, "old.tsv: input and output"),
    "a.en a.zh --src-lang e_n!": (2, "--src-lang is 'e_n!'"),
}


@pytest.mark.parametrize("line", WRONG)
def test_what_cannot_be_done_is_refused_before_the_work(
    command: Command, tmp_path: Path, corpus: list[str], line: str
) -> None:
    write(tmp_path / "short.zh", ["一", "二"])
    write(tmp_path / "blank", ["", ""] * 30)
    write(tmp_path / "old.tsv", ["one\t一"])
    code, message = WRONG[line]
    ended = command("score", *line.split(), *corpus[3:])
    assert ended.err.startswith(f"xmine: {message}")
    assert (ended.code, ended.out, ended.touched) == (code, "", set())


def test_the_names_of_columns_count_as_a_line(command: Command, tmp_path: Path) -> None:
    """Lines of a table keep the numbers that an editor shows."""
    write(tmp_path / "x.csv", ["text", "one", "two"])
    write(tmp_path / "x.txt", ["一", "二"])
    ended = command("score", "x.csv:text", "x.txt")
    assert ended.err.startswith("xmine: x.csv:text has 3 lines, x.txt 2\n")
    assert "the line of a table that names the columns counts" in " ".join(ended.err.split())
