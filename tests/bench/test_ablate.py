"""bench/ablate.py: settings that `xmine train` takes, every setting with every seed, going on."""

import json
import shlex
import subprocess
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import ablate
import pytest

from xmine.cli.train import command_of
from xmine.options import without_effect
from xmine.pairs.io import ParallelText
from xmine.trainer.methods import METHODS


@pytest.mark.parametrize("name", ablate.ablations())
def test_every_setting_is_options_of_the_method_and_differs_from_the_others(name: str) -> None:
    ablation, made = ablate.ablations()[name], []
    method = METHODS[ablation.method]
    of_method = {field.name for field in fields(method.options)}
    for words in ablation.named.values():
        start = ["--distilled-encoder", "embedded"] if ablation.method == "transaug" else []
        if ablation.option == "--pooling":
            start += ["--architecture", "transformer"]
        command = command_of(ablation.method)
        parsed = command.make_context("train", ["pairs.tsv", *start, *shlex.split(words)])
        given = {
            each: value
            for each, value in parsed.params.items()
            if str(getattr(parsed.get_parameter_source(each), "name", "")) == "COMMANDLINE"
            and each in of_method
        }
        options = method.options(**given)
        encoder = options.encoder.replace("auto", "scratch")  # as with many pairs
        assert not without_effect(replace(options, encoder=encoder)), "none is given in vain"
        assert options not in made
        made.append(options)
    assert len(made) > 1


class Train:
    """Stands in for `xmine`: trains nothing, says what it was asked for."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, *words: str) -> "subprocess.CompletedProcess[str]":
        self.lines.append(" ".join(words))
        if words[0] == "eval":
            return subprocess.CompletedProcess(words, 0, '{"headline": {"value": 0.25}}', "")
        if "0.99" in words:
            return subprocess.CompletedProcess(words, 1, "", "xmine: the loss is nan\nhint: x\n")
        if "0.4" in words and len(self.lines) == 3:  # stopped at the first time
            return subprocess.CompletedProcess(words, 130, "", "xmine: interrupted\n")
        seed = int(words[words.index("--seed") + 1])
        said = {"output": "x", "pairs": 9, "before": 0.1, "accuracy": 0.5 + seed / 10}
        return subprocess.CompletedProcess(words, 0, json.dumps(said), "")


def test_every_setting_is_trained_with_every_seed_once_and_a_stopped_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = Train()
    monkeypatch.setattr(ablate, "xmine", train)
    folder = str(tmp_path / "out")
    line = ["momentum", "p.tsv", "-o", folder, "--seeds", "1,2", "--grid", "0.4,0.99"]
    with pytest.raises(SystemExit, match="xmine: interrupted"):
        ablate.ablate(*ablate.parsed(line))
    assert train.lines[:2] == [
        f"train p.tsv --method moco --steps 1 --learning-rate 1e-12 --seed {seed} -o "
        f"{folder}/untrained-seed-{seed} --force --resume auto"
        for seed in (1, 2)
    ]
    found = ablate.ablate(*ablate.parsed(line))
    assert train.lines[3] == train.lines[2]
    assert [each.split(" -o ")[0] for each in train.lines[4:]] == [
        f"train p.tsv --method moco --momentum {value} --seed {seed}"
        for value, seed in (("0.4", 2), ("0.99", 1), ("0.99", 2))
    ]
    average = {"accuracy": {"mean": pytest.approx(0.65), "deviation": pytest.approx(0.02**0.5 / 2)}}
    assert found["averages"] == {"untrained": average, "0.4": average, "0.99": {}}
    assert [each["failed"] for each in found["cells"][4:]] == ["xmine: the loss is nan"] * 2
    assert ablate.table(found) == [
        "| --momentum | accuracy |",
        "|---|---|",
        "| untrained | 65.0 ± 7.1 |",
        "| 0.4 | 65.0 ± 7.1 |",
        "| 0.99 |  |",
    ]
    assert ablate.ablate(*ablate.parsed(line)) == found and len(train.lines) == 7
    written = json.loads((tmp_path / "out" / "ablation.json").read_text())
    assert written["cells"] == found["cells"] and written["machine"]["cores"]
    with pytest.raises(SystemExit, match="was made by another command"):
        ablate.ablate(*ablate.parsed([*line, "--epochs", "3"]))


def test_benchmarks_measure_the_encoder_of_english_where_there_are_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = Train()
    monkeypatch.setattr(ablate, "xmine", train)
    folder = tmp_path / "out"
    line = ["epochs", "p.tsv", "-o", str(folder), "--grid", "2", "--data", "eval"]
    for measured in ("stsb", "tatoeba"):
        line += ["--measure", measured]
    (folder / "2-seed-1" / "source").mkdir(parents=True)
    (folder / "2-seed-1" / "options.toml").write_text('languages = "zh,en"\n')
    found = ablate.ablate(*ablate.parsed(line))
    assert found["averages"]["2"]["stsb"] == {"mean": 0.25, "deviation": None}
    assert [each for each in train.lines if each.startswith("eval")][2:] == [
        f"eval sts --task stsb --data eval --model {folder}/2-seed-1/target",
        f"eval tatoeba --language cmn --data eval --model {folder}/2-seed-1",
    ]


@pytest.mark.long
def test_the_untrained_encoder_retrieves_as_before_the_first_step(
    tmp_path: Path, toy_pairs: ParallelText, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[dict[str, Any]] = []
    real = ablate.xmine

    def xmine(*words: str) -> "subprocess.CompletedProcess[str]":
        done = real(*words)
        said.append(json.loads(done.stdout))
        return done

    monkeypatch.setattr(ablate, "xmine", xmine)
    rows = zip(toy_pairs.sources, toy_pairs.targets, strict=True)
    (tmp_path / "p.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    few: list[Any] = "--batch-size 64 --held-out 100 --threads 1 --encoder scratch --dim 16".split()
    line = ["epochs", str(tmp_path / "p.tsv"), "-o", str(tmp_path / "out"), "--grid", "1", *few]
    found = ablate.ablate(*ablate.parsed(line))
    untrained, trained = (each["figures"] for each in found["cells"])
    assert untrained["accuracy"] == said[1]["before"]
    assert trained["accuracy"] > untrained["accuracy"]
