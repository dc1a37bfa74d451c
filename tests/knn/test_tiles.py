"""A search in tiles gives the bytes of the search of one process, whatever tasks do."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.toys.engines import Shuffled
from tests.toys.grids import mostly_long
from xmine.files.npy import opened, write_matrix
from xmine.files.sealed_arrays import write_sealed
from xmine.hardware import anonymous_memory
from xmine.knn import tile_tasks, tiles
from xmine.knn.approximate import search_approximate
from xmine.knn.exact import search_exact
from xmine.knn.neighbours import FILES, Neighbours
from xmine.knn.tiles import search_in_tiles, searching_bytes
from xmine.knn.topk import EMPTY
from xmine.run.local import LocalEngine
from xmine.run.task import Task

Half = NDArray[np.float16]


def rows(count: int, dim: int, seed: int, repeated: int = 0) -> Half:
    """Draw unit rows around some centres; the last ones repeat the first."""
    draw = np.random.default_rng(seed)
    centres = np.random.default_rng(7).standard_normal((40, dim))
    vectors = centres[draw.integers(0, 40, count)] + draw.standard_normal((count, dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    half = vectors.astype(np.float16)
    if repeated:
        half[-repeated:] = half[:repeated]
    return half


@pytest.fixture(params=[0, 30], ids=["distinct", "repeated"])
def sides(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, Path]:
    """Write both sides: distinct rows in one stripe of tiles, repeated ones in several."""
    if request.param:
        monkeypatch.setattr(tiles, "_TILES_OF_A_STRIPE", 11)
    paths = tmp_path / "source.npy", tmp_path / "target.npy"
    write_matrix(paths[0], [rows(700, 32, 1, request.param)])
    write_matrix(paths[1], [rows(900, 32, 2, request.param)])
    return paths


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "_EXACT_ROWS", (100, 250))
    monkeypatch.setattr(tiles, "_LISTED_ROWS", (100, 250))


def expected(sides: tuple[Path, Path], index: str) -> Neighbours:
    left, right = opened(sides[0]), opened(sides[1])
    if index == "exact":
        return search_exact(left, right, 5)
    return search_approximate(left, right, 5, index=index, recall=0.9)


def same(one: Neighbours, other: Neighbours) -> None:
    for name in FILES:
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name
    assert (one.index, one.recall) == (other.index, other.recall)


def search(sides: tuple[Path, Path], index: str, folder: Path, engine: Any) -> Neighbours:
    folder.mkdir(exist_ok=True)
    return search_in_tiles(sides, 5, engine, folder=folder, index=index, mark="m", recall=0.9)


@pytest.mark.parametrize("index", ["exact", "IVF16,SQfp16"])
def test_tiles_give_the_neighbours_of_one_process(
    sides: tuple[Path, Path], index: str, tmp_path: Path
) -> None:
    same(search(sides, index, tmp_path / "tiles", Shuffled()), expected(sides, index))


@pytest.mark.parametrize("index", ["exact", "IVF16,SQfp16"])
@pytest.mark.parametrize("most", mostly_long([1, 7, 14, 20], usual=[7]))
def test_a_stopped_search_continues_here(
    sides: tuple[Path, Path], index: str, most: int, tmp_path: Path
) -> None:
    with pytest.raises(KeyboardInterrupt):
        search(sides, index, tmp_path / "tiles", Shuffled(stops_after=most))
    done = {each for each in (tmp_path / "tiles").glob("tile-*")}
    before = {each: each.stat().st_mtime_ns for each in done}
    same(search(sides, index, tmp_path / "tiles", Kept(before)), expected(sides, index))


@pytest.mark.parametrize("seed", range(3))
def test_cells_that_earlier_tiles_have_better_are_left_out(
    sides: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    made: dict[str, dict[str, Any]] = {"alone": {}, "after others": {}}
    earlier = tile_tasks._earlier

    def alone(given: Any, side: int, at: int, before: int, shape: tuple[int, int]) -> Any:
        return earlier(given, side, at, 0, shape)

    for kind, found in made.items():

        def keep(path: Path, array: Any, found: dict[str, Any] = found) -> None:
            found[path.name] = array.copy()
            write_sealed(path, array)

        with monkeypatch.context() as patch:
            patch.setattr(tile_tasks, "write_sealed", keep)
            patch.setattr(tile_tasks, "_earlier", alone if kind == "alone" else earlier)
            search(sides, "exact", tmp_path / kind, Shuffled(seed=seed))
    kept = dict.fromkeys(made, 0)
    for shard in {name.rsplit("-", 1)[0] for name in made["alone"] if "-best-" in name}:
        best = []
        for kind, found in made.items():
            tiles_of = [found[name] for name in found if name.rsplit("-", 1)[0] == shard]
            best.append(np.sort(np.hstack(tiles_of), axis=1)[:, -tiles_of[0].shape[1] :])
            kept[kind] += sum(int((each != EMPTY).sum()) for each in tiles_of)
        assert np.array_equal(best[0], best[1])
    assert kept["after others"] < 0.9 * kept["alone"]


class Kept(LocalEngine):
    """Looks whether tasks that were done stay done."""

    def __init__(self, before: dict[Path, int]) -> None:
        self.before = before

    def run(self, tasks: Sequence[Task], tick: Callable[[float], None]) -> None:
        super().run(tasks, tick)
        for task in tasks:
            if all(path in self.before for path in task.makes):
                assert all(path.stat().st_mtime_ns == self.before[path] for path in task.makes)


@pytest.mark.parametrize("index", ["exact", "IVF16,SQfp16"])
def test_a_changed_tile_is_made_again(sides: tuple[Path, Path], index: str, tmp_path: Path) -> None:
    folder = tmp_path / "tiles"
    with pytest.raises(KeyboardInterrupt):
        search(sides, index, folder, Shuffled(stops_after=9))
    changed = max(folder.glob("tile-*-best-*.npy"))
    data = bytearray(changed.read_bytes())
    data[len(data) // 2] ^= 64
    changed.write_bytes(bytes(data))
    same(search(sides, index, folder, LocalEngine()), expected(sides, index))


def test_a_lost_fold_of_an_earlier_stripe_is_made_again(
    sides: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The keys of a stripe that is done lie in folds alone: the tiles are gone."""
    monkeypatch.setattr(tiles, "_TILES_OF_A_STRIPE", 5)
    folder = tmp_path / "tiles"
    with pytest.raises(KeyboardInterrupt):
        search(sides, "exact", folder, Shuffled(stops_after=28))
    (lost,) = folder.glob("tile-*-fold-0-0.npy")
    assert not list(folder.glob("tile-*-best-0-0-*.npy"))
    lost.unlink()
    same(search(sides, "exact", folder, LocalEngine()), expected(sides, "exact"))


def test_tiles_of_another_search_are_not_used(sides: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "tiles").mkdir()
    with pytest.raises(KeyboardInterrupt):
        search_in_tiles(
            (sides[1], sides[0]),
            5,
            Shuffled(stops_after=9),
            folder=tmp_path / "tiles",
            mark="other",
        )
    same(search(sides, "exact", tmp_path / "tiles", Shuffled()), expected(sides, "exact"))


@pytest.mark.parametrize("index", ["exact", "IVF16,SQfp16"])
def test_the_disk_that_a_search_takes_is_foretold(
    sides: tuple[Path, Path], index: str, tmp_path: Path
) -> None:
    class Weighed(Shuffled):
        most = 0

        def run(self, tasks: Sequence[Task], tick: Callable[[float], None]) -> None:
            super().run(tasks, tick)
            kinds = ("best", "fold", "lists")
            there = [path for kind in kinds for path in (tmp_path / "t").glob(f"tile-*-{kind}-*")]
            self.most = max(self.most, sum(path.stat().st_size for path in there))

    engine = Weighed()
    search(sides, index, tmp_path / "t", engine)
    foretold = searching_bytes(700, 900, 32, 5, index)
    assert 0.8 * foretold <= engine.most <= 1.03 * foretold  # headers come on top


def taken(task: Task) -> int:
    """Tell by how many bytes a task raises the anonymous memory of its process."""
    opened(task.arguments[0].vectors[0])
    before, seen, over = anonymous_memory(), [0], Event()

    def watch() -> None:
        while not over.wait(0.005):
            seen.append(anonymous_memory())

    watching = Thread(target=watch)
    watching.start()
    task.function(*task.arguments)
    over.set()
    watching.join()
    return max(seen) - before


@pytest.mark.process
@pytest.mark.parametrize("index", mostly_long(["exact", "IVF64,SQfp16"], usual=["exact"]))
def test_a_tile_takes_the_memory_that_its_task_asks_for(
    tmp_path: Path, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiles, "_EXACT_ROWS", (6000, 6000))
    monkeypatch.setattr(tiles, "_LISTED_ROWS", (20_000, 20_000))
    sides = tmp_path / "source.npy", tmp_path / "target.npy"
    for seed, path in enumerate(sides):
        write_matrix(path, [rows(20_000, 128, seed)])
    engine = Shuffled()
    search(sides, index, tmp_path / "run", engine)
    tile = next(task for task in engine.ran if task.memory)
    again = Shuffled(stops_after=engine.ran.index(tile))
    with pytest.raises(KeyboardInterrupt):
        search(sides, index, tmp_path / "again", again)
    here = replace(tile.arguments[0], folder=tmp_path / "again")
    tile = replace(tile, arguments=(here, *tile.arguments[1:]))
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        grown = pool.submit(taken, tile).result()
    assert grown <= tile.memory - tiles._OF_A_WORKER <= 4 * grown + 270 * 2**20
