"""A step makes the files that are missing or changed, and those alone."""

import errno
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.toys.engines import Shuffled
from xmine.engines.steps import Files, Steps, joined, rows_of
from xmine.errors import FileError
from xmine.files import sealed_arrays
from xmine.files.digests import Watch

ROWS = range(0, 23, 5)
TYPES = [np.float32, np.int64]
Blocks = Iterator[tuple[NDArray[Any], ...]]


def squares(start: int, stop: int) -> Blocks:
    """Two blocks of two arrays: numbers [rows, 2], and squares [rows]."""
    for rows in (np.arange(start, start + 1), np.arange(start + 1, stop)):
        yield np.stack([rows, rows + 0.5], axis=1).astype(np.float32), rows**2


class Ear(Watch):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def changed(self, path: Path) -> None:
        self.heard.append(path.name)


def made(folder: Path, key: str = "a", **more: Any) -> tuple[Files, Steps]:
    steps = Steps(folder, **more)
    return steps.make("both", [key, "4"], ROWS, squares, TYPES), steps


def whole(files: Files) -> None:
    """The arrays are what numpy makes of all rows at once."""
    rows = np.arange(23)
    pairs = np.stack([rows, rows + 0.5], axis=1)
    np.testing.assert_array_equal(joined(files, 0, np.float32), pairs)
    np.testing.assert_array_equal(joined(files, 1, np.int64), rows**2)
    some = np.array([[22, 0], [7, 7], [4, 5]])
    np.testing.assert_array_equal(rows_of([each[0] for each in files], 5, some), pairs[some])


def test_any_engine_makes_the_same_bytes_and_nothing_twice(tmp_path: Path) -> None:
    whole(made(tmp_path / "a")[0])
    engine = Shuffled()
    files, _ = made(tmp_path / "c", engine=engine)
    whole(files)
    assert len(engine.ran) == 5 and len(list((tmp_path / "c").iterdir())) == 10
    again = Shuffled()
    whole(made(tmp_path / "c", engine=again)[0])
    assert again.ran == []


@pytest.mark.parametrize("change", ["flipped", "cut", "deleted", "of another place"])
def test_a_changed_file_is_made_again_alone(tmp_path: Path, change: str) -> None:
    files, _ = made(tmp_path)
    before = {path: path.read_bytes() for paths in files for path in paths}
    path, data = files[2][1], bytearray(before[files[2][1]])
    if change == "flipped":
        data[random.Random(3).randrange(len(data))] ^= 1
    data = bytearray(before[files[1][1]]) if change == "of another place" else data
    path.write_bytes(data[:-1] if change == "cut" else data)
    if change == "deleted":
        path.unlink()
    ear, engine = Ear(), Shuffled()
    whole(made(tmp_path, engine=engine, watch=ear)[0])
    assert ear.heard == ([] if change == "deleted" else [path.name])
    assert [task.makes for task in engine.ran] == [files[2]]
    assert {each: each.read_bytes() for each in before} == before


def test_a_stopped_step_goes_on(tmp_path: Path) -> None:
    stopped, going_on = Shuffled(stops_after=3), Shuffled()
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path, engine=stopped)
    whole(made(tmp_path, engine=going_on)[0])
    assert len(going_on.ran) == 2


def test_other_inputs_have_other_files_and_a_sweep_leaves_the_last(tmp_path: Path) -> None:
    first, _ = made(tmp_path)
    (tmp_path / ".left.partial").write_text("of a killed process")
    second, steps = made(tmp_path, "b")
    assert not {*first} & {*second}
    steps.sweep()
    assert sorted(tmp_path.iterdir()) == sorted(path for paths in second for path in paths)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_full_or_broken_disk_is_told_and_the_next_call_goes_on(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(self: Any) -> None:
        raise OSError(number, "no")

    with monkeypatch.context() as patch:
        patch.setattr(sealed_arrays._Writer, "finish", failing)
        with pytest.raises(FileError, match="cannot be written: no"):
            made(tmp_path)
    assert not list(tmp_path.iterdir())
    whole(made(tmp_path)[0])


def test_a_step_without_rows_has_no_files(tmp_path: Path) -> None:
    told: list[int] = []
    assert Steps(tmp_path).make("none", ["a"], range(0, 0, 5), squares, TYPES, told.append) == []
    assert told == [0]
