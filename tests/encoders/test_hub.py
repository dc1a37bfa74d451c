"""Hub names: found in a cache that the test makes, or refused at once where there is no network."""

import http.server
import json
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.hub import find_encoder
from xmine.errors import EncoderError

if TYPE_CHECKING:
    import subprocess

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
ENCODE = ("encode", "en.txt", "-o", "en.npy", "--model")
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(http.server.BaseHTTPRequestHandler):
    """A hub with one repository, the folder `files`; as much of one as a download asks for."""

    files: Path
    asked: list[str]

    def answer(self, content: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if path.startswith("/api/models/toys/new"):
            names = [str(x.relative_to(self.files)) for x in self.files.rglob("*") if x.is_file()]
            siblings = [{"rfilename": name} for name in names]
            tree = [
                {"type": "file", "path": name, "size": 1, "oid": name.replace("/", "-")}
                for name in names
            ]
            about = {"id": "toys/new", "modelId": "toys/new", "sha": COMMIT, "siblings": siblings}
            content = tree if "/tree/" in path else about
            return self.answer(json.dumps(content).encode(), Content_Type="application/json")
        name = path.partition("/resolve/")[2].partition("/")[2]
        file = self.files / name
        if not name or not file.is_file():
            return self.answer(b"", 404, X_Error_Code="EntryNotFound", X_Repo_Commit=COMMIT)
        if self.command == "GET":
            self.asked.append(name)
        etag = f'"{name.replace("/", "-")}"'
        return self.answer(file.read_bytes(), ETag=etag, X_Repo_Commit=COMMIT)

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[tuple[str, type[Hub]]]:
    """A running hub whose repository is the folder `repository`: its address, and what it saw."""
    handler = type("ThisHub", (Hub,), {"files": tmp_path / "repository", "asked": []})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", handler
    server.shutdown()
    server.server_close()


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
        ("1", "toys/other: not in the cache, and HF_HUB_OFFLINE forbids to download it; looked in"),
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


def test_what_is_needed_is_downloaded_once(
    xmine: Run, hub: tuple[str, type[Hub]], tmp_path: Path, toy_folder: Path
) -> None:
    address, seen = hub
    shutil.copytree(toy_folder, tmp_path / "repository")
    for name in ("onnx/model.onnx", "onnx/config.json", "pytorch_model.bin", "photo.png"):
        path = tmp_path / "repository" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"not wanted")
    (tmp_path / "en.txt").write_text("bade fifi\n")
    encode = [*ENCODE, "toys/new", "--force"]
    home = {"HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": address}
    ended = xmine(*encode, **home)
    assert ended.returncode == 0, ended.stderr.decode()
    expected = SentenceEncoder.load(toy_folder).encode(["bade fifi"])
    assert np.array_equal(np.load(tmp_path / "en.npy"), expected)
    assert "model.safetensors" in seen.asked and "1_Normalize/config.json" in seen.asked
    assert not {"onnx/model.onnx", "onnx/config.json", "photo.png", "pytorch_model.bin"} & set(
        seen.asked
    )
    seen.asked.clear()
    assert xmine(*encode, **home).returncode == 0
    offline = xmine(*encode, **home, HF_HUB_OFFLINE="1")
    assert offline.returncode == 0, offline.stderr.decode()
    assert seen.asked == []


def test_what_the_hub_does_not_have_is_said(
    xmine: Run, hub: tuple[str, type[Hub]], tmp_path: Path
) -> None:
    (tmp_path / "en.txt").write_text("bade\n")
    home = {"HF_HOME": str(tmp_path / "home"), "HF_ENDPOINT": hub[0]}
    ended = xmine(*ENCODE, "toys/nothing", **home)
    assert "xmine: toys/nothing: the hub has no such encoder" in ended.stderr.decode()
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
