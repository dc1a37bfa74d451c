"""xmine eval as its users meet it: a benchmark, all of them, encoders side by side."""

import json
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from tests.toys.command import Command
from xmine.evaluation.benchmarks import BENCHMARKS
from xmine.evaluation.result import Result
from xmine.evaluation.retrieval.tatoeba import evaluate_tatoeba


def test_a_benchmark_prints_its_figure_with_its_protocol(
    command: Command, data: str, toy_folder: Path
) -> None:
    asked = ("eval", "tatoeba", "--data", data, "--model", toy_folder)
    ended = command(*asked)
    assert (ended.code, ended.err, ended.touched) == (0, "", set())
    facts, table = ended.out.split("\n\n")
    assert facts.splitlines()[0].startswith("protocol  top-1 by cosine")
    assert f"encoder   {toy_folder}, static, mean pooling, not cut, no prompt, cpu" in facts
    assert table.splitlines()[1].split() == ["cmn", "60", "100.0", "100.0", "100.0"]
    ended = command(*asked, "--json")
    found = json.loads(ended.out)
    assert found["rows"][0]["figures"]["mean"] == 1
    assert found["encoder"]["model"] == str(toy_folder)
    assert {"protocol", "split", "settings", "machine", "commit", "date"} <= set(found)


def test_the_encoder_that_ships_has_a_name(command: Command, data: str) -> None:
    plain = command("eval", "tatoeba", "--data", data)
    Path("embedded").mkdir()  # a folder of that name is ./embedded
    named = command("eval", "tatoeba", "--data", data, "--model", "embedded")
    assert (named.code, named.out) == (0, plain.out)
    other = command("eval", "tatoeba", "--data", data, "--model", "./embedded")
    assert other.code == 1 and "not an encoder" in other.err


def test_figures_go_to_a_file_as_well_and_never_over_another(
    command: Command, data: str, toy_folder: Path
) -> None:
    asked = ("eval", "tatoeba", "--data", data, "--model", toy_folder, "-o", "out.json")
    assert command(*asked).touched == {"out.json"}
    again = command(*asked)
    assert again.err.startswith("xmine: out.json: exists already\nhint: ")
    assert (again.code, again.touched) == (1, set())
    assert command(*asked, "--force").code == 0
    assert json.loads(Path("out.json").read_text())["benchmark"] == "tatoeba"


def test_figures_are_printed_though_a_part_failed(
    command: Command, data: str, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(*given: Any) -> Result:
        return replace(evaluate_tatoeba(*given), notes=["one: broken"], failed=["one"])

    monkeypatch.setattr("xmine.evaluation.retrieval.tatoeba.evaluate_tatoeba", measured)
    ended = command("eval", "tatoeba", "--data", data, "--model", toy_folder)
    assert ended.code == 1 and "note: one: broken\n" in ended.out


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_says_what_it_expected_in_a_folder_without_it(
    command: Command, name: str
) -> None:
    without = command("eval", name)
    assert "no benchmark data" in without.err and "--data" in without.err
    nowhere = command("eval", name, "--data", "nowhere")
    assert nowhere.err.startswith("xmine: nowhere: no such folder\nhint: it is what --data")
    Path("empty").mkdir()
    empty = command("eval", name, "--data", "empty")
    assert empty.err.startswith("xmine: empty: ")
    assert "expected" in empty.err and "\nhint: " in empty.err
    for ended in (without, nowhere, empty):
        assert (ended.code, ended.out) == (1, "")


def test_a_prompt_is_used_and_recorded(command: Command, data: str, toy_folder: Path) -> None:
    asked = ("eval", "tatoeba", "--data", data, "--model", toy_folder, "--json")
    plain, prompted = (
        json.loads(command(*asked, *more).out) for more in ((), ("--prompt", "ba ba ba ba: "))
    )
    assert (plain["encoder"]["prompt"], prompted["encoder"]["prompt"]) == ("", "ba ba ba ba: ")


def test_all_writes_one_report_that_compare_reads(
    command: Command, data: str, toy_folder: Path
) -> None:
    asked = ("eval", "all", "--data", data, "--model", toy_folder)
    ended = command(*asked, "-o", "report")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[1].split()[0] == "tatoeba"
    assert "no files for bitext" in ended.err
    assert {"report/report.md", "report/report.json"} <= ended.touched
    assert {path.split("/")[0] for path in ended.touched} == {"report"}

    Path("letters").mkdir()
    Path("letters", "to-ann.txt").write_text("Dear Ann")
    refused = command(*asked, "-o", "letters", "--force")
    assert refused.err.startswith("xmine: letters: exists and is not a report of xmine")
    assert (refused.code, refused.touched) == (1, set())
    assert command(*asked, "-o", "report", "--force").code == 0

    beside = command("eval", "report", "report", toy_folder, "--data", data)
    assert beside.code == 0, beside.err
    head, row = beside.out.splitlines()[:2]
    assert head.split() == ["toy", "toy", "#2", "gain"]
    assert row.split()[:2] == ["tatoeba", "cmn,"] and row.endswith("0.0 (0.0 to 0.0) unclear")
    assert "Wang et al. 2021 (dual momentum contrast), Table 1" in beside.out
    found = json.loads(command("eval", "report", "report", "--json").out)
    assert found["figures"][0]["benchmark"] == "tatoeba"
    assert found["published"][0]["not_comparable"] == ""
    assert found["published"][0]["as_printed"] == {"MoCo-BERT base": [97.4, 96.6]}
    assert found["figures"][0]["encoders"]["toy"]["interval"] == [1, 1]
    missing = command("eval", "report", "nowhere.json", "--data", data)
    assert missing.err.startswith("xmine: nowhere.json: no such file")
    wrong = command("eval", "report", "nowhere", "--data", data)
    assert wrong.err.startswith("xmine: nowhere: ")
    assert wrong.code == 1


def test_a_folder_of_two_encoders_is_measured_reported_and_compared(
    command: Command, data: str, toy_folder: Path
) -> None:
    for side in ("source", "target"):
        copytree(toy_folder, Path("two") / side)
    ended = command("eval", "tatoeba", "--data", data, "--model", "two")
    assert (ended.code, ended.err) == (0, "")
    assert "encoder   two/source, static, mean pooling" in ended.out
    assert "; two/target, static" in ended.out and "reranked" not in ended.out
    assert command("eval", "all", "--data", data, "--model", "two/", "-o", "report").code == 0
    about = json.loads(Path("report/report.json").read_text(encoding="utf-8"))["encoder"]
    assert (about["model"], about["target"]["model"]) == ("two/", "two/target")
    assert Path("report/report.md").read_text(encoding="utf-8").startswith("# two\n")
    beside = command("eval", "report", "report", "two", toy_folder, "--data", data, "--json")
    figures = json.loads(beside.out)["figures"][0]["encoders"]
    assert (beside.code, [each["value"] for each in figures.values()]) == (0, [1, 1, 1])


def test_all_goes_on_after_a_failure_and_ends_with_1(
    command: Command, data: str, toy_folder: Path
) -> None:
    Path(data, "newstest2019").mkdir()
    Path(data, "newstest2019", "ref.en").write_text("ba\nde\n")
    Path(data, "newstest2019", "ref.zh").write_text("ba\n")
    ended = command("eval", "all", "--data", data, "--model", toy_folder, "-o", "report")
    assert ended.code == 1
    assert "failed: bitext" in ended.err and "tatoeba" in ended.out
    text = Path("report/report.md").read_text(encoding="utf-8")
    assert "## Failed\n\n- bitext: data/newstest2019/ref.en has 2 lines" in text
    beside = command("eval", "report", toy_folder, "--data", data)
    assert beside.code == 1 and "tatoeba" in beside.out
