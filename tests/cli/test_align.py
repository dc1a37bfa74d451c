"""xmine align, from the command line to the files."""

import json
import re
from pathlib import Path

import pytest

from tests.aligning.test_align import ENGLISH, GERMAN
from tests.toys.command import Command
from xmine.pairs.io import read_pairs


@pytest.fixture
def texts(tmp_path: Path) -> None:
    (tmp_path / "de.txt").write_text("\n".join(["", *GERMAN]), "utf-8")  # line 1 is blank
    (tmp_path / "en.txt").write_text(
        "\n".join(ENGLISH)
        + "\nCopyright 1998 by Riverside Publishing House, printed in Wales, all rights kept.\n",
        "utf-8",
    )


def test_beads_are_written_in_the_order_of_the_document(command: Command, texts: None) -> None:
    ended = command("align", "de.txt", "en.txt")
    rows = [line.split("\t") for line in ended.out.splitlines()]
    assert rows[0] == "prob source target source_lines target_lines flags".split()
    assert [(row[3], row[4]) for row in rows[1:]] == [
        *(("2", "1-2"), ("3", "3"), ("4", "4-5"), ("5", "6"), ("6", "7-8")),
    ]
    assert rows[1][1:3] == [GERMAN[0], " ".join(ENGLISH[:2])]
    assert float(rows[1][0]) > 0.9
    assert "5 beads from 5 German x 9 English lines" in ended.err
    assert "without counterpart: 0 x 1 lines" in ended.err
    every = command("align", "de.txt", "en.txt", "--all")
    assert every.out.splitlines()[-1].split("\t") == [
        "",
        "",
        "Copyright 1998 by Riverside Publishing House, printed in Wales, all rights kept.",
        "",
        "9",
        "",
    ]


@pytest.mark.parametrize("name", ["beads.tsv", "beads.jsonl", "beads.parquet", "beads.tmx"])
def test_every_format_keeps_the_lines_of_a_bead(command: Command, texts: None, name: str) -> None:
    assert command("align", "de.txt", "en.txt", "-o", name).code == 0
    first = next(read_pairs(name))
    assert (first.source_lines, first.target_lines) == ("2", "1-2")
    assert first.prob is not None and first.flags == ""
    assert (first.source, first.target) == (GERMAN[0], " ".join(ENGLISH[:2]))


def test_a_folder_keeps_beads_and_summary(command: Command, texts: None) -> None:
    ended = command("align", "de.txt", "en.txt", "-o", "run/", "--json")
    assert ended.code == 0
    facts = json.loads(Path("run/summary.json").read_text("utf-8"))
    assert (facts["beads"], facts["kinds"]) == (5, {"1-2": 3, "1-1": 2})
    assert len(list(read_pairs("run/"))) == 5
    again = command("align", "de.txt", "en.txt", "-o", "run/", "--all")
    assert again.code == 0 and len(list(read_pairs("run/"))) == 5
    Path("fr.txt").write_text("Il pleuvait.\n")
    other = command("align", "de.txt", "fr.txt", "-o", "run/")
    assert other.err.startswith("xmine: run: was made with target en.txt, not fr.txt")


def test_mined_pairs_and_an_alignment_do_not_replace_each_other(
    command: Command, texts: None
) -> None:
    assert command("mine", "de.txt", "en.txt", "-o", "run/").code == 0
    refused = command("align", "de.txt", "en.txt", "-o", "run/")
    assert refused.err.startswith("xmine: run: has mined pairs\nhint: give another folder, or --fo")
    assert refused.touched == set()
    assert command("align", "de.txt", "en.txt", "-o", "run/", "--force").code == 0
    assert not Path("run/source.parquet").exists()
    assert command("pairs", "list", "run/").out.count("\n") == 6
    refused = command("mine", "de.txt", "en.txt", "-o", "run/", "--as", "lines")
    assert refused.err.startswith("xmine: run: has an alignment\n")


def test_the_commands_of_pairs_read_an_alignment(
    command: Command, texts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout.isatty", lambda: True)
        ended = command("align", "de.txt", "en.txt", "-o", "run/")
    assert ended.err.splitlines()[-1] == "xmine: next: xmine browse run/"
    listed = command("pairs", "list", "run/", "--where", "", "--no-header").out.splitlines()
    assert listed == command("align", "de.txt", "en.txt", "--all").out.splitlines()[1:]
    assert "lines 4, 4-5  kept" in command("pairs", "show", "run/", "4", "5").out
    assert command("pairs", "judge", "run/", "4", "5", "reject").err.endswith("1 judged\n")
    rejected = command("pairs", "list", "run/", "--where", "verdict = reject", "--no-header").out
    assert rejected.splitlines() == [listed[2]]
    assert "judged              1, 1 of 5 kept pairs" in command("pairs", "judge", "run/").out
    assert command("pairs", "stats", "run/").out.startswith("languages             de, en\npairs ")
    assert command("align", "de.txt", "en.txt", "-o", "beads.tsv").code == 0
    assert command("pairs", "list", "beads.tsv", "--no-header").out.splitlines() == listed[:5]
    assert "source_line" not in json.loads(
        command("pairs", "list", "beads.tsv", "--json", "-n", 1).out
    )
    shown = command("pairs", "judge", "run/", "--sample", 1, stdin=b"q").err
    assert re.search(r"^[> ] +\d-\d  [A-Z]", shown, re.MULTILINE)


def test_beads_that_are_scored_keep_scores_and_lines(command: Command, texts: None) -> None:
    assert command("align", "de.txt", "en.txt", "-o", "beads.tsv").code == 0
    scored = command("score", "beads.tsv").out.splitlines()[0].split("\t")
    assert {"score", "cosine", "prob", "source_lines", "target_lines"} <= {*scored}


def test_lines_are_cut_into_sentences_on_demand(command: Command, texts: None) -> None:
    Path("en.txt").write_text(" ".join(ENGLISH) + "\n", "utf-8")
    ended = command("align", "de.txt", "en.txt", "--segment")
    rows = [line.split("\t") for line in ended.out.splitlines()[1:]]
    assert [row[2] for row in rows][:2] == [" ".join(ENGLISH[:2]), ENGLISH[2]]
    assert {row[4] for row in rows} == {"1"}


def test_wrong_use_is_told_before_work(command: Command, texts: None) -> None:
    for arguments, message in {
        ("de.txt", "nowhere.txt"): "nowhere.txt: no such file",
        ("de.txt", "en.txt", "-o", "en.txt"): "en.txt: ",
        ("de.txt", "en.txt", "-o", "out.de,out.en", "--src-lang", "en", "--tgt-lang", "de"): "out.",
        ("-", "-"): "only one side can be standard input",
    }.items():
        ended = command("align", *arguments)
        assert ended.err.startswith(f"xmine: {message}"), ended.err
        assert (ended.code in (1, 2), ended.out, ended.touched) == (True, "", set())
