import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.encoders.tokenizer import Vocabulary, pieces_of
from xmine.errors import EncoderError
from xmine.pairs.io import ParallelText
from xmine.text.folding import nfkc


def slow_encode(body: StaticEmbedding, texts: list[str]) -> NDArray[np.float64]:
    """The definition, one sentence and one piece at a time, in float64."""
    rows = []
    assert body.table.factors is not None
    for text in texts:
        ids, _ = body.pieces.ids([text])
        total = np.zeros(body.dim)
        for piece in ids.tolist():
            total += body.table.rows[piece].astype(np.float64) * body.table.factors[piece]
        length = np.sqrt((total**2).sum())
        rows.append(total / length if length else total)
    return np.array(rows)


def test_encode_agrees_with_the_definition(
    toy_encoder: SentenceEncoder, toy_static: StaticEmbedding, toy_pairs: ParallelText
) -> None:
    texts = [*toy_pairs.sources[:300], *toy_pairs.targets[:300], "", "   ", "ba", "❦❦"]
    fast = toy_encoder.encode(texts)
    assert fast.dtype == np.float32
    assert fast.shape == (604, 32)
    np.testing.assert_allclose(fast, slow_encode(toy_static, texts), atol=2e-6)
    np.testing.assert_allclose(np.linalg.norm(fast[:600], axis=1), 1, atol=1e-6)


def test_blank_and_unknown_text_is_a_row_of_zeros(toy_encoder: SentenceEncoder) -> None:
    assert not toy_encoder.encode(["", " \t ", "☃☃☃"]).any()
    assert toy_encoder.encode([]).shape == (0, 32)


def test_a_row_depends_on_its_text_alone_to_the_last_bit(
    toy_encoder: SentenceEncoder, toy_pairs: ParallelText
) -> None:
    texts = toy_pairs.sources[:1300]
    together = toy_encoder.encode(texts)
    alone = np.concatenate([toy_encoder.encode([text]) for text in texts[:50]])
    assert np.array_equal(together[:50], alone)
    assert np.array_equal(toy_encoder.encode(texts[::-1])[::-1], together)


def test_case_width_script_and_accents_are_folded(toy_vocabulary: Vocabulary) -> None:
    def pieces(text: str) -> list[int]:
        return list(toy_vocabulary.ids([text])[0].tolist())

    assert pieces("BABA Ｄｅｆｉ") == pieces("baba defi")
    assert pieces("機") == pieces("机")
    assert nfkc("e\u0301") == "é"
    assert pieces("<UNK>") == pieces("<unk>")  # text cannot spell the unknown piece


def test_encoders_that_share_their_pieces_read_them_once_and_cut_alike_in_threads(
    toy_folder: Path, toy_pairs: ParallelText
) -> None:
    pieces_of.cache_clear()
    both = [SentenceEncoder.load(toy_folder) for _ in range(2)] * 8
    assert pieces_of.cache_info().misses == 1
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda each: each.encode(toy_pairs.sources), both))
    assert all(np.array_equal(each, found[0]) for each in found)


def test_saving_and_loading_keeps_every_bit(toy_encoder: SentenceEncoder, toy_folder: Path) -> None:
    loaded = SentenceEncoder.load(toy_folder)
    texts = ["badefi gobade", "一嬀丁嬋"]
    assert np.array_equal(loaded.encode(texts), toy_encoder.encode(texts))
    assert loaded.facts == toy_encoder.facts
    assert loaded.card == "# A toy\n"
    loaded.save(toy_folder.parent / "again")
    for path in toy_folder.rglob("*"):
        if path.is_file():
            copy = toy_folder.parent / "again" / path.relative_to(toy_folder)
            assert copy.read_bytes() == path.read_bytes()


def test_int8_rounding_moves_vectors_by_less_than_half_a_step() -> None:
    vectors = np.random.default_rng(0).standard_normal((500, 16)).astype(np.float32)
    vectors[0] = 0
    table = Table.rounded(vectors)
    assert table.rows.dtype == np.int8
    assert table.factors is not None
    restored = table.vectors()
    assert (np.abs(restored - vectors) <= table.factors[:, None] * 0.5001).all()
    assert not restored[0].any()


def _store_bfloat16(folder: Path) -> None:
    """Write a table of four numbers that numpy has no type for."""
    about = {"embedding.weight": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]}}
    header = json.dumps(about).encode()
    data = len(header).to_bytes(8, "little") + header + bytes(8)
    (folder / "model.safetensors").write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "modules.json").unlink(), "no modules.json or config.json"),
        (lambda folder: (folder / "model.safetensors").unlink(), "model.safetensors: no such file"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "tokenizer.json: No such file"),
        (
            lambda folder: (folder / "sentencepiece.model").write_bytes(b"nothing"),
            "not a sentencepiece model",
        ),
        (
            lambda folder: (folder / "model.safetensors").write_bytes(b"nothing"),
            "model.safetensors: cannot be read",
        ),
        (_store_bfloat16, "model.safetensors: numbers of type BF16"),
        (lambda folder: (folder / "xmine.json").write_text("[]"), "xmine.json: cannot be read"),
        (
            lambda folder: (folder / "xmine.json").write_text('{"languages": ["en"]}'),
            "xmine.json: has no field 'method'",
        ),
    ],
)
def test_a_broken_folder_is_refused_by_name(
    toy_encoder: SentenceEncoder, tmp_path: Path, damage: Callable[[Path], object], message: str
) -> None:
    toy_encoder.save(tmp_path / "broken")
    damage(tmp_path / "broken")
    with pytest.raises(EncoderError) as error:
        SentenceEncoder.load(tmp_path / "broken")
    assert message in error.value.message


def test_a_failed_save_leaves_nothing(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="cannot be written"):
        toy_encoder.save(tmp_path / "encoder", beside=[tmp_path / "missing"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.torch
def test_sentence_transformers_opens_the_folder_with_the_same_vectors(
    toy_folder: Path, toy_vocabulary: Vocabulary, toy_pairs: ParallelText
) -> None:
    from sentence_transformers import SentenceTransformer

    texts = [*toy_pairs.sources[:200], *toy_pairs.targets[:200], "Badefi  GOBADE", ""]
    ours = SentenceEncoder.load(toy_folder)
    theirs: Any = SentenceTransformer(str(toy_folder), device="cpu")
    vectors = theirs.encode(texts)
    tokenizer: Any = theirs[0].tokenizer
    ids = [toy_vocabulary.ids([text])[0].tolist() for text in texts]
    assert [tokenizer.encode(text, add_special_tokens=False).ids for text in texts] == ids
    cosines = (ours.encode(texts) * vectors).sum(axis=1)
    assert cosines[:-1].min() >= 0.99999
    assert not vectors[-1].any()  # the blank line
    assert "torch" in sys.modules


def test_text_is_cut_by_as_many_threads_as_may_work(
    toy_vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    cut = toy_vocabulary._pieces.encode

    def encode(texts: list[str], *, num_threads: int, **how: Any) -> Any:
        asked.append(num_threads)
        return cut(texts, num_threads=num_threads, **how)

    monkeypatch.setattr(toy_vocabulary, "_pieces", SimpleNamespace(encode=encode))
    for threads in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        assert len(toy_vocabulary.ids(["ba ba", "ba"])[1]) == 3
    assert asked == [1, 3]
