"""Tokens of a transformer: the last hidden states that transformers gives, a text at a time.

Of a static encoder: fewer dimensions, those that singular vectors of the texts' own words give.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_limits

import xmine.encoders.token_files
from tests.scoring.test_late_interaction import of, twin
from tests.toys.against_theirs import Checkpoint
from tests.toys.sentences import example_pairs
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.modules.transformer import Transformer
from xmine.encoders.pair import as_pair
from xmine.encoders.recipe import Recipe
from xmine.encoders.token_files import (
    ReadTokens,
    TokenFiles,
    compared,
    open_tokens,
    texts_read,
    tokens_of,
    tokens_of_pairs,
)
from xmine.encoders.tokens import (
    HEAVIEST,
    TOKEN_DIM,
    UNIT,
    TokenVectors,
    on_axes,
    principal_axes,
    weightiest,
    whole_vectors,
)
from xmine.encoders.vectors import read_tokens
from xmine.options import EncodingOptions
from xmine.run.steps import Steps
from xmine.scoring.late_interaction import match_pairs
from xmine.text.sentences import sentence_table


@cache
def loaded(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    return AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()


def tokens_of_both(
    encoder: SentenceEncoder, sources: list[str], targets: list[str]
) -> tuple[TokenVectors, TokenVectors]:
    return compared(encoder.body, texts_read(encoder, sources), texts_read(encoder, targets))


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
        vectors, weights = of(tokens, row)
        whole = np.array([each for each, _ in wanted]).reshape(vectors.shape)
        assert np.abs(vectors - whole).max(initial=0) <= 1
        assert np.abs(weights - [each for _, each in wanted]).max(initial=0) <= 1
    x = np.arange(len(some))
    y = x[::-1].copy()
    found = match_pairs(tokens, tokens, x, y)
    slow = [twin(expected[a], expected[b]) for a, b in zip(x, y, strict=True)]
    assert found[:, 2] == pytest.approx(np.array(slow)[:, 2], abs=2e-3)
    table = sentence_table("texts", [text for text in some if text.strip()])
    read = read_tokens(encoder, table, Steps(tmp_path / "parts"))
    on_disk = open_tokens(encoder, (read, read))[0]
    in_memory = tokens_of(encoder, list(table.texts))
    assert on_disk.lengths.tolist() == in_memory.lengths.tolist()
    for at in range(len(table)):
        for one, other in zip(of(on_disk, at), of(in_memory, at), strict=True):
            assert one.tolist() == other.tolist()


def spread_unevenly(rows: int, dim: int) -> Any:
    random = np.random.default_rng(5)
    vectors = random.normal(size=(rows, dim)) / np.arange(1, dim + 1)
    vectors[rows // 2] = 0
    return vectors.astype(np.float32)


def test_fewer_dimensions_are_those_along_which_weighted_vectors_spread_most() -> None:
    vectors = spread_unevenly(700, 40)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-9)[:, None]
    weights = np.random.default_rng(1).integers(0, 900, size=700).astype(np.float64)
    weighted = unit.astype(np.float64) * np.sqrt(weights)[:, None]
    axes = np.linalg.svd(weighted, full_matrices=False)[2][:6]
    expected = unit @ axes.T
    expected /= np.maximum(np.linalg.norm(expected, axis=1), 1e-9)[:, None]
    whole = whole_vectors(vectors)[0]
    few = on_axes(whole, principal_axes(whole, weights, 6))
    assert few.shape == (700, 6) and (few == np.rint(few)).all()
    assert not few[350].any() and few.any(axis=1).sum() == 699
    assert few @ few.T / UNIT**2 == pytest.approx(expected @ expected.T, abs=2e-3)


def test_threads_do_not_change_fewer_dimensions() -> None:
    vectors = whole_vectors(spread_unevenly(4096, 256))[0]
    weights = weightiest(np.random.default_rng(1).random(4096))[1]
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(principal_axes(vectors, weights).tobytes())
    assert found[0] == found[1]


def test_the_pieces_that_weigh_most_decide_with_whole_weights() -> None:
    weights = np.random.default_rng(1).random(9000) ** 4
    weights[::2] = 0
    rows, whole = weightiest(weights)
    assert len(rows) == 4096 and (np.diff(rows) > 0).all()
    assert weights[rows].min() >= np.sort(weights)[-4096]
    assert (whole == np.rint(whole)).all()
    assert whole / whole.sum() == pytest.approx(weights[rows] / weights[rows].sum(), abs=1e-8)
    # Sums of products with squared whole vectors of any direction are exact.
    assert whole.sum() * (UNIT + math.sqrt(8192) / 2) ** 2 < 2**53
    assert weightiest(weights * 0)[0].size == 0 == weightiest(np.zeros(0))[1].size
    assert weightiest(np.array([0.0, 1, 0, 3]))[0].tolist() == [1, 3]


def slow_axes(body: StaticEmbedding, sides: Sequence[Sequence[str]]) -> Any:
    """Count each piece of both sides in loops, and weigh its direction by its squared length."""
    times: defaultdict[int, float] = defaultdict(float)
    for texts in sides:
        read = [piece for text in texts for piece in body.tokens([text])[0][:, 0].tolist()]
        for piece, number in Counter(read).items():
            times[piece] += number / len(read)
    rows = []
    for piece, share in times.items():
        vector = body.table.vectors([piece])[0].astype(np.float64)
        rows.append(vector * math.sqrt(share))  # its direction, times its length
    return np.linalg.svd(np.array(rows), full_matrices=False)[2][:TOKEN_DIM]


def test_two_sides_are_compared_in_the_dimensions_in_which_their_own_words_differ() -> None:
    encoder = SentenceEncoder.load()
    body, pairs = encoder.body, example_pairs()
    assert isinstance(body, StaticEmbedding) and pairs is not None
    sides = list(pairs.sources[:150]), list(pairs.targets[:150])
    left, right = tokens_of_both(encoder, *sides)
    assert left.dim == right.dim == TOKEN_DIM < body.dim
    axes = slow_axes(body, sides)
    for tokens in (left, right):
        assert tokens.ids is not None
        ids = np.unique(tokens.ids)
        expected = body.table.vectors(ids) @ axes.T
        expected /= np.linalg.norm(expected, axis=1)[:, None]
        found = tokens.table[ids].astype(float)
        np.testing.assert_allclose(found @ found.T / UNIT**2, expected @ expected.T, atol=5e-3)


def test_few_words_have_all_dimensions() -> None:
    encoder, pairs = SentenceEncoder.load(), example_pairs()
    assert isinstance(encoder.body, StaticEmbedding) and pairs is not None
    every = whole_vectors(encoder.body.vectors)[0]
    for tokens in (
        tokens_of(encoder, list(pairs.sources)),
        tokens_of_both(encoder, ["She keeps bees."], ["她养蜜蜂。"])[0],
        tokens_of_both(encoder, ["☃"], [""])[0],
    ):
        assert tokens.dim == every.shape[1] and tokens.ids is not None
        assert (tokens.table[tokens.ids] == every[tokens.ids]).all()


def test_files_memory_and_single_pairs_give_the_same_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where only some texts of a side tell the dimensions."""
    encoder, pairs = SentenceEncoder.load(), example_pairs()
    assert pairs is not None
    sides = list(pairs.sources), list(pairs.targets)
    x, y = np.array([3, 100, 3]), np.array([7, 2, 150])
    seen = []
    for most in (10_000, 50):
        monkeypatch.setattr(xmine.encoders.token_files, "_TEXTS_FOR_AXES", most)
        steps, tables = Steps(tmp_path / str(most)), [sentence_table("f", each) for each in sides]
        left, right = (tuple(read_tokens(encoder, each, steps)) for each in tables)
        in_memory = tokens_of_both(encoder, *(list(each.texts) for each in tables))
        base = len(tables[0]), len(tables[1])
        files = TokenFiles((left, right), Recipe.of(encoder), base)
        for found in (files.open(), open_tokens(encoder, (left, right))):
            for one, other in zip(found, in_memory, strict=True):
                assert one.ids is not None and other.ids is not None
                assert one.starts.tolist() == other.starts.tolist()
                assert one.ids.tolist() == other.ids.tolist()
                assert (one.table[one.ids] == other.table[other.ids]).all()
        texts = list(tables[0].texts), list(tables[1].texts)
        for some, rows, whole in zip(
            tokens_of_pairs(as_pair(encoder), texts, x, y, base), (x, y), in_memory, strict=True
        ):
            for at, row in enumerate(rows.tolist()):
                assert [each.tolist() for each in of(some, at)] == [
                    each.tolist() for each in of(whole, row)
                ]
        seen.append(of(in_memory[0], 0)[0])
    assert not np.array_equal(seen[0], seen[1])


def test_some_texts_are_taken_in_any_order_without_a_look_at_the_others() -> None:
    random = np.random.default_rng(3)
    starts = np.concatenate([[0], random.integers(0, 5, 200).cumsum()])
    rows = random.integers(0, 50, (starts[-1], 1)).astype(np.int32)
    texts = random.permutation(200)[:50]
    taken = ReadTokens(rows, starts).take(texts)
    ends = zip(taken.starts.tolist(), taken.starts[1:].tolist(), strict=False)
    assert [taken.rows[start:end].tolist() for start, end in ends] == [
        rows[starts[text] : starts[text + 1]].tolist() for text in texts.tolist()
    ]
    assert len(ReadTokens(rows, starts).take(texts[:0]).starts) == 1
    counted = ReadTokens(rows, starts).shares(60)
    assert counted.tolist() == (np.bincount(rows[:, 0], minlength=60) / len(rows)).tolist()
