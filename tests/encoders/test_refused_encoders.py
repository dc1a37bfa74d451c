"""Encoders that cannot be honoured are refused by name, and so are broken ones."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
CHAT = {"modality_config": {"text": TEXT_OUT, "message": TEXT_OUT}}
ON_TOKENS = {"module_input_name": "token_embeddings"}
MORE_PIECES = [
    {"id": 9999, "content": "[NEW]", "single_word": False, "lstrip": False, "rstrip": False}
    | {"normalized": False, "special": True}
]
MODELS = "sentence_transformers.models."
SETTINGS, PROMPTS = "sentence_bert_config.json", "config_sentence_transformers.json"
POOLING, NORMALIZE = "1_Pooling/config.json", "2_Normalize/config.json"
WEIGHTS = "model.safetensors"
ALONE = json.dumps([{"type": f"{MODELS}Transformer", "path": ""}])
# Settings of a file that change, by what is said.
SET: dict[str, tuple[str, dict[str, Any]]] = {
    "config.json: no such pooling: 'median'": (POOLING, {"pooling_mode": "median"}),
    "1_Pooling/config.json: asks for stride = 2": (POOLING, {"stride": 2}),
    "1_Pooling: is for width 7, the model has 24": (POOLING, {"word_embedding_dimension": 7}),
    "_config.json: asks for transformer_task = ": (SETTINGS, {"transformer_task": "fill-mask"}),
    f"{SETTINGS}: asks for modality_config = ": (SETTINGS, CHAT),
    f"{SETTINGS}: max_seq_length is '128', not int": (SETTINGS, {"max_seq_length": "128"}),
    f'{SETTINGS}: asks for model_args = {{"attn": 1}}': (SETTINGS, {"model_args": {"attn": 1}}),
    "tokens, and vectors for ": ("tokenizer.json", {"added_tokens": MORE_PIECES}),
    f'{NORMALIZE}: asks for module_input_name = "token_embeddings"': (NORMALIZE, ON_TOKENS),
    "an adapter (PEFT)": ("adapter_config.json", {}),
    "cannot be loaded: ValueError": ("config.json", {"model_type": "nothing_known"}),
    "there is no prompt 'query'": (PROMPTS, {"default_prompt_name": "query"}),
}
REFUSED: dict[str, Callable[[Path], object]] = {
    "2_Normalize: asks for CNN": lambda f: kind_of_module(f, 2, f"{MODELS}CNN"),
    "asks for WordEmbeddings + Pooling": lambda f: kind_of_module(f, 0, f"{MODELS}WordEmbeddings"),
    "modules.json: asks for custom.M, code of its own": lambda f: kind_of_module(f, 0, "custom.M"),
    "cannot be loaded: SafetensorError": lambda f: os.truncate(f / WEIGHTS, 5000),
    "asks for nothing": lambda f: (f / "modules.json").write_text("[]"),
    "asks for Transformer;": lambda f: (f / "modules.json").write_text(ALONE),
    "weights are missing or of another shape: encoder.layer.1": lose_a_weight,
    "cannot be loaded": lambda f: (f / WEIGHTS).unlink(),
    "no tokenizer": lambda f: (f / "tokenizer.json").unlink(),
    "modules.json: cannot be": lambda f: (f / "modules.json").write_text("{"),
}


@pytest.mark.parametrize("said", [*SET, *REFUSED])
def test_what_cannot_be_honoured_is_refused_by_name(checkpoint: Checkpoint, said: str) -> None:
    folder = checkpoint()
    old_layout(folder, ["mean"])
    (folder / "2_Normalize").mkdir()
    SentenceEncoder.load(folder)
    if said in SET:
        rewrite(folder / SET[said][0], **SET[said][1])
    else:
        REFUSED[said](folder)
    with pytest.raises(EncoderError) as error:
        SentenceEncoder.load(folder)
    assert said in error.value.message
    assert str(folder) in error.value.message


def test_a_dense_head_that_cannot_be_honoured_is_refused(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    from sentence_transformers.sentence_transformer.modules import Dense, Pooling, Transformer

    modules = [Transformer(str(checkpoint())), Pooling(WIDTH), Dense(WIDTH, 8)]
    whole = save_theirs(tmp_path / "whole", modules)
    for name, change, message in (
        ("own activation", {"activation_function": "custom.Swish"}, "no such activation: custom"),
        ("on tokens", ON_TOKENS, "asks for module_input_name"),
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
