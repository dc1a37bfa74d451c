"""Plain checkpoints of several kinds, trained with a head; pairs joined as their tokenizer does."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from xmine.encoders.encoder import SentenceEncoder
from xmine.options import EncodingOptions
from xmine.trainer.models import tower_of


def test_joined_pairs_are_those_of_the_tokenizer(checkpoint: Callable[..., Path]) -> None:
    encoder = SentenceEncoder.load(checkpoint("bert"), EncodingOptions(device="cpu"))
    pairs = [("baba fifi", "lulu"), ("bade " * 30, "lulu " * 30)]
    side = tower_of(encoder).cut_pairs(pairs)
    for row, (first, second) in enumerate(pairs):
        ids = encoder.body.tokenizer(first, second, truncation=True, max_length=20)["input_ids"]  # type: ignore[union-attr]
        assert side.ids[side.starts[row] : side.starts[row + 1]].tolist() == ids
    assert np.diff(side.starts).max() == 20
