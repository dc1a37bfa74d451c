"""The loop: Ctrl-C, scaled and reduced number types, long gradients."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from xmine.pairs import ParallelText
from xmine.progress import Progress, Report
from xmine.trainer.checkpoints import run_folder
from xmine.trainer.corpus import Corpus, Labelled
from xmine.trainer.loop import _clip
from xmine.trainer.method_options import MocoOptions
from xmine.trainer.static import new_static
from xmine.trainer.training import train
from xmine.vocabulary import Vocabulary

STATIC: dict[str, Any] = {
    "batch_size": 32,
    "steps": 8,
    "evaluate_every": 3,
    "held_out": 50,
    "learning_rate": 0.01,
    "momentum": 0.5,
    "queue_size": 48,
    "threads": 1,
}
TRANSFORMER = STATIC | {
    "architecture": "transformer",
    "width": 16,
    "layers": 1,
    "heads": 2,
    "max_pieces": 24,
    "dtype": "float32",
    "learning_rate": 0.001,
}


@pytest.fixture
def start(toy_vocabulary: Vocabulary, tmp_path: Path) -> str:
    """A folder with an encoder that knows nothing."""
    new_static(toy_vocabulary, 16, seed=1).save(tmp_path / "start")
    return str(tmp_path / "start")


def watching(losses: list[float], act: Callable[[int], None] = lambda _: None) -> Report:
    def watch(progress: Progress) -> None:
        if progress.stage == "training":
            losses.append(progress.numbers["loss"])
            act(progress.done)

    return watch


def pressing(step: int, times: int = 1) -> Callable[[int], None]:
    """Press Ctrl-C after a step."""

    def act(done: int) -> None:
        for _ in range(times if done == step else 0):
            signal.raise_signal(signal.SIGINT)

    return act


def logged(folder: Path) -> list[dict[str, float]]:
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [{name: x for name, x in row.items() if name != "pairs_per_second"} for row in rows]


@pytest.mark.parametrize("step", [1, 4, 6])  # 3 and 6 are saved anyway
def test_ctrl_c_saves_and_the_run_goes_on_bit_for_bit(
    step: int, start: str, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    flags = TRANSFORMER | {"dropout": 0.2, "piece_dropout": 0.1, "queue_init": "prefill"}
    flags |= {"src_encoder": "scratch", "tgt_encoder": "scratch", "start": start}
    english = toy_pairs.sources
    labelled = Labelled(english[:90], english[90:180], np.arange(90) % 3)
    corpus, options = Corpus(pairs=toy_pairs, labelled=labelled), MocoOptions(**flags)
    found: list[list[float]] = [[], []]
    train("moco", corpus, options, tmp_path / "whole", watching(found[0]))
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        train("moco", corpus, options, tmp_path / "new", watching(found[1], pressing(step)))
    assert signal.getsignal(signal.SIGINT) == before
    assert len(found[1]) == step and not (tmp_path / "new").exists()
    train("moco", corpus, options, tmp_path / "new", watching(found[1]), resume=True)
    assert found[0] == found[1] and len(found[0]) == 8
    for name in ("source", "target"):
        weights = [
            (tmp_path / which / name / "model.safetensors").read_bytes()
            for which in ("whole", "new")
        ]
        assert weights[0] == weights[1]
    assert logged(tmp_path / "new") == logged(tmp_path / "whole")


def test_a_second_ctrl_c_does_not_wait_for_the_step(
    start: str, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    options = MocoOptions(**STATIC, encoder=start)
    with pytest.raises(KeyboardInterrupt):
        train(
            "moco", Corpus(pairs=toy_pairs), options, tmp_path / "new", watching([], pressing(2, 2))
        )
    assert not (run_folder(tmp_path / "new") / "checkpoint.pt").exists()


@pytest.fixture
def static_in_float16(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a static encoder, which multiplies nothing, stand for a transformer on a GPU."""
    monkeypatch.setattr("xmine.trainer.training.check_encoders", lambda options: None)


@pytest.mark.usefixtures("static_in_float16")
def test_scaled_gradients_of_float16_change_nothing_by_themselves(
    start: str, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    """The scale is a power of two."""
    weights = []
    for dtype in ("float32", "float16"):
        options = MocoOptions(**STATIC | {"clip": 0.5}, encoder=start, dtype=dtype)
        train("moco", Corpus(pairs=toy_pairs), options, tmp_path / dtype)
        weights.append((tmp_path / dtype / "model.safetensors").read_bytes())
    assert weights[0] == weights[1]


@pytest.mark.usefixtures("static_in_float16")
def test_a_step_whose_scaled_gradients_overflow_is_left_out(
    start: str, toy_pairs: ParallelText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = MocoOptions(**STATIC | {"steps": 5}, encoder=start, dtype="float16")
    scales: list[float] = []
    unscale = torch.amp.GradScaler.unscale_

    def overflow(scaler: torch.amp.GradScaler, optimizer: torch.optim.Optimizer) -> None:
        scales.append(scaler.get_scale())
        if len(scales) == 3:
            optimizer.param_groups[0]["params"][0].grad._values()[0, 0] = float("inf")
        unscale(scaler, optimizer)

    monkeypatch.setattr(torch.amp.GradScaler, "unscale_", overflow)
    losses: list[float] = []
    trained = train("moco", Corpus(pairs=toy_pairs), options, tmp_path / "new", watching(losses))
    assert scales == [65536.0] * 3 + [32768.0] * 2
    assert np.isfinite(losses).all() and len(losses) == 5
    assert np.isfinite(trained.encoders[""].encode(toy_pairs.sources[:50])).all()


def test_bfloat16_follows_float32(start: str, toy_pairs: ParallelText, tmp_path: Path) -> None:
    found = []
    for dtype in ("float32", "bfloat16"):
        flags = {"dtype": dtype, "dropout": 0.0, "start": start, "steps": 20}
        losses: list[float] = []
        options = MocoOptions(**TRANSFORMER | flags | {"in_batch_negatives": True})
        train("moco", Corpus(pairs=toy_pairs), options, tmp_path / dtype, watching(losses))
        found.append(np.array(losses))
    assert len(found[0]) == 20 and not np.array_equal(found[0], found[1])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-2)


def test_long_gradients_are_scaled_down_together_sparse_ones_too() -> None:
    for longest, expected in ((2.5, 0.5), (9.0, 1.0)):
        dense, sparse, none = (nn.Parameter(torch.zeros(3, 1)) for _ in range(3))
        dense.grad = torch.tensor([[0.0], [3.0], [0.0]])
        sparse.grad = torch.sparse_coo_tensor(
            torch.tensor([[2, 0, 2]]),
            torch.tensor([[1.0], [0.0], [3.0]]),
            (3, 1),
            check_invariants=True,
        )
        _clip([dense, sparse, none], longest)
        assert none.grad is None
        assert dense.grad[:, 0].tolist() == pytest.approx([0, 3 * expected, 0], abs=1e-5)
        rows = sparse.grad.to_dense()[:, 0].tolist()
        assert rows == pytest.approx([0, 0, 4 * expected], abs=1e-5)
