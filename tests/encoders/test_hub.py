"""Hub names: found in a cache that the test makes, or refused at once where there is no network."""

import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.toys.command import contents
from tests.toys.hub import COMMIT, running
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.hub import find_encoder
from xmine.errors import EncoderError

if TYPE_CHECKING:
    import subprocess

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
ENCODE = ("encode", "en.txt", "-o", "en.npy", "--model")


@pytest.fixture
def hub_home(tmp_path: Path, toy_folder: Path) -> Path:
    """A cache as huggingface_hub lays it out, with one encoder in it."""
    repository = tmp_path / "home" / "hub" / "models--toys--toy-encoder"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    shutil.copytree(toy_folder, repository / "snapshots" / COMMIT)
    return tmp_path / "home"


def test_a_name_in_the_cache_needs_no_network(
    xmine: Run, hub_home: Path, toy_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "en.txt").write_text("bade fifi\ngolu mane\n")
    home = {"HF_HOME": str(hub_home), "HF_ENDPOINT": "http://127.0.0.1:9"}
    ended = xmine(*ENCODE, "toys/toy-encoder", HF_HUB_OFFLINE="0", **home)
    assert ended.returncode == 0, ended.stderr
    expected = SentenceEncoder.load(toy_folder).encode(["bade fifi", "golu mane"])
    assert np.array_equal(np.load(tmp_path / "en.npy"), expected)


@pytest.mark.parametrize(
    ("offline", "message"),
    [
        ("1", "toys/other: not in the cache, and HF_HUB_OFFLINE forbids to download it (looked in"),
        ("0", "toys/other: not in the cache, and the hub cannot be reached: "),
    ],
)
def test_without_a_network_a_name_fails_at_once(
    xmine: Run, hub_home: Path, tmp_path: Path, offline: str, message: str
) -> None:
    (tmp_path / "en.txt").write_text("bade\n")
    home = {"HF_HOME": str(hub_home), "HF_ENDPOINT": "http://127.0.0.1:9"}
    ended = xmine(*ENCODE, "toys/other", HF_HUB_OFFLINE=offline, **home)
    first = ended.stderr.decode().splitlines()[0]
    assert first.startswith(f"xmine: {message}")
    assert str(hub_home / "hub") in first
    assert ended.returncode == 1
    assert not (tmp_path / "en.npy").exists()


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        ("model.safetensors", "in the cache without the weights of the model"),
        ("modules.json", "in the cache without modules.json"),
    ],
)
def test_a_part_of_a_repository_in_the_cache_does_not_count(
    xmine: Run, hub_home: Path, tmp_path: Path, lost: str, message: str
) -> None:
    for path in hub_home.rglob(lost):
        path.unlink()
    for path in hub_home.glob("hub/*/snapshots/*"):  # now it looks like a plain checkpoint
        (path / "config.json").write_text("{}")
    (tmp_path / "en.txt").write_text("bade\n")
    ended = xmine(*ENCODE, "toys/toy-encoder", HF_HOME=str(hub_home), HF_HUB_OFFLINE="1")
    assert f"xmine: toys/toy-encoder: {message}, and HF_HUB_OFFLINE" in ended.stderr.decode()
    assert ended.returncode == 1


def test_what_is_needed_is_downloaded_once(xmine: Run, tmp_path: Path, toy_folder: Path) -> None:
    needless = {"onnx/model.onnx", "onnx/config.json", "pytorch_model.bin", "photo.png"}
    files = contents(toy_folder) | dict.fromkeys(needless, b"not wanted")
    files = {name: data for name, data in files.items() if not (toy_folder / name).is_dir()}
    (tmp_path / "en.txt").write_text("bade fifi\n")
    encode = [*ENCODE, "toys/new", "--force"]
    with running({"toys/new@main": files}) as (address, seen):
        home = {"HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": address}
        ended = xmine(*encode, **home)
        assert ended.returncode == 0, ended.stderr.decode()
        expected = SentenceEncoder.load(toy_folder).encode(["bade fifi"])
        assert np.array_equal(np.load(tmp_path / "en.npy"), expected)
        got = {each.split("/", 4)[-1] for each in seen.asked if each.startswith("GET toys")}
        assert {"model.safetensors", "1_Normalize/config.json"} <= got
        assert not needless & got
        seen.asked.clear()
        assert xmine(*encode, **home).returncode == 0
        offline = xmine(*encode, **home, HF_HUB_OFFLINE="1")
        assert offline.returncode == 0, offline.stderr.decode()
        assert not any("toys" in each for each in seen.asked)
        (tmp_path / "en.npy").unlink()
        ended = xmine(*ENCODE, "toys/nothing", **home)
        assert "xmine: toys/nothing: the hub has no such repository" in ended.stderr.decode()
        ended = xmine(*ENCODE, "a--b/c", **home)
        assert "xmine: a--b/c: no such folder, and no Hugging Face name" in ended.stderr.decode()


def test_a_folder_is_read_without_a_network(
    checkpoint: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("asks for the network")

    folder = checkpoint()
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert SentenceEncoder.load(folder).encode(["ba de fi"]).shape == (1, 24)


def test_only_a_hub_name_may_touch_the_network(
    tmp_path: Path, toy_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(toy_folder.parent)
    assert find_encoder(toy_folder.name) == Path(toy_folder.name)
    (tmp_path / "encoders").mkdir()
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "xmine.encoders.hub._from_hub", lambda name: pytest.fail(f"asks the hub: {name}")
    )
    for name in (
        "nowhere",
        "encoders/nowhere",
        "a/b/c",
        "/nowhere/a",
        "./a/b",
        "a b/c",
        "file",
    ):
        with pytest.raises(EncoderError, match=name):
            find_encoder(name)
