"""The first steps of a run -> how long it takes; a trial ends there and leaves nothing."""

from pathlib import Path
from typing import Any

import numpy as np

from xmine.pairs.io import ParallelText
from xmine.progress import Progress
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.options.contrast import MsimcseOptions
from xmine.trainer.options.emma_x import EmmaXOptions
from xmine.trainer.run.checkpoints import Pace
from xmine.trainer.run.loop import Training
from xmine.trainer.train import train

FEW: dict[str, Any] = {"batch_size": 64, "held_out": 100, "threads": 1}


def test_each_stage_tells_its_pace_once(
    toy_pairs: ParallelText, toy_folder: Path, tmp_path: Path
) -> None:
    paces: list[Pace] = []
    steps: list[int] = []

    def paced(pace: Pace) -> bool:
        paces.append(pace)
        return False

    def watch(progress: Progress) -> None:
        if "loss" in progress.numbers:
            steps.append(progress.done)

    options = EmmaXOptions(encoder=str(toy_folder), queue_size=48, epochs=1, em_epochs=2, **FEW)
    train("emma-x", Corpus(toy_pairs), options, tmp_path / "new", watch, paced=paced)
    assert [(each.stage, each.steps) for each in paces] == [("phase-1", 3), ("phase-2", 3)]
    assert steps.count(1) == 2 and len(steps) == sum(each.total for each in paces)
    assert all(each.seconds > 0 and each.left > 0 and each.memory > 10**7 for each in paces)


def test_time_left_is_that_of_later_steps_and_of_evaluations() -> None:
    training = object.__new__(Training)
    for name, value in {
        "done": 3,
        "total": 40,
        "until": np.array([20, 40]),
        "options": MsimcseOptions(),
        "device": __import__("torch").device("cpu"),
        "run": type("Named", (), {"name": ""}),
    }.items():
        setattr(training, name, value)
    pace = training.pace([9.0, 11.0, 13.0], 5.0)  # the first step takes longer than others
    assert (pace.seconds, pace.left) == (2.0, 37 * 2 + 2 * 5)
    training.options = MsimcseOptions(evaluate_every=10)
    assert training.pace([9.0, 11.0, 13.0], 5.0).left == 37 * 2 + 4 * 5
    assert str(pace).startswith("after 3 steps of 40: 2 s a step, about 84 s left, ")
