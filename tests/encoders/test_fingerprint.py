"""An encoder is named by the files and settings that its vectors depend on."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.toys.faults import failing
from tests.toys.saved import without_digests
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.reranking import RerankingWeights
from xmine.encoders.vectors import vectors_key
from xmine.errors import FileError, OptionError
from xmine.options import EncodingOptions


def test_an_encoder_is_told_by_its_files_but_not_by_its_card(
    toy_folder: Path, toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    one = SentenceEncoder.load(toy_folder)
    expected = one.fingerprint()
    assert expected and len(expected) == 32 and one.fingerprint() == expected
    assert toy_encoder.fingerprint() is None  # made in memory
    assert vectors_key(toy_encoder) is None
    copy = tmp_path / "copy"
    shutil.copytree(toy_folder, copy)
    Path(copy, "README.md").write_text("# Another card\n")
    Path(copy, "xmine.json").write_text('{"languages": ["en"], "method": "other"}')
    Path(copy, ".git").mkdir()
    Path(copy, ".git", "HEAD").write_text("somewhere")
    RerankingWeights(bias=1.0).save(copy)
    assert SentenceEncoder.load(copy).facts == EncoderFacts(("en",), "other")
    assert SentenceEncoder.load(copy).fingerprint() == expected
    for name in ("model.safetensors", "tokenizer.json", "config_sentence_transformers.json"):
        without_digests(shutil.copytree(toy_folder, tmp_path / name))
        with Path(tmp_path, name, name).open("ab") as file:
            file.write(b" " if name.endswith("json") else b"")
        if name == "model.safetensors":
            content = bytearray(Path(copy, name).read_bytes())
            content[-1] ^= 1
            Path(tmp_path, name, name).write_bytes(content)
        assert SentenceEncoder.load(tmp_path / name).fingerprint() != expected


def test_an_encoder_whose_folder_has_changed_since_is_refused(
    toy_folder: Path, tmp_path: Path
) -> None:
    folder = without_digests(shutil.copytree(toy_folder, tmp_path / "encoder"))
    told, late = SentenceEncoder.load(folder), SentenceEncoder.load(folder)
    expected = told.fingerprint()
    os.utime(folder / "model.safetensors", ns=(1, 1))  # written anew
    with pytest.raises(FileError, match=r"model\.safetensors: was changed while it was read"):
        late.fingerprint()
    assert SentenceEncoder.load(folder).fingerprint() == told.fingerprint() == expected
    late = SentenceEncoder.load(folder)
    (folder / "late.json").write_text("{}")  # read or not: nobody knows
    with pytest.raises(FileError, match="encoder: was changed while it was read"):
        late.fingerprint()
    late = SentenceEncoder.load(folder)
    with (
        failing((folder / "model.safetensors").__eq__, reading=True),
        pytest.raises(FileError, match=r"model\.safetensors: cannot be read: "),
    ):
        late.fingerprint()
    shutil.rmtree(folder)
    with pytest.raises(FileError, match="was changed while it was read"):
        late.fingerprint()
    told.source = None  # its weights were changed
    assert told.fingerprint() is None


def test_a_static_encoder_is_the_same_under_any_options(toy_folder: Path) -> None:
    options = EncodingOptions(batch_size=7, max_length=9, dtype="bfloat16")
    one, other = SentenceEncoder.load(toy_folder), SentenceEncoder.load(toy_folder, options)
    assert one.fingerprint() == other.fingerprint()


def test_a_transformer_is_another_under_other_options(checkpoint: Callable[..., Path]) -> None:
    folder = checkpoint()
    seen = set()
    for options in (
        EncodingOptions(device="cpu", dtype="float32"),
        EncodingOptions(device="cpu", dtype="bfloat16"),
        EncodingOptions(device="cpu", dtype="float32", batch_size=7),
        EncodingOptions(device="cpu", dtype="float32", max_length=9),
    ):
        seen.add(SentenceEncoder.load(folder, options).fingerprint())
        assert SentenceEncoder.load(folder, options).fingerprint() in seen
    by_device = SentenceEncoder.load(folder, EncodingOptions(device="cpu", dtype="float32"))
    for device, size in (("cpu", 32), ("cuda:1", 512)):  # a run that was mined there
        options = EncodingOptions(device="cpu", dtype="float32", batch_size=size)
        given = SentenceEncoder.load(folder, options)
        assert by_device.fingerprint(device) == given.fingerprint(device)
    asked = SentenceEncoder.load(folder, EncodingOptions(device="cpu", dtype="float32"))
    asked.body.pooling.include_prompt = False  # type: ignore[union-attr]
    assert asked.fingerprint() not in seen and len(seen) == 4


def test_a_key_names_encoder_and_prompt(toy_folder: Path) -> None:
    encoder = SentenceEncoder.load(toy_folder)
    keys = {vectors_key(encoder, prompt) for prompt in ("", "query: ")}
    assert len(keys) == 2
    assert vectors_key(SentenceEncoder.load(toy_folder)) in keys
    with pytest.raises(OptionError, match="no prompt 'query'"):
        vectors_key(encoder, "query")
