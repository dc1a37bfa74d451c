"""A transformer of our own: a static start that is exact, one forward, and runs that resume."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from tests.toys.killed import Killed, kill_at
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.metadata import EncoderFacts, EncoderSettings
from xmine.encoders.modules.heads import Dense
from xmine.encoders.modules.pooling import Pooling
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.tokenizer import Vocabulary
from xmine.errors import EncoderError
from xmine.options import EncodingOptions
from xmine.pairs.io import ParallelText
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.models import tower_of as make_tower
from xmine.trainer.models.scratch import even_rows, narrowed, new_transformer
from xmine.trainer.models.transformer import TransformerTower
from xmine.trainer.options.contrast import MsimcseOptions
from xmine.trainer.run.prepare import cut_pairs
from xmine.trainer.train import Trained
from xmine.trainer.train import train as train_on

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPTIONS: dict[str, Any] = dict(architecture="transformer", dim=40, layers=2, heads=4, max_tokens=24)
OPTIONS |= dict(dtype="float32", vocabulary_size=500, batch_size=64, epochs=2, held_out=200)
OPTIONS |= dict(learning_rate=0.003, symmetric=True, threads=1)
EXACT = EncodingOptions(device="cpu", dtype="float32")


def tower_of(vocabulary: Vocabulary, start: StaticEmbedding | None, **changes: Any) -> Any:
    options = MsimcseOptions(**{**OPTIONS, **changes})
    return TransformerTower(new_transformer(vocabulary, options, start))


def train(method: str, pairs: ParallelText, *rest: Any, **flags: Any) -> Trained:
    return train_on(method, Corpus(pairs=pairs), *rest, **flags)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_a_static_start_is_the_static_encoder(
    pooling: str,
    toy_encoder: SentenceEncoder,
    toy_static: StaticEmbedding,
    toy_vocabulary: Vocabulary,
    toy_pairs: ParallelText,
) -> None:
    tower = tower_of(toy_vocabulary, toy_static, max_tokens=128, pooling=pooling)
    begun = tower.encoder(EncoderFacts(), "").encode(toy_pairs.sources[:200])
    known = toy_encoder.encode(toy_pairs.sources[:200])  # of width 32, and turned
    np.testing.assert_allclose(begun @ begun.T, known @ known.T, atol=1e-5)
    assert not tower.encoder(EncoderFacts(), "").encode(["", " "]).any()


def test_even_rows_have_one_length_and_a_sum_of_zero() -> None:
    random = np.random.default_rng(2)
    vectors = (random.standard_normal((300, 10)) * random.random((300, 1)) ** 3).astype(np.float32)
    vectors[0] = 0
    even = even_rows(vectors)
    assert even.shape == (300, 12)
    np.testing.assert_allclose(even.sum(axis=1), 0, atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(even, axis=1), np.sqrt(12), rtol=1e-5)
    scale = np.linalg.norm(even[1, :10]) / np.linalg.norm(vectors[1])
    np.testing.assert_allclose(even[:, :10], vectors * scale, atol=1e-5)


def test_narrowed_vectors_keep_their_products() -> None:
    random = np.random.default_rng(3)
    flat = random.standard_normal((200, 5)) @ random.standard_normal((5, 30))
    vectors: NDArray[np.float32] = flat.astype(np.float32)
    for width in (5, 12, 40):
        narrow = narrowed(vectors, width)
        assert narrow.shape == (200, width)
        np.testing.assert_allclose(narrow @ narrow.T, vectors @ vectors.T, atol=1e-2)
    best = np.linalg.norm(narrowed(vectors, 3)) ** 2  # no three directions hold more
    values = np.linalg.svd(vectors.astype(np.float64), compute_uv=False)
    assert best == pytest.approx((values[:3] ** 2).sum(), rel=1e-5)


def test_tower_and_encoder_have_the_same_forward(
    toy_vocabulary: Vocabulary, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    tower = tower_of(toy_vocabulary, None)
    data = cut_pairs(toy_pairs, tower, tower)
    encoder = tower.encoder(EncoderFacts(languages=("en", "zh")), "# A card\n")
    with torch.no_grad():
        trained = tower.embed(*data.columns).numpy()
    texts = [*toy_pairs.sources, *toy_pairs.targets]
    np.testing.assert_allclose(trained, encoder.encode(texts), atol=1e-5)
    assert np.ptp(trained, axis=0).max() > 0.1
    odd = [*texts[:50], "ba <UNK> de", "<unk>", "ＢＡ  de", ""]
    ours, known = tower.body.ids(odd), toy_vocabulary.ids(odd)
    assert np.array_equal(ours[0], known[0]) and np.array_equal(ours[1], known[1])
    encoder.save(tmp_path / "saved")
    loaded = SentenceEncoder.load(tmp_path / "saved", EXACT)
    np.testing.assert_allclose(trained, loaded.encode(texts), atol=1e-5)
    assert loaded.describe() == encoder.describe()


@pytest.mark.parametrize("begins_as_static", [False, True])
def test_cls_pooling_takes_a_piece_of_its_own(
    begins_as_static: bool,
    toy_static: StaticEmbedding,
    toy_vocabulary: Vocabulary,
    toy_pairs: ParallelText,
    tmp_path: Path,
) -> None:
    """The vector is that of a piece which stands for no text, in xmine and elsewhere."""
    from sentence_transformers import SentenceTransformer

    start = toy_static if begins_as_static else None
    tower = tower_of(toy_vocabulary, start, pooling="cls").eval()
    texts = [*toy_pairs.sources[:20], "ba <CLS> de", "ba", "<cls>"]
    ids, starts = tower.body.ids(texts)
    beginning = len(toy_vocabulary)  # behind all pieces of text
    assert (ids[starts[:-1]] == beginning).all() and (ids == beginning).sum() == len(texts)
    rest = np.delete(ids, starts[:-1])
    assert np.array_equal(rest, toy_vocabulary.ids(texts)[0])
    with torch.no_grad():
        last = tower.body.model(
            input_ids=torch.from_numpy(ids[None, : starts[1]].astype(np.int64))
        ).last_hidden_state
        first = torch.nn.functional.normalize(tower.heads[0](last[:, 0]), dim=1)
        read = tower.embed(tower.cut(texts)).numpy()
        blank = tower.cut(["ba", " ", "ba"])  # which has a beginning all the same
        one = len(tower.body.ids(["ba"])[0])
        assert np.diff(blank.starts).tolist() == [one, 0, one] and len(blank.ids) == 2 * one
        assert not tower.embed(blank)[1].any()
    np.testing.assert_allclose(read[0], first[0], atol=1e-6)
    tower.encoder(EncoderFacts(), "").save(tmp_path / "saved")
    again = SentenceEncoder.load(tmp_path / "saved", EXACT)
    np.testing.assert_allclose(read, again.encode(texts), atol=1e-5)
    theirs: Any = SentenceTransformer(str(tmp_path / "saved"), device="cpu")
    np.testing.assert_allclose(read, theirs.encode(texts), atol=1e-5)


def test_cls_pooling_is_refused_where_no_piece_begins_a_sentence(
    toy_vocabulary: Vocabulary, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    pooled_by_mean = tower_of(toy_vocabulary, None).encoder(EncoderFacts(), "")
    pooled_by_mean.save(tmp_path / "mean")
    options = MsimcseOptions(encoder=str(tmp_path / "mean"), pooling="cls", held_out=200)
    with pytest.raises(EncoderError, match="cls pooling: the tokenizer"):
        train("msimcse", toy_pairs, options, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    has_beginning = tower_of(toy_vocabulary, None, pooling="cls")
    has_beginning.repool("mean")
    has_beginning.repool("cls")
    assert has_beginning.body.pooling.modes == ("cls",)


@pytest.mark.long
def test_training_resumes_and_sentence_transformers_opens_the_result(
    toy_pairs: ParallelText, toy_folder: Path, tmp_path: Path
) -> None:
    from sentence_transformers import SentenceTransformer

    changes = {"dropout": 0.2, "evaluate_every": 7, "near_batches": 16, "token_dropout": 0.1}
    of_start = {"start": str(toy_folder), "vocabulary_size": 0}
    options = MsimcseOptions(**{**OPTIONS, **changes, **of_start})
    whole = train("msimcse", toy_pairs, options, tmp_path / "whole")
    assert whole.measures["accuracy"] > 0.99

    with pytest.raises(Killed):
        train("msimcse", toy_pairs, options, tmp_path / "stopped", kill_at(26))
    train("msimcse", toy_pairs, options, tmp_path / "stopped", resume=True)
    weights = [
        (tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "stopped")
    ]
    assert weights[0] == weights[1]

    texts = [*toy_pairs.sources[:100], *toy_pairs.targets[:100]]
    model: Any = SentenceTransformer(str(tmp_path / "whole"), device="cpu")
    ours = SentenceEncoder.load(tmp_path / "whole", EXACT).encode(texts)
    assert (ours * model.encode(texts)).sum(axis=1).min() >= 0.99999


def test_golden_g06_pooling_sees_no_padding() -> None:
    tokens = torch.tensor([[[-1.0, -2.0], [-3.0, -1.0], [5.0, 5.0]]])
    mask = torch.tensor([[1, 1, 0]])
    for mode, expected in (("cls", [-1, -2]), ("mean", [-2, -1.5]), ("max", [-1, -1])):
        assert Pooling(2, (mode,), True)(tokens, mask, 0).tolist() == [expected]


@pytest.mark.parametrize("pooling", ["mean", "max", "cls"])
def test_padding_changes_no_vector(
    pooling: str, toy_vocabulary: Vocabulary, toy_pairs: ParallelText
) -> None:
    tower = tower_of(toy_vocabulary, None, pooling=pooling).eval()
    side = tower.cut([toy_pairs.sources[0], " ".join(toy_pairs.sources[:9])])
    with torch.no_grad():
        alone, padded = tower.embed(side.take(np.array([0]))), tower.embed(side)
    assert (alone[0] @ padded[0]).item() > 1 - 1e-6


def test_a_tower_reads_as_its_encoder_does_blank_texts_and_shortened_vectors_too(
    toy_encoder: SentenceEncoder, toy_pairs: ParallelText
) -> None:
    torch.manual_seed(1)
    head = Dense(toy_encoder.dim, 24, bias=True)
    encoder = SentenceEncoder(toy_encoder.body, [head], EncoderSettings(truncated=9))
    texts = [*toy_pairs.sources[:20], "", " "]
    tower = make_tower(encoder)
    found = tower.embed(tower.cut(texts))
    np.testing.assert_allclose(found.detach(), encoder.encode(texts), atol=1e-6)
    assert found.shape == (22, 9) and not found[20:].any()
