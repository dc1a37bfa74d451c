"""xmine eval gain as its users meet it: table, JSON, file, two encoders, what is missing."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.metadata import Settings

Command = Callable[..., Any]


@pytest.fixture
def narrow(toy_encoder: SentenceEncoder, tmp_path: Path) -> Path:
    """A worse encoder: the toy one, with few numbers of its vectors."""
    settings = Settings(truncated=3)
    SentenceEncoder(toy_encoder.body, (), settings, toy_encoder.facts).save(tmp_path / "narrow")
    return Path("narrow")


def test_a_table_says_for_each_encoder_whether_it_is_better(
    command: Command, data: str, narrow: Path, toy_folder: Path
) -> None:
    ended = command("eval", "gain", narrow, toy_folder, narrow, "--data", data)
    assert (ended.code, ended.err, ended.touched) == (0, "", set())
    who, table, whom, same, notes = ended.out.split("\n\n")
    assert who.splitlines()[0].startswith("before    narrow, static, mean pooling")
    assert who.splitlines()[1].startswith(f"after     {toy_folder}, static")
    assert whom.splitlines()[1].startswith("after     narrow, ")
    head, row = table.splitlines()
    assert head.split() == ["before", "after", "gain", "95", "%", "interval", "p"]
    name, before, after, gain, low, _, high, p, verdict = row.replace("tatoeba cmn, ", "").split()
    assert (name, after, p, verdict) == ("accuracy", "100.0", "0.0010", "better")
    assert float(gain) == pytest.approx(100 - float(before))
    assert float(low) < float(gain) < float(high)
    assert same.splitlines()[1].split()[5:] == ["0.0", "0.0", "to", "0.0", "1.0000", "unclear"]
    assert "note: p: share in which AFTER is no higher, (count + 1) / 1,001\n" in notes
    assert "note: no bucc: expected BUCC 2018's" in notes
    assert "note: no stsb: expected " in notes
    assert max(map(len, [*table.splitlines(), *same.splitlines()])) <= 80


def test_json_and_the_file_have_everything_a_figure_depends_on(
    command: Command, data: str, narrow: Path, toy_folder: Path
) -> None:
    asked = ("eval", "gain", narrow, toy_folder, "--data", data, "--task", "tatoeba")
    ended = command(*asked, "--resamples", "200", "--seed", "5", "--json", "-o", "gain.json")
    assert (ended.code, ended.err, ended.touched) == (0, "", {"gain.json"})
    found = json.loads(ended.out)
    assert found == json.loads(Path("gain.json").read_text())
    assert found["settings"] == {"resamples": 200, "seed": 5, "confidence": 0.95}
    assert {"machine", "commit", "date", "version"} <= set(found)
    assert (found["before"]["model"], found["skipped"], found["failed"]) == ("narrow", {}, [])
    (comparison,) = found["comparisons"]
    assert comparison["after"]["model"] == str(toy_folder)
    (row,) = comparison["gains"]
    assert (row["benchmark"], row["metric"], row["items"]) == ("tatoeba cmn", "accuracy", 60)
    assert (row["after"], row["p"], row["verdict"]) == (1, 1 / 201, "better")
    assert row["interval"][0] < row["gain"] < row["interval"][1]
    alone = json.loads(command("eval", "tatoeba", "--data", data, "--model", narrow, "--json").out)
    assert row["before"] == alone["headline"]["value"]
    again = command(*asked, "-o", "gain.json")
    assert (again.code, again.touched) == (1, set())
    assert again.err.startswith("xmine: gain.json: exists already")
    assert command(*asked, "-o", "gain.json", "--force").code == 0


def test_a_folder_with_two_encoders_is_one(command: Command, data: str, toy_folder: Path) -> None:
    for side in ("source", "target"):
        copytree(toy_folder, Path("both") / side)
    ended = command("eval", "gain", toy_folder, "both", "--data", data)
    assert (ended.code, ended.err) == (0, "")
    after = ended.out.splitlines()[1]
    assert after.startswith("after     both/source, ") and "; both/target, static" in after
    assert "1.0000  unclear" in ended.out
    found = json.loads(command("eval", "gain", "both", toy_folder, "--data", data, "--json").out)
    assert found["before"]["model"] == "both"
    assert found["before"]["target"]["model"] == "both/target"


def test_without_files_or_encoders_it_says_what_it_wants(command: Command, data: str) -> None:
    nothing = command("eval", "gain", "embedded", "embedded")
    assert nothing.err.startswith("xmine: no benchmark data: there is nothing to compare on: ")
    assert "\nhint: xmine eval NAME --help says" in nothing.err and "--data" in nothing.err
    other = command("eval", "gain", "embedded", "embedded", "--data", data, "--task", "stsb")
    assert other.err.startswith("xmine: data: there is nothing to compare on: stsb: expected ")
    few = command("eval", "gain", "embedded", "embedded", "--data", data, "--language", "xx")
    assert "tatoeba: expected files in xx" in few.err
    wrong = command("eval", "gain", "embedded", "nowhere", "--data", data)
    assert wrong.err.startswith("xmine: nowhere: no such encoder folder")
    task = command("eval", "gain", "embedded", "embedded", "--data", data, "--task", "sts")
    assert task.err == "xmine: --task is 'sts'\nhint: choose from tatoeba, bucc, stsb\n"
    for ended, code in ((nothing, 1), (other, 1), (wrong, 1), (task, 2)):
        assert (ended.code, ended.out) == (code, "")
    assert command("eval", "gain", "embedded", "--data", data).code == 2


def test_what_fails_is_told_and_ends_with_1(
    command: Command, data: str, narrow: Path, toy_folder: Path
) -> None:
    Path(data, "stsb").mkdir()
    Path(data, "stsb", "stsb-en-test.csv").write_text("ba,de,1\nfi,go,1\n")
    ended = command("eval", "gain", narrow, toy_folder, "--data", data)
    assert ended.code == 1
    assert ended.err.startswith("xmine: warning: narrow: stsb: data/stsb/stsb-en-test.csv: all ")
    assert "tatoeba cmn, accuracy" in ended.out
