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
