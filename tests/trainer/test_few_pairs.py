"""Few pairs: what training on them measures, and that it leaves no encoder worse."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.toys.adapted import worn
from tests.toys.grids import mostly_long
from tests.toys.sentences import toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.reranking import RerankingWeights
from xmine.evaluation.retrieval.aligned import retrieval_accuracy
from xmine.pairs.io import ParallelText
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.models import tower_of
from xmine.trainer.options.contrast import MsimcseOptions
from xmine.trainer.run.devset import halved
from xmine.trainer.run.reranking import fitted_weights
from xmine.trainer.train import train


@pytest.fixture(scope="module")
def unseen() -> ParallelText:
    english, chinese, _ = toy_sentences(600, seed=21)
    return ParallelText(english, chinese, [""] * len(english))


def of_halves(encoder: SentenceEncoder, pairs: ParallelText) -> float:
    tower = tower_of(encoder).eval()
    with torch.no_grad():
        sides = halved(tower.cut(pairs.sources)), tower.cut(pairs.targets)
        return retrieval_accuracy(*(tower.embed(side).numpy() for side in sides))[0]


@pytest.mark.parametrize("count", mostly_long([60, 300, 1200], [300]))
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_training_on_few_pairs_leaves_no_encoder_worse(
    count: int, noise: float, toy_encoder: SentenceEncoder, unseen: ParallelText, tmp_path: Path
) -> None:
    """By sentences that are neither trained on nor held out, one already as good as it can be."""
    start = worn(toy_encoder, noise)
    start.reranking = RerankingWeights()
    start.save(tmp_path / "start")
    english, chinese, _ = toy_sentences(count, seed=8)
    corpus = Corpus(ParallelText(english, chinese, [""] * count))
    options = MsimcseOptions(encoder=str(tmp_path / "start"), threads=1)
    made = train("msimcse", corpus, options, tmp_path / "new").encoders[""]
    before, after = of_halves(start, unseen), of_halves(made, unseen)
    assert after >= before - 0.01
    assert noise == 0 or count < 300 or after > before
    assert made.reranking is not None


def test_halves_are_half_of_the_tokens_and_always_the_same(
    toy_encoder: SentenceEncoder, unseen: ParallelText
) -> None:
    side = tower_of(toy_encoder).cut(unseen.sources)
    once, again = halved(side), halved(side)
    assert len(once) == len(side) and 0.45 < len(once.ids) / len(side.ids) < 0.55
    assert np.array_equal(once.ids, again.ids) and np.array_equal(once.starts, again.starts)


def test_an_encoder_keeps_its_weights_of_reranking_where_none_can_be_fitted(
    toy_encoder: SentenceEncoder, unseen: ParallelText
) -> None:
    its_own = RerankingWeights()
    other = SentenceEncoder(toy_encoder.body, facts=toy_encoder.facts, reranking=its_own)
    few = unseen.take(np.arange(50))
    assert fitted_weights(other, few, seed=1) is its_own
    assert fitted_weights(toy_encoder, few, seed=1) is None
    blank = replace(unseen, targets=unseen.targets[::-1])  # nothing of which the encoder finds
    assert fitted_weights(other, blank, seed=1) is its_own
