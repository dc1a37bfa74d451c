"""TransAug: golden values, what is frozen stays frozen, and stages that run and resume alone."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.tokenizer import Vocabulary
from xmine.errors import OptionError, TrainingError
from xmine.pairs.io import ParallelText
from xmine.progress import silent
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import Triplets
from xmine.trainer.data.rows import Rows
from xmine.trainer.losses.contrastive import distillation
from xmine.trainer.losses.with_queue import contrast_with_queue
from xmine.trainer.methods.transaug import _Contrast, _Distillation
from xmine.trainer.models import tower_of
from xmine.trainer.models.queue import KeyQueue
from xmine.trainer.models.scratch import new_transformer
from xmine.trainer.models.static import StaticTower, new_static
from xmine.trainer.models.towers import Tower
from xmine.trainer.options.transaug import TransaugOptions
from xmine.trainer.run.prepare import cut_pairs
from xmine.trainer.train import Trained
from xmine.trainer.train import train as train_on

OPTIONS: dict[str, Any] = dict(vocabulary_size=500, dim=32, batch_size=64, epochs=2, held_out=200)
OPTIONS |= dict(learning_rate=0.02, queue_size=128, threads=1)


@pytest.fixture
def options_of(toy_folder: Path) -> Callable[..., TransaugOptions]:
    """Make options with the toy encoder as teacher, where there is one, some of them changed."""

    def make(**changes: Any) -> TransaugOptions:
        distils = changes.get("stage") not in ("contrast", "nli") and "share_encoder" not in changes
        given = {"teacher": str(toy_folder)} if distils else {}
        return TransaugOptions(**OPTIONS | given | changes)

    return make


@pytest.fixture(scope="session")
def toy_triplets(toy_pairs: ParallelText) -> Triplets:
    """English sentences; the first half of the words entails, half of those of another do not."""
    sentences = [text.split() for text in toy_pairs.sources]
    halves = [" ".join(words[: len(words) // 2 + 1]) for words in sentences]
    return Triplets(toy_pairs.sources[:-1], halves[:-1], halves[1:])


def train(corpus: Corpus, options: TransaugOptions, output: Path, *rest: Any, **flags: Any) -> Any:
    return train_on("transaug", corpus, options, output, *rest, **flags)


def test_golden_g09_distillation() -> None:
    taught = torch.tensor([[1.0, 2.0], [0.0, 0.0]])
    learned = torch.tensor([[0.0, 2.0], [3.0, 4.0]])
    assert distillation(learned, taught).item() == 6.5


@pytest.mark.parametrize(
    ("start", "loss", "gradient"),
    [
        (0.0, 0.68270395, -0.34788724),
        (1.0, 0.26429854, -0.41901398),
        (math.log(20), 2.31790958e-5, -2.33847380e-4),
    ],
)
def test_golden_g10_learnable_temperature(start: float, loss: float, gradient: float) -> None:
    query = torch.eye(2)
    key = torch.tensor([[0.9, 0.0], [0.0, 0.8]])
    queue = KeyQueue(2, 2)
    queue.put(torch.tensor([[0.1, 0.3], [0.2, -0.1]]), torch.tensor([[7], [8]]))
    scale = torch.tensor(start, requires_grad=True)
    texts = torch.tensor([[0], [1]])
    found = contrast_with_queue(query, key, texts, queue, scale.exp(), TransaugOptions(teacher="t"))
    torch.autograd.backward(found)
    assert scale.grad is not None
    assert found.item() == pytest.approx(loss, abs=1e-6)
    assert scale.grad.item() == pytest.approx(gradient, abs=1e-6)


def transformer(vocabulary: Vocabulary, options: TransaugOptions) -> Tower:
    return tower_of(new_transformer(vocabulary, options))


def no_gradient(tower: Tower) -> bool:
    return all(each.grad is None and not each.requires_grad for each in tower.parameters())


def moved(tower: Tower) -> bool:
    return any(each.grad is not None and bool(each.grad.any()) for each in tower.parameters())


def test_neither_teacher_nor_queue_has_gradients_or_is_in_a_checkpoint(
    options_of: Callable[..., TransaugOptions], toy_vocabulary: Vocabulary, toy_pairs: ParallelText
) -> None:
    """Acceptance test 3; the frozen ones have no dropout either."""
    options = options_of(architecture="transformer", heads=4, dropout=0.5, dtype="float32")
    teacher, distilled, student = (transformer(toy_vocabulary, options) for _ in range(3))
    batch = cut_pairs(toy_pairs.take(np.arange(64)), teacher, distilled)
    random = np.random.default_rng(1)

    first = _Distillation(teacher, distilled, options)
    first.train()
    torch.autograd.backward(first.losses(batch, random)["distillation"])
    assert no_gradient(teacher) and moved(distilled) and not teacher.training
    assert all(name.startswith("distilled.") for name in first.state_dict())

    distilled.zero_grad(set_to_none=True)
    second = _Contrast(student, distilled, options, size=16, steps=10)
    second.train()
    keys = []
    for _ in range(2):
        torch.autograd.backward(second.losses(batch, random)["contrast"])
        second.finish()
        keys.append(second.queue.keys().clone())
    assert no_gradient(distilled) and moved(student) and not distilled.training
    assert torch.equal(*keys)  # of the same rows: nothing moves them, no dropout
    assert not second.queue.rows.requires_grad and second.queue.rows.grad is None
    parts = {name.split(".")[0] for name in second.state_dict()}
    assert parts == {"student", "queue", "logit_scale", "best_measure", "worse_since"}


def contrast_step(
    vocabulary: Vocabulary, pairs: ParallelText, options: TransaugOptions, steps: int = 10
) -> tuple[_Contrast, Rows]:
    student, distilled = (StaticTower(new_static(vocabulary, 32, seed)) for seed in (1, 2))
    step = _Contrast(student, distilled, options, size=32, steps=steps)
    return step, cut_pairs(pairs.take(np.arange(64)), student, distilled)


def test_the_scale_stays_within_its_limits_and_does_not_decay(
    options_of: Callable[..., TransaugOptions], toy_vocabulary: Vocabulary, toy_pairs: ParallelText
) -> None:
    """Acceptance test 7."""
    options = options_of(weight_decay=0.5)
    step, batch = contrast_step(toy_vocabulary, toy_pairs, options)
    optimizers = step.optimizers(0.02)
    groups = [group for each in optimizers for group in each.param_groups]
    [own] = [g for g in groups if any(each is step.logit_scale for each in g["params"])]
    assert own["weight_decay"] == 0 and len(own["params"]) == 1
    assert own["lr"] == pytest.approx(2 * math.log(100) / 10)  # it can cross the range
    seen = []
    for direction in [-1.0] * 3 + [1.0] * 20:
        step.losses(batch, np.random.default_rng(1))
        step.logit_scale.grad = -torch.tensor(direction)
        optimizers[-1].step()
        step.finish()
        seen.append(step.logit_scale.item())
    assert min(seen) == 0 and seen[:3] == [0, 0, 0]
    assert max(seen) == pytest.approx(math.log(100), abs=1e-6) == seen[-1]
    assert step.numbers()["scale"] == pytest.approx(100, rel=1e-5)
    long = contrast_step(toy_vocabulary, toy_pairs, options, steps=100_000)[0]
    assert long.optimizers(0.02)[-1].param_groups[0]["lr"] == 0.02


def files_of(folder: Path) -> dict[str, bytes]:
    names = ("model.safetensors", "README.md")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.name in names
    }


def test_stages_run_alone(
    options_of: Callable[..., TransaugOptions],
    toy_pairs: ParallelText,
    toy_triplets: Triplets,
    tmp_path: Path,
) -> None:
    pairs = Corpus(pairs=toy_pairs)
    distilled = train(pairs, options_of(stage="distil"), tmp_path / "distilled")
    assert set(distilled.encoders) == {""}
    assert distilled.measures["accuracy"] > 0.8 and distilled.measures["cosine"] > 0.5

    folder = str(tmp_path / "distilled")
    options = options_of(stage="contrast", distilled_encoder=folder)
    both = train(pairs, options, tmp_path / "both")
    assert both.measures["accuracy"] > 0.9
    kept = SentenceEncoder.load(tmp_path / "both" / "target").encode(toy_pairs.targets[:50])
    np.testing.assert_array_equal(kept, SentenceEncoder.load(folder).encode(toy_pairs.targets[:50]))

    student = str(tmp_path / "both" / "source")
    options = options_of(stage="nli", encoder=student, epochs=1, dim=256, vocabulary_size=0)
    tuned = train(Corpus(triplets=(toy_triplets,)), options, tmp_path / "tuned")
    assert set(tuned.encoders) == {""} and set(tuned.measures) == {"triplets", "before_triplets"}
    assert tuned.measures["triplets"] > 0.9


def test_the_teacher_may_read_the_language_on_the_right(
    options_of: Callable[..., TransaugOptions], toy_pairs: ParallelText, tmp_path: Path
) -> None:
    turned = ParallelText(toy_pairs.targets, toy_pairs.sources, toy_pairs.origins)
    options = options_of(languages="xx,yy", teacher_language="yy", steps=30)
    trained: Trained = train(Corpus(pairs=turned), options, tmp_path / "both")
    assert trained.measures["accuracy"] > 0.8
    zh, en = (trained.encoders[name] for name in ("source", "target"))
    found = zh.encode(turned.sources[:100]) @ en.encode(turned.targets[:100]).T
    assert (found.argmax(axis=1) == np.arange(100)).mean() > 0.8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"teacher": "scratch"}, "--teacher scratch"),
        ({"stage": "contrast"}, "has nothing to teach"),
        ({"stage": "distil", "share_encoder": True}, "--share-encoder"),
        ({"teacher_language": "fr"}, "not one of --languages"),
        ({"temperature": "cold"}, "--temperature is 'cold'"),
        ({"temperature": 0.0}, "--temperature is 0; it must be at least 0.001"),
    ],
)
def test_options_that_do_not_go_together(
    changes: dict[str, Any], message: str, options_of: Callable[..., TransaugOptions]
) -> None:
    with pytest.raises(OptionError, match=message):
        options_of(**changes)


def test_data_that_a_stage_cannot_use_is_an_error(
    options_of: Callable[..., TransaugOptions],
    toy_pairs: ParallelText,
    toy_triplets: Triplets,
    tmp_path: Path,
) -> None:
    few = toy_pairs.take(np.arange(600))
    blank = ParallelText(toy_pairs.sources, [" "] * len(toy_pairs), toy_pairs.origins)
    cases: list[tuple[Corpus, dict[str, Any], str]] = [
        (Corpus(), {}, "learns from translations"),
        (Corpus(pairs=blank), {}, "the target language is empty"),
        (Corpus(pairs=few), {}, "--queue-size 128 for 400 rows"),
        (Corpus(pairs=few), {"held_out": 400}, "smaller --held-out"),
        (Corpus(pairs=few), {"stage": "nli"}, "there are none"),
        (Corpus(triplets=(toy_triplets,) * 2), {"stage": "nli"}, "files of 2"),
        (Corpus(pairs=toy_pairs, triplets=(toy_triplets,) * 2), {}, "files of 2"),
    ]
    for corpus, changes, message in cases:
        with pytest.raises(TrainingError) as error:
            train(corpus, options_of(**changes), tmp_path / "encoder", silent)
        assert message in f"{error.value} {error.value.hint}"
        assert list(tmp_path.iterdir()) == []
