import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import numpy as np
import pytest
import torch
from accelerate.tracking import LOGGER_TYPE_TO_CLASS

from tests.toys.grids import mostly_long
from tests.toys.killed import Killed, kill_at
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.tokenizer import Vocabulary
from xmine.errors import FileError, TrainingError
from xmine.pairs.io import ParallelText
from xmine.progress import Progress
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.methods import METHODS
from xmine.trainer.models.static import StaticTower, new_static
from xmine.trainer.options.contrast import MsimcseOptions
from xmine.trainer.options.shared import TrainingOptions
from xmine.trainer.run.checkpoints import run_folder
from xmine.trainer.train import Trained
from xmine.trainer.train import train as train_on

# Small enough for seconds; two thirds of the words are seen often enough to be learned.
OPTIONS: dict[str, Any] = dict(vocabulary_size=500, dim=32, batch_size=64, epochs=3, held_out=200)
OPTIONS |= dict(learning_rate=0.02, threads=1)
# What each method needs besides to learn the toy languages in a few steps.
OF_METHOD: dict[str, dict[str, Any]] = {
    "msimcse": {"symmetric": True},
    "moco": {"momentum": 0.5, "queue_size": 128, "epochs": 6},
    "transaug": {"queue_size": 128, "teacher": "the toy encoder"},
    "emma-x": {"momentum": 0.5, "queue_size": 128, "em_epochs": 1},
}
MSIMCSE = OPTIONS | OF_METHOD["msimcse"]
FEW = MSIMCSE | {"steps": 3}


@pytest.fixture
def options_of(toy_folder: Path) -> Callable[..., TrainingOptions]:
    """Make the options of a method, with some changed."""

    def make(name: str, **changes: Any) -> TrainingOptions:
        options = OPTIONS | OF_METHOD[name] | changes
        if "teacher" in options:
            options["teacher"] = str(toy_folder)
        return METHODS[name].options(**options)

    return make


def train(method: str, pairs: ParallelText, *rest: Any, **flags: Any) -> Trained:
    return train_on(method, Corpus(pairs=pairs), *rest, **flags)


def weights_of(folder: Path) -> list[bytes]:
    """Read the weights of an encoder, or of all in a folder."""
    return [path.read_bytes() for path in sorted(folder.rglob("model.safetensors"))]


def metrics(folder: Path) -> list[dict[str, float]]:
    """Read a run's log, without the speed, which differs from run to run."""
    file, *others = sorted(folder.rglob("metrics.jsonl"))
    assert all(other.read_bytes() == file.read_bytes() for other in others)
    lines = file.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [{name: x for name, x in row.items() if name != "pairs_per_second"} for row in rows]


def test_the_sparse_gradient_is_that_of_torch(
    toy_vocabulary: Vocabulary, toy_pairs: ParallelText
) -> None:
    tower = StaticTower(new_static(toy_vocabulary, 8, seed=1))
    side = tower.cut(toy_pairs.sources[:50])
    weights = torch.randn(50, 8, generator=torch.Generator().manual_seed(1))
    torch.autograd.backward((tower.embed(side) * weights).sum())
    dense = tower.vectors.detach().clone().requires_grad_()
    sums = torch.nn.functional.embedding_bag(
        torch.from_numpy(side.ids.astype(np.int64)),
        dense,
        torch.from_numpy(side.starts),
        mode="sum",
        include_last_offset=True,
    )
    torch.autograd.backward((torch.nn.functional.normalize(sums, dim=1) * weights).sum())
    assert dense.grad is not None and tower.vectors.grad is not None
    expected = dense.grad.clone()
    expected[tower.get_buffer("fixed")] = 0
    torch.testing.assert_close(tower.vectors.grad.to_dense(), expected)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_learns_the_toy_languages(
    name: str, options_of: Callable[..., TrainingOptions], toy_pairs: ParallelText, tmp_path: Path
) -> None:
    losses: list[float] = []

    def watch(progress: Progress) -> None:
        if "loss" in progress.numbers:
            losses.append(progress.numbers["loss"])

    trained = train(name, toy_pairs, options_of(name), tmp_path / "encoder", watch)
    assert losses[-1] < max(losses) / 10
    assert trained.measures["accuracy"] > 0.9
    assert abs(trained.measures["likeness"]) < 0.3
    for each in trained.encoders:
        loaded = SentenceEncoder.load(tmp_path / "encoder" / each)
        assert loaded.facts.languages == ("en", "zh")
        assert "| odd |" in loaded.card and "mSimCSE" not in loaded.card.splitlines()[0]
    lines = metrics(tmp_path / "encoder")
    steps = {line.get("stage", ""): line["step"] for line in lines if line["step"]}
    assert sum(steps.values()) == len(losses)
    assert [line["accuracy"] for line in lines if "accuracy" in line][-1] > 0.9
    assert not run_folder(tmp_path / "encoder").exists()


@pytest.mark.parametrize("name", METHODS)
def test_golden_first_losses(
    name: str, options_of: Callable[..., TrainingOptions], toy_pairs: ParallelText, tmp_path: Path
) -> None:
    """Seed 1, one thread, fp32; tolerance 1e-4."""
    seen: list[float] = []

    def watch(progress: Progress) -> None:
        if "loss" in progress.numbers:
            seen.append(progress.numbers["loss"])
            if len(seen) == 4:
                raise Killed

    with pytest.raises(Killed):
        train(name, toy_pairs, options_of(name), tmp_path / "golden", watch)
    assert seen == pytest.approx(GOLDEN[name], abs=1e-4)


GOLDEN = {
    "msimcse": [17.939337, 10.538122, 4.987749, 0.712747],
    "moco": [0.0, 19.515446, 19.109570, 10.942549],
    "transaug": [0.162944, 0.169233, 0.175467, 0.152697],
    "emma-x": [13.979489, 10.907825, 6.876069, 3.582436],
}


def test_a_tracker_gets_what_the_log_gets(
    toy_pairs: ParallelText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Mock()
    monkeypatch.setitem(LOGGER_TYPE_TO_CLASS, "trackio", opened)
    options = MsimcseOptions(**FEW, log_with="trackio")
    with pytest.raises(Killed):
        train("msimcse", toy_pairs, options, tmp_path / "killed", kill_at(1))
    opened.return_value.finish.assert_called_once_with()
    opened.reset_mock()
    train("msimcse", toy_pairs, options, tmp_path / "encoder")
    opened.assert_called_once_with("xmine", name="encoder")
    begun, chosen, *logged, ended = opened.return_value.method_calls
    assert (begun, ended) == (call.start(), call.finish())
    assert chosen.args[0]["steps"] == 3 and chosen.args[0]["temperature"] == 0.05
    found = [{k: x for k, x in each.args[0].items() if k != "pairs_per_second"} for each in logged]
    assert found == metrics(tmp_path / "encoder")[1:]


def test_seeds_differ(toy_pairs: ParallelText, tmp_path: Path) -> None:
    runs = [
        train("msimcse", toy_pairs, MsimcseOptions(**FEW | {"seed": seed}), tmp_path / str(at))
        for at, seed in enumerate([1, 1, 2])
    ]
    assert len(runs) == 3
    rows = [weights_of(tmp_path / str(at)) for at in range(3)]
    assert rows[0] == rows[1] != rows[2]
    models = [(tmp_path / str(at) / "sentencepiece.model").read_bytes() for at in range(2)]
    assert models[0] == models[1]
    assert b"normaliser.tsv" not in models[0]  # nor any other name of a file of this machine


def test_too_high_a_learning_rate_is_an_error_that_says_so(
    toy_pairs: ParallelText, tmp_path: Path
) -> None:
    options = MsimcseOptions(**{**MSIMCSE, "learning_rate": 1e37})
    with pytest.raises(TrainingError, match="the loss is") as error:
        train("msimcse", toy_pairs, options, tmp_path / "encoder")
    assert "--learning-rate" in error.value.hint and "--force" in error.value.hint
    assert not (tmp_path / "encoder").exists()
    train("msimcse", toy_pairs, MsimcseOptions(**FEW), tmp_path / "encoder", force=True)


def test_a_last_step_that_leads_to_no_numbers_is_the_same_error(
    toy_pairs: ParallelText, tmp_path: Path
) -> None:
    """The loss is that of the weights before a step."""
    first = {"learning_rate": 1e37, "warmup": 0.0, "steps": 1}
    more = {"architecture": "transformer", "layers": 1, "heads": 2}
    options = MsimcseOptions(**{**MSIMCSE, **first, **more})
    with pytest.raises(TrainingError, match="vectors of held-out sentences are no longer") as error:
        train("msimcse", toy_pairs, options, tmp_path / "encoder")
    assert "--learning-rate" in error.value.hint
    assert not (tmp_path / "encoder").exists()


@pytest.mark.parametrize("flags", [{}, {"force": True}, {"resume": "auto"}])
def test_a_run_that_was_killed_before_it_began_is_begun(
    toy_pairs: ParallelText, tmp_path: Path, flags: dict[str, Any]
) -> None:
    folder = run_folder(tmp_path / "encoder")
    folder.mkdir()
    for name in (".lock", "data.txt", ".inputs.txt.x1y2.partial"):
        (folder / name).touch()
    with pytest.raises(TrainingError, match="no run to resume"):
        train("msimcse", toy_pairs, MsimcseOptions(**MSIMCSE), tmp_path / "encoder", resume=True)
    train("msimcse", toy_pairs, MsimcseOptions(**FEW), tmp_path / "encoder", **flags)
    assert not folder.exists()


def test_a_folder_that_is_no_run_is_not_touched(toy_pairs: ParallelText, tmp_path: Path) -> None:
    run_folder(tmp_path / "encoder").mkdir()
    thesis = run_folder(tmp_path / "encoder") / "thesis.txt"
    thesis.write_text("all of it")
    for flags in ({"resume": True}, {"force": True}, {}):
        with pytest.raises(TrainingError, match="no run of xmine"):
            train("msimcse", toy_pairs, MsimcseOptions(**MSIMCSE), tmp_path / "encoder", **flags)
    assert thesis.read_text() == "all of it"


@pytest.mark.parametrize("inside", mostly_long(["", "source"], ["source"]))
def test_files_of_others_in_the_folder_of_an_encoder_are_kept(
    toy_pairs: ParallelText, tmp_path: Path, inside: str
) -> None:
    """An encoder is replaced by `force`; a thesis beside its files, or beside `source`, is not."""
    output = tmp_path / "encoder"
    (output / inside).parent.mkdir(exist_ok=True)
    train("msimcse", toy_pairs, MsimcseOptions(**FEW), output / inside)
    train("msimcse", toy_pairs, MsimcseOptions(**FEW), output / inside, force=True)
    for thesis in (output / "thesis.txt", output / inside / "more" / "thesis.txt"):
        thesis.parent.mkdir(exist_ok=True)
        thesis.write_text("all of it")
        with pytest.raises(FileError, match=f"{thesis}: was not written by xmine"):
            train("msimcse", toy_pairs, MsimcseOptions(**FEW), output, force=True)
        assert thesis.read_text() == "all of it" and not run_folder(output).exists()
        thesis.unlink()
    Path(output, ".DS_Store").touch()  # of macOS, in folders that somebody looked at
    train("msimcse", toy_pairs, MsimcseOptions(**FEW), output, force=True)


def test_a_run_is_not_resumed_with_other_exclusions(
    toy_pairs: ParallelText, tmp_path: Path
) -> None:
    excluded = tmp_path / "excluded.txt"
    excluded.write_text(toy_pairs.sources[0] + "\n")
    options = MsimcseOptions(**{**MSIMCSE, "exclude": [str(excluded)]})

    with pytest.raises(Killed):
        train("msimcse", toy_pairs, options, tmp_path / "encoder", kill_at(1))
    excluded.write_text("\n".join(toy_pairs.sources[:5]) + "\n")
    with pytest.raises(TrainingError, match="other options or other data"):
        train("msimcse", toy_pairs, options, tmp_path / "encoder", resume=True)
    excluded.write_text(toy_pairs.sources[0] + "\n")
    file = tmp_path / "encoder.training" / "options.toml"
    whole = file.read_bytes()
    file.write_bytes(whole + b"[")
    with pytest.raises(TrainingError, match=r"options\.toml: broken"):
        train("msimcse", toy_pairs, options, tmp_path / "encoder", resume=True)
    file.write_bytes(whole)
    trained = train("msimcse", toy_pairs, options, tmp_path / "encoder", resume=True)
    assert trained.excluded == 1
    assert metrics(tmp_path / "encoder")[0] == {"step": 0, "excluded": 1}


def test_one_process_at_a_time_trains_in_a_folder(toy_pairs: ParallelText, tmp_path: Path) -> None:
    output, options = tmp_path / "encoder", MsimcseOptions(**MSIMCSE)
    tried = 0

    def try_too(progress: Progress) -> None:
        nonlocal tried
        if progress.stage == "training" and not tried:
            tried = 1
            before = metrics_of_run(output)
            for flags in ({}, {"resume": "auto"}, {"force": True}):
                with pytest.raises(FileError, match="another process is training in it"):
                    train("msimcse", toy_pairs, options, output, **flags)
            assert metrics_of_run(output) == before

    train("msimcse", toy_pairs, options, output, try_too)
    assert tried and not run_folder(output).exists()


def explode(progress: Progress) -> None:
    raise AssertionError(progress)


def metrics_of_run(output: Path) -> bytes:
    return (run_folder(output) / "metrics.jsonl").read_bytes()


@pytest.mark.parametrize("scores", [[3], [3, 3, 3]])
def test_scores_that_nothing_correlates_with_are_refused_before_work(
    toy_pairs: ParallelText, tmp_path: Path, scores: list[int]
) -> None:
    dev, output = tmp_path / "dev.csv", tmp_path / "encoder"
    dev.write_text("".join(f"a{at},b{at},{score}\n" for at, score in enumerate(scores)))
    said = r"dev.csv: (1 judged pairs|all judgements are 3)"
    with pytest.raises(FileError, match=said):
        train("msimcse", toy_pairs, MsimcseOptions(**MSIMCSE, dev=str(dev)), output, explode)
    assert not run_folder(output).exists()


@pytest.mark.parametrize("name", ["encoder", "dev"])
def test_a_run_is_not_resumed_with_another_encoder_or_other_scored_pairs(
    toy_pairs: ParallelText, toy_folder: Path, tmp_path: Path, name: str
) -> None:
    start = Path(shutil.copytree(toy_folder, tmp_path / "start"))
    dev, output = tmp_path / "dev.csv", tmp_path / "encoder"
    rows = [f"{text},{text},{at % 6}\n" for at, text in enumerate(toy_pairs.sources[:20])]
    dev.write_text("".join(rows))
    few = {name: MSIMCSE[name] for name in ("held_out", "batch_size", "epochs") if name in MSIMCSE}
    options = MsimcseOptions(**few, encoder=str(start), dev=str(dev))
    with pytest.raises(Killed):
        train("msimcse", toy_pairs, options, output, kill_at(1))
    (start / "README.md").write_text("of no effect")
    changed = dev if name == "dev" else next(start.glob("*.safetensors"))
    before = changed.read_bytes()
    changed.write_bytes(before[:-2] + bytes([before[-2] ^ 1]) + before[-1:])
    with pytest.raises(TrainingError, match=f"other data: --{name} is another one by now"):
        train("msimcse", toy_pairs, options, output, resume=True)
    changed.write_bytes(before)
    train("msimcse", toy_pairs, options, output, resume=True)


def test_too_little_text_for_the_vocabulary_gives_a_smaller_one_and_a_remark(
    tmp_path: Path,
) -> None:
    pairs = ParallelText([f"a{i}" for i in range(9)], [f"b{i}" for i in range(9)], [""] * 9)
    options = MsimcseOptions(**{**MSIMCSE, "held_out": 2, "batch_size": 7, "epochs": 1})
    remark, _ = train("msimcse", pairs, options, tmp_path / "e").remarks
    assert re.fullmatch(r"a vocabulary of \d\d tokens: the texts give no more", remark)


def test_an_encoder_goes_on_knowing_the_languages_it_knew(
    toy_pairs: ParallelText, toy_folder: Path, tmp_path: Path
) -> None:
    before = SentenceEncoder.load(toy_folder).facts.languages
    options = MsimcseOptions(encoder=str(toy_folder), languages="de,fr", epochs=1, steps=1)
    train_on("msimcse", Corpus(toy_pairs), options, tmp_path / "encoder")
    assert SentenceEncoder.load(tmp_path / "encoder").facts.languages == ("de", "fr", *before)
