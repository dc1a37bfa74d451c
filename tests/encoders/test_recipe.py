"""Another process loads the encoder that this one has, or says that there is another one."""

import pickle
from pathlib import Path

import pytest

from tests.toys.against_theirs import Checkpoint
from tests.toys.engines import Shuffled
from tests.toys.saved import without_digests
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.recipe import Recipe
from xmine.encoders.vectors import encode_sentences
from xmine.errors import EncoderError
from xmine.options import EncodingOptions
from xmine.run.steps import Steps
from xmine.run.task import Task
from xmine.text.sentences import sentence_table


def recipe_of(encoder: SentenceEncoder) -> Recipe:
    found = Recipe.of(encoder)
    assert found
    travelled: Recipe = pickle.loads(pickle.dumps(found))
    return travelled


def test_a_folder_is_found_from_everywhere(
    toy_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(toy_folder.parent)
    encoder = SentenceEncoder.load(toy_folder.name)
    recipe = recipe_of(encoder)
    assert recipe.model == str(toy_folder) and recipe.gpus == 0
    monkeypatch.chdir(tmp_path)
    again = recipe.load()
    assert again.fingerprint() == encoder.fingerprint()
    assert pickle.loads(pickle.dumps(recipe)).load() is again  # loaded once


def test_what_has_a_name_is_found_by_its_name(
    toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert recipe_of(SentenceEncoder.load()).model == "embedded"
    monkeypatch.setattr("xmine.encoders.encoder.find_encoder", lambda _: toy_folder)
    assert recipe_of(SentenceEncoder.load("toys/toy")).model == "toys/toy"


def test_an_encoder_of_the_memory_has_no_recipe(toy_encoder: SentenceEncoder) -> None:
    assert Recipe.of(toy_encoder) is None


def test_the_settings_in_use_are_taken_along(checkpoint: Checkpoint) -> None:
    options = EncodingOptions(device="cpu", dtype="bfloat16", batch_size=5, max_length=12)
    encoder = SentenceEncoder.load(checkpoint(), options)
    recipe = recipe_of(encoder)
    assert recipe.options == options
    assert recipe.load().fingerprint() == encoder.fingerprint()


def test_a_gpu_is_asked_for_without_its_number(
    checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    encoder = SentenceEncoder.load(checkpoint())
    monkeypatch.setattr(SentenceEncoder, "device", "cuda:1")
    recipe = recipe_of(encoder)
    assert recipe.options.device == "cuda" and recipe.gpus == 1
    engine, table = Shuffled(stops_after=0), sentence_table("f", ["a", "b"])
    asked = list[Task]()
    monkeypatch.setattr(engine, "run", lambda tasks, tick: asked.extend(tasks))
    encode_sentences(encoder, table, Steps(tmp_path, engine))
    assert [task.gpus for task in asked] == [1]


def test_another_encoder_under_the_name_is_refused(
    toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    folder = tmp_path / "encoder"
    toy_encoder.save(folder)
    without_digests(folder)
    recipe = recipe_of(SentenceEncoder.load(folder))
    path = folder / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(EncoderError, match="encoder: is another encoder on this machine") as error:
        recipe.load()
    assert "same files" in error.value.hint
