"""Inputs that change while they are read: an error, nothing sealed, nothing in the cache."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.test_runs import files
from tests.toys.command import Command, Toy
from tests.toys.saved import without_digests
from xmine import mine
from xmine.encoders import vectors as encoding
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.fingerprint import Source, list_files
from xmine.encoders.layout import MODULES_FILE, read_json, write_json
from xmine.encoders.metadata import SETTINGS_FILE
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.token_files import compared
from xmine.encoders.vector_files import read_vectors
from xmine.errors import EncoderError, FileError
from xmine.progress import Progress
from xmine.text.inputs import TextInput

CHANGED = "was changed while it was read"
WEIGHTS = "model.safetensors"


@pytest.fixture
def model(toy_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An encoder of its own, which encodes the toy files in four blocks a side."""
    monkeypatch.setattr(StaticEmbedding, "texts_at_once", 16)
    return without_digests(shutil.copytree(toy_folder, tmp_path / "enc"))


def copy_over(path: Path) -> None:
    """Write other bytes into a file, as cp and rsync --inplace do."""
    with path.open("r+b") as file:
        data = file.read()
        file.seek(len(data) // 5)  # behind a header, and the factors of a static encoder
        file.write(bytes(byte ^ 0x5A for byte in data[len(data) // 5 :]))


def at_call(number: int, act: Callable[[], None], usual: Callable[..., Any]) -> Callable[..., Any]:
    """Act before a function is called for the so-manieth time, from 0."""
    left = iter(range(number, -1, -1))

    def called(*given: Any, **more: Any) -> Any:
        if next(left, None) == 0:
            act()
        return usual(*given, **more)

    return called


@pytest.mark.parametrize("moment", [0, 5])
def test_weights_copied_over_an_encoder_poison_neither_cache_nor_run(
    command: Command, toy_files: Toy, model: Path, moment: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, given = ("mine", "en.txt", "zh.txt", "-o"), ("--model", "enc")
    weights, usual = model / WEIGHTS, SentenceEncoder.encode_with_tokens
    before = weights.read_bytes()
    acting = at_call(moment, lambda: copy_over(weights), usual)
    with monkeypatch.context() as patch:
        patch.setattr(SentenceEncoder, "encode_with_tokens", lambda *each: acting(*each))
        ended = command(*run, "run/", *given)
    assert ended.code == 1 and f"enc/{WEIGHTS}: {CHANGED}" in ended.err, ended
    assert "target.npy" not in files(Path("run"))
    with weights.open("r+b") as file:
        file.write(before)
    assert command(*run, "again/", *given).code == 0
    assert command(*run, "new/", *given, "--no-cache").code == 0
    assert command(*run, "run/", *given).code == 0  # behind the blocks of before the change
    parts = [f"parts/{path.name}" for path in Path("new", "parts").glob("[!r]*")]
    assert {name[6:].split("-")[0] for name in parts} >= {"matches", "stretches"}
    for name in ("source.npy", "target.npy", "pairs.parquet", *parts):
        wanted = Path("new", name).read_bytes()
        assert Path("again", name).read_bytes() == Path("run", name).read_bytes() == wanted


def test_weights_copied_over_an_encoder_end_the_command(
    command: Command, toy_files: Toy, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    acting = at_call(1, lambda: copy_over(model / WEIGHTS), StaticEmbedding.means)
    monkeypatch.setattr(StaticEmbedding, "means", lambda *each: acting(*each))
    ended = command("encode", "en.txt", "-o", "en.npy", "--model", "enc")
    assert (ended.code, ended.out) == (1, "")
    told = f"xmine: enc/{WEIGHTS}: {CHANGED}\nhint: give the command again\n"
    assert ended.err.endswith(told) and "Error" not in ended.err
    assert not Path("en.npy").exists()


def test_weights_copied_over_an_encoder_leave_the_token_table_out(
    command: Command, toy_files: Toy, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    acting = at_call(0, lambda: copy_over(model / WEIGHTS), compared)
    monkeypatch.setattr("xmine.encoders.token_files.compared", acting)
    ended = command("mine", "en.txt", "zh.txt", "-o", "run/", "--model", "enc")
    assert ended.code == 1 and f"enc/{WEIGHTS}: {CHANGED}" in ended.err
    assert {"source.npy", "target.npy"} <= files(Path("run")).keys()
    assert not list(Path("run", "parts").glob("matches*"))


@pytest.mark.parametrize("moment", [0, 1])
def test_weights_copied_over_a_second_encoder_poison_nothing(
    command: Command, toy_files: Toy, model: Path, moment: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = Path(shutil.copytree(model, model.with_name("second")))
    shutil.copy(second / SETTINGS_FILE, second / "other.json")  # another encoder by its files
    acting = at_call(moment, lambda: copy_over(second / WEIGHTS), encoding._encode)
    monkeypatch.setattr(encoding, "_encode", acting)
    given = "--model", "enc", "--rescore", "second"
    ended = command("mine", "en.txt", "zh.txt", "-o", "run/", *given)
    assert ended.code == 1 and f"second/{WEIGHTS}: {CHANGED}" in ended.err, ended
    assert not list(Path("run").glob("parts/rescoring*"))


def test_weights_copied_over_a_cross_encoder_seal_no_figure(
    toy_files: Toy, toy_encoder: SentenceEncoder, tmp_path: Path
) -> None:
    folder = tmp_path / "judge"
    toy_encoder.save(folder)

    class Judge:
        """Stands in for a cross-encoder; its weights are copied over in the second block."""

        name, pairs_at_once, source = "judge", 16, Source(folder, list_files(folder), "judge")
        blocks = 0

        def fingerprint(self) -> str:
            return "judge"

        def judge(self, sources: Any, _: Any) -> Any:
            self.blocks += 1
            if self.blocks == 2:
                copy_over(folder / WEIGHTS)
            return np.ones(len(sources), np.float32)

    judge: Any = Judge()
    with pytest.raises(FileError, match=CHANGED):
        mine(*toy_files[:2], toy_encoder, rescore=judge, run=tmp_path / "run")
    assert judge.blocks == 2
    assert [path.name[-6:] for path in tmp_path.glob("run/parts/rescoring*")] == ["-0.npy"]


@pytest.mark.parametrize("stage", ["reading", "reading vectors"])
def test_given_vectors_that_change_midway_are_refused(
    toy_files: Toy,
    toy_encoder: SentenceEncoder,
    tmp_path: Path,
    stage: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("xmine.encoders.vector_files._ROWS_AT_ONCE", 16)
    paths = tmp_path / "en.npy", tmp_path / "zh.npy"
    for path, given in zip(paths, toy_files[:2], strict=True):
        rows = toy_encoder.encode(given.read_text(encoding="utf-8").splitlines())
        np.save(path, rows)
    vectors = [read_vectors(path) for path in paths]

    def change(now: Progress) -> None:
        if now.stage == stage and paths[0] not in changed:
            changed.append(paths[0])
            copy_over(paths[0])

    for run in (None, tmp_path / "run"):
        changed: list[Path] = []
        with pytest.raises(FileError, match=f"en.npy: {CHANGED}"):
            mine(*toy_files[:2], vectors=(vectors[0], vectors[1]), report=change, run=run)
    assert not list(Path(tmp_path, "run").glob("target.*"))


def test_a_text_that_changes_while_it_is_read_gives_no_pairs(
    toy_files: Toy, toy_encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = TextInput.texts

    def texts(given: TextInput) -> Any:
        for number, text in enumerate(usual(given)):
            if number == 30:
                path = Path(given.path)
                path.write_text(path.read_text(encoding="utf-8")[::-1], encoding="utf-8")
            yield text

    monkeypatch.setattr(TextInput, "texts", texts)
    with pytest.raises(FileError, match=f"en.txt: {CHANGED}"):
        mine(*toy_files[:2], toy_encoder)


def apart(model: Path, layout: str) -> Path:
    """Put the weights of an encoder elsewhere, and name the folder in which they are."""
    places = {
        "in a folder": "0_Static",
        "in a hidden folder": ".w",
        "behind a link to a folder": "linked",
        "behind links to files": "files",
        "beside": "../weights",
        "inside and out": "x/../../weights",
        "absolute": str(model.parent / "weights"),
    }
    place = model / places[layout]
    at = model.parent / "weights" if "link" in layout or place.parent != model else place
    at.mkdir()
    rows = read_json(model / MODULES_FILE, list)
    write_json(model / MODULES_FILE, [{**rows[0], "path": places[layout]}, *rows[1:]])
    if layout == "behind a link to a folder":
        place.symlink_to(at)
    for name in (WEIGHTS, "sentencepiece.model", "tokenizer.json"):
        (model / name).rename(at / name)
        if layout == "behind links to files":
            place.mkdir(exist_ok=True)
            (place / name).symlink_to(at / name)
    return at


@pytest.mark.parametrize(
    "layout",
    ["in a folder", "in a hidden folder", "behind a link to a folder", "behind links to files"],
)
def test_weights_that_change_wherever_they_are_are_another_encoder(
    model: Path, layout: str
) -> None:
    at = apart(model, layout)
    before = SentenceEncoder.load(model).fingerprint()
    copy_over(at / WEIGHTS)
    assert SentenceEncoder.load(model).fingerprint() != before


@pytest.mark.parametrize("layout", ["beside", "inside and out", "absolute"])
def test_an_encoder_that_leads_out_of_its_folder_is_refused(model: Path, layout: str) -> None:
    apart(model, layout)
    with pytest.raises(EncoderError, match=r"modules\.json: leads out of the folder: .*weights"):
        SentenceEncoder.load(model)


@pytest.mark.parametrize("place", ["", ".w/", "linked/", "../other/", "absolute"])
def test_shards_of_weights_are_hashed_or_refused(
    checkpoint: Callable[..., Path], tmp_path: Path, place: str
) -> None:
    folder, other = checkpoint(), tmp_path / "other"
    other.mkdir()
    (folder / "linked").symlink_to(other)
    (folder / ".w").mkdir()
    place = f"{other}/" if place == "absolute" else place
    shard = folder / f"{place}part.safetensors"
    (folder / WEIGHTS).rename(shard)
    import safetensors

    with safetensors.safe_open(shard, "numpy") as file:
        weight_map = dict.fromkeys(file.keys(), f"{place}part.safetensors")
    index = {"metadata": {}, "weight_map": weight_map}
    (folder / f"{WEIGHTS}.index.json").write_text(json.dumps(index))
    if "other" in place:
        with pytest.raises(EncoderError, match=r"index\.json: leads out of the folder: "):
            SentenceEncoder.load(folder)
        return
    before = SentenceEncoder.load(folder).fingerprint()
    copy_over(shard)
    assert SentenceEncoder.load(folder).fingerprint() != before


def test_a_checkpoint_that_names_its_weights_itself_is_refused(
    checkpoint: Callable[..., Path],
) -> None:
    folder = checkpoint()
    (folder / WEIGHTS).rename(folder / ".hidden.safetensors")
    config = read_json(folder / "config.json")
    write_json(folder / "config.json", {**config, "transformers_weights": ".hidden.safetensors"})
    with pytest.raises(EncoderError, match=r"config\.json: asks for transformers_weights"):
        SentenceEncoder.load(folder)
