"""A grid of settings with seeds: every cell is trained once, the table says what was measured."""

import csv
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError, OptionError, TrainingError
from xmine.evaluation.data import DataFolder
from xmine.pairs.io import ParallelText
from xmine.trainer.ablation import runner as ablation
from xmine.trainer.ablation.headlines import Headlines
from xmine.trainer.ablation.runner import Plan, ablate
from xmine.trainer.ablation.specs import ABLATIONS, TRIPLETS, options_with, tables_of
from xmine.trainer.ablation.tables import (
    UNTRAINED,
    Cell,
    averages_of,
    draw,
    facts_of,
    table_of,
    write_tables,
)
from xmine.trainer.data.corpus import Corpus, Triplets
from xmine.trainer.methods import METHODS
from xmine.trainer.options.per_method import MocoOptions, MsimcseOptions, TransaugOptions
from xmine.trainer.options.shared import TrainingOptions
from xmine.trainer.run.loop import Diverged
from xmine.trainer.run.prepare import Split

Few = Callable[..., Plan]
Encoders = Mapping[str, SentenceEncoder]


@pytest.fixture
def few(toy_pairs: ParallelText, toy_folder: Path) -> Few:
    """Plan an ablation that takes two steps a cell."""

    def plan(name: str, grid: str, seeds: tuple[int, ...] = (1, 2), **options: Any) -> Plan:
        usual = {"encoder": str(toy_folder), "batch_size": 64, "held_out": 100, "threads": 1}
        made = METHODS[ABLATIONS[name].method].options(**usual | {"steps": 2} | options)
        chosen = ABLATIONS[name].chosen(grid.split(","))
        return Plan(name, Corpus(pairs=toy_pairs), made, chosen, seeds)

    return plan


def options_for(method: str) -> TrainingOptions:
    if method == "transaug":
        return TransaugOptions(distilled_encoder="embedded")  # which all settings can begin with
    return METHODS[method].options()


@pytest.mark.parametrize("name", ABLATIONS)
def test_every_setting_is_one_of_its_method_and_differs_from_the_others(name: str) -> None:
    each = ABLATIONS[name]
    options = options_for(each.method)
    known = {*type(options).__dataclass_fields__, TRIPLETS}
    assert all(changes.keys() <= known for changes in each.settings.values())
    made = [
        (options_with(options, changes), tables_of(changes, 3))
        for changes in each.settings.values()
    ]
    assert all(one not in made[:at] for at, one in enumerate(made)) and len(made) > 1
    assert each.option in known or not each.option
    assert "(20" in each.source or "docs/" in each.source


def test_values_are_read_as_their_option_wants_them() -> None:
    usual = MsimcseOptions()
    assert options_with(usual, {"epochs": "7"}) == replace(usual, epochs=7)
    assert options_with(usual, {"training_head": "True"}).training_head is True
    assert options_with(MocoOptions(), {"momentum": "auto"}).momentum == "auto"
    assert options_with(MocoOptions(), {"momentum": "0"}).momentum == 0
    assert options_with(usual, {TRIPLETS: "2"}) == usual
    for wrong, message in {
        ("epochs", "many"): "--epochs is 'many' in the grid",
        ("epochs", "1.5"): "--epochs is '1.5' in the grid",
        ("learning_rate", "fast"): "--learning-rate is 'fast' in the grid",
        ("drop_hard_negatives", "perhaps"): "--drop-hard-negatives is 'perhaps'",
        ("pooling", "sum"): "--pooling is 'sum'",
        ("epochs", "-1"): "--epochs is -1",
    }.items():
        with pytest.raises(OptionError, match=message):
            options_with(usual, dict([wrong]))


def test_a_grid_has_values_of_an_option_or_names_of_settings() -> None:
    queue = ABLATIONS["queue-size"].chosen(["batch", "64"])
    assert list(queue) == ["batch", "64"] and queue["64"] == {"queue_size": "64"}
    assert queue["batch"]["in_batch_negatives"] == "true"
    assert list(ABLATIONS["teacher"].chosen()) == ["distilled", "as-it-is"]
    with pytest.raises(OptionError, match="--grid names 'none'") as refused:
        ABLATIONS["teacher"].chosen(["none"])
    assert refused.value.hint == "choose from distilled, as-it-is"


def test_settings_may_leave_files_of_triplets_out(few: Few, toy_pairs: ParallelText) -> None:
    table = Triplets(toy_pairs.sources, toy_pairs.sources, toy_pairs.sources)
    plan = replace(few("nli-languages", "1,2"), corpus=Corpus(triplets=(table, table)))
    assert [len(plan.of(name)[0].triplets) for name in ("1", "2")] == [1, 2]
    options = replace(plan.options, languages="en,zh,de")
    plan = replace(plan, options=options, corpus=Corpus(triplets=(table,) * 3))
    assert [len(plan.of(name)[0].triplets) for name in ("1", "2")] == [1, 2]
    for value in ("3", "0", "-1", "all"):
        with pytest.raises(OptionError, match=f"--triplets is '{value}' in the grid, and 2 files"):
            tables_of({TRIPLETS: value}, 2)


def test_fewer_pairs_are_among_more_and_the_same_are_held_out(toy_pairs: ParallelText) -> None:
    weights = {"odd": 2.0, "even": 0.5}

    def split(limit: int, seed: int = 1) -> Split:
        options = MsimcseOptions(limit_pairs=limit, held_out=100, seed=seed, source_weight=weights)
        return Split.of(toy_pairs, options)

    few, more, every = split(50), split(300), split(0)
    assert [len(each.seen) for each in (few, more)] == [50, 300] and len(every.seen) > 1300
    assert set(few.seen.sources) < set(more.seen.sources) < set(every.seen.sources)
    assert few.held_out == more.held_out == every.held_out
    assert set(split(50, seed=2).seen.sources) != set(few.seen.sources)
    expected = [weights[origin] for origin in more.seen.origins]
    assert more.visits.tolist() == expected and len(split(10**6).seen) == len(every.seen)


def test_a_limit_leaves_weights_of_origins_that_are_gone_out() -> None:
    words = [f"w{at}" for at in range(200)]
    pairs = ParallelText(words, [f"z{word}" for word in words], ["rare"] + ["usual"] * 199)
    options = MsimcseOptions(limit_pairs=3, held_out=5, source_weight={"rare": 0.1, "usual": 2.0})
    left = Split.of(pairs, options)
    assert left.seen.origins == ["usual"] * 3 and left.visits.tolist() == [2.0] * 3


def test_every_setting_and_seed_is_trained_once_and_stands_in_the_tables(
    few: Few, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[list[str]] = []
    titles: list[str] = []

    def measure(encoders: Encoders) -> dict[str, float]:
        measured.append(list(encoders))
        return {"width": float(encoders[""].dim)}

    def run(plan: Plan) -> list[Cell]:
        return ablate(
            plan, tmp_path / "out", measure, told=lambda title, cell: titles.append(title)
        )

    plan = few("epochs", "1,2", learning_rate=0.05)
    cells = run(plan)
    assert [(cell.setting, cell.seed) for cell in cells] == [
        (setting, seed) for setting in (UNTRAINED, "1", "2") for seed in (1, 2)
    ]
    assert measured == [[""]] * 5  # the untrained encoder is the same with both seeds
    assert titles[2] == "epochs 1, seed 1 (3 of 6)"
    assert all(cell.figures["width"] == 32 and not cell.failed for cell in cells)
    # Training measured the same start before its first step: the toy encoder retrieves all.
    assert cells[0].figures["accuracy"] == 1 and cells[0].figures.keys() == cells[2].figures.keys()
    assert SentenceEncoder.load(tmp_path / "out" / "2-seed-2").dim == 32

    def never(*arguments: object, **flags: object) -> None:
        raise AssertionError("done again")

    for name in ("train", "begin"):
        monkeypatch.setattr(ablation, name, never)
    assert run(plan) == cells and len(measured) == 5
    other = replace(plan.options, learning_rate=0.01)
    with pytest.raises(FileError, match="--learning-rate is 0"):
        run(replace(plan, options=other))
    with pytest.raises(FileError, match="holds another ablation: it was of other data"):
        run(replace(plan, corpus=Corpus(plan.corpus.pairs.take(np.arange(1400)))))
    with pytest.raises(FileError, match="--measure is None there, and 'bucc' here"):
        run(replace(plan, measured={"--measure": "bucc"}))
    # Settings and seeds may change: what is asked for now is what is given.
    assert run(replace(plan, settings={"2": {"epochs": "2"}}, seeds=[2])) == [cells[1], cells[5]]


def test_a_killed_ablation_goes_on_with_the_same_figures(
    few: Few, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = few("epochs", "1,2", (1,), steps=4)
    whole = ablate(plan, tmp_path / "whole")
    calls: list[int] = []

    def killed(encoders: Encoders) -> dict[str, float]:
        calls.append(1)
        if len(calls) == 2:  # after the encoder was saved
            raise KeyboardInterrupt
        return {}

    with pytest.raises(KeyboardInterrupt):
        ablate(plan, tmp_path / "out", killed)
    first = tmp_path / "out" / "1-seed-1"
    assert "benchmarks" not in json.loads((first / "figures.json").read_text())
    before = (first / "model.safetensors").stat().st_mtime_ns
    real = ablation.train
    trained: list[Path] = []

    def train(*arguments: Any, **flags: Any) -> Any:
        trained.append(arguments[3])
        return real(*arguments, **flags)

    monkeypatch.setattr(ablation, "train", train)
    assert ablate(plan, tmp_path / "out", killed) == whole
    assert (first / "model.safetensors").stat().st_mtime_ns == before
    assert [folder.name for folder in trained] == ["2-seed-1"]
    (first / "figures.json").unlink()  # killed between the encoder and its figures
    assert ablate(plan, tmp_path / "out", killed) == whole


@pytest.mark.parametrize(
    ("name", "value"),
    [("epochs", "1"), ("temperature", "0.05"), ("transaug-temperature", "0.05")],
)
def test_a_new_encoder_is_measured_as_training_would_before_its_first_step(
    few: Few, tmp_path: Path, name: str, value: str
) -> None:
    still: dict[str, Any] = {"learning_rate": 1e-12, "steps": 1}
    if ABLATIONS[name].method == "transaug":
        still |= {"distil_learning_rate": 1e-12, "teacher": "embedded"}
    plan = few(name, value, encoder="scratch", vocabulary_size=500, width=16, **still)
    cells = ablate(plan, tmp_path / "out", lambda encoders: {"kinds": float(len(encoders))})
    for before, after in zip(cells[:2], cells[2:], strict=True):
        same = {figure: after.figures[figure] for figure in before.figures}
        assert before.figures == pytest.approx(same, abs=1e-6)
        assert 0 < before.figures["accuracy"] < 0.9
    assert cells[0].figures != cells[1].figures  # another with each seed
    left = [path.name for path in (tmp_path / "out").glob("untrained*/*")]
    assert left == ["figures.json"] * 2


def test_sentences_with_what_they_entail_are_held_out_where_there_are_no_pairs(
    few: Few, tmp_path: Path, toy_pairs: ParallelText
) -> None:
    table = Triplets(toy_pairs.sources, toy_pairs.targets, toy_pairs.targets[::-1])
    plan = few("hard-negatives", "true", (1,), learning_rate=1e-12, steps=1)
    before, after = ablate(replace(plan, corpus=Corpus(triplets=(table,))), tmp_path / "out")
    assert before.figures == pytest.approx(after.figures) and before.figures["accuracy"] == 1


def test_a_loss_that_is_no_number_is_a_cell_without_figures(
    few: Few, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = few("learning-rate", "0.01,1e38", (1,), encoder="scratch", vocabulary_size=500, steps=3)
    _, well, ill = ablate(plan, tmp_path / "out")
    assert well.figures and not well.failed
    assert not ill.figures and ill.failed.startswith("the loss is ")
    assert sorted(path.name for path in (tmp_path / "out" / "1e38-seed-1").iterdir()) == [
        "figures.json"
    ]
    assert not list((tmp_path / "out").glob("*.training"))
    assert ablate(plan, tmp_path / "out")[2] == ill
    assert table_of([well, ill])[2][:3] == ["1e38", "1", "-"]
    assert issubclass(Diverged, TrainingError)


def test_two_encoders_begin_and_end_under_the_names_of_their_sides(
    few: Few, tmp_path: Path, toy_folder: Path
) -> None:
    shutil.copytree(toy_folder, tmp_path / "other")
    sides = {"src_encoder": str(toy_folder), "tgt_encoder": str(tmp_path / "other")}
    plan = few("momentum", "0.5", (1,), encoder="scratch", queue_size=128, **sides)
    seen: list[list[str]] = []

    def measure(encoders: Encoders) -> dict[str, float]:
        seen.append(sorted(encoders))
        return {}

    cells = ablate(plan, tmp_path / "out", measure)
    assert seen == [["source", "target"]] * 2
    assert cells[0].figures["accuracy"] == 1
    path = tmp_path / "out" / "0.5-seed-1" / "figures.json"
    path.write_text(json.dumps({"training": {"accuracy": 0.5}}))  # killed before benchmarks
    assert ablate(plan, tmp_path / "out", measure)[1].figures == {"accuracy": 0.5}
    assert seen == [["source", "target"]] * 3


def test_the_student_is_named_by_the_side_that_it_reads(few: Few, tmp_path: Path) -> None:
    options = few("teacher", "as-it-is").options
    folder = options.encoder
    plan = few("architecture", "frozen", (1,), teacher=folder, distilled_encoder=folder)
    for languages, width in {"en,zh": 16, "zh,en": 32}.items():
        start = {"languages": languages, "encoder": "scratch", "width": 16, "vocabulary_size": 500}
        cells: list[int] = []
        begun = replace(plan, options=replace(plan.options, **start), settings={})
        ablate(
            begun,
            tmp_path / languages,
            lambda encoders, cells=cells: cells.append(encoders["source"].dim) or {},
        )
        assert cells == [width]


def test_a_folder_of_something_else_is_left_alone(few: Few, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for place in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(FileError, match="exists and is no ablation"):
            ablate(few("epochs", "1"), place)
    with pytest.raises(OptionError, match="--epochs is 'x'"):
        plan = few("epochs", "1")
        ablate(replace(plan, settings={"x": {"epochs": "x"}}), tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt"]


CELLS = [
    Cell(UNTRAINED, 1, {"accuracy": 0.25, "forward": 0.1}),
    Cell("1", 1, {"accuracy": 0.5, "forward": 0.2, "stsb": 0.75}),
    Cell("1", 2, {"accuracy": 0.7, "forward": 0.3, "stsb": 0.75}),
    Cell("3", 1, {}, "the loss is nan"),
]


def test_tables_have_means_spreads_and_every_figure(tmp_path: Path) -> None:
    averages = averages_of(CELLS)
    assert averages["1"]["accuracy"] == pytest.approx((0.6, 0.02**0.5))
    assert averages[UNTRAINED]["accuracy"] == (0.25, None) and averages["3"] == {}
    assert table_of(CELLS) == [
        ["setting", "seeds", "accuracy", "stsb"],
        [UNTRAINED, "1", "0.250", "-"],
        ["1", "2", "0.600 ±0.141", "0.750 ±0.000"],
        ["3", "1", "-", "-"],
    ]
    write_tables("epochs", CELLS, tmp_path)
    rows = list(csv.DictReader((tmp_path / "ablation.csv").read_text().splitlines()))
    assert [row["setting"] for row in rows] == [UNTRAINED, "1", "1", "3"]
    assert (rows[2]["seed"], rows[2]["forward"], rows[0]["stsb"]) == ("2", "0.3", "")
    facts = json.loads((tmp_path / "ablation.json").read_text())
    assert facts.items() >= json.loads(json.dumps(facts_of("epochs", CELLS))).items()
    assert (facts["option"], facts["method"]) == ("--epochs", "msimcse")
    assert facts["settings"] == {"1": {"epochs": "1"}, "3": {"epochs": "3"}}
    assert facts["machine"]["cores"] and facts["cells"][3]["failed"] == "the loss is nan"


@pytest.mark.parametrize("name", ["epochs", "teacher"])
def test_a_picture_has_its_numbers_beside_it(tmp_path: Path, name: str) -> None:
    draw(name, CELLS, "accuracy", tmp_path / "accuracy.png")
    assert (tmp_path / "accuracy.png").stat().st_size > 5000
    assert (tmp_path / "accuracy.csv").read_text() == (
        "setting,seed,accuracy\nuntrained,1,0.250000\n1,1,0.500000\n1,2,0.700000\n"
    )


def test_headlines_are_of_what_there_are_files_for(
    tmp_path: Path, toy_pairs: ParallelText, toy_encoder: SentenceEncoder
) -> None:
    folder = tmp_path / "tatoeba"
    folder.mkdir()
    for language, shift in (("cmn", 0), ("deu", 1)):  # German lines translate their neighbours
        for side, texts in (("eng", toy_pairs.sources), (language, toy_pairs.targets[shift:])):
            text = "".join(f"{each}\n" for each in texts[:50])
            Path(folder, f"tatoeba.{language}-eng.{side}").write_text(text, encoding="utf-8")
    (tmp_path / "stsb").mkdir()
    rows = "".join(
        f"{toy_pairs.sources[at]},{toy_pairs.sources[at if at % 2 else at + 1]},{at % 2 * 5.0}\n"
        for at in range(20)
    )
    (tmp_path / "stsb" / "stsb-en-test.csv").write_text(rows, encoding="utf-8")
    told: list[str] = []
    measure = Headlines(DataFolder(tmp_path), ["tatoeba", "bucc", "stsb"], warn=told.append)
    for _ in range(2):
        found = measure({"": toy_encoder})
        assert found["tatoeba"] == 1 and found["stsb"] > 0.8 and list(found) == ["tatoeba", "stsb"]
    assert len(told) == 1 and told[0].startswith("bucc is not measured: there are no files: ")
    told.clear()
    assert measure({"source": toy_encoder, "target": toy_encoder}) == {"stsb": found["stsb"]}
    assert told == [
        f"{name} is not measured: it needs one encoder that reads both languages"
        for name in ("tatoeba", "bucc")
    ]
