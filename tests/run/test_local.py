"""Tasks run once, in order or in processes, and only those whose files are not there."""

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xmine.errors import FileError, XmineError
from xmine.run.local import LocalEngine
from xmine.run.task import Task
from xmine.run.worker_process import WorkFailed


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
    assert shares == [0.5, 0.75, 1, 1]
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


def write_process(path: Path) -> None:
    write(path, str(os.getpid()))


def wait_for(path: Path, other: Path) -> None:
    """Wait for a task of another process, or for a minute."""
    until = time.monotonic() + 60
    while not other.exists() and time.monotonic() < until:
        time.sleep(0.01)
    write(path, "" if other.exists() else "alone")


def sleep_long(path: Path) -> None:
    write(path.with_suffix(".pid"), str(os.getpid()))
    time.sleep(600)


def in_python(function: Callable[..., None], path: Path, *others: Path) -> Task:
    return Task(function, (path, *others), (path,), in_python=True)


@pytest.fixture
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xmine.run.local.blas_threads", lambda: 2)


@pytest.mark.usefixtures("two_threads")
def test_tasks_of_python_run_side_by_side(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "abcde"]
    tasks = [in_python(write_process, path) for path in paths[1:]]
    tasks.insert(1, in_python(wait_for, paths[0], paths[2]))  # which the other process makes
    shares: list[float] = []
    LocalEngine().run(tasks, shares.append)
    here = str(os.getpid())
    processes = {path.read_text() for path in paths[1:]}
    assert paths[0].read_text() == "" and here not in processes and len(processes) == 2
    assert shares == sorted(shares) and shares[0] < 1 and shares[-1] == 1


@pytest.mark.usefixtures("two_threads")
def test_few_tasks_and_tasks_of_libraries_run_in_this_process(tmp_path: Path) -> None:
    few = [in_python(write_process, tmp_path / name) for name in "abc"]
    others = [Task(write_process, (tmp_path / n,), (tmp_path / n,)) for n in "defgh"]
    for tasks in (few, others):
        LocalEngine().run(tasks, lambda share: None)
        assert {task.makes[0].read_text() for task in tasks} == {str(os.getpid())}


def fill_disk(path: Path) -> None:
    raise FileError(f"{path}: cannot be written", "make room there")


def kill_itself(path: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.usefixtures("two_threads")
def test_an_error_of_the_user_keeps_its_hint_and_a_kill_is_named(tmp_path: Path) -> None:
    slow, bad = tmp_path / "slow", tmp_path / "bad"
    for function, message, hint in (
        (fill_disk, f"{bad}: cannot be written", "make room there"),
        (kill_itself, "a process of this run was ended by SIGKILL", "too little memory"),
    ):
        tasks = [in_python(sleep_long, slow), in_python(function, bad)] * 2
        with pytest.raises(XmineError) as caught:
            LocalEngine().run(tasks, lambda share: None)
        assert caught.value.message == message and caught.value.hint.startswith(hint)


@pytest.mark.usefixtures("two_threads")
def test_an_error_in_a_process_ends_the_others(tmp_path: Path) -> None:
    slow, bad = tmp_path / "slow", tmp_path / "bad"
    tasks = [in_python(sleep_long, slow), in_python(fail, bad)] * 2
    with pytest.raises(WorkFailed, match="ValueError: bad"):
        LocalEngine().run(tasks, lambda share: None)
    process = slow.with_suffix(".pid")
    assert not process.exists() or not Path(f"/proc/{process.read_text()}").exists()


def meet(path: Path, barrier: str) -> None:
    _BARRIERS[barrier].wait(timeout=20)
    path.write_text("done")


_BARRIERS: dict[str, Any] = {}


def test_tasks_in_threads_run_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    _BARRIERS["two"] = threading.Barrier(2)
    paths = [tmp_path / name for name in "abcd"]
    tasks = [Task(meet, (path, "two"), (path,), in_threads=True) for path in paths]
    shares: list[float] = []
    LocalEngine().run(tasks, shares.append)
    assert all(path.exists() for path in paths) and shares[-1] == 1
