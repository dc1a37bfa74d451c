"""Tasks run once, in order, and only those whose files are not there."""

from pathlib import Path

import pytest

from xmine.engines.local import LocalEngine
from xmine.engines.task import Task


def write(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def fail(path: Path) -> None:
    raise ValueError(path.name)


def test_only_tasks_without_files_run(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.txt" for name in "abc"]
    tasks = [
        Task(write, (path, path.stem), (path,), weight)
        for path, weight in zip(paths, (1, 2, 1), strict=True)
    ]
    write(paths[1], "was there")
    shares: list[float] = []
    LocalEngine().run(tasks, shares.append)
    assert [path.read_text() for path in paths] == ["a", "was there", "c"]
    assert shares == [0, 0.25, 0.75, 1]
    assert [task.name for task in tasks] == ["a", "b", "c"]


def test_a_task_is_done_when_all_its_files_are_there(tmp_path: Path) -> None:
    one, two = tmp_path / "1", tmp_path / "2"
    task = Task(write, (two, "x"), (one, two))
    write(one, "")
    assert not task.is_done()
    write(two, "")
    assert task.is_done()


def test_an_error_ends_the_work(tmp_path: Path) -> None:
    made = tmp_path / "after"
    tasks = [Task(fail, (tmp_path / "x",), (tmp_path / "x",)), Task(write, (made, ""), (made,))]
    with pytest.raises(ValueError, match="x"):
        LocalEngine().run(tasks, lambda share: None)
    assert not made.exists()
