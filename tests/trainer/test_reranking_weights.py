"""The weights of reranking that a training run leaves in the folder of its encoder."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.toys.sentences import toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.reranking import RERANKING_FILE
from xmine.errors import TrainingError
from xmine.pairs.io import ParallelText
from xmine.pairs.language_pairs import LanguagePairs
from xmine.scoring.reranking_fit import KnownCandidates
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.methods import METHODS
from xmine.trainer.run import reranking
from xmine.trainer.run.reranking import fitted_weights
from xmine.trainer.train import Trained, train

OPTIONS: dict[str, Any] = dict(vocabulary_size=500, dim=16, batch_size=64, epochs=2, held_out=600)
OPTIONS |= dict(learning_rate=0.02, threads=1)
TRANSFORMER = dict(architecture="transformer", layers=1, heads=2, max_tokens=24, dtype="float32")
TRANSFORMER |= dict(start="the toy encoder", vocabulary_size=0)
TOLD = "weights for reranking"


@pytest.fixture(scope="module")
def pairs() -> ParallelText:
    english, chinese, _ = toy_sentences(1800, seed=5)
    return ParallelText(english, chinese, [""] * len(english))


def trained(method: str, pairs: ParallelText, output: Path, **changes: Any) -> Trained:
    options = METHODS[method].options(**{**OPTIONS, **changes})
    return train(method, Corpus(pairs=pairs), options, output)


@pytest.mark.parametrize(
    ("method", "changes"),
    [
        ("msimcse", {}),
        pytest.param(
            "msimcse", {"held_out": 400, "steps": 4, **TRANSFORMER}, marks=pytest.mark.long
        ),
    ],
)
def test_a_trained_encoder_has_weights_of_its_own(
    method: str, changes: dict[str, Any], pairs: ParallelText, toy_folder: Path, tmp_path: Path
) -> None:
    changes = {name: str(toy_folder) if name == "start" else changes[name] for name in changes}
    made = trained(method, pairs, tmp_path / "encoder", **changes)
    weights = made.encoders[""].reranking
    assert weights and 0.3 <= weights.decoy_power <= 1
    assert weights == SentenceEncoder.load(tmp_path / "encoder").reranking
    assert json.loads((tmp_path / "encoder" / RERANKING_FILE).read_text())["bias"] == weights.bias
    assert TOLD in (tmp_path / "encoder" / "README.md").read_text("utf-8")
    assert not any("reranking" in each for each in made.remarks)


def test_too_few_held_out_pairs_give_none_and_a_remark(pairs: ParallelText, tmp_path: Path) -> None:
    made = trained("msimcse", pairs, tmp_path / "encoder", held_out=299)
    (remark,) = made.remarks
    assert "no weights of reranking: of 299 held-out pairs" in remark
    assert not (tmp_path / "encoder" / RERANKING_FILE).exists()
    assert TOLD not in made.encoders[""].card


def captured(
    encoder: SentenceEncoder,
    pairs: ParallelText,
    monkeypatch: pytest.MonkeyPatch,
    apart: ParallelText | None = None,
) -> Sequence[KnownCandidates]:
    """The mixtures that weights would be fitted on."""
    found: list[Sequence[KnownCandidates]] = []
    monkeypatch.setattr(reranking, "fit_weights", found.append)
    fitted_weights(encoder, pairs, seed=1, apart=apart)
    return found[0]


def test_a_mixture_has_some_pairs_and_sentences_of_other_pairs(
    toy_encoder: SentenceEncoder, pairs: ParallelText, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = set()
    for each in captured(toy_encoder, pairs, monkeypatch):
        count, nearest = len(each.translations), each.neighbours.targets[:, 0]
        assert len(each.neighbours.sources) == count
        known = each.translations >= 0
        shares.add(round(float(known.mean()), 2))
        # The toy encoder finds each translation, and so knows which sentences have one.
        assert (nearest == each.translations)[known].mean() > 0.99
        alike = each.neighbours.target_cosines[:, 0]
        assert np.median(alike[known]) > 0.99 and np.median(alike[~known]) < 0.8
    assert shares == {0.05, 0.1, 0.2, 0.3, 0.6}


def test_a_mixture_is_of_one_pair_of_languages(
    toy_encoder: SentenceEncoder, pairs: ParallelText, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lengths tell the languages apart; one with few pairs is left out, and none is preferred."""
    ends, codes = (600, 1200, 1240), (("en", "zh"), ("en", "ko"), ("en", "ru"))
    order = np.argsort([len(text.split()) for text in pairs.sources], kind="stable")[::-1]
    several = replace(
        pairs.take(order[: ends[-1]]),
        languages=LanguagePairs(codes, np.repeat([0, 1, 2], np.diff([0, *ends]))),
    )
    lengths = [len(text.split()) for text in several.sources]
    assert lengths[600] < lengths[0]
    found = captured(toy_encoder, several, monkeypatch)
    assert len(found) == 2 * 15
    longest = [int(each.matches.source_lengths.max()) for each in found]
    shortest = [int(each.matches.source_lengths.min()) for each in found]
    assert min(shortest[:15]) >= max(longest[15:])
    sizes = [len(each.translations) for each in found]
    assert sizes[:15] == pytest.approx(sizes[15:], rel=0.02)


def of_origins(pairs: ParallelText) -> ParallelText:
    """Shorter and shorter pairs, of which the last are of two origins."""
    order = np.argsort([-len(text) for text in pairs.sources], kind="stable")
    names = ["usual"] * 1000 + ["notes", "letters", "letters"] * 100
    return replace(pairs.take(order[:1300]), origins=names)


def test_an_origin_held_out_whole_has_mixtures_of_its_own(
    toy_encoder: SentenceEncoder, pairs: ParallelText, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = Corpus(pairs=of_origins(pairs))
    left = corpus.parted(["letters", "notes"])
    apart = left.apart
    assert left.pairs and apart and set(left.pairs.origins) == {"usual"}
    assert sorted(apart.origins) == ["letters"] * 200 + ["notes"] * 100
    twice = apart.take(np.append(np.arange(300), np.arange(40)))
    found = captured(toy_encoder, left.pairs, monkeypatch, twice)
    sizes = [len(each.translations) for each in found]
    assert len(found) == 3 * 15
    assert max(sizes[15:30]) <= 200 / 1.4 and max(sizes[30:]) <= 100 / 1.4
    assert corpus.parted([]) is corpus
    with pytest.raises(TrainingError, match="held_out_origins poems: no pair has this origin"):
        corpus.parted(["letters", "poems"])


def test_training_sees_no_pair_of_an_origin_held_out_whole(
    pairs: ParallelText, tmp_path: Path
) -> None:
    given = of_origins(pairs)
    made = trained("msimcse", given, tmp_path / "a", held_out_origins=["letters"], held_out=200)
    without = given.take(np.flatnonzero(np.array(given.origins) != "letters"))
    other = trained("msimcse", without, tmp_path / "b", held_out=200)
    assert made.rows == other.rows == 900
    one, two = made.encoders[""], other.encoders[""]
    assert (one.encode(["bade fifi"]) == two.encode(["bade fifi"])).all()
    assert "mixtures of these pairs, of letters." in one.card
    assert two.reranking is None and one.reranking  # of too few pairs
