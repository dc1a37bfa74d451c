"""All benchmarks in one report, encoders beside each other, published tables beside them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xmine
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.benchmarks import BENCHMARKS
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.options import EvaluationOptions
from xmine.evaluation.papers.tables import all_tables
from xmine.evaluation.reports.report import (
    EvaluationOutcome,
    evaluate_all,
    read_report,
    write_report,
)
from xmine.evaluation.reports.table import as_cells, compared, published_beside, unlike_notes
from xmine.evaluation.result import Metric, Result, Row
from xmine.evaluation.retrieval.aligned import evaluate_bitext
from xmine.pairs.io import ParallelText

ABOUT = {
    "model": "toy",
    "architecture": "static",
    "pooling": "mean",
    "max_length": None,
    "prompt": "",
    "device": "cpu",
    "dtype": "float32",
    "languages": ["en", "zh"],
}
MEAN = Metric("mean", "mean", "the mean of both directions")


def tatoeba_result(figure: float, *, textual: bool = False, languages: int = 3) -> Result:
    rows = [Row(f"l{at:02}", 10, {"mean": 0.1}) for at in range(languages)]
    mean = Row("mean of 36", 360, {"mean": figure}, is_mean=True)
    headline = ("mean of 36", "mean")
    settings = {"textual": textual}
    return Result(
        "tatoeba", "top-1", "all", (MEAN,), [*rows, mean], headline, settings, "pairs", ["a note"]
    )


@pytest.fixture
def data(tmp_path: Path, toy_pairs: ParallelText) -> DataFolder:
    folder = tmp_path / "data" / "newstest2019"
    folder.mkdir(parents=True)
    for language, texts in (("en", toy_pairs.sources), ("zh", toy_pairs.targets)):
        text = "".join(f"{each}\n" for each in texts[:40])
        (folder / f"ref.{language}").write_text(text, encoding="utf-8")
    return DataFolder(folder.parent)


def test_all_measures_what_there_is_and_tells_what_there_is_not(
    toy_encoder: SentenceEncoder, data: DataFolder
) -> None:
    said: list[str] = []
    outcome = evaluate_all(
        toy_encoder, data, EvaluationOptions(), say=lambda name, text: said.append(f"{name} {text}")
    )
    assert "bitext" in outcome.results
    assert "bitext 100.0 mean (newstest2019 zh-en)" in said
    assert outcome.failed == {}
    assert set(outcome.seconds) | set(outcome.missing) == set(BENCHMARKS)
    assert set(outcome.seconds) == set(outcome.results)  # nothing of XRETE was measured
    assert "LASER's Tatoeba test set" in outcome.missing["tatoeba"]


def test_a_benchmark_of_which_a_part_fails_is_told(
    toy_encoder: SentenceEncoder, data: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(*given: Any) -> Result:
        return replace(evaluate_bitext(*given), failed=["one", "two"])

    monkeypatch.setattr("xmine.evaluation.retrieval.aligned.evaluate_bitext", measured)
    outcome = evaluate_all(toy_encoder, data, EvaluationOptions())
    assert outcome.failed == {"bitext": "one, two: not measured, its notes say why"}
    assert "bitext" in outcome.results


def test_an_empty_folder_is_an_error(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="there is nothing for any benchmark"):
        evaluate_all(toy_encoder, DataFolder(tmp_path), EvaluationOptions())


@pytest.mark.process
def test_a_report_tells_everything_and_can_be_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = tatoeba_result(0.5, languages=40)
    failed, missing = {"bucc": "no gold"}, {"bitext": "no files"}
    outcome = EvaluationOutcome({"tatoeba": result}, {"tatoeba": 1.0}, missing, failed)
    write_report(tmp_path, outcome, ABOUT)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    for part in (
        "# toy\n",
        "static, mean pooling, not cut, no prompt",
        "| tatoeba | 50.0 mean (mean of 36) |",
        f"\n{BENCHMARKS['tatoeba'].asks}\n",
        "- protocol: top-1",
        "<details><summary>all rows</summary>",
        "| l39 | 10 | 10.0 |",
        "- mean: the mean of both directions (higher is better)",
        "- note: a note",
        "| mSimCSE, NLI, en | 87.7 |",
        "## Failed\n\n- bucc: no gold",
        "## Not measured\n\n- bitext: no files",
    ):
        assert part in text, part
    assert f"xmine {xmine.__version__} (commit " in text
    monkeypatch.setattr("xmine.evaluation.reports.record._commit", lambda: None)  # so in a wheel
    write_report(tmp_path, outcome, ABOUT)
    assert f"xmine {xmine.__version__}, " in (tmp_path / "report.md").read_text(encoding="utf-8")
    facts = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert {"date", "commit", "machine", "encoder", "failed", "missing"} <= set(facts)
    name, results = read_report(tmp_path)
    assert (name, results["tatoeba"].cells()) == ("toy", result.cells())


def broken(**changes: object) -> str:
    return json.dumps({**tatoeba_result(0.5).as_json(), "encoder": {"model": "m"}, **changes})


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"encoder": {}, "results": {"a": {}}}',
        broken(settings=3),
        broken(rows=[{"name": "a", "items": 1, "is_mean": False, "figures": {"mean": "much"}}]),
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(FileError, match=r"report\.json: no figures of xmine eval"):
        read_report(tmp_path)
    with pytest.raises(FileError, match="nowhere: No such file"):
        read_report(tmp_path / "nowhere")


def test_encoders_stand_side_by_side_with_intervals_and_gains() -> None:
    one, other = tatoeba_result(0.5), tatoeba_result(0.6, textual=True)
    hits = np.arange(20).reshape(10, 2) % 3 == 0
    one, other = (
        replace(x, rows=[*x.rows[:-1], replace(x.rows[-1], values=values)])
        for x, values in ((one, hits), (other, np.ones((10, 2), dtype=bool)))
    )
    results = {"a": {"tatoeba": one}, "b": {"tatoeba": other}, "c": {}}
    lines = compared(results, resamples=100)
    line = next(each for each in lines if each.row == "mean of 36")
    assert (line.figures["a"].gain, line.figures["c"].value) == (None, None)
    gain = line.figures["b"]
    assert (gain.interval, gain.verdict) == ((1, 1), "higher")
    assert gain.gain == pytest.approx(0.1)
    assert gain.gain_interval is not None and line.figures["a"].interval is not None
    low, high = line.figures["a"].interval
    assert gain.gain_interval == pytest.approx((1 - high, 1 - low))
    head, *rows = as_cells(lines, ["a", "b", "c"])
    assert head == ["", "a", "b", "gain", "c"]
    shown = next(row for row in rows if row[0] == "tatoeba mean of 36, mean")
    assert shown[2] == "60.0 (100.0–100.0)" and shown[3].startswith("+10.0 (+")
    assert unlike_notes(results) == [
        "tatoeba: b was measured otherwise than a: textual True and not False"
    ]
    read = Result.from_json(json.loads(json.dumps(one.as_json(with_values=True))))
    assert read.rows[-1].values is not None and (read.rows[-1].values == hits).all()


def test_what_was_measured_on_other_items_is_told_but_for_the_pairs_that_are_kept() -> None:
    one = tatoeba_result(0.5)
    other = replace(one, rows=[*one.rows[:-1], replace(one.rows[-1], items=7)])
    said = "bench: b was measured otherwise than a: other numbers of pairs in mean of 36"
    assert unlike_notes({"a": {"bench": one}, "b": {"bench": other}}) == [said]
    kept = [replace(each, unit="kept") for each in (one, other)]
    assert unlike_notes({"a": {"bench": kept[0]}, "b": {"bench": kept[1]}}) == []


def test_an_encoder_with_a_prompt_is_named_by_both(tmp_path: Path) -> None:
    for prompt, name in (("", "m/"), (None, "m/"), ("query: ", "m/, prompt 'query: '")):
        about = {"model": "m/"} | ({} if prompt is None else {"prompt": prompt})
        report = {**tatoeba_result(0.5).as_json(), "encoder": about}
        (tmp_path / "report.json").write_text(json.dumps(report))
        assert read_report(tmp_path)[0] == name


def test_published_figures_stand_beside_ours_only_where_the_protocol_allows() -> None:
    rows = {"cmn": 0.5, "mean of 36": 0.25}
    result = replace(some_result("tatoeba", "mean", rows), settings={"textual": False})
    row = replace(result.rows[0], figures={"mean": 0.5, "to_english": 0.4, "from_english": 0.6})
    directions = [Metric(name, name, "") for name in ("to_english", "from_english", "mean")]
    result = replace(result, rows=[row, result.rows[1]], metrics=directions)
    alike = published_beside({"a": result})
    assert alike[0].source == "Wang et al. 2021 (dual momentum contrast), Table 1"
    assert alike[0].obstacle == ""
    assert alike[0].cells == [
        ["", "cmn to_english", "cmn from_english"],
        ["a (here)", "40.0", "60.0"],
        ["MoCo-BERT base", "97.4", "96.6"],
    ]
    never = [each for each in alike if each.obstacle == "the direction is not given"]
    assert never[-1].cells[:2] == [["", "mean of 36 mean"], ["a (here)", "25.0"]]
    assert ["mSimCSE, NLI, en", "87.7"] in never[-1].cells
    textual = replace(result, settings={"textual": True})
    unlike = published_beside({"a": result, "b": textual})
    assert unlike[0].obstacle and all(each.obstacle for each in unlike)
    assert "textual False, here True" in [each.obstacle for each in unlike]
    assert published_beside({"a": replace(result, benchmark="other")}) == []


def test_reranked_figures_stand_beside_no_published_ones() -> None:
    found = some_result("bucc", "f1", {"mean of 4 oracle": 0.5})
    ours = replace(found, rows=[replace(row, is_reranked=True) for row in found.rows])
    assert published_beside({"a": found})
    assert published_beside({"a": ours}) == []


def some_result(benchmark: str, metric: str, figures: dict[str, float]) -> Result:
    rows = [Row(name, 10, {metric: value}, is_mean=True) for name, value in figures.items()]
    metrics = (Metric(metric, metric, ""),)
    return Result(benchmark, "", "", metrics, rows, (rows[0].name, metric))


# Means as papers print them, and those of their rows, where these are more apart than rounding.
PRINTED_OTHERWISE = {
    ("moco/3", "BERT base [CLS]"): (29.19, 29.13),
    ("moco/8", "SBERT base, NLI"): (74.89, 74.86),
    ("transaug/1", "SBERT base, NLI"): (74.89, 74.86),
    ("transaug/1", "SBERT large, NLI"): (76.55, 76.54),
    ("transaug/1", "SimCSE BERT large, NLI"): (82.21, 82.29),
    ("emma-x/12", "HiCTL"): (81.6, 81.7),
    ("emma-x/14", "XLM-R large"): (63.2, 63.3),
    ("emma-x/14", "InfoXLM"): (64.1, 64.2),
    ("emma-x/16", "Emma-X"): (59.6, 60.2),
    ("emma-x/19", "ChatGPT"): (64.2, 64.1),
}


def test_published_means_are_those_of_their_rows() -> None:
    """So that a figure that was copied wrongly is seen."""
    found, checked = {}, 0
    for table in all_tables().values():
        for row in table.rows:
            assert len(row.paper) in (0, len(table.columns)), (table.name, row.name)
            if "Avg" in table.columns and row.paper:
                digits = max(len(str(x).partition(".")[2]) for x in row.paper)
                *members, mean = row.paper
                checked += 1
                if abs(np.mean(members) - mean) > (0.055 if digits == 1 else 0.011):
                    found[table.name, row.name] = mean, round(float(np.mean(members)), digits)
    assert (found, checked) == (PRINTED_OTHERWISE, 91)
