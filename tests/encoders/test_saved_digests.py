"""An encoder that xmine saved is the one that it loads, to the bit."""

import json
import random
import shutil
from pathlib import Path

import pytest

from tests.toys.saved import without_digests
from xmine.encoders import encoder as encoders
from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.encoders.fingerprint import FACTS_FILE, list_files
from xmine.errors import EncoderError


def flip(path: Path, dice: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    path.write_bytes(data)


def digests_in(folder: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((folder / FACTS_FILE).read_text("utf-8"))["files"]
    return found


def test_a_flipped_bit_is_an_error_that_names_the_file(toy_folder: Path, tmp_path: Path) -> None:
    names = [name for name, _ in list_files(toy_folder)]
    assert {"model.safetensors", "sentencepiece.model", "tokenizer.json"} < set(names)
    for number, name in enumerate(names * 4):
        folder = Path(shutil.copytree(toy_folder, tmp_path / str(number)))
        flip(folder / name, random.Random(number))
        with pytest.raises(EncoderError, match=str(folder / name)):
            SentenceEncoder.load(folder)


def test_a_lost_file_is_an_error_that_names_the_file(toy_folder: Path, tmp_path: Path) -> None:
    name = "config_sentence_transformers.json"
    folder = Path(shutil.copytree(toy_folder, tmp_path / "enc"))
    (folder / "README.md").unlink()  # nothing depends on the card
    SentenceEncoder.load(folder)
    (folder / name).unlink()
    with pytest.raises(EncoderError) as error:
        SentenceEncoder.load(folder)
    assert error.value.message == f"{folder / name}: lost since the encoder was saved"


def test_a_change_is_accepted_as_the_hint_says(toy_folder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(toy_folder, tmp_path / "enc"))
    name = "config_sentence_transformers.json"
    (folder / "README.md").write_text("# Ours\n")  # nothing depends on the card
    assert SentenceEncoder.load(folder).card == "# Ours\n"
    settings = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps({**settings, "prompts": {"query": "query: "}}))
    with pytest.raises(EncoderError, match=f"{name}: changed since the encoder was saved") as error:
        SentenceEncoder.load(folder)
    assert 'write "" in place of the digest' in error.value.hint
    assert str(folder / FACTS_FILE) in error.value.hint
    text = (folder / FACTS_FILE).read_text("utf-8")
    (folder / FACTS_FILE).write_text(text.replace(digests_in(folder)[name], ""), "utf-8")
    changed = SentenceEncoder.load(folder)
    assert changed.settings.texts == {"query": "query: "}
    changed.save(folder)  # which replaces the folder, and knows the file
    assert digests_in(folder)[name] and SentenceEncoder.load(folder).settings == changed.settings


def test_folders_without_digests_load_as_ever(toy_folder: Path, tmp_path: Path) -> None:
    for name in ("older", "of others"):
        folder = without_digests(shutil.copytree(toy_folder, tmp_path / name))
        if name == "of others":
            (folder / FACTS_FILE).unlink()
        data = bytearray((folder / "model.safetensors").read_bytes())
        data[-1] ^= 1
        (folder / "model.safetensors").write_bytes(data)
        SentenceEncoder.load(folder)


def test_the_embedded_encoder_is_checked_where_its_files_are_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert digests_in(EMBEDDED).keys() == {name for name, _ in list_files(EMBEDDED)}
    assert SentenceEncoder.load().fingerprint()
    copy = shutil.copytree(EMBEDDED, tmp_path / "copy")
    with (copy / "model.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)[0]
        file.seek(-1, 2)
        file.write(bytes([last ^ 1]))
    monkeypatch.setattr(encoders, "EMBEDDED", copy)
    monkeypatch.setattr(encoders, "find_encoder", lambda _: copy)
    encoder = SentenceEncoder.load()
    with pytest.raises(EncoderError, match=r"model\.safetensors: changed since the encoder was"):
        encoder.fingerprint()
