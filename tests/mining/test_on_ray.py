"""A run on a Ray cluster has the bytes of a run of one process, whatever dies meanwhile."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.toys.clusters import cluster_of
from tests.toys.sentences import toy_sentences
from xmine.knn import tiles
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.run.ray import RayEngine

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("ray")]

Files = tuple[Path, Path]
LINES = 4000


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with cluster_of(2) as started:
        yield started


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Write lines of which some repeat, some are unknown to the encoder, and some are long."""
    folder = tmp_path_factory.mktemp("texts")
    english, chinese, _ = toy_sentences(LINES, seed=3)
    for lines in (english, chinese):
        lines[100:140] = lines[:40]
        lines[200:210] = ["\u16a0\u16a1" + at * "\u16a2" for at in range(10)]
        lines[300] = " ".join(lines[:60])
    paths = folder / "en.txt", folder / "zh.txt"
    for path, lines in zip(paths, (english, chinese), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return paths


@pytest.fixture(autouse=True)
def many_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "_EXACT_ROWS", (700, 700))
    monkeypatch.setattr(tiles, "_LISTED_ROWS", (700, 700))


def content(run: Path) -> dict[str, bytes]:
    """Read a run, without its log."""
    every = {path.relative_to(run).as_posix(): path for path in run.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in every.items() if name != "log.txt"}


def same(one: Path, other: Path) -> None:
    ours, theirs = content(one), content(other)
    assert sorted(ours) == sorted(theirs)
    assert [name for name in ours if ours[name] != theirs[name]] == []


CASES: dict[str, dict[str, Any]] = {"exact": {}, "lists": {"index": "IVF16,SQfp16"}}


@pytest.mark.parametrize("name", CASES)
def test_a_cluster_gives_the_same_run(
    cluster: Any, files: Files, tmp_path: Path, name: str
) -> None:
    options = MiningOptions(**CASES[name], cache=False)
    mine(*files, options=options, run=tmp_path / "here")
    with RayEngine(cluster.address) as engine:
        mine(*files, options=options, run=tmp_path / "there", engine=engine)
    same(tmp_path / "there", tmp_path / "here")


def when(folder: Path, pattern: str, act: Callable[[], None]) -> threading.Thread:
    """Act as soon as a file is there."""

    def wait() -> None:
        while not any(folder.glob(pattern)):
            time.sleep(0.02)
        act()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_a_dead_node_changes_nothing(files: Files, tmp_path: Path) -> None:
    options = MiningOptions(cache=False)
    mine(*files, options=options, run=tmp_path / "here")
    there, ended = tmp_path / "there", list[bool]()
    with cluster_of(3) as cluster, RayEngine(cluster.address) as engine:

        def kill() -> None:
            ended.append((there / "pairs.parquet").exists())
            cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)

        acted = when(there, "parts/tile-*-best-*", kill)
        mine(*files, options=options, run=there, engine=engine)
        acted.join()
    assert ended == [False]
    assert re.search("is gone", (there / "log.txt").read_text())
    same(there, tmp_path / "here")
