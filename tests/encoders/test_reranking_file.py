"""The file of an encoder's folder with the weights of reranking."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.encoders.reranking import RERANKING_FILE, RerankingWeights, read_reranking
from xmine.errors import EncoderError

TREE = "order 0.25 1, missing 0.5 3: -20 10 7"
WEIGHTS = RerankingWeights(log_margin=0.5, bias=-3.25, decoy_power=0.8, trees=(TREE, TREE))


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


def test_the_encoder_that_ships_has_trees() -> None:
    weights = read_reranking(EMBEDDED)
    assert weights and weights.trees and weights.missing < 0 < weights.log_margin


def test_a_file_of_before_there_were_trees_is_read(tmp_path: Path) -> None:
    old = asdict(RerankingWeights(covered=1.0, length=1.0, other_mark=1.0))
    for name in ("covered", "length", "other_mark", "trees"):
        del old[name]
    (tmp_path / RERANKING_FILE).write_text(json.dumps(old), encoding="utf-8")
    assert read_reranking(tmp_path) == RerankingWeights(other_mark=0.0)


WRONG: dict[str, dict[str, Any]] = {
    "nothing": {},
    "one is missing": {"bias": None},
    "another one": {"colour": 3.0},
    "a text": {"bias": "3"},
    "a truth": {"bias": True},
    "not a number": {"bias": float("nan")},
    "endless": {"log_margin": float("inf")},
    "huge": {"log_margin": 10**400},
    "no power": {"decoy_power": 0.0},
    "no list of trees": {"trees": 3},
    "a tree without leaves": {"trees": ["order 0.25 1"]},
    "nine leaves": {"trees": ["order 0.25 1: 1 2 3 4 5 6 7 8 9"]},
    "a cut of nothing": {"trees": ["colour 0.25 1: 1 2"]},
    "no number": {"trees": ["order nan 1: 1 2"]},
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
        named = "trees" if "trees" in WRONG[case] else "log_margin"
        assert named in error.value.message and "remove the file" in error.value.hint
