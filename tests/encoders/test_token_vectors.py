"""Tokens of a transformer: the last hidden states that transformers gives, a text at a time.

Vectors of fewer dimensions: those that singular vectors give.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_limits

from tests.scoring.test_late_interaction import twin
from tests.toys.against_theirs import Checkpoint
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.modules.transformer import Transformer
from xmine.encoders.tokens import HEAVIEST, UNIT, on_principal_axes, whole_vectors
from xmine.options import EncodingOptions
from xmine.scoring.late_interaction import match_pairs
from xmine.text.sentences import sentence_table
from xmine.vectors.tokens import read_tokens, tokens_of


@cache
def loaded(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    return AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()


def reference(folder: Path, text: str, longest: int) -> list[tuple[list[int], int]]:
    """Read a text by transformers alone: vectors of tokens that are not special, and weights."""
    tokenizer, model = loaded(folder)
    given = tokenizer(text, return_tensors="pt", truncation=True, max_length=longest)
    with torch.no_grad():
        states = model(
            input_ids=given["input_ids"], attention_mask=given["attention_mask"]
        ).last_hidden_state[0]
    special = set(tokenizer.all_special_ids)
    kept = [at for at, each in enumerate(given["input_ids"][0].tolist()) if each not in special]
    vectors = states[kept].double().numpy()
    lengths = np.sqrt((vectors**2).sum(axis=1))
    whole = np.rint(vectors / lengths[:, None] * UNIT).astype(int).tolist()
    weights = [round(each / lengths.max() * HEAVIEST) for each in lengths]
    return list(zip(whole, weights, strict=True))


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta"])
def test_tokens_are_the_last_hidden_states(
    checkpoint: Checkpoint, texts: list[str], tmp_path: Path, kind: str
) -> None:
    folder = checkpoint(kind)
    some = [*texts[::9], "", "☃", texts[-4]]
    encoder = SentenceEncoder.load(
        folder, EncodingOptions(device="cpu", dtype="float32", batch_size=3)
    )
    body = encoder.body
    assert isinstance(body, Transformer)
    tokens = tokens_of(encoder, some)
    expected = [reference(folder, text, body.cut_at) if text else [] for text in some]
    assert tokens.lengths.tolist() == [len(each) for each in expected]
    assert 0 in tokens.lengths and tokens.lengths.max() > 10
    for row, wanted in enumerate(expected):
        vectors, weights = tokens.of(row)
        assert (
            np.abs(vectors - np.array([each for each, _ in wanted]).reshape(vectors.shape)).max(
                initial=0
            )
            <= 1
        )
        assert np.abs(weights - [each for _, each in wanted]).max(initial=0) <= 1
    x = np.arange(len(some))
    y = x[::-1].copy()
    found = match_pairs(tokens, tokens, x, y)
    slow = [twin(expected[a], expected[b]) for a, b in zip(x, y, strict=True)]
    assert found[:, 2] == pytest.approx(np.array(slow)[:, 2], abs=2e-3)
    table = sentence_table("texts", [text for text in some if text.strip()])
    on_disk = read_tokens(encoder, table, tmp_path / "tokens.npy")
    in_memory = tokens_of(encoder, list(table.texts))
    assert on_disk.lengths.tolist() == in_memory.lengths.tolist()
    assert (on_disk.table[:, : on_disk.dim] == in_memory.table[:, : in_memory.dim]).all()


def spread_unevenly(rows: int, dim: int) -> Any:
    random = np.random.default_rng(5)
    vectors = random.normal(size=(rows, dim)) / np.arange(1, dim + 1)
    vectors[rows // 2] = 0
    return vectors.astype(np.float32)


def test_fewer_dimensions_are_those_along_which_vectors_spread_most() -> None:
    vectors = spread_unevenly(700, 40)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-9)[:, None]
    axes = np.linalg.svd(unit.astype(np.float64), full_matrices=False)[2][:6]
    expected = unit @ axes.T
    expected /= np.maximum(np.linalg.norm(expected, axis=1), 1e-9)[:, None]
    few = on_principal_axes(whole_vectors(vectors)[0], 6)
    assert few.shape == (700, 6) and (few == np.rint(few)).all()
    assert not few[350].any() and few.any(axis=1).sum() == 699
    assert few @ few.T / UNIT**2 == pytest.approx(expected @ expected.T, abs=2e-3)


def test_only_the_pieces_that_were_read_get_a_token_vector() -> None:
    """Of a vocabulary of many languages a text has few."""
    body = SentenceEncoder.load().body
    assert isinstance(body, StaticEmbedding)
    every = on_principal_axes(whole_vectors(body.vectors)[0])
    made: set[int] = set()
    for text in ("She keeps bees.", "她养蜜蜂。 She sells honey."):
        ids = body.tokens([text])[0][:, 0]
        vectors = body.token_vectors(ids)
        made |= set(ids.tolist())
        assert set(np.flatnonzero(vectors.any(axis=1)).tolist()) == made
        assert (vectors[ids] == every[ids]).all()


def test_vectors_of_few_dimensions_stay() -> None:
    vectors = whole_vectors(spread_unevenly(20, 6))[0]
    assert on_principal_axes(vectors, 6) is vectors
    assert on_principal_axes(vectors[:3], 2).shape == (3, 2)


def test_threads_do_not_change_fewer_dimensions() -> None:
    vectors = whole_vectors(spread_unevenly(9000, 256))[0]
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(on_principal_axes(vectors).tobytes())
    assert found[0] == found[1]
