"""ONNX Runtime gives the same vectors."""

import resource
from pathlib import Path

import numpy as np
import pytest

from tests.toys.against_theirs import (
    EXACT,
    OLD_POOLING,
    WIDTH,
    Checkpoint,
    in_onnx_runtime,
    save_theirs,
)
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.onnx_export import save_onnx
from xmine.errors import FileError
from xmine.pairs.io import ParallelText


@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_onnx_runtime_gives_the_same_vectors(
    checkpoint: Checkpoint, texts: list[str], tmp_path: Path, kind: str
) -> None:
    import torch
    from sentence_transformers.sentence_transformer.modules import Dense, Pooling, Transformer

    torch.manual_seed(2)
    for modes in (("mean",), tuple(OLD_POOLING)):
        dense = Dense(WIDTH * len(modes), 16)
        modules = [Transformer(str(checkpoint(kind))), Pooling(WIDTH, modes), dense]
        folder = save_theirs(tmp_path / f"theirs{len(modes)}", modules)
        encoder = SentenceEncoder.load(folder, EXACT)
        vectors = in_onnx_runtime(encoder, texts, tmp_path / f"onnx{len(modes)}")
        assert (vectors * encoder.encode(texts)).sum(axis=1).min() >= 0.99999


def test_onnx_of_a_static_encoder(
    toy_encoder: SentenceEncoder, toy_pairs: ParallelText, tmp_path: Path
) -> None:
    texts = [*toy_pairs.sources[:50], *toy_pairs.targets[:50], "BADE  Ｄｅｆｉ", "", "☃"]
    vectors = in_onnx_runtime(toy_encoder, texts, tmp_path / "onnx")
    np.testing.assert_allclose(vectors, toy_encoder.encode(texts), atol=1e-5)


def test_a_disk_without_room_is_told_and_nothing_is_left(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, usual[1]))
    try:
        with pytest.raises(FileError, match="cannot be written: File too large") as told:
            save_onnx(toy_encoder, tmp_path / "onnx")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert "make room" in told.value.hint and list(tmp_path.iterdir()) == []
