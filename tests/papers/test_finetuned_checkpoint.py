"""Plain checkpoints of several kinds, trained with a head; pairs joined as their tokenizer does."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from papers.benchmarks import TransferOptions
from papers.finetune import FinetunedLearner
from papers.tasks import Examples, HeadTask

from tests.toys.grids import mostly_long
from xmine.encoders.encoder import SentenceEncoder
from xmine.options import EncodingOptions
from xmine.progress import silent
from xmine.trainer.models import tower_of


@pytest.mark.parametrize(
    "kind", mostly_long(["bert", "xlm-roberta", "qwen3", "distilbert", "t5"], ["bert", "qwen3"])
)
def test_a_checkpoint_is_trained_and_stays_as_it_was(
    kind: str, checkpoint: Callable[..., Path]
) -> None:
    encoder = SentenceEncoder.load(checkpoint(kind), EncodingOptions(device="cpu", dtype="float32"))
    texts = [(f"baba {number}", "bade" if number % 2 else "fifi") for number in range(40)]
    task = HeadTask(
        name="toy",
        kind="pair",
        classes=("fifi", "bade"),
        train=Examples(texts, np.array([number % 2 for number in range(40)], dtype=np.float64)),
        dev=None,
        tests={},
        split="made up",
    )
    before = encoder.encode([text for pair in texts for text in pair])
    options = TransferOptions(epochs=6, learning_rate=0.003, batch_size=8, dtype="float32")
    for joined in (False, True):
        learner = FinetunedLearner(TransferOptions(**{**vars(options), "joined": joined}))
        scores = learner(encoder, task, "", silent)(texts, "en")
        assert (scores.argmax(axis=1) == task.train.answers).mean() > 0.9
    after = encoder.encode([text for pair in texts for text in pair])
    np.testing.assert_array_equal(before, after)


def test_joined_pairs_are_those_of_the_tokenizer(checkpoint: Callable[..., Path]) -> None:
    encoder = SentenceEncoder.load(checkpoint("bert"), EncodingOptions(device="cpu"))
    pairs = [("baba fifi", "lulu"), ("bade " * 30, "lulu " * 30)]
    side = tower_of(encoder).cut_pairs(pairs)
    for row, (first, second) in enumerate(pairs):
        ids = encoder.body.tokenizer(first, second, truncation=True, max_length=20)["input_ids"]  # type: ignore[union-attr]
        assert side.ids[side.starts[row] : side.starts[row + 1]].tolist() == ids
    assert np.diff(side.starts).max() == 20
