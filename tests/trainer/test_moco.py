"""Dual momentum contrast: memory, the English side, what is saved, refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.toys.small_transformer import TRANSFORMER
from xmine.encoders.tokenizer import Vocabulary
from xmine.errors import OptionError, TrainingError
from xmine.pairs.io import ParallelText
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.inference import Labelled
from xmine.trainer.data.rows import Rows
from xmine.trainer.methods.moco import InferenceTask, _Step
from xmine.trainer.models.scratch import new_transformer
from xmine.trainer.models.static import StaticTower, new_static
from xmine.trainer.models.towers import Tower
from xmine.trainer.models.transformer import TransformerTower
from xmine.trainer.options.contrast import MocoOptions
from xmine.trainer.run.prepare import cut_pairs
from xmine.trainer.train import train

SCALE = 25.0
BATCH = 8


def static(vocabulary: Vocabulary, seed: int = 1) -> StaticTower:
    return StaticTower(new_static(vocabulary, 16, seed))


def transformer(vocabulary: Vocabulary, dropout: float) -> TransformerTower:
    options = MocoOptions(**TRANSFORMER, dropout=dropout)
    return TransformerTower(new_transformer(vocabulary, options))


def begun(
    pairs: ParallelText, x: Tower, y: Tower | None = None, **flags: Any
) -> tuple[_Step, Rows]:
    options = MocoOptions(**{"temperature": 1 / SCALE, "momentum": 0.5} | flags)
    step = _Step(x, y or x, options, size=20, steps=100)
    return step.train(), cut_pairs(pairs, x, y or x)


def batch(rows: Rows) -> Rows:
    return rows.take(np.arange(BATCH))


def losses(step: _Step, rows: Rows) -> dict[str, torch.Tensor]:
    torch.manual_seed(5)
    return step.losses(rows, np.random.default_rng(1))


def test_keys_are_made_without_dropout(toy_vocabulary: Vocabulary, toy_pairs: ParallelText) -> None:
    tower = transformer(toy_vocabulary, dropout=0.3)
    step, rows = begun(toy_pairs, tower)
    some = batch(rows)
    step.measure(rows.take(np.arange(20)))  # leaves every part as it was
    assert step.x.training
    assert torch.equal(step._keys(some)[0], step._keys(some)[0])
    assert not torch.equal(tower.embed(some.columns[0]), tower.embed(some.columns[0]))


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_recomputed_layers_have_the_same_gradients(
    dropout: float, toy_vocabulary: Vocabulary, toy_pairs: ParallelText
) -> None:
    found = []
    for recompute in (False, True):
        tower = transformer(toy_vocabulary, dropout)
        tower.recompute, tower.tokens_at_once = recompute, 30
        step, rows = begun(toy_pairs, tower, in_batch_negatives=True)
        loss = torch.stack(list(losses(step, batch(rows)).values())).sum()
        torch.autograd.backward(loss)
        found.append([loss.detach(), *(each.grad for each in tower.parameters())])
    for kept, again in zip(*found, strict=True):
        assert torch.equal(kept, again)
    first = found[0][1]
    assert first is not None and first.any()


@pytest.mark.parametrize(("languages", "english"), [("en,zh", 0), ("zh,en", 1), ("fr,de", 0)])
def test_the_english_encoder_learns_inference(
    languages: str, english: int, toy_vocabulary: Vocabulary, toy_pairs: ParallelText
) -> None:
    text = toy_pairs.sources
    step, rows = begun(
        toy_pairs, static(toy_vocabulary), static(toy_vocabulary, seed=2), languages=languages
    )
    labelled = Labelled(text[:30], text[30:60], np.arange(30) % 3)
    step.inference = InferenceTask(step.judged(), labelled, step.options)
    step.rate_y = 0.125  # as of another kind of encoder
    rates = [each.param_groups[0]["lr"] for each in step.optimizers(0.5)]
    assert rates == [0.5, 0.125, (0.5, 0.125)[english]]
    torch.autograd.backward(losses(step, batch(rows))["inference"])
    learned = [each.vectors.grad is not None for each in (step.x, step.y)]
    assert learned == [english == 0, english == 1]


def test_a_queue_of_more_than_a_quarter_of_the_data_is_refused() -> None:
    assert MocoOptions().queue_for(1000) == 250
    assert MocoOptions(queue_size=7).queue_for(1000) == 7
    with pytest.raises(TrainingError, match="--queue-size 251 for 1,000 rows") as error:
        MocoOptions(queue_size=251).queue_for(1000)
    assert "at most 250" in error.value.hint


def test_encoders_that_do_not_go_together_are_refused(
    toy_vocabulary: Vocabulary, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    for width in (8, 16):
        new_static(toy_vocabulary, width, seed=3).save(tmp_path / str(width))
    options = MocoOptions(
        src_encoder=str(tmp_path / "8"), tgt_encoder=str(tmp_path / "16"), held_out=50
    )
    with pytest.raises(TrainingError, match="vectors of 8 numbers, --tgt-encoder of 16"):
        train("moco", Corpus(pairs=toy_pairs), options, tmp_path / "new")
    assert not (tmp_path / "new.training").exists()
    with pytest.raises(OptionError, match="go together"):
        MocoOptions(src_encoder="scratch")
    with pytest.raises(OptionError, match="--encoder is for both sides"):
        MocoOptions(src_encoder="a", tgt_encoder="b", encoder="c")
    with pytest.raises(TrainingError, match="learns from translations"):
        train("moco", Corpus(texts=toy_pairs.sources), options, tmp_path / "new")
