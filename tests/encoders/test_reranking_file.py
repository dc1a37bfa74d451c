"""The file of an encoder's folder with the weights of reranking."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.encoders.reranking import RERANKING_FILE, RerankingWeights, read_reranking
from xmine.errors import EncoderError

WEIGHTS = RerankingWeights(log_margin=0.5, bias=-3.25, right_mean=2.0)


def test_weights_are_saved_with_the_encoder_and_read_with_it(
    toy_folder: Path, tmp_path: Path
) -> None:
    encoder = SentenceEncoder.load(toy_folder)
    assert encoder.reranking is None and not (toy_folder / RERANKING_FILE).exists()
    encoder.reranking = WEIGHTS
    encoder.save(tmp_path / "one")
    again = SentenceEncoder.load(tmp_path / "one")
    assert again.reranking == WEIGHTS
    again.save(tmp_path / "two")
    assert read_reranking(tmp_path / "two") == WEIGHTS


def test_the_defaults_are_those_of_the_encoder_that_ships() -> None:
    assert read_reranking(EMBEDDED) == RerankingWeights()


WRONG: dict[str, dict[str, Any]] = {
    "nothing": {},
    "one is missing": {"bias": None},
    "another one": {"colour": 3.0},
    "a text": {"bias": "3"},
    "a truth": {"bias": True},
    "not a number": {"bias": float("nan")},
    "endless": {"log_margin": float("inf")},
    "huge": {"log_margin": 10**400},
    "no deviation": {"right_deviation": 0.0},
}


@pytest.mark.parametrize("case", [*WRONG, "a list", "cut short"])
def test_a_broken_file_is_an_error_that_names_the_file_and_says_what_to_do(
    case: str, toy_folder: Path, tmp_path: Path
) -> None:
    SentenceEncoder.load(toy_folder).save(tmp_path / "encoder")
    path = tmp_path / "encoder" / RERANKING_FILE
    text = json.dumps(asdict(WEIGHTS))
    if case in WRONG:
        changed = {**asdict(WEIGHTS), **WRONG[case]} if WRONG[case] else {}
        text = json.dumps({name: value for name, value in changed.items() if value is not None})
    path.write_text({"a list": "[1]", "cut short": text[:20]}.get(case, text), encoding="utf-8")
    with pytest.raises(EncoderError) as error:
        SentenceEncoder.load(tmp_path / "encoder")
    assert str(path) in error.value.message
    if case in WRONG:
        assert "log_margin" in error.value.message and "remove the file" in error.value.hint
