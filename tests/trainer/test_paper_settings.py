"""The papers' settings, as presets have them."""

from typing import Any

import pytest

from xmine.cli.train.methods import PRESETS
from xmine.options import load_toml

# What the papers say.
MSIMCSE: dict[str, Any] = {"pooling": "cls", "learning_rate": 1e-5, "batch_size": 128, "epochs": 1}
MSIMCSE |= {"max_tokens": 32, "warmup": 0, "weight_decay": 0, "training_head": True}
MOCO: dict[str, Any] = {"pooling": "mean", "queue_size": 409_600, "momentum": 0.999, "epochs": 15}
MOCO |= {"temperature": 0.04, "batch_size": 1024, "learning_rate": 4e-5, "schedule": "cosine"}
MOCO |= {"clip": 10, "weight_decay": 1e-4, "max_tokens": 64}
TRANSAUG: dict[str, Any] = {"max_tokens": 50, "pooling": "cls", "teacher_pooling": "cls_mlp"}
TRANSAUG |= {"distil_batch_size": 160, "distil_learning_rate": 5e-5, "distil_epochs": 2}
TRANSAUG |= {"queue_size": 4096, "temperature": "learnable", "batch_size": 400, "dropout": 0.1}
TRANSAUG |= {"learning_rate": 2e-4, "schedule": "cosine", "evaluate_every": 250}
TRANSAUG |= {"nli_temperature": 0.05, "nli_batch_size": 128, "nli_learning_rate": 1e-5}
EMMA_X: dict[str, Any] = {"ranks": 4, "queue_size": 256, "temperature": 0.04, "momentum": 0.999}
EMMA_X |= {"batch_size": 1024, "learning_rate": 5e-4, "gmm_learning_rate": 3e-5}
EMMA_X |= {"schedule": "cosine", "weight_decay": 0}
SAID = {f"msimcse-{name}": MSIMCSE for name in ("unsup", "nli", "cross-nli", "parallel")}
SAID |= {"moco-bert": MOCO, "transaug": TRANSAUG, "emma-x": EMMA_X}


def test_all_four_methods_have_the_papers_settings() -> None:
    assert {*SAID} == {*PRESETS}
    for name, said in SAID.items():
        written = load_toml(PRESETS[name])
        assert {each: written[each] for each in said} == said, name
    warmup = load_toml(PRESETS["moco-bert"])["warmup"]
    assert warmup == pytest.approx(400 / 73_242, rel=0.01)
