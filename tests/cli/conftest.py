"""A mined run that tests of the command copy, and files of a benchmark."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.toys.command import Ended
from xmine.pairs.io import ParallelText


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
