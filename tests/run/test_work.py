"""What becomes of tasks on a cluster, told by hand: which are placed, again, or given up."""

from pathlib import Path
from typing import Any

import pytest

from xmine.errors import FileError, XmineError
from xmine.run import work
from xmine.run.nodes import Failure, Node
from xmine.run.task import Task
from xmine.run.work import Work

NODES = {
    "a": Node("a", "10.0.0.1", "one", 2, 0, 8 * 10**9),
    "b": Node("b", "10.0.0.2", "two", 2, 1, 64 * 10**9),
}


class Cluster:
    """A cluster that does nothing by itself, and a clock that stands."""

    def __init__(self, tasks: list[Task], nodes: dict[str, Node] = NODES) -> None:
        self.now = 0.0
        self.placed: list[tuple[str, str]] = []
        self.stopped: list[int] = []
        self.said: list[str] = []
        told = self.stopped.append, self.said.append
        self.work = Work(tasks, nodes, self.place, *told, lambda: self.now)

    def place(self, task: Task, node: str) -> int:
        self.placed.append((task.name, node))
        return len(self.placed) - 1

    def begin(self, call: int, node: str = "a") -> None:
        self.work.began(call, node)

    def end(self, call: int, *, with_files: bool = True) -> None:
        if with_files:
            for path in self.work.calls[call].task.makes:
                path.touch()
        self.work.ended(call, None)
        self.work.look()

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.placed]


def tasks(folder: Path, names: str, **more: Any) -> list[Task]:
    return [Task(Path.touch, (folder / name,), (folder / name,), **more) for name in names]


def test_two_tasks_are_placed_for_each_core_and_the_next_when_one_ends(tmp_path: Path) -> None:
    cluster = Cluster(tasks(tmp_path, "abcdefghijkl"))
    cluster.work.fill()
    cluster.work.fill()
    assert cluster.names == list("abcdefgh")
    assert set(cluster.placed) == {(name, "") for name in "abcdefgh"}
    cluster.begin(3)
    assert cluster.work.numbers == {"nodes": 2, "running": 1, "waiting": 11}
    cluster.end(3)
    cluster.work.fill()
    assert cluster.names == list("abcdefghi")
    assert cluster.work.share == 1 / 12
    assert not cluster.work.is_over


def test_tasks_whose_files_are_there_are_not_placed(tmp_path: Path) -> None:
    work = Cluster(tasks(tmp_path, "ab", weight=3) + tasks(tmp_path, "c", weight=2))
    (tmp_path / "a").touch()
    work.work.fill()
    assert work.names == ["b", "c"]
    assert work.work.share == 3 / 8
    for call in (0, 1):
        work.begin(call)
        work.end(call)
    assert work.work.is_over
    assert work.work.share == 1


def test_no_tasks_are_done_at_once() -> None:
    assert Cluster([]).work.is_over
    assert Cluster([]).work.share == 1


def test_a_lost_task_is_placed_again_before_others_and_given_up_at_last(tmp_path: Path) -> None:
    cluster = Cluster(tasks(tmp_path, "abcdefghij"))
    cluster.work.fill()
    for _ in range(work.TRIES - 1):
        last = len(cluster.placed) - 1
        cluster.begin(last, "b")
        cluster.work.lost(last, "the worker died")
        cluster.work.fill()
        assert cluster.names[-1] == "h"
    told = "h: lost on node 10.0.0.2 (two): the worker died"
    assert cluster.said == [f"{told}: started again"] * (work.TRIES - 1)
    cluster.begin(len(cluster.placed) - 1, "b")
    with pytest.raises(XmineError) as error:
        cluster.work.lost(len(cluster.placed) - 1, "out of memory")
    assert error.value.message == ("h: lost on node 10.0.0.2 (two): out of memory (4 times lost)")


def test_a_lost_task_whose_files_are_there_is_done(tmp_path: Path) -> None:
    cluster = Cluster(tasks(tmp_path, "a"))
    cluster.work.fill()
    (tmp_path / "a").touch()
    cluster.work.lost(0, "the node died")
    cluster.work.fill()
    assert cluster.work.is_over
    assert cluster.said == ["a: lost on a node: the node died: started again"]


def test_an_error_names_task_and_node_and_the_log_has_its_traceback(tmp_path: Path) -> None:
    cluster = Cluster(tasks(tmp_path, "ab"))
    cluster.work.fill()
    cluster.begin(0, "b")
    with pytest.raises(XmineError) as error:
        cluster.work.ended(0, Failure("en.txt: no such file", "mount it"))
    assert error.value.message == "a on node 10.0.0.2 (two): en.txt: no such file"
    assert error.value.hint == "mount it"
    with pytest.raises(XmineError, match=r"b on a node: ValueError: x"):
        cluster.work.ended(1, Failure("ValueError: x", "", "Traceback\n  line"))
    assert cluster.said[1] == "b on a node: Traceback\n  line"


def slow(folder: Path, names: str) -> Cluster:
    """Tasks of which the first took 20 seconds, when all were placed at 0."""
    cluster = Cluster(tasks(folder, names))
    cluster.work.fill()
    for call in range(len(names)):
        cluster.begin(call)
    cluster.now = 20
    cluster.end(0)
    return cluster


def test_a_task_that_takes_very_long_is_started_once_more_elsewhere(tmp_path: Path) -> None:
    cluster = slow(tmp_path, "abc")
    cluster.begin(2, "b")  # at 20
    cluster.now = 59.9
    cluster.work.fill()
    assert len(cluster.placed) == 3
    cluster.now = 60
    cluster.work.fill()
    assert cluster.placed[3:] == [("b", "b")]
    said = "b: runs on node 10.0.0.1 (one) for 60 s: started on 10.0.0.2 (two) too"
    assert cluster.said == [said]
    cluster.now = 79
    cluster.work.fill()
    assert len(cluster.placed) == 4
    cluster.begin(3, "b")
    cluster.end(3)
    assert cluster.stopped == [1]
    assert cluster.work.share == 2 / 3
    assert list(cluster.work.calls) == [2]


def test_no_task_is_started_twice_while_others_are_left(tmp_path: Path) -> None:
    cluster = Cluster(tasks(tmp_path, "abcdefghijkl"))
    cluster.work.fill()
    for call in range(8):
        cluster.begin(call)
    cluster.now = 20
    cluster.end(0)
    cluster.now = 1000
    cluster.work.fill()
    assert cluster.names == list("abcdefghi")


def test_no_task_is_started_twice_before_one_has_ended_or_while_it_waits(tmp_path: Path) -> None:
    cluster = Cluster(tasks(tmp_path, "abc"))
    cluster.work.fill()
    cluster.begin(0)
    cluster.begin(1)
    cluster.now = 1000
    cluster.work.fill()
    assert len(cluster.placed) == 3
    cluster.end(0)
    cluster.now = 9000
    cluster.work.fill()
    assert cluster.placed[3:] == [("b", "b")]


@pytest.mark.parametrize(
    ("weights", "ends", "late"),
    [
        ([1, 10], {0: 20}, 600),  # a heavy task has longer
        ([1, 1], {0: 0.01}, 30),  # quick tasks have half a minute
        ([10, 1, 1], {1: 1, 0: 200}, 60),  # 20 for a weight of 1
    ],
)
def test_a_task_is_late_by_the_slowest_for_its_weight(
    tmp_path: Path, weights: list[int], ends: dict[int, float], late: float
) -> None:
    made = [
        task
        for name, weight in zip("abc", weights, strict=False)
        for task in tasks(tmp_path, name, weight=weight)
    ]
    cluster, last = Cluster(made), len(made) - 1
    cluster.work.fill()
    for call in range(last + 1):
        cluster.begin(call)
    for call, now in ends.items():
        cluster.now = now
        cluster.end(call)
    cluster.begin(last)
    begun = cluster.now
    for now, calls in ((late - 1, last + 1), (late, last + 2)):
        cluster.now = begun + now
        cluster.work.fill()
        assert len(cluster.placed) == calls


def test_the_second_call_goes_to_the_node_with_the_fewest_calls_for_each_core(
    tmp_path: Path,
) -> None:
    nodes = {
        "a": NODES["a"],
        "b": Node("b", "10.0.0.2", "two", 1, 0, 1),
        "c": Node("c", "10.0.0.3", "three", 8, 0, 1),
    }
    cluster = Cluster(tasks(tmp_path, "xyzuvw"), nodes)
    cluster.work.fill()
    for call, node in enumerate("aabccc"):
        cluster.begin(call, node)
    cluster.now = 1
    cluster.end(0)
    for call, node in ((2, "b"), (3, "c"), (4, "c"), (5, "c")):
        cluster.now = 25
        cluster.begin(call, node)
    cluster.now = 31
    cluster.work.fill()
    assert cluster.placed[6:] == [("y", "c")]


def test_one_node_alone_starts_the_task_itself_again(tmp_path: Path) -> None:
    cluster = Cluster(tasks(tmp_path, "ab"), {"a": NODES["a"]})
    cluster.work.fill()
    cluster.begin(0)
    cluster.begin(1)
    cluster.end(0)
    cluster.now = 1000
    cluster.work._slowest = 1
    cluster.work.fill()
    assert cluster.placed[2:] == [("b", "")]


def test_a_copy_that_is_lost_is_not_started_again_while_the_other_runs(tmp_path: Path) -> None:
    cluster = slow(tmp_path, "ab")
    cluster.now = 60
    cluster.work.fill()
    cluster.work.lost(1, "the node died")
    cluster.work.fill()
    assert len(cluster.placed) == 3
    assert cluster.said[-1] == "b: lost on node 10.0.0.1 (one): the node died"
    cluster.work.lost(2, "the node died")
    cluster.work.fill()
    assert len(cluster.placed) == 4


def test_what_a_killed_call_left_is_deleted_when_the_task_is_done(tmp_path: Path) -> None:
    cluster = Cluster(tasks(tmp_path, "ab"))
    cluster.work.fill()
    left, other, of_b = (tmp_path / f".{name}.partial" for name in ("a.x1", "ab.x1", "b.x1"))
    for path in (left, other, of_b):
        path.touch()
    cluster.work.lost(0, "the node died")
    cluster.work.fill()
    cluster.end(2)
    cluster.end(1)
    assert not left.exists()
    assert other.exists() and of_b.exists()


def test_files_that_the_file_system_hides_are_waited_for(tmp_path: Path) -> None:
    cluster = Cluster(tasks(tmp_path, "ab"))
    cluster.work.fill()
    for call in (0, 1):
        cluster.begin(call, "b")
        cluster.end(call, with_files=False)
    assert cluster.work.share == 0 and not cluster.work.is_over
    cluster.now = work.UNSEEN
    (tmp_path / "a").touch()
    cluster.work.look()
    assert cluster.work.share == 1 / 2
    cluster.now += 0.1
    with pytest.raises(FileError) as error:
        cluster.work.look()
    assert error.value.message == (
        f"{tmp_path}: the files of b are not there, though node 10.0.0.2 (two) made them"
    )


@pytest.mark.parametrize(
    ("needs", "said"),
    [
        ({"gpus": 2}, "x needs a core and 2 GPUs; no node of the cluster has that"),
        ({"memory": 65 * 10**9}, "x needs a core and 65 GB; no node of the cluster has that"),
        ({"gpus": 1, "memory": 1}, ""),
        ({"memory": 64 * 10**9}, ""),
    ],
)
def test_a_task_that_fits_on_no_node_is_refused(
    tmp_path: Path, needs: dict[str, Any], said: str
) -> None:
    cluster = Cluster([*tasks(tmp_path, "a"), *tasks(tmp_path, "x", **needs)])
    if not said:
        cluster.work.check_room()
        return
    for _ in range(2):
        with pytest.raises(XmineError) as error:
            cluster.work.check_room()
        assert error.value.message == said
        cluster.work.fill()


def test_where_no_node_offers_a_gpu_the_hint_says_how_to_do_without(tmp_path: Path) -> None:
    task = tasks(tmp_path, "x", gpus=1)
    for gpus, hint in ((0.0, "--device cpu"), (0.5, "let another machine join")):
        nodes = {"one": Node("one", "10.0.0.1", "one", 2.0, gpus, 64 * 10**9)}
        with pytest.raises(XmineError) as error:
            Cluster(task, nodes).work.check_room()
        assert hint in error.value.hint
