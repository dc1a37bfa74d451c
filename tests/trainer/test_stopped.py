"""Training that is stopped at any moment, by a signal or a kill, goes on to the bit."""

import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from tests.toys import killable
from xmine.errors import TrainingError
from xmine.pairs.io import ParallelText
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import Triplets
from xmine.trainer.methods import METHODS
from xmine.trainer.run.checkpoints import run_folder
from xmine.trainer.train import train

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.toys.killable", "xmine.trainer.train"])
STEPS = 6  # of each stage, in each of which it is stopped in one of these ways
WAYS = {"killed": -9, "SIGINT": 1, "before": -9, "in": -9, "after": -9, "SIGTERM": -15}
OPTIONS: dict[str, Any] = dict(vocabulary_size=500, dim=24, batch_size=64, steps=STEPS, epochs=2)
OPTIONS |= dict(held_out=100, evaluate_every=2, learning_rate=0.02, threads=1, token_dropout=0.2)
QUEUE = {"queue_size": 128, "near_batches": 16}
OF_METHOD: dict[str, dict[str, Any]] = {
    "moco": {"momentum": 0.5, **QUEUE},
    "msimcse": {"encoder": "TOY", "negatives": 2, "refresh_negatives": 2},
    # whose student is of another width, so that there are matrices to be drawn again
    "transaug": {
        "encoder": "TOY",
        "teacher": "TOY",
        "nli_learning_rate": 0.001,
        "nli_epochs": 3,
        **QUEUE,
    },
    "emma-x": {"momentum": 0.5, "em_epochs": 1, **QUEUE},
}
STAGES = {"transaug": ["distil", "contrast", "nli"], "emma-x": ["phase-1", "phase-2"]}


def files_of(folder: Path) -> dict[str, Any]:
    """Read the weights and cards of all encoders, and the log without the speed."""
    found: dict[str, Any] = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.name in ("model.safetensors", "README.md")
    }
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    found["log"] = [{x: row[x] for x in row if x != "pairs_per_second"} for row in rows]
    return found


@pytest.mark.parametrize("name", METHODS)
def test_a_run_that_is_stopped_at_any_step_ends_with_the_same_files(
    name: str, toy_pairs: ParallelText, toy_folder: Path, tmp_path: Path
) -> None:
    sides = toy_pairs.sources, toy_pairs.targets
    triplets = Triplets(sides[0][:300], sides[0][300:600], sides[0][600:900])
    corpus = Corpus(pairs=toy_pairs, triplets=(triplets,) if name == "transaug" else ())
    flags = {x: str(toy_folder) if y == "TOY" else y for x, y in OF_METHOD[name].items()}
    options = METHODS[name].options(**OPTIONS | flags)
    whole, output = train(name, corpus, options, tmp_path / "whole"), tmp_path / "stopped"
    with pytest.raises(TrainingError, match="no run to resume"):
        train(name, corpus, options, output, resume=True)
    stages, ways = STAGES.get(name, ["training"]), list(WAYS)
    points = [
        (stage, step, ways[(step + at) % len(ways)])
        for at, stage in enumerate(stages)
        for step in range(1, STEPS + 1)
    ]
    cut: dict[Path, int] = {}
    for at, point in enumerate([*points, ("", 0, "killed")]):
        how = name, corpus, options, output, point, at > 0
        process = FORKS.Process(target=killable.train, args=how)
        process.start()
        process.join(60)
        assert (process.exitcode, point) == (WAYS[point[2]], point)
        assert not output.exists()
        made = {path: path.stat().st_mtime_ns for path in run_folder(output).glob("*tokens/*")}
        assert made and made.items() >= cut.items(), "cut once"
        cut = made
    with pytest.raises(TrainingError, match="a run that was stopped"):
        train(name, corpus, options, output)
    resumed = train(name, corpus, options, output, resume=True)
    assert resumed.measures == whole.measures
    assert files_of(output) == files_of(tmp_path / "whole")
    assert not [*output.glob("*tokens*")]
