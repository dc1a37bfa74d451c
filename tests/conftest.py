"""What tests share: an encoder of the toy languages, sentence files, the command.

Nothing here needs the network, a GPU or data from outside.
"""

import gc
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.quick import Quick
from tests.toys.checkpoints import toy_model, toy_tokenizer
from tests.toys.command import Ended, contents
from tests.toys.sentences import CONCEPTS, chinese_word, english_word, toy_sentences
from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.modules.static import StaticEmbedding, Table
from xmine.encoders.tokenizer import Vocabulary
from xmine.pairs.io import ParallelText
from xmine.run.worker_process import work_apart
from xmine.trainer.data import vocabulary


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="no process, no torch, no app")


# Tests write tens of thousands of small files: in memory, where the system has room for them.
IN_MEMORY, ROOM = Path("/dev/shm"), 4 * 2**30


def pytest_configure(config: pytest.Config) -> None:
    if os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))
    if config.getoption("quick"):
        config.pluginmanager.register(Quick())


def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what is loaded, and look less often for the rest."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def vocabularies_made_once() -> Iterator[None]:
    """Make each vocabulary once, and in this process, where xmine starts one for each."""
    known: dict[bytes, bytes] = {}

    def made(function: str, given: bytes, name: str) -> bytes:
        wanted = json.loads(given)
        key = json.dumps([wanted["texts"], wanted["size"]]).encode()
        if key not in known:
            try:
                known[key] = vocabulary.model_of(given)
            except RuntimeError:
                return work_apart(function, given, name)  # which tells of it as it does for users
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "work_apart", made)
        yield


@pytest.fixture(scope="session", autouse=True)
def embedded_loaded_once() -> Iterator[None]:
    """Load the embedded encoder once for all tests: it takes as long as to mine their few lines."""
    load, loaded = StaticEmbedding.load, list[StaticEmbedding]()

    def once(folder: Path) -> StaticEmbedding:
        if folder != EMBEDDED:
            return load(folder)
        if not loaded:
            loaded.append(load(folder))
        return loaded[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StaticEmbedding, "load", staticmethod(once))
        yield


@pytest.fixture(autouse=True)
def cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the vectors of each test apart, and away from the user's own."""
    folder = tmp_path.parent / f"{tmp_path.name}-cache"
    monkeypatch.setenv("XMINE_CACHE", str(folder))
    monkeypatch.setenv("XMINE_PACKS", str(folder))
    return folder


@pytest.fixture
def usual_signals() -> Iterator[None]:
    """Give what a test starts the signals that a terminal gives: children inherit ignored ones.

    nohup and a shell's background jobs have some ignored.
    """
    usual: dict[signal.Signals, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGHUP: signal.SIG_DFL,
        signal.SIGQUIT: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, action) for number, action in usual.items()}
    yield
    for number, action in before.items():
        signal.signal(number, action)


@pytest.fixture(scope="session")
def toy_pairs() -> ParallelText:
    english, chinese, _ = toy_sentences(1500, seed=7)
    origins = ["odd" if row % 2 else "even" for row in range(len(english))]
    return ParallelText(english, chinese, origins)


@pytest.fixture(scope="session")
def toy_static(toy_pairs: ParallelText) -> StaticEmbedding:
    """Vectors made without training: a word's pieces share the vector of its concept."""
    pieces = vocabulary.train_vocabulary(
        toy_pairs.sources, toy_pairs.targets, size=500, sample=3000, seed=1
    )
    random = np.random.default_rng(3)
    meaning = random.standard_normal((CONCEPTS, 32)).astype(np.float32)
    vectors = np.zeros((len(pieces), 32), dtype=np.float32)
    for concept in range(CONCEPTS):
        for word in (english_word(concept), chinese_word(concept)):
            ids, _ = pieces.ids([word])
            vectors[ids] += meaning[concept]
    vectors[pieces.meaningless()] = 0
    return StaticEmbedding(pieces, Table.rounded(vectors))


@pytest.fixture(scope="session")
def toy_vocabulary(toy_static: StaticEmbedding) -> Vocabulary:
    assert isinstance(toy_static.pieces, Vocabulary)
    return toy_static.pieces


@pytest.fixture(scope="session")
def toy_encoder(toy_static: StaticEmbedding) -> SentenceEncoder:
    facts = EncoderFacts(languages=("en", "zh"), method="test")
    return SentenceEncoder(toy_static, facts=facts, card="# A toy\n")


@pytest.fixture(scope="session")
def toy_folder(toy_encoder: SentenceEncoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoders") / "toy"
    toy_encoder.save(folder)
    return folder


@pytest.fixture
def toy_files(tmp_path: Path) -> tuple[Path, Path, set[tuple[int, int]]]:
    """Two files of 60 lines, 30 of them translations in another order; and the true line pairs."""
    english, chinese, _ = toy_sentences(90, seed=11)
    order = np.random.default_rng(5).permutation(60)
    source = tmp_path / "en.txt"
    target = tmp_path / "zh.txt"
    mixed = [(chinese[:30] + chinese[60:])[row] for row in order]
    source.write_text("\n".join(english[:60]) + "\n", encoding="utf-8")
    target.write_text("\n".join(mixed) + "\n", encoding="utf-8")
    gold = {(int(row) + 1, at + 1) for at, row in enumerate(order) if row < 30}
    return source, target, gold


Checkpoint = Callable[..., Path]


@pytest.fixture
def checkpoint(tmp_path: Path, toy_pairs: ParallelText) -> Checkpoint:
    """Write a plain transformers checkpoint of a kind, and name its folder."""

    def make(kind: str = "bert", name: str = "checkpoint") -> Path:
        tokenizer = toy_tokenizer([*toy_pairs.sources, *toy_pairs.targets])
        if kind == "xlm-roberta":
            tokenizer.model_max_length = 10**9  # the folder does not say
        toy_model(kind, len(tokenizer)).save_pretrained(tmp_path / name)
        tokenizer.save_pretrained(tmp_path / name)
        return tmp_path / name

    return make


Command = Callable[..., Ended]


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Command:
    """Run `xmine ARGUMENTS` in the test's empty folder, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XMINE_DATA", raising=False)

    from xmine.cli import console, run

    def ended(*arguments: str | Path | int, stdin: bytes = b"") -> Ended:
        before = contents(tmp_path)
        capfdbinary.readouterr()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["xmine", *map(str, arguments)])
            patch.setattr(console, "_LASTS", float("inf"))  # as on a fast machine
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            with pytest.raises(SystemExit) as leaving:
                run()
        after = contents(tmp_path)
        touched = {path for path in before | after if before.get(path) != after.get(path)}
        out, err = capfdbinary.readouterr()
        code = leaving.value.code
        assert isinstance(code, int)
        said = err.decode("utf-8")
        lines = said.splitlines(keepends=True)
        apart = [each for each in lines if each.startswith(("xmine: estimate: ", "xmine: after "))]
        other = "".join(each for each in lines if each not in apart)
        return Ended(code, out.decode("utf-8"), other, touched, "".join(apart))

    return ended


Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def xmine(tmp_path: Path) -> Run:
    """Run the command in a process of its own, in an empty folder, without a terminal."""

    def run(
        *arguments: str | Path, stdin: bytes = b"", **environment: str
    ) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            [sys.executable, "-m", "xmine", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            env={**os.environ, **environment},
            timeout=120,
        )

    return run
