"""Tokens in files: read with the vectors or alone, of all texts or of some."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.toys.sentences import example_pairs, toy_sentences
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.files.npy import write_matrix
from xmine.text.sentences import sentence_table
from xmine.vectors.token_files import encode_and_read, keep_tokens, read_tokens


@pytest.mark.parametrize("truncated", [None, 100])
def test_sentences_that_are_cut_once_have_the_vectors_and_tokens_of_their_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, truncated: int | None
) -> None:
    monkeypatch.setattr(StaticEmbedding, "texts_at_once", 16)
    encoder, pairs = SentenceEncoder.load(), example_pairs()
    assert pairs is not None and encoder.encodes_pieces
    encoder.settings = replace(encoder.settings, truncated=truncated)
    unknown = ["\u1330", "rain \u1330 \u1331 falls", "\u1331\u1330"]  # pieces without a vector
    texts = [*pairs.sources[:20], *unknown, *pairs.targets[:20]]
    table = sentence_table("texts", texts)
    expected = encoder.encode_half(texts)
    assert (~expected.any(axis=1)).tolist() == [text in (unknown[0], unknown[2]) for text in texts]
    alone = read_tokens(encoder, table, tmp_path / "alone.npy")
    vectors = tmp_path / "vectors.npy"
    encode_and_read(encoder, table, vectors, tmp_path / "tokens.npy")
    read = read_tokens(encoder, table, tmp_path / "tokens.npy")
    found = np.load(vectors)
    assert found.dtype == np.float16 and found.tobytes() == expected.tobytes()
    assert read.rows.tobytes() == alone.rows.tobytes()
    assert read.starts.tolist() == alone.starts.tolist()


@pytest.mark.parametrize("rows", [[0, 1, 3, 4, 7, 10], [2]])
def test_tokens_of_some_texts_are_those_of_a_table_of_these(
    toy_encoder: SentenceEncoder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[int],
) -> None:
    monkeypatch.setattr("xmine.vectors.token_files._TEXTS_AT_ONCE", 2)
    texts = [*toy_sentences(10, seed=5)[0], "\u2603"]
    path, other = tmp_path / "tokens.npy", tmp_path / "other.npy"
    read_tokens(toy_encoder, sentence_table("texts", texts), path)
    whole = path.read_bytes()
    keep_tokens(toy_encoder, path, len(texts) + 1, np.array(rows))  # of other texts
    assert path.read_bytes() == whole
    keep_tokens(toy_encoder, path, len(texts), np.array(rows, dtype=np.intp))
    read_tokens(toy_encoder, sentence_table("some", [texts[row] for row in rows]), other)
    pairs = (sorted(tmp_path.glob(f"{name}*")) for name in ("tokens", "other"))
    for kept, read in zip(*pairs, strict=True):
        assert kept.read_bytes() == read.read_bytes()
    keep_tokens(toy_encoder, tmp_path / "none.npy", len(texts), np.array(rows))


def test_tokens_that_do_not_fit_their_starts_are_read_again(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    table, path = sentence_table("texts", ["bade fifi", "golu"]), tmp_path / "tokens.npy"
    expected = read_tokens(toy_encoder, table, path).rows.tolist()
    write_matrix(path, np.zeros((1, 1), dtype=np.int32))
    assert read_tokens(toy_encoder, table, path).rows.tolist() == expected
