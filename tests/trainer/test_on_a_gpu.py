"""Every method with its encoders on a GPU, or one on each device: as on the processor.

Where no GPU is there, `fake_gpu.py` stands for one, and refuses what a GPU would.
"""

import os
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.toys.fake_gpu import GPU, OnGpu, gpu, waits
from tests.toys.grids import mostly_long
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.modules.heads import apply
from xmine.encoders.modules.transformer import Transformer
from xmine.encoders.tokenizer import Vocabulary
from xmine.pairs.io import ParallelText
from xmine.progress import Progress
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import Labelled, Triplets
from xmine.trainer.methods import METHODS
from xmine.trainer.models.static import StaticTower, new_static
from xmine.trainer.models.transformer import TransformerTower
from xmine.trainer.run.checkpoints import TrainingRun, run_folder
from xmine.trainer.run.loop import Training
from xmine.trainer.train import deterministic

TOY = "the static encoder"  # stands for a folder; as wide as a new one
COMMON: dict[str, Any] = dict(encoder="scratch", architecture="transformer", start=TOY, dim=16)
COMMON |= dict(layers=1, heads=2, max_tokens=24, dropout=0.0, dtype="float32", tokens_at_once=512)
COMMON |= dict(batch_size=32, epochs=1, steps=4, evaluate_every=2, held_out=50, learning_rate=0.001)
COMMON |= dict(clip=0.5, threads=1)
QUEUE = {"queue_size": 80, "in_batch_negatives": True}
MIXED = {"teacher": TOY, "distilled_encoder": TOY, "train_teacher": True, "distil_epochs": 2}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "msimcse": ("msimcse", {"training_head": True}),
    "moco": ("moco", QUEUE | {"deterministic": True}),
    "moco, static and transformer": (
        "moco",
        QUEUE | {"src_encoder": TOY, "tgt_encoder": "scratch"},
    ),
    "moco, transformer and static": (
        "moco",
        QUEUE | {"src_encoder": "scratch", "tgt_encoder": TOY},
    ),
    "transaug, static student": ("transaug", {"encoder": TOY, "distilled_encoder": "scratch"}),
    "transaug, static teacher": ("transaug", QUEUE | {"teacher": TOY, "distilled_encoder": TOY}),
    "transaug, two towers": ("transaug", QUEUE | MIXED),
    "emma-x": ("emma-x", {"queue_size": 80, "momentum": 0.5}),
}
USUAL = "moco, static and transformer"


def left(name: str, pairs: ParallelText, folder: Path, device: str) -> dict[str, Tensor]:
    """Train, and give the losses and all weights."""
    method, changes = CASES[name]
    toy = str(folder / "toy")
    flags = COMMON | {"device": device} | changes
    if method == "transaug":
        flags = {"teacher": TOY} | flags
    flags = {key: toy if value == TOY else value for key, value in flags.items()}
    options = METHODS[method].options(**flags)
    english = pairs.sources
    corpus = Corpus(
        pairs,
        (Triplets(english[:200], english[200:400], english[400:600]),) * (method == "transaug"),
        Labelled(english[:90], english[90:180], np.arange(90) % 3) if method == "moco" else None,
    )
    losses: list[float] = []

    def watch(progress: Progress) -> None:
        if "loss" in progress.numbers:
            losses.append(progress.numbers["loss"])

    torch.manual_seed(1)
    run = TrainingRun(run_folder(folder / device.replace(":", "")), options, corpus)
    made = METHODS[method].train(corpus, options, run, watch)
    assert len(losses) >= 4
    found = {"losses": torch.tensor(losses)}
    for side, tower in made.towers.items():
        assert tower.device == (GPU if device != "cpu" and not is_static(tower) else tower.device)
        for part, weights in tower.state_dict().items():
            found[f"{side} {part}"] = weights.held if isinstance(weights, OnGpu) else weights.cpu()
        encoder = tower.encoder(EncoderFacts((), method), "")
        rows = np.linspace(-1, 1, 3 * 16, dtype=np.float32).reshape(3, 16)
        found[f"{side} heads"] = torch.from_numpy(apply(encoder.heads, rows))
    return found


def is_static(tower: Any) -> bool:
    assert isinstance(tower, StaticTower | TransformerTower)
    return isinstance(tower, StaticTower)


@pytest.mark.parametrize("name", mostly_long(CASES, [USUAL]))
def test_a_method_trains_on_a_gpu_as_on_the_processor(
    name: str,
    toy_pairs: ParallelText,
    toy_vocabulary: Vocabulary,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    new_static(toy_vocabulary, 16, seed=1).save(tmp_path / "toy")
    expected = left(name, toy_pairs, tmp_path, "cpu")
    with gpu(monkeypatch):
        found = left(name, toy_pairs, tmp_path, "auto")
    assert found.keys() == expected.keys()
    near = 1e-5
    if torch.cuda.is_available():  # it adds in another order; Adam's first steps make that large
        near, expected = 1e-3, {"losses": expected["losses"]}
    for part, weights in expected.items():
        torch.testing.assert_close(found[part], weights, atol=near, rtol=near)


@pytest.mark.parametrize(
    ("name", "most"),
    [("msimcse", 0), ("moco", 0), pytest.param("emma-x", 4, marks=pytest.mark.long)],
)
def test_nothing_waits_for_the_gpu_in_a_step_that_is_neither_logged_nor_measured(
    name: str,
    most: int,
    toy_pairs: ParallelText,
    toy_vocabulary: Vocabulary,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither for the rows nor for the loss; Emma-X asks what the ranks are.

    What transformers asks of a mask, at the beginning of a forward pass, is not counted.
    """
    found: list[int] = []
    take, states = Training.take, Transformer.states

    def read(body: Transformer, *given: Tensor) -> Tensor:
        before = list(waits)
        read = states(body, *given)
        waits[:] = before
        return read

    def taken(training: Training, *given: Any) -> None:
        assert torch.are_deterministic_algorithms_enabled() is training.options.deterministic
        waits.clear()
        take(training, *given)
        if training.done < training.total:
            found.append(len(waits))

    monkeypatch.setattr(Transformer, "states", read)
    monkeypatch.setattr(Training, "take", taken)
    monkeypatch.setitem(COMMON, "evaluate_every", 4)
    new_static(toy_vocabulary, 16, seed=1).save(tmp_path / "toy")
    with gpu(monkeypatch), deterministic(1):
        left(name, toy_pairs, tmp_path, "auto")
    assert len(found) >= 3 and max(found) <= most


def test_cublas_is_told_to_repeat_its_sums_unless_the_user_says_how(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, filling = "CUBLAS_WORKSPACE_CONFIG", cast("Any", torch.utils.deterministic)
    for given, expected in ((None, ":4096:8"), (":16:8", ":16:8")):
        monkeypatch.delenv(name, raising=False)
        if given:
            monkeypatch.setenv(name, given)
        with deterministic(1):
            assert os.environ[name] == expected  # without which torch 2.6 refuses any product
            assert torch.are_deterministic_algorithms_enabled()
            assert not filling.fill_uninitialized_memory
        assert filling.fill_uninitialized_memory
