import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from xmine.encoders.encoder import SentenceEncoder
from xmine.pairs.io import ParallelText
from xmine.progress import Report, silent
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.options.emma_x import EmmaXOptions
from xmine.trainer.ranking.monitor import RankCounts, RankMonitor
from xmine.trainer.run.checkpoints import METRICS_FILE
from xmine.trainer.train import train

TOY: dict[str, Any] = dict(vocabulary_size=500, dim=32, batch_size=64, epochs=2, held_out=200)
TOY |= dict(learning_rate=0.02, threads=1, momentum=0.5, queue_size=128, ranks=4)
TOY |= dict(in_batch_negatives=False, em_learning_rate=0.003)


SEEN = RankCounts(
    torch.tensor([1.0, 9.0]), torch.tensor([0.5, 0.5]), torch.tensor(5.0), torch.tensor(1.0)
)


def test_training_ends_where_something_goes_wrong() -> None:
    def reason(seen: RankCounts = SEEN, accuracy: float = 0.9) -> str:
        return RankMonitor(0.9, 5).stops({"accuracy": accuracy}, seen)

    assert reason() == reason(accuracy=0.871) == ""
    assert "fell from 90.0% to 86.0%" in reason(accuracy=0.86)
    assert "60% of all pairs" in reason(SEEN._replace(members=torch.tensor([6.0, 4.0])))


@pytest.mark.parametrize(
    ("accuracies", "agreed", "is_echo"),
    [
        *(((0.895, 0.89), 10.0, True), ((0.895, 0.89), 9.8, False), ((0.9, 0.9, 0.9), 10.0, False)),
        *(((0.88, 0.885, 0.89), 10.0, False), ((0.88, 0.885, 0.88), 10.0, False)),
    ],
)
def test_an_echo_chamber_agrees_while_retrieval_falls_and_falls(
    accuracies: tuple[float, ...], agreed: float, is_echo: bool
) -> None:
    watch = RankMonitor(0.9, 5)
    seen = SEEN._replace(agreed=torch.tensor(agreed))
    reasons = [watch.stops({"accuracy": each}, seen) for each in accuracies]
    last = "encoder and classifier agree, and retrieval falls" if is_echo else ""
    assert reasons == [""] * (len(accuracies) - 1) + [last]


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
    assert measures["accuracy"] == max(after)
    log = [each for each in lines if "similarity_1" in each][-1]
    for name, sign in (("similarity", -1), ("distance", 1)):
        values = [sign * log[f"{name}_{rank}"] for rank in range(1, 5)]
        assert values == sorted(values)
    assert sum(log[f"share_{rank}"] for rank in range(1, 5)) == pytest.approx(1)


def test_a_fall_ends_phase_2_and_phase_1_is_given_back(
    toy_pairs: ParallelText, tmp_path: Path
) -> None:
    changes: dict[str, Any] = {"em_learning_rate": 5.0, "steps": 40, "evaluate_every": 5}
    changes["freeze_gmm"] = True
    measures, lines = run(toy_pairs, tmp_path / "encoder", **changes)
    before, after = accuracies(lines, "phase-1"), accuracies(lines, "phase-2")
    assert len(after) == 1 and after[0] < max(before) - 0.03
    *_, end, told = lines
    assert "held-out retrieval fell" in end["stopped"]
    assert told["remark"].startswith("phase-2 found nothing better than its start, which is kept")
    assert measures["accuracy"] == max(before)
    encoder = SentenceEncoder.load(tmp_path / "encoder")
    found = encoder.encode(toy_pairs.sources[:50]) @ encoder.encode(toy_pairs.targets[:50]).T
    assert np.mean(found.argmax(axis=1) == np.arange(50)) > 0.8
