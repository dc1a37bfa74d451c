"""Encoders held against sentence-transformers and ONNX Runtime; what several tests call."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.options import EncodingOptions

Checkpoint = Callable[..., Path]
WIDTH = 24
EXACT = EncodingOptions(device="cpu", dtype="float32")
OLD_POOLING = {
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
    "mean": "pooling_mode_mean_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}


def theirs(folder: Path, texts: list[str], **settings: Any) -> NDArray[np.float32]:
    from sentence_transformers import SentenceTransformer

    model: Any = SentenceTransformer(str(folder), device="cpu")
    vectors: NDArray[np.float32] = model.encode(texts, normalize_embeddings=True, **settings)
    return vectors


def save_theirs(folder: Path, modules: list[Any], **settings: Any) -> Path:
    from sentence_transformers import SentenceTransformer

    model: Any = SentenceTransformer(modules=modules, device="cpu", **settings)
    model.save(str(folder))
    return folder


def agree(folder: Path, texts: list[str], again: Path) -> None:
    """Hold our vectors to theirs, and theirs of what we save to ours."""
    encoder = SentenceEncoder.load(folder, EXACT)
    ours = encoder.encode(texts)
    np.testing.assert_allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-5)
    assert (ours * theirs(folder, texts)).sum(axis=1).min() >= 0.99999
    assert np.ptp(ours[:60], axis=0).max() > 0.05  # not one vector for everything
    encoder.save(again)
    assert (ours * theirs(again, texts)).sum(axis=1).min() >= 0.99999
    assert (ours * SentenceEncoder.load(again, EXACT).encode(texts)).sum(axis=1).min() >= 0.99999
    assert encoder.describe() == SentenceEncoder.load(again, EXACT).describe()


def old_layout(folder: Path, modes: list[str], *, width: int = WIDTH) -> None:
    """Write by hand what sentence-transformers wrote before 5.4, around a plain checkpoint."""
    kinds = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")]
    rows = [
        {"idx": at, "name": str(at), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for at, (kind, path) in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(rows))
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": width}
    pooling |= {name: mode in modes for mode, name in OLD_POOLING.items()}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    settings = {"max_seq_length": 12, "do_lower_case": True}
    (folder / "sentence_bert_config.json").write_text(json.dumps(settings))
