"""The card of a trained encoder is one that model hubs read."""

from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import ModelCard

from xmine.encoders.encoder import SentenceEncoder
from xmine.trainer.options.contrast import MocoOptions
from xmine.trainer.run.card import model_card
from xmine.trainer.run.prepare import TrainedTowers


def test_a_hub_reads_what_stands_on_top(
    toy_encoder: SentenceEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    measures = {"forward": 0.91234, "backward": 0.5}
    options = MocoOptions(languages="no,en", encoder="toys/begun", held_out=40)
    card: Any = ModelCard(
        model_card("moco", options, toy_encoder, TrainedTowers({}, measures, 7), 0)
    )
    read = card.data.to_dict()
    assert read["language"] == ["no", "en"]  # `no` without quotes is false
    assert (read["library_name"], read["license"]) == ("sentence-transformers", "unknown")
    assert read["pipeline_tag"] == "sentence-similarity" and read["base_model"] == ["toys/begun"]
    assert {"sentence-transformers", "feature-extraction"} <= {*read["tags"]}
    found = card.data.eval_results
    assert [each.metric_value for each in found] == [0.9123, 0.5]
    assert {each.dataset_name for each in found} == {"40 pairs held out of the training data"}
    (tmp_path / "toys").mkdir()  # which makes the name one of a folder
    bare: Any = ModelCard(model_card("moco", options, toy_encoder, TrainedTowers({}, {}, 7), 0))
    assert not {"base_model", "model-index"} & bare.data.to_dict().keys()
