"""SentEval: its seven tasks read and learned, wrong files of them."""

from pathlib import Path

import numpy as np
import pytest
from papers.transfer import read_tasks

from tests.toys.transfer import measure, write_senteval
from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.data import DataFolder


@pytest.mark.long
@pytest.mark.parametrize("root", ["senteval", "senteval/data/downstream"])
def test_all_seven_are_read_and_learned(
    toy_encoder: SentenceEncoder, tmp_path: Path, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_senteval(tmp_path / root)
    if root != "senteval":
        found = {name: len(folds) for name, folds in read_tasks(DataFolder(tmp_path)).items()}
        two_files = dict.fromkeys(("mr", "cr", "subj", "mpqa"), 10)
        assert found == two_files | {"sst2": 1, "trec": 1, "mrpc": 1}
        return
    monkeypatch.setattr("papers.frozen.STRENGTHS", (1 / 64, 64.0))  # to be quick
    result = measure(toy_encoder, tmp_path)
    assert result.headline == ("SentEval, mean accuracy of 7", "accuracy")
    figures = [result.figure(name, "accuracy") for name in ("mr", "sst2", "trec", "mrpc")]
    assert all(figure is not None and figure >= 0.8 for figure in figures), figures
    assert [row.name for row in result.rows if "f1" in row.figures] == ["mrpc"]
    assert [metric.name for metric in result.metrics] == ["accuracy", "f1"]
    assert {row.name: row.items for row in result.rows}["mr"] == 40
    mean = np.mean([row.figures["accuracy"] for row in result.rows[:7]])
    assert result.figure(*result.headline) == pytest.approx(mean)
