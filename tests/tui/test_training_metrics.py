"""Metrics of a training run, read while they are written."""

import json
from pathlib import Path

from xmine.tui.state.training_metrics import Metrics


def line(**row: object) -> str:
    return json.dumps(row) + "\n"


def test_lines_are_read_when_they_are_whole_and_once(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "encoder")
    assert not metrics.refresh()
    log = tmp_path / "encoder.training" / "metrics.jsonl"
    log.parent.mkdir()
    log.write_text(line(step=20, loss=3.5, lr=0.1) + line(step=20, accuracy=0.25) + '{"step": 4')
    assert metrics.refresh()
    assert metrics.losses == {"": [(20.0, 3.5)]} and metrics.accuracies == {"": [(20.0, 0.25)]}
    assert metrics.figures == {"loss": 3.5, "lr": 0.1, "accuracy": 0.25}
    log.write_text(log.read_text() + '0, "loss": 2.5}\n[1]\n{"step": "x"}\n')
    assert metrics.refresh() and not metrics.refresh()
    assert metrics.losses == {"": [(20.0, 3.5), (40.0, 2.5)]}
    (tmp_path / "encoder").mkdir()
    log.rename(tmp_path / "encoder" / "metrics.jsonl")  # so a run ends
    assert not metrics.refresh()
    assert metrics.losses == {"": [(20.0, 3.5), (40.0, 2.5)]}


def test_a_run_that_begins_anew_is_read_from_its_start(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "encoder")
    log = tmp_path / "encoder.training" / "metrics.jsonl"
    log.parent.mkdir()
    log.write_text(line(stage="distil", step=20, loss=3.5) + line(stage="nli", step=20, loss=1.5))
    metrics.refresh()
    assert metrics.losses == {"distil": [(20.0, 3.5)], "nli": [(20.0, 1.5)]}
    log.write_text(line(stage="distil", step=20, loss=9.5))
    metrics.refresh()
    assert metrics.losses == {"distil": [(20.0, 9.5)]}


def test_what_is_told_before_it_is_logged_is_taken_once(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path / "encoder")
    metrics.hear("training", 1, {"loss": 7.0})
    metrics.hear("training", 20, {"loss": 3.5, "rows/s": 5.0})
    metrics.hear("training", 20, {"loss": 3.5})
    metrics.hear("vocabulary", 1, {})
    log = tmp_path / "encoder.training" / "metrics.jsonl"
    log.parent.mkdir()
    log.write_text(line(step=20, loss=3.5))
    metrics.refresh()
    assert metrics.losses == {"": [(1.0, 7.0), (20.0, 3.5)]}
