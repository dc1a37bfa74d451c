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
from xmine.errors import FileError
from xmine.files import npy
from xmine.files.sealed_arrays import open_sealed
from xmine.run.steps import Files, Steps, joined

ROWS = range(0, 23, 5)
ARRAYS = {"pairs": np.float32, "squares": np.int64}
Blocks = Iterator[tuple[NDArray[Any], ...]]


def squares(start: int, stop: int) -> Blocks:
    """Two blocks of two arrays: numbers [rows, 2], and squares [rows]."""
    for rows in (np.arange(start, start + 1), np.arange(start + 1, stop)):
        yield np.stack([rows, rows + 0.5], axis=1).astype(np.float32), rows**2


def made(folder: Path, key: str = "a", **more: Any) -> tuple[Files, Steps]:
    steps = Steps(folder, **more)
    return steps.make(ARRAYS, [key, "4"], ROWS, squares), steps


def whole(files: Files) -> None:
    """The arrays are what numpy makes of all rows at once."""
    rows = np.arange(23)
    pairs = np.stack([rows, rows + 0.5], axis=1)
    np.testing.assert_array_equal(joined(files, 0, np.float32), pairs)
    np.testing.assert_array_equal(joined(files, 1, np.int64), rows**2)


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
    heard, engine = list[Path](), Shuffled()
    whole(made(tmp_path, engine=engine, changed=heard.append)[0])
    assert heard == ([] if change == "deleted" else [path])
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


def test_rows_that_are_named_by_their_content_are_made_once(tmp_path: Path) -> None:
    texts = [f"text {row}" for row in range(23)]

    def made_of(start: int, stop: int) -> list[str]:
        return texts[start:stop]

    engines = Shuffled(), Shuffled(), Shuffled()
    Steps(tmp_path, engines[0]).make(ARRAYS, made_of, ROWS, squares)
    texts += ["more"] * 3  # the input has grown
    Steps(tmp_path, engines[1]).make(ARRAYS, made_of, range(0, 26, 5), squares)
    texts[7] = "changed"
    Steps(tmp_path, engines[2]).make(ARRAYS, made_of, range(0, 26, 5), squares)
    starts = [sorted(task.arguments[1] for task in engine.ran) for engine in engines]
    assert starts == [[0, 5, 10, 15, 20], [20, 25], [5]]


def test_files_for_other_processes_go_in_a_sweep(tmp_path: Path) -> None:
    steps, rows = Steps(tmp_path / "parts"), np.arange(6).reshape(3, 2)
    path = steps.put("rows", rows)
    assert open_sealed(path, np.int64).tolist() == rows.tolist()  # type: ignore[union-attr]
    assert steps.put("rows", rows) == path
    kept = steps.make(ARRAYS, ["a"], ROWS, squares)
    steps.sweep()
    assert not path.exists() and all(each.exists() for paths in kept for each in paths)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_full_or_broken_disk_is_told_and_the_next_call_goes_on(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(self: Any) -> None:
        raise OSError(number, "no")

    with monkeypatch.context() as patch:
        patch.setattr(npy.ArrayWriter, "finish", failing)
        with pytest.raises(FileError, match="cannot be written: no"):
            made(tmp_path)
    assert not list(tmp_path.iterdir())
    whole(made(tmp_path)[0])


def test_a_step_without_rows_has_no_files(tmp_path: Path) -> None:
    told: list[int] = []
    assert Steps(tmp_path).make(ARRAYS, ["a"], range(0, 0, 5), squares, told.append) == []
    assert told == [0]
