import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xmine.encoders.encoder import SentenceEncoder
from xmine.pairs.io import ParallelText
from xmine.progress import Report, silent
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.options.emma_x import EmmaXOptions
from xmine.trainer.run.checkpoints import METRICS_FILE
from xmine.trainer.train import train

TOY: dict[str, Any] = dict(vocabulary_size=500, dim=32, batch_size=64, epochs=2, held_out=200)
TOY |= dict(learning_rate=0.02, threads=1, momentum=0.5, queue_size=128, ranks=4)
TOY |= dict(in_batch_negatives=False, em_learning_rate=0.003)


def run(
    pairs: ParallelText,
    folder: Path,
    report: Report = silent,
    *,
    resume: bool = False,
    **changes: Any,
) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Train on the toy languages: the measures, and the log without what differs by the clock."""
    corpus = Corpus(pairs=pairs, texts=changes.pop("texts", ()))
    options = EmmaXOptions(**TOY | changes)
    trained = train("emma-x", corpus, options, folder, report, resume=resume)
    lines = [json.loads(line) for line in (folder / METRICS_FILE).read_text().splitlines()]
    for line in lines:
        line.pop("pairs_per_second", None)
    return trained.measures, lines


def accuracies(lines: list[dict[str, Any]], stage: str) -> list[float]:
    return [each["accuracy"] for each in lines if each.get("stage") == stage and "accuracy" in each]


def test_phase_2_keeps_what_phase_1_learned(toy_pairs: ParallelText, tmp_path: Path) -> None:
    measures, lines = run(toy_pairs, tmp_path / "encoder", epochs=3, em_epochs=1)
    before, after = accuracies(lines, "phase-1"), accuracies(lines, "phase-2")
    assert before[-1] > 0.95
    assert min(after) > before[-1] - 0.03
    assert measures["accuracy"] == max(before + after)
    log = [each for each in lines if "similarity_1" in each][-1]
    values = [-log[f"similarity_{rank}"] for rank in range(1, 5)]
    assert values == sorted(values)
    assert sum(log[f"share_{rank}"] for rank in range(1, 5)) == pytest.approx(1)


def test_a_fall_ends_phase_2_and_phase_1_is_given_back(
    toy_pairs: ParallelText, tmp_path: Path
) -> None:
    changes: dict[str, Any] = {"em_learning_rate": 5.0, "steps": 40, "evaluate_every": 5}
    measures, lines = run(toy_pairs, tmp_path / "encoder", **changes)
    before, after = accuracies(lines, "phase-1"), accuracies(lines, "phase-2")
    assert len(after) < 8 and max(after) < max(before) - 0.03
    *_, end, told = lines
    assert "held-out retrieval fell" in end["stopped"]
    assert told["remark"].startswith("phase-2 found nothing better than its start, which is kept")
    assert measures["accuracy"] == max(before)
    encoder = SentenceEncoder.load(tmp_path / "encoder")
    found = encoder.encode(toy_pairs.sources[:50]) @ encoder.encode(toy_pairs.targets[:50]).T
    assert np.mean(found.argmax(axis=1) == np.arange(50)) > 0.8
