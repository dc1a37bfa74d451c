"""The small half of `bench/defaults.py`, on sentences so easy that 25 steps are enough."""

from pathlib import Path
from typing import Any

import pytest
from defaults import REFERENCE, WORSE, trained

from tests.toys.adapted import worn
from xmine.encoders.encoder import SentenceEncoder
from xmine.pairs.io import ParallelText
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.methods import METHODS

ARCHITECTURES: dict[str, dict[str, Any]] = {
    "static new": {"encoder": "scratch"},
    "static": {"encoder": "{}"},
    "transformer": {
        "encoder": "scratch",
        "start": "{}",
        "architecture": "transformer",
        "dim": 32,
        "batch_size": 32,
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_no_default_is_far_below_plain_infonce(
    architecture: str, toy_encoder: SentenceEncoder, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    start = str(tmp_path / "start")
    worn(toy_encoder, 1.0).save(tmp_path / "start")
    given = {"steps": 25, "epochs": 100, "evaluate_every": 25} | ARCHITECTURES[architecture]
    given = {name: start if value == "{}" else value for name, value in given.items()}
    teaching = {"teacher": start, "distilled_encoder": given["encoder"]}
    found = {}
    for method, of in METHODS.items():
        options = of.options(**given | (teaching if method == "transaug" else {}))
        found[method] = trained(method, options, Corpus(toy_pairs), tmp_path / "run").measures
    least = found[REFERENCE]["accuracy"] - WORSE
    assert {name for name, each in found.items() if each["accuracy"] < least} == set()
    assert found[REFERENCE]["accuracy"] > found[REFERENCE]["before"]
