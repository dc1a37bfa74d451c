"""Rows that tasks make are those of one process, whatever is there already."""

from collections.abc import Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.toys.engines import Shuffled
from xmine.engines.local import LocalEngine
from xmine.engines.parts import Parts, write_rows
from xmine.engines.task import Engine
from xmine.files.digests import Watch, digest_of
from xmine.files.npy import parts_folder

BLOCK = 4
Numbers = NDArray[np.int64]


def squares(start: int, stop: int) -> Iterator[tuple[Numbers]]:
    """Give rows of a number and its square, in blocks."""
    for at in range(start, stop, BLOCK):
        rows = np.arange(at, min(at + BLOCK, stop))
        yield (np.stack([rows, rows**2], axis=1),)


def write(path: Path, total: int, engine: Engine | None, rows: int, **more: Any) -> Numbers:
    def make(start: int) -> Iterator[Numbers]:
        return (block for (block,) in squares(start, total))

    parts = Parts(engine, squares, rows, gpus=0.5) if engine else None
    return write_rows(path, 2, np.int64, total, BLOCK, make, "mark", parts=parts, **more)


@pytest.mark.parametrize("total", [1, 3, 4, 8, 30, 32])
@pytest.mark.parametrize("rows", [4, 12])
def test_parts_make_the_file_that_one_process_makes(tmp_path: Path, total: int, rows: int) -> None:
    ticks: list[int] = []
    heard: list[tuple[Path, str]] = []

    class Ear(Watch):
        def sealed(self, path: Path, digest: str = "") -> None:
            heard.append((path, digest))

    here = write(tmp_path / "here.npy", total, None, rows)
    assert here.tolist() == [[row, row**2] for row in range(total)]
    path, engine = tmp_path / "there.npy", Shuffled()
    there = write(path, total, engine, rows, tick=ticks.append, watch=Ear())
    assert path.read_bytes() == (tmp_path / "here.npy").read_bytes()
    assert there.tolist() == here.tolist()
    assert heard == [(path, digest_of(path))]
    assert ticks[0] == 0 and ticks[-1] == total
    bounds = sorted(task.arguments[1:3] for task in engine.ran)
    assert bounds == [(at, min(at + rows, total)) for at in range(0, total, rows)]
    assert {(task.weight, task.gpus) for task in engine.ran} == {(b - a, 0.5) for a, b in bounds}
    assert {each.name for each in tmp_path.iterdir()} == {"here.npy", "there.npy"}


@pytest.mark.parametrize("stops_after", [0, 1, 4])
@pytest.mark.parametrize("other", [LocalEngine(), Shuffled(seed=1)])
def test_what_one_engine_left_another_goes_on_with(
    tmp_path: Path, stops_after: int, other: Engine
) -> None:
    path, began = tmp_path / "a.npy", Shuffled(stops_after=stops_after)
    with pytest.raises(KeyboardInterrupt):
        write(path, 30, began, BLOCK)
    made: list[int] = []
    original = squares

    @wraps(original)  # a task finds it by its name
    def watched(start: int, stop: int) -> Iterator[tuple[Numbers]]:
        made.append(start)
        return original(start, stop)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "squares", watched)
        found = write(path, 30, other, BLOCK)
    assert found[:, 0].tolist() == list(range(30))
    assert len(made) == 8 - stops_after
    assert not set(made) & {task.arguments[1] for task in began.ran}
    assert [each.name for each in tmp_path.iterdir()] == ["a.npy"]


def test_an_engine_goes_on_with_what_one_process_left(tmp_path: Path) -> None:
    path, engine = tmp_path / "a.npy", Shuffled()

    def stop(rows: int) -> None:
        if rows == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(path, 30, None, 8, tick=stop)
    assert write(path, 30, engine, 8)[:, 0].tolist() == list(range(30))
    assert sorted(task.arguments[1:3] for task in engine.ran) == [(16, 24), (24, 30)]


def test_a_kill_while_parts_are_joined_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, unlink, left = tmp_path / "a.npy", Path.unlink, 3

    def killed(self: Path, missing_ok: bool = False) -> None:
        nonlocal left
        left -= self.name.startswith("a-") and self.exists()
        if left < 0:
            raise KeyboardInterrupt
        unlink(self, missing_ok)

    engine = Shuffled()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "unlink", killed)
        write(path, 30, engine, 4)
    again = Shuffled()
    assert write(path, 30, again, 4)[:, 0].tolist() == list(range(30))
    assert again.ran == []


@pytest.mark.parametrize("change", ["a bit", "a byte less"])
def test_a_part_that_was_changed_is_made_again(tmp_path: Path, change: str) -> None:
    path, engine = tmp_path / "a.npy", Shuffled(stops_after=3)
    with pytest.raises(KeyboardInterrupt):
        write(path, 30, engine, 8)
    part = engine.ran[0].makes[0]
    data = bytearray(part.read_bytes()[: -1 if change == "a byte less" else None])
    data[140] ^= 1  # behind the header
    part.write_bytes(bytes(data))
    again = Shuffled()
    assert write(path, 30, again, 8)[:, 1].tolist() == [row**2 for row in range(30)]
    assert len(again.ran) == 2


def test_parts_of_other_work_go(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    with pytest.raises(KeyboardInterrupt):
        write(path, 30, Shuffled(stops_after=2), 8)
    folder, other = parts_folder(path, "mark"), parts_folder(path, "other")
    folder.rename(other)
    again = Shuffled()
    write(path, 30, again, 8)
    assert len(again.ran) == 4 and not other.exists() and not folder.exists()
