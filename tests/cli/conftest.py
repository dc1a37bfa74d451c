"""The command in this process: as `xmine` runs it, but without the start of an interpreter."""

import io
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.toys.command import Ended, contents
from xmine.cli import console, run
from xmine.encoders.encoder import EMBEDDED
from xmine.encoders.modules.static import StaticEmbedding
from xmine.pairs.io import ParallelText


@pytest.fixture(scope="session")
def embedded() -> StaticEmbedding:
    """What the embedded encoder reads text with, which nothing changes."""
    return StaticEmbedding.load(EMBEDDED)


@pytest.fixture(autouse=True)
def loaded_once(embedded: StaticEmbedding, monkeypatch: pytest.MonkeyPatch) -> None:
    """Load the embedded encoder once for all tests: it takes as long as to mine their few lines."""
    load = StaticEmbedding.load
    once = staticmethod(lambda folder: embedded if folder == EMBEDDED else load(folder))
    monkeypatch.setattr(StaticEmbedding, "load", once)


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Callable[..., Ended]:
    """Run `xmine ARGUMENTS` in the test's empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XMINE_DATA", raising=False)

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


@pytest.fixture(scope="session")
def runs_kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture
def mined_once(
    command: Callable[..., Ended],
    toy_files: tuple[Path, Path, object],
    toy_folder: Path,
    tmp_path: Path,
    runs_kept: Path,
) -> Callable[..., Path]:
    """Mine the toy files into run/ with some options; for the next test that asks, copy that."""

    def run(*options: str) -> Path:
        kept = runs_kept / " ".join(options or ["plain"])
        if kept.exists():
            return Path(shutil.copytree(kept, tmp_path / "run"))
        mine = "mine", "en.txt", "zh.txt", "-o", "run/", "--model", toy_folder
        ended = command(*mine, *options)
        assert ended.code == 0, ended.err
        shutil.copytree(tmp_path / "run", kept)
        return tmp_path / "run"

    return run


@pytest.fixture
def data(tmp_path: Path, toy_pairs: ParallelText) -> str:
    """Files of Tatoeba, 60 pairs of the toy languages, in a folder of benchmarks."""
    folder = tmp_path / "data" / "tatoeba"
    folder.mkdir(parents=True)
    for side, texts in (("eng", toy_pairs.sources), ("cmn", toy_pairs.targets)):
        text = "".join(f"{each}\n" for each in texts[:60])
        Path(folder, f"tatoeba.cmn-eng.{side}").write_text(text, encoding="utf-8")
    return "data"
