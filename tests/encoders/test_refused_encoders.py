"""Encoders that cannot be honoured are refused by name, and so are broken ones."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.toys.against_theirs import EXACT, WIDTH, Checkpoint, old_layout, save_theirs
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import EncoderError
from xmine.pairs.io import ParallelText


def rewrite(path: Path, **changes: object) -> None:
    content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**content, **changes}), encoding="utf-8")


def kind_of_module(folder: Path, at: int, name: str) -> None:
    rows = json.loads((folder / "modules.json").read_text())
    rows[at]["type"] = name
    (folder / "modules.json").write_text(json.dumps(rows))


def lose_a_weight(folder: Path) -> None:
    from safetensors.numpy import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    weights.pop(next(name for name in weights if "layer.1.output" in name))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


TEXT_OUT = {"method": "forward", "method_output_name": "last_hidden_state"}
MORE_PIECES = [
    {"id": 9999, "content": "[NEW]", "single_word": False, "lstrip": False, "rstrip": False}
    | {"normalized": False, "special": True}
]
SETTINGS = "sentence_bert_config.json"
REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "other module": (
        lambda f: kind_of_module(f, 2, "sentence_transformers.models.CNN"),
        "2_Normalize: asks for CNN",
    ),
    "other first module": (
        lambda f: kind_of_module(f, 0, "sentence_transformers.models.WordEmbeddings"),
        "asks for WordEmbeddings + Pooling",
    ),
    "code of its own": (
        lambda f: kind_of_module(f, 0, "custom.Model"),
        "modules.json: asks for custom.Model, code of its own",
    ),
    "other pooling": (
        lambda f: rewrite(f / "1_Pooling/config.json", pooling_mode="median"),
        "config.json: no such pooling: 'median'",
    ),
    "unknown setting of a pooling": (
        lambda f: rewrite(f / "1_Pooling/config.json", stride=2),
        "1_Pooling/config.json: asks for stride = 2",
    ),
    "other width": (
        lambda f: rewrite(f / "1_Pooling/config.json", word_embedding_dimension=7),
        "1_Pooling: is for width 7, the model has 24",
    ),
    "other output": (
        lambda f: rewrite(f / SETTINGS, transformer_task="fill-mask"),
        'sentence_bert_config.json: asks for transformer_task = "fill-mask"',
    ),
    "a chat template in between": (
        lambda f: rewrite(f / SETTINGS, modality_config={"text": TEXT_OUT, "message": TEXT_OUT}),
        "sentence_bert_config.json: asks for modality_config = ",
    ),
    "settings of a wrong kind": (
        lambda f: rewrite(f / SETTINGS, max_seq_length="128"),
        "sentence_bert_config.json: max_seq_length is '128', not int",
    ),
    "weights cut off": (
        lambda f: os.truncate(f / "model.safetensors", 5000),
        "cannot be loaded: SafetensorError",
    ),
    "pieces without a vector": (
        lambda f: rewrite(f / "tokenizer.json", added_tokens=MORE_PIECES),
        "tokens, and vectors for ",
    ),
    "no module at all": (lambda f: (f / "modules.json").write_text("[]"), "asks for nothing"),
    "a transformer without pooling": (
        lambda f: (f / "modules.json").write_text(
            json.dumps([{"type": "sentence_transformers.models.Transformer", "path": ""}])
        ),
        "asks for Transformer;",
    ),
    "arguments of the model": (
        lambda f: rewrite(f / SETTINGS, model_args={"attn": 1}),
        'sentence_bert_config.json: asks for model_args = {"attn": 1}',
    ),
    "normalised tokens": (
        lambda f: rewrite(f / "2_Normalize/config.json", module_input_name="token_embeddings"),
        'config.json: asks for module_input_name = "token_embeddings"',
    ),
    "an adapter": (lambda f: rewrite(f / "adapter_config.json"), "an adapter (PEFT)"),
    "a weight less": (lose_a_weight, "weights are missing or of another shape: encoder.layer.1"),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), "cannot be loaded"),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), "no tokenizer"),
    "unknown model": (
        lambda f: rewrite(f / "config.json", model_type="nothing_known"),
        "cannot be loaded",
    ),
    "broken modules": (lambda f: (f / "modules.json").write_text("{"), "modules.json: cannot be"),
    "missing default prompt": (
        lambda f: rewrite(f / "config_sentence_transformers.json", default_prompt_name="query"),
        "there is no prompt 'query'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_honoured_is_refused_by_name(checkpoint: Checkpoint, case: str) -> None:
    folder = checkpoint()
    old_layout(folder, ["mean"])
    (folder / "2_Normalize").mkdir()
    SentenceEncoder.load(folder)
    change, message = REFUSED[case]
    change(folder)
    with pytest.raises(EncoderError) as error:
        SentenceEncoder.load(folder)
    assert message in error.value.message
    assert str(folder) in error.value.message


def test_a_dense_head_that_cannot_be_honoured_is_refused(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    from sentence_transformers.sentence_transformer.modules import Dense, Pooling, Transformer

    modules = [Transformer(str(checkpoint())), Pooling(WIDTH), Dense(WIDTH, 8)]
    whole = save_theirs(tmp_path / "whole", modules)
    for name, change, message in (
        ("own activation", {"activation_function": "custom.Swish"}, "no such activation: custom"),
        ("on tokens", {"module_input_name": "token_embeddings"}, "asks for module_input_name"),
        ("no sizes", {"in_features": None}, "does not say in_features"),
        ("other sizes", {"out_features": 9}, "model.safetensors: cannot be read"),
    ):
        folder = tmp_path / name
        shutil.copytree(whole, folder)
        rewrite(folder / "2_Dense/config.json", **change)
        with pytest.raises(EncoderError, match=message):
            SentenceEncoder.load(folder)


@pytest.mark.parametrize("kind", ["classifier", "bart"])
def test_a_plain_checkpoint_for_something_else_is_refused(
    checkpoint: Checkpoint, kind: str
) -> None:
    messages = {"classifier": "a classifier, not an encoder", "bart": "an encoder with a decoder"}
    with pytest.raises(EncoderError, match=messages[kind]):
        SentenceEncoder.load(checkpoint(kind))


def test_numbers_that_are_not_finite_are_refused(
    checkpoint: Checkpoint, toy_pairs: ParallelText
) -> None:
    from safetensors.numpy import load_file, save_file

    folder = checkpoint()
    weights = load_file(folder / "model.safetensors")
    weights["encoder.layer.1.output.dense.bias"][3] = np.nan
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    encoder = SentenceEncoder.load(folder, EXACT)
    with pytest.raises(EncoderError, match="numbers that are not finite in float32"):
        encoder.encode(toy_pairs.sources[:5])
