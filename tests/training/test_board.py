"""Curves in TensorBoard: what metrics.jsonl has, each step once, also where a run went on."""

import json
import signal
import sys
from pathlib import Path

import pytest

from xmine.errors import XmineError
from xmine.pairs.io import ParallelText
from xmine.progress import Progress
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.options.per_method import MsimcseOptions
from xmine.trainer.train import train


def curves(folder: Path) -> dict[str, dict[int, float]]:
    """Read every curve as TensorBoard shows it: name -> step -> value."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    return {
        name: {each.step: each.value for each in events.Scalars(name)}
        for name in events.Tags()["scalars"]
    }


def options(folder: Path) -> MsimcseOptions:
    return MsimcseOptions(
        vocabulary_size=500,
        width=16,
        batch_size=64,
        held_out=100,
        steps=45,
        evaluate_every=15,
        epochs=9,
        tensorboard=str(folder),
        threads=1,
    )


def test_curves_are_the_metrics_also_of_a_run_that_went_on(
    toy_pairs: ParallelText, tmp_path: Path
) -> None:
    steps = 0

    def interrupt(progress: Progress) -> None:
        nonlocal steps
        if "loss" in progress.numbers:
            steps += 1
            if steps == 25:
                signal.raise_signal(signal.SIGINT)

    corpus, boards = Corpus(pairs=toy_pairs), tmp_path / "boards"
    with pytest.raises(KeyboardInterrupt):
        train("msimcse", corpus, options(boards), tmp_path / "made", interrupt)
    train("msimcse", corpus, options(boards), tmp_path / "made", resume=True)
    logged: dict[str, dict[int, float]] = {}
    for line in (tmp_path / "made" / "metrics.jsonl").read_text().splitlines():
        numbers = json.loads(line)
        for name in numbers.keys() - {"step", "epoch", "excluded"}:
            logged.setdefault(name, {})[numbers["step"]] = numbers[name]
    assert {"loss", "accuracy", "alignment"} <= logged.keys()
    drawn = curves(boards / "made")
    assert drawn.keys() == logged.keys()
    for name, values in logged.items():
        assert drawn[name] == pytest.approx(values, rel=1e-6), name


def test_tensorboard_that_is_missing_is_told_before_work(
    toy_pairs: ParallelText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(XmineError, match="--tensorboard needs tensorboard"):
        train("msimcse", Corpus(pairs=toy_pairs), options(tmp_path / "boards"), tmp_path / "made")
    assert not list(tmp_path.iterdir())
