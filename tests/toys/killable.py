"""The command in a process that is forked with everything loaded, so that it is soon killed."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from xmine.cli import run
from xmine.knn import tiles


def mine(folder: str, arguments: list[str]) -> None:
    """Run `xmine ARGUMENTS` in a folder, searching in small tiles."""
    tiles._EXACT_ROWS = tiles._LISTED_ROWS = 400, 400
    os.chdir(folder)
    sys.argv = ["xmine", *arguments]
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    run()


def align(folder: str, arguments: list[str], at: int) -> None:
    """Run `xmine ARGUMENTS` in a folder, killed before its file number `at` has its name."""
    replace, left = Path.replace, iter(range(at - 1, -1, -1))

    def killed(path: Path, target: Any) -> Path:
        if not next(left):
            os.kill(os.getpid(), signal.SIGKILL)
        return replace(path, target)

    Path.replace = killed  # type: ignore[method-assign, assignment]
    mine(folder, arguments)


def adapt(folder: str, arguments: list[str], point: str, fewest: int) -> None:
    """Run `xmine adapt ARGUMENTS` in a folder, up to a point, at which it is killed.

    The points: in the tenth step of training, behind a round's training, before mining ends.
    """
    from xmine.mining import pipeline
    from xmine.trainer import adapt as loop
    from xmine.trainer import confident
    from xmine.trainer.run.loop import Training

    def killed(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    take = Training.take

    def tenth(training: Training, *given: Any) -> None:
        if training.done == 10:
            training.save()
            take(training, *given)
            killed()
        take(training, *given)

    patches: dict[str, tuple[Any, str, Any]] = {
        "training": (Training, "take", tenth),
        "between": (loop, "mine", killed),
        "mining": (pipeline, "write_results", killed),
    }
    setattr(*patches[point])
    confident.FEWEST = fewest
    mine(folder, ["adapt", *arguments])


def train(
    method: str, corpus: Any, options: Any, output: Path, point: tuple[str, int, str], resume: bool
) -> None:
    """Train until a step of a stage, and be stopped there in a way.

    By a signal; by a kill; by a kill before, in, or after the writing of a checkpoint that is due
    at this step; or, with step 0, by one when all steps are over.
    """
    from xmine.trainer import train as training
    from xmine.trainer.run import loop, prepare
    from xmine.trainer.run.checkpoints import TrainingRun

    stage, step, how = point
    now, save = [0.0], TrainingRun.save

    def killed(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def report(progress: Any) -> None:
        if "loss" in progress.numbers and (progress.stage, progress.done) == (stage, step):
            now[0] += loop._SAVE_EVERY + 1
            if how == "killed":
                killed()
            elif how.startswith("SIG"):
                signal.raise_signal(signal.Signals[how])

    def saved(*given: Any) -> None:
        if now[0] and how == "before":
            killed()
        if now[0] and how == "in":
            Path.replace = killed  # type: ignore[method-assign, assignment]
        save(*given)
        if now[0] and how == "after":
            killed()

    TrainingRun.save = saved  # type: ignore[method-assign, assignment]
    loop.time.monotonic = lambda: now[0]  # type: ignore[attr-defined]
    prepare._MANY = 1  # tokens are mapped from files
    if method == "moco":
        loop._IN_MEMORY = 0  # the best state is in a file, as that of a large model
    if not step:
        training._encoders = killed  # type: ignore[assignment]
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    training.train(method, corpus, options, output, report, resume=resume)
