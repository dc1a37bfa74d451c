"""Tables of papers made again: what each row needs, its options, and a table on small files."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from papers import reproduce as run
from papers.benchmarks import BENCHMARKS
from papers.jobs import Place, jobs_of

from xmine.errors import OptionError
from xmine.evaluation.papers.tables import all_tables, matching
from xmine.options import flag, without_effect
from xmine.pairs.io import ParallelText
from xmine.trainer.methods import METHODS

NOWHERE = Place(Path("nowhere"), Path("out"), {})


# What small data and a small encoder allow.
SMALL = {"device": "cpu", "threads": 1, "held_out": 16, "steps": 2, "batch_size": 8}
SMALL |= {"queue_size": 16, "max_tokens": 16}


@pytest.mark.parametrize("name", all_tables())
def test_every_row_is_options_of_its_method_and_differs_from_the_others(name: str) -> None:
    table = all_tables()[name]
    for measure in table.measures:
        BENCHMARKS[measure.benchmark].options(**measure.options)
    made: list[Any] = []
    for row in table.rows:
        assert (bool(row.model) + bool(row.encoder) + bool(row.cited)) == 1, row.name
        jobs = jobs_of(table, row, NOWHERE)
        for job in jobs:
            options = METHODS[job.method].options(**job.options)
        if jobs:
            given = {f"--{kind}": kind in job.files for kind in ("nli", "triplets", "texts")}
            texts = without_effect(options, given)
            vain = {name for text in texts for name in text.partition(":")[0].split(", ")}
            assert vain.isdisjoint(map(flag, row.options)), "none is given in vain"
        own = (jobs[-1].folder, row.encoding) if jobs else (row.encoder or row.cited, row.encoding)
        assert row.cited or own not in made
        made.append(own)


def test_what_is_missing_is_named_before_anything_is_trained(tmp_path: Path) -> None:
    table = all_tables()["moco/2"]
    place = Place(tmp_path, tmp_path / "out", {})
    ours, *_ = table.rows
    [file] = run.missing_files(table, ours, place)
    assert file.startswith("train/moco.en-zh.tsv (5 million English-Chinese pairs")
    found = run.reproduce(table, place)
    assert found[0].why.startswith(f"missing: {file}; bucc: BUCC 2018's zh-en")
    assert ["LASER", "cited", "92.27"] in run.side_by_side(table, found)
    assert "LASER: cited: a program of its own" in run.notes(table, found)
    assert any(
        each.startswith("lacks train/moco.en-zh.tsv: ") for each in run.listed([table], place)
    )
    with pytest.raises(OptionError, match="no method has 'step'"):
        run.reproduce(table, replace(place, options={"step": 3}))


def test_options_of_all_rows_beat_those_of_a_model_and_a_row_beats_them() -> None:
    table = all_tables()["moco/5"]
    [row] = [each for each in table.rows if each.name == "w/o momentum"]
    place = replace(NOWHERE, options={"queue_size": 99, "momentum": 0.5, "batch_size": 8})
    [job] = jobs_of(table, row, place, seed=3)
    names = "queue_size momentum batch_size temperature seed".split()
    assert [job.options[name] for name in names] == [99, 0, 8, 0.04, 3]
    assert job.folder == Path("out/encoders/half-queue+momentum=0+seed=3")
    table = all_tables()["transaug/1"]
    [row] = [each for each in table.rows if each.name == "TransAug BERT base (WMT) + NLI"]
    *before, job = jobs_of(table, row, NOWHERE)
    assert [each.folder.name for each in before] == ["distilled", "base-wmt"]
    assert job.options["encoder"] == "out/encoders/base-wmt/source"


def test_a_column_is_the_first_row_of_its_pattern_that_is_there() -> None:
    for names, name in ((["oracle", "zh-en test"], "zh-en test"), (["mean of 4"], "mean of 4")):
        assert matching(names, "zh-en test|oracle|mean of *") == name


def test_a_table_is_made_once_with_each_seed(
    tmp_path: Path, toy_pairs: ParallelText, checkpoint: Callable[..., Path]
) -> None:
    table = all_tables()["moco/1"]
    place = Place(tmp_path / "data", tmp_path / "out", SMALL)
    for name in ("google-bert/bert-base-uncased", "hfl/chinese-roberta-wwm-ext"):
        checkpoint(name=f"data/encoders/{name}")
    rows = zip(toy_pairs.sources[:100], toy_pairs.targets[:100], strict=True)
    for name, lines in (
        ("train/moco.en-zh.tsv", ["\t".join(row) for row in rows]),
        ("tatoeba/tatoeba.cmn-eng.cmn", toy_pairs.sources[1:9]),  # which both read alike
        ("tatoeba/tatoeba.cmn-eng.eng", toy_pairs.sources[:8]),
    ):
        (place.data / name).parent.mkdir(parents=True, exist_ok=True)
        (place.data / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    said: list[str] = []
    [made] = run.reproduce(table, place, (1, 2), ["MoCo-BERT base"], say=said.append)
    assert {*made.figures} == {"zh→en", "en→zh", "mean"}, made.why
    assert all(len(each) == 2 for each in made.figures.values())
    assert "± " in run.side_by_side(table, [made])[2][1]
    [figures] = place.output.glob("figures/moco.tatoeba-*.json")
    [cmn] = [row for row in json.loads(figures.read_text())["rows"] if row["name"] == "cmn"]
    assert made.figures["zh→en"][0] == 100 * cmn["figures"]["to_english"]
    assert said == ["training moco", "training moco+seed=2", "MoCo-BERT base: measured"]
    asked = json.loads((place.output / "encoders/moco.json").read_text())["asked"]["options"]
    assert (asked["queue_size"], asked["temperature"], asked["steps"]) == (16, 0.04, 2)
    again = run.reproduce(table, place, (1, 2), ["MoCo-BERT base"], say=said.append)
    assert [made] == again and said[3:] == ["MoCo-BERT base: measured"]
    other = replace(place, options={**SMALL, "steps": 3})
    with pytest.raises(run.OtherWork, match="made with other options or files"):
        run.reproduce(table, other, only=["MoCo-BERT base"])
    (place.output / "encoders/moco.json").unlink()  # as of an encoder that was trained elsewhere
    assert run.reproduce(table, other, only=["MoCo-BERT base"])[0].figures
