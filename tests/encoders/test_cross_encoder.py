"""The second model of mining: a cross-encoder gives the logits of its checkpoint, or is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.toys.against_theirs import EXACT, Checkpoint
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.rescorer import load_rescorer
from xmine.errors import EncoderError
from xmine.options import EncodingOptions
from xmine.pairs.io import ParallelText

Pairs = tuple[list[str], list[str]]


@pytest.fixture
def pairs(toy_pairs: ParallelText) -> Pairs:
    """Short pairs, one whose texts are cut, one with an unknown character."""
    long = " ".join(toy_pairs.sources[:8])
    sources = [*toy_pairs.sources[:20], long, "ba", "☃", long]
    return sources, [*toy_pairs.targets[1:21], "ba", long, "ba", long]


@pytest.fixture
def cross_encoder(checkpoint: Checkpoint) -> Path:
    return checkpoint("cross-encoder")


def logits_of(folder: Path, pairs: Pairs) -> NDArray[np.float32]:
    """Read each pair alone, without padding, with transformers."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model: Any = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    found = []
    for source, target in zip(*pairs, strict=True):
        one = tokenizer(source, target, truncation=True, return_tensors="pt")
        assert one["input_ids"].shape[1] <= tokenizer.model_max_length
        with torch.no_grad():
            found.append(float(model(**one).logits[0, 0]))
    return np.array(found, dtype=np.float32)


@pytest.mark.parametrize("batch_size", [1, 5, 64])
def test_the_raw_logits_are_those_of_the_checkpoint(
    cross_encoder: Path, pairs: Pairs, batch_size: int
) -> None:
    model = load_rescorer(
        cross_encoder, EncodingOptions(device="cpu", dtype="float32", batch_size=batch_size)
    )
    assert not isinstance(model, SentenceEncoder)
    logits = model.judge(*pairs)
    assert logits.dtype == np.float32 and np.ptp(logits) > 0.1
    np.testing.assert_allclose(logits, logits_of(cross_encoder, pairs), rtol=0, atol=2e-5)
    assert len(model.judge([], [])) == 0


def test_sentence_transformers_predicts_the_same(
    cross_encoder: Path, pairs: Pairs, tmp_path: Path
) -> None:
    """The plain checkpoint, and the folder that sentence-transformers makes of it."""
    import torch
    from sentence_transformers import CrossEncoder

    theirs: Any = CrossEncoder(str(cross_encoder), device="cpu")
    theirs.save_pretrained(str(tmp_path / "theirs"))
    assert (tmp_path / "theirs" / "modules.json").exists()
    wanted = theirs.predict(list(zip(*pairs, strict=True)), activation_fn=torch.nn.Identity())
    for folder in (cross_encoder, tmp_path / "theirs"):
        model = load_rescorer(folder, EXACT)
        assert not isinstance(model, SentenceEncoder)
        np.testing.assert_allclose(model.judge(*pairs), wanted, rtol=0, atol=2e-5)


def test_a_fingerprint_stands_for_the_numbers(cross_encoder: Path) -> None:
    first, same, other = (
        load_rescorer(
            cross_encoder, EncodingOptions(device="cpu", dtype="float32", batch_size=size)
        ).fingerprint()
        for size in (4, 4, 5)
    )
    assert first == same is not None and first != other
    changed = cross_encoder / "config.json"
    changed.write_text(changed.read_text() + " ")
    assert load_rescorer(cross_encoder, EXACT).fingerprint() not in (first, other)


def test_an_encoder_is_an_encoder(toy_folder: Path, checkpoint: Checkpoint) -> None:
    for model in (toy_folder, "embedded", checkpoint("bert", "plain")):
        assert isinstance(load_rescorer(model, EXACT), SentenceEncoder)


def _with(folder: Path, name: str, content: object) -> None:
    (folder / name).write_text(json.dumps(content))


def _modules(*kinds: str) -> list[dict[str, object]]:
    home = "sentence_transformers.cross_encoder.modules."
    return [
        {"idx": at, "name": str(at), "path": "" if not at else f"{at}", "type": home + kind}
        for at, kind in enumerate(kinds)
    ]


def test_other_models_are_refused_by_name(
    checkpoint: Checkpoint, cross_encoder: Path, tmp_path: Path
) -> None:
    def refused(folder: Path, message: str) -> None:
        with pytest.raises(EncoderError, match=message) as error:
            load_rescorer(folder, EXACT)
        assert str(folder) in error.value.message

    refused(checkpoint("classifier", "two"), "a cross-encoder with 2 labels")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", "not an encoder")
    refused(tmp_path / "nothing", "no such encoder folder")
    _with(cross_encoder, "modules.json", _modules("Transformer", "LogitScore"))
    refused(cross_encoder, "asks for Transformer \\+ LogitScore")
    (cross_encoder / "modules.json").unlink()
    settings = {"prompts": {"q": "query: "}, "default_prompt_name": "q"}
    _with(cross_encoder, "config_sentence_transformers.json", settings)
    refused(cross_encoder, "asks for a prompt")
    (cross_encoder / "config_sentence_transformers.json").unlink()
    _with(cross_encoder, "sentence_bert_config.json", {"module_output_name": "embedding"})
    refused(cross_encoder, "asks for module_output_name")
    (cross_encoder / "sentence_bert_config.json").unlink()
    headless = checkpoint("bert", "headless")
    config = json.loads((headless / "config.json").read_text())
    config |= {"architectures": ["BertForSequenceClassification"], "id2label": {"0": "SCORE"}}
    _with(headless, "config.json", config)
    refused(headless, "weights are missing")


def test_numbers_that_are_not_finite_are_refused(cross_encoder: Path, pairs: Pairs) -> None:
    model = load_rescorer(cross_encoder, EXACT)
    assert not isinstance(model, SentenceEncoder)
    model.model.classifier.bias.data.fill_(float("nan"))
    with pytest.raises(EncoderError, match="not finite in float32"):
        model.judge(*pairs)
