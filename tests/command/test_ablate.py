"""xmine ablate as its users meet it: what there is, what is refused, a table, going on."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xmine.options import flag
from xmine.pairs.io import ParallelText
from xmine.trainer.ablation import runner as ablation
from xmine.trainer.ablation.specs import ABLATIONS
from xmine.trainer.methods import METHODS

Command = Callable[..., Any]
FEW = "--batch-size 64 --steps 2 --held-out 100 --threads 1".split()


@pytest.fixture
def pairs_file(tmp_path: Path, toy_pairs: ParallelText) -> Path:
    rows = zip(toy_pairs.sources, toy_pairs.targets, strict=True)
    file = tmp_path / "pairs.tsv"
    file.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_help_lists_all_ablations_with_their_sources(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = command("ablate", "--help")
    assert shown.out == command("ablate", "-h").out == command("ablate").out
    assert (shown.code, shown.err) == (0, "")
    text = " ".join(shown.out.split())
    for name, each in ABLATIONS.items():
        varied = f"{flag(each.option)} " if each.option else ""
        grid = ", ".join(each.settings)
        assert f" {name} {varied}{grid} {each.method}; {each.source}" in text
    assert max(map(len, shown.out.splitlines())) <= 80


@pytest.mark.parametrize("name", ["queue-size", "nli-languages", "teacher", "phase"])
def test_help_of_an_ablation_shows_settings_and_the_options_of_its_method(
    command: Command, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = command("ablate", name, "--help")
    assert (shown.code, shown.err) == (0, "")
    assert max(map(len, shown.out.splitlines())) <= 80
    each = ABLATIONS[name]
    for field in METHODS[each.method].options.__dataclass_fields__:
        assert f"  {flag(field)} " in shown.out or f"  -{field[0]}, {flag(field)} " in shown.out
    for setting, changes in each.settings.items():
        (line,) = re.findall(rf"^    {setting} +(--.*)$", shown.out, re.MULTILINE)
        assert all(option.replace("_", "-") in line for option in changes)
    assert f"Usage: xmine ablate {name} [OPTIONS] [PAIRS]" in shown.out


def test_what_makes_no_sense_is_refused_before_work(
    command: Command, pairs_file: Path, toy_folder: Path
) -> None:
    for words, message in {
        "magic pairs.tsv -o out": "xmine ablate: 'magic' is no ablation\nhint: its name comes ",
        "pairs.tsv epochs -o out": "xmine ablate: 'pairs.tsv' is no ablation",
        "epochs -o out": "xmine ablate epochs has nothing to learn from: msimcse takes PAIRS, ",
        "epochs pairs.tsv": "no -o: where are the encoders to go?\nhint: -o epochs/",
        "epochs pairs.tsv -o out --nli x.tsv": "--nli is for moco; xmine ablate epochs is of msim",
        "epochs pairs.tsv -o out --momentum 0": "--momentum is for moco, emma-x; xmine ablate epo",
        "epochs pairs.tsv -o out --grid 1,x": "--epochs is 'x' in the grid\nhint: give numbers",
        "teacher pairs.tsv -o out --grid all": "--grid names 'all'\nhint: choose from distilled, ",
        "teacher pairs.tsv -o out": "--stage contrast: a new --distilled-encoder has nothing to ",
        "epochs pairs.tsv -o out --seeds 1,b": "--seeds is '1,b'\nhint: give whole numbers",
        "epochs pairs.tsv -o out --seeds 1,1": "--seeds is '1,1'",
        "epochs pairs.tsv -o out --seeds 1,2 --seed 3": "--seed and --seeds\nhint: give one of",
        "epochs pairs.tsv -o out --measure x": "--measure is 'x'\nhint: choose from tatoeba, ",
        "epochs pairs.tsv -o out --measure sts": "--measure sts: there are no benchmark files\n",
    }.items():
        ended = command("ablate", *words.split())
        assert ended.err.startswith(f"xmine: {message}"), (words, ended.err)
        assert (ended.code, ended.out, ended.touched) == (2, "", set()), words
    for words, message in {
        "epochs pairs.tsv -o out --data nowhere": "nowhere: no such folder",
        "queue-size pairs.tsv -o out --grid 4096": "--queue-size 4,096 for 1,500 rows: a row wo",
        "epochs none.tsv -o out --grid 1": "none.tsv: no such file",
        "epochs pairs.tsv -o pairs.tsv --grid 1": "pairs.tsv: exists and is no ablation\nhint: ",
    }.items():
        ended = command("ablate", *words.split(), "--encoder", toy_folder, *FEW)
        assert f"xmine: {message}" in ended.err, (words, ended.err)
        assert (ended.code, ended.out, ended.touched) == (1, "", set()), words


def test_a_table_with_the_untrained_encoder_first_and_a_picture_of_each_figure(
    command: Command, pairs_file: Path, data: str, toy_folder: Path
) -> None:
    asked = ["ablate", "temperature", "pairs.tsv", "-o", "out", "--encoder", toy_folder, *FEW]
    asked += ["--grid", "0.04,0.1", "--seeds", "1,2", "--data", data]
    ended = command(*asked)
    assert ended.code == 0, ended.err
    assert ended.estimate.startswith("xmine: estimate: 4 runs (2 settings, 2 seeds), ")
    head, *rows = (line.split() for line in ended.out.splitlines())
    assert head == ["setting", "seeds", "accuracy", "tatoeba"]
    assert [row[:2] for row in rows] == [["untrained", "2"], ["0.04", "2"], ["0.1", "2"]]
    assert rows[0][2:] == ["1.000", "±0.000", "1.000", "±0.000"]
    said = ended.err.splitlines()
    warned = [line for line in said if line.startswith("xmine: warning: ")]
    assert [line.split(" is not measured")[0] for line in warned] == [
        "xmine: warning: bucc",
        "xmine: warning: stsb",
    ]
    told = [line for line in said if "(3 of 6)" in line]
    assert len(told) == 1
    assert told[0].startswith("xmine: temperature 0.04, seed 1 (3 of 6): accuracy ")
    left = {path.name for path in Path("out").iterdir()}
    pictures = {f"{name}.{kind}" for name in ("accuracy", "tatoeba") for kind in ("png", "csv")}
    assert pictures | {"ablation.csv", "ablation.json", "0.1-seed-2", "untrained-seed-1"} <= left

    again = command(*asked, "--json")
    facts = json.loads(again.out)
    assert (again.code, facts["option"], len(facts["cells"])) == (0, "--temperature", 6)
    assert not {path for path in again.touched if "seed" in path}  # nothing is done again
    refused = command(*asked[:-2], "--data", data, "--measure", "tatoeba")
    assert "xmine: out: holds another ablation: --measure is " in refused.err
    assert "hint: ask for the same to go on with it, or give another -o\n" in refused.err
    assert (refused.code, refused.touched) == (1, set())


def test_without_matplotlib_there_is_a_table_alone(
    command: Command, pairs_file: Path, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    asked = ["ablate", "epochs", "pairs.tsv", "-o", "out", "--encoder", toy_folder, "--grid", "1"]
    ended = command(*asked, *FEW)
    assert ended.code == 0 and "ablation.json, no pictures: a picture needs matplotlib" in ended.err
    assert Path("out", "ablation.csv").exists() and not list(Path("out").glob("*.png"))


def test_a_dry_run_says_what_all_runs_take(
    command: Command, pairs_file: Path, toy_folder: Path
) -> None:
    asked = ["ablate", "epochs", "pairs.tsv", "-o", "out", "--encoder", toy_folder, *FEW[:2]]
    ended = command(
        *asked, "--held-out", 100, "--dry-run", "--seeds", "1,2", "--json", "--grid", "400,500"
    )
    facts = json.loads(ended.out)
    assert (ended.code, ended.err, ended.touched) == (0, "", set())
    assert facts["runs"] == 4 and facts["seconds"] > 0 and facts["memory"] > 0


def test_settings_with_more_than_there_is_are_told_of(
    command: Command, pairs_file: Path, toy_folder: Path
) -> None:
    asked = ["ablate", "pairs", "pairs.tsv", "-o", "out", "--encoder", toy_folder, *FEW]
    ended = command(*asked, "--grid", "300,9000", "--dry-run")
    assert ended.err == (
        "xmine: warning: --limit-pairs 9,000: there are 1,500, some of them held out\n"
    )
    assert (ended.code, ended.touched) == (0, set())


def test_a_stopped_ablation_goes_on_with_the_same_command(
    command: Command, pairs_file: Path, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["ablate", "epochs", "pairs.tsv", "--encoder", toy_folder, "--grid", "1,2", *FEW]
    real = ablation.train

    def stopped(
        method: str, corpus: Any, options: Any, output: Path, *rest: Any, **flags: Any
    ) -> Any:
        if options.epochs == 2:
            raise KeyboardInterrupt
        return real(method, corpus, options, output, *rest, **flags)

    with monkeypatch.context() as patch:
        patch.setattr(ablation, "train", stopped)
        ended = command(*asked, "-o", "out")
    assert ended.code == 130
    assert "xmine: what is done is kept: the same command goes on from here\n" in ended.err
    assert not Path("out", "ablation.csv").exists()
    before = {path: path.stat().st_mtime_ns for path in Path("out").rglob("*.safetensors")}
    assert len(before) == 1 and command(*asked, "-o", "out").code == 0
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    assert len(Path("out", "ablation.csv").read_text().splitlines()) == 4


def test_options_of_another_method_in_a_file_are_refused(
    command: Command, pairs_file: Path
) -> None:
    Path("options.toml").write_text("momentum = 0.5\n")
    words = "ablate epochs pairs.tsv -o out --options options.toml".split()
    ended = command(*words)
    assert ended.err.startswith("xmine: options.toml: --momentum is for moco, emma-x; xmine ablate")
    assert ended.err.endswith("hint: leave it out\n") and ended.code == 2
    shutil.rmtree("out", ignore_errors=True)


def test_settings_that_the_data_do_not_allow_are_left_out_unless_they_are_named(
    command: Command, pairs_file: Path, toy_folder: Path
) -> None:
    words = ["ablate", "queue-size", "pairs.tsv", "-o", "out", "--encoder", toy_folder, *FEW]
    ended = command(*words, "--dry-run")
    left_out = [each for each in ended.err.splitlines() if "is left out" in each]
    assert [each.partition(" is left")[0] for each in left_out] == [
        f"xmine: warning: {size}" for size in (1024, 4096)
    ]
    assert "estimate: 2 runs (2 settings, 1 seed)" in ended.err
    named = command(*words, "--dry-run", "--grid", "256,1024")
    assert named.err.startswith("xmine: --queue-size 1,024 for 1,500 rows")
