"""Tasks on a cluster of two nodes on this machine, whose workers and nodes are killed."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from tests.toys import ray_tasks
from tests.toys.ray_tasks import die_once, fail, refuse, write
from xmine.errors import FileError, XmineError
from xmine.run import ray
from xmine.run.ray import RayEngine
from xmine.run.task import Task

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("ray")]

ROOT = Path(__file__).parents[2]
SMALL = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
# Seconds after which a node that was killed counts as dead.
SOON = {"health_check_period_ms": 500, "health_check_failure_threshold": 6}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start two nodes of one core each, `head` and `second`, away from the user's own clusters."""
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # a longer name does not fit a socket
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", folder)
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.delenv("RAY_ADDRESS", raising=False)
        patch.delenv("OMP_NUM_THREADS", raising=False)
        for name, setting in ray.QUIET.items():  # before Ray is loaded, as the engine does
            patch.setenv(name, setting)
        patch.setenv("RAY_NUM_REDIS_GET_RETRIES", "20")  # to start a cluster takes several
        from ray.cluster_utils import Cluster

        made = Cluster()
        try:
            add(made, "head", _system_config=SOON)
            add(made, "second")
            yield made
        finally:
            made.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


def add(cluster: Any, name: str, start: str = "", hidden: str | Path = "", **more: Any) -> Any:
    """Add a node, whose workers may run some code at their start."""
    environment = {"NODE_OF_TEST": name, "HIDDEN_IN_TEST": str(hidden)}
    if start:
        folder = Path(os.environ["RAY_TMPDIR"], name)
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(start)
        environment["PYTHONPATH"] = f"{folder}:{ROOT}"
    return cluster.add_node(node_name=name, env_vars=environment, **SMALL, **more)


Join = Callable[..., Any]


@pytest.fixture
def join(cluster: Any) -> Iterator[Join]:
    """Let nodes join that are gone after the test."""
    joined: list[Any] = []

    def one(*arguments: Any, **more: Any) -> Any:
        joined.append(add(cluster, *arguments, **more))
        return joined[-1]

    yield one
    for node in joined:
        if node in cluster.worker_nodes:
            cluster.remove_node(node, allow_graceful=False)


@pytest.fixture
def engine(cluster: Any) -> Iterator[RayEngine]:
    with RayEngine(cluster.address) as engine:
        yield engine


@pytest.fixture
def said(engine: RayEngine, tmp_path: Path) -> list[str]:
    """What the engine notes, in a list."""
    lines: list[str] = []
    engine.note = lines.append
    lines += engine.check(tmp_path)
    return lines


def tasks(
    folder: Path, number: int, seconds: float = 0.0, function: Callable[..., None] = write
) -> list[Task]:
    paths = [folder / f"{row:03}" for row in range(number)]
    arguments = (seconds,) if function is write else ()
    return [Task(function, (path, *arguments), (path,)) for path in paths]


def whole(made: list[Task]) -> set[str]:
    """Check that all files are whole and no other one is left; give the nodes that made them."""
    (path,) = made[0].makes
    left = {each for each in path.parent.iterdir() if each.suffix != ".begun"}
    assert left == {path for task in made for path in task.makes}
    words = {path.read_text(encoding="utf-8") for path in left}
    assert {each.split()[1] for each in words} == {"1"}
    return {each.split()[0] for each in words}


def test_all_tasks_are_made_on_both_nodes_with_one_thread_each(
    engine: RayEngine, said: list[str], tmp_path: Path
) -> None:
    named = r"node [\d.]+ \(\w+\): 1 core, [\d.]+ GB, Python 3\.[\d.]+, numpy [\d.]+"
    assert len(said) == 2 and all(re.fullmatch(named, line) for line in said)
    assert {line.split("(")[1].split(")")[0] for line in said} == {"head", "second"}
    made, shares = tasks(tmp_path, 40, 0.05), list[float]()
    (tmp_path / "007").write_text("before 1")
    engine.run(made, shares.append)
    assert whole(made) == {"head", "second", "before"}
    assert shares == sorted(shares) and shares[0] == pytest.approx(1 / 40) and shares[-1] == 1
    started = time.monotonic()
    engine.run(made, lambda share: None)
    assert time.monotonic() - started < 0.5
    assert len(said) == 2


def test_a_worker_that_is_killed_is_replaced(
    engine: RayEngine, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = [*tasks(tmp_path, 6, 0.1)[:5], *tasks(tmp_path, 6, function=die_once)[5:]]
    engine.run(made, lambda share: None)
    whole(made)
    time.sleep(1)  # Ray tells late
    assert capfd.readouterr() == ("", "")


def test_a_task_that_dies_again_and_again_or_fits_on_no_node_ends_the_run(
    engine: RayEngine, tmp_path: Path
) -> None:
    with pytest.raises(XmineError, match=r"^000: lost 4 times: "):
        engine.run(tasks(tmp_path, 1, function=ray_tasks.die), lambda share: None)
    task = tasks(tmp_path, 1)[0]
    wide, large = replace(task, gpus=2.0), replace(task, memory=65 * 10**12)
    for each, said in ((wide, "2 GPUs"), (large, "65 TB")):
        with pytest.raises(XmineError) as error:
            engine.run([each], lambda share: None)
        message = f"000 needs a core and {said}; no node of the cluster has that"
        assert error.value.message == message


def test_files_that_the_file_system_hides_are_waited_for(
    engine: RayEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = replace(tasks(tmp_path, 1)[0], makes=(tmp_path / "hidden",))
    monkeypatch.setattr(ray, "_UNSEEN", 0.3)
    with pytest.raises(FileError, match="the files of hidden are not there"):
        engine.run([task], lambda share: None)


def test_a_node_that_is_killed_and_one_that_joins(cluster: Any, join: Join, tmp_path: Path) -> None:
    third, said, changed = join("third"), list[str](), list[float]()
    made = tasks(tmp_path, 20, 2)  # longer than a node takes to die

    def tick(share: float) -> None:
        if share > 0 and not changed:
            changed.append(share)
            cluster.remove_node(third, allow_graceful=False)
            join("late")

    with RayEngine(cluster.address) as started:
        started.note = said.append
        said += started.check(tmp_path)
        started.run(made, tick)
    assert whole(made) >= {"head", "second", "late"}
    told = "\n".join(said)
    assert re.search(r"^node [\d.]+ \(late\) joined: 1 core, ", told, re.MULTILINE), told
    assert re.search(r"^node [\d.]+ \(third\) is gone$", told, re.MULTILINE), told


@pytest.mark.parametrize(
    ("function", "message", "hint"),
    [
        (refuse, "{path}: line 7 is broken", "mend the line"),
        (fail, "ValueError: ('no such thing', <_io.TextIOWrapper", "log.txt in the folder"),
    ],
)
def test_a_task_that_raises_ends_the_run(
    engine: RayEngine,
    said: list[str],
    tmp_path: Path,
    function: Callable[..., None],
    message: str,
    hint: str,
) -> None:
    made = [*tasks(tmp_path, 1, function=function), *tasks(tmp_path, 200, 0.1)[1:]]
    with pytest.raises(XmineError) as error:
        engine.run(made, lambda share: None)
    where = r"000 on node [\d.]+ \((head|second)\): "
    assert re.match(where + re.escape(message.format(path=tmp_path / "000")), error.value.message)
    assert error.value.hint.startswith(hint)
    assert len(list(tmp_path.glob("*"))) < 100
    if function is fail:
        assert 'ray_tasks.py", line' in said[-1]


def test_nodes_without_the_folder_and_with_another_version_are_refused(
    cluster: Any, join: Join, tmp_path: Path
) -> None:
    blind = join("blind", ray_tasks.BLIND, hidden=tmp_path)
    join("old", ray_tasks.OLD)
    with RayEngine(cluster.address) as engine, pytest.raises(XmineError) as error:
        engine.check(tmp_path)
    parts = sorted(error.value.message.split("; "))
    assert re.fullmatch(rf"node [\d.]+ \(blind\) does not see {tmp_path}", parts[0])
    assert re.match(r"node [\d.]+ \(old\) has xmine 0\.0\.1 and Python 3\.\d", parts[1])
    assert "`ray stop`" in error.value.hint
    assert list(tmp_path.iterdir()) == []
    cluster.remove_node(blind, allow_graceful=False)
    with RayEngine(cluster.address) as engine, pytest.raises(XmineError) as error:
        engine.run(tasks(tmp_path, 50, 0.1), lambda share: None)  # as if a node joined just now
    old = r"\d+ on node [\d.]+ \(old\): the node has xmine 0\.0\.1 and Python"
    assert re.match(old, error.value.message)


SCRIPT = """
import sys
from pathlib import Path
from tests.run.test_ray import tasks
from xmine.run.ray import RayEngine
with RayEngine(sys.argv[1]) as engine:
    engine.run(tasks(Path(sys.argv[2]), 12, 1.0), lambda share: print(share, flush=True))
"""


@pytest.mark.usefixtures("usual_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_interrupted_leaves_whole_files_and_goes_on(
    cluster: Any, tmp_path: Path, number: signal.Signals
) -> None:
    words = [sys.executable, "-c", SCRIPT, cluster.address, str(tmp_path)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    for line in process.stdout:
        if float(line) > 0.2:
            break
    time.sleep(0.5)  # both nodes work at the next tasks
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == -number, err
    time.sleep(2)  # what the nodes did for the process ends
    before = set(tmp_path.glob("[!.]*"))
    assert 2 < len(before) < 12
    assert {path.read_text()[-1] for path in before} == {"1"}
    if number == signal.SIGINT:
        assert set(tmp_path.iterdir()) == before, "an unfinished file is left"
    time.sleep(1.5)
    assert set(tmp_path.glob("[!.]*")) == before, "a task goes on"
    for path in tmp_path.glob(".*"):
        path.unlink()
    with RayEngine(cluster.address) as engine:
        engine.run(made := tasks(tmp_path, 12, 1.0), lambda share: None)
    whole(made)


def test_the_command_tells_of_the_nodes_and_mines_on_them(
    cluster: Any, xmine: Run, toy_files: tuple[Path, Path, object], tmp_path: Path
) -> None:
    words = "mine", *toy_files[:2], "-o", "run/", "--engine", f"ray://{cluster.address}"
    tried = xmine(*words, "--dry-run")
    lines = tried.stderr.decode().splitlines()
    assert tried.returncode == 0, lines
    assert sum(bool(re.match(r"xmine: node .*: 1 core, ", line)) for line in lines) == 2
    assert re.match(r"xmine: cluster: 2 nodes, 2 cores, [\d.]+ GB$", lines[2])
    assert lines[3].startswith("xmine: estimate: 60 x 60 lines")
    assert not (tmp_path / "run").exists()
    assert xmine(*words).returncode == 0
    log = (tmp_path / "run" / "log.txt").read_text()
    assert len(re.findall(r"  node [\d.]+ \((head|second)\): 1 core", log)) == 2
    assert xmine("mine", *toy_files[:2], "-o", "here/").returncode == 0
    assert (tmp_path / "run" / "pairs.parquet").read_bytes() == (
        tmp_path / "here" / "pairs.parquet"
    ).read_bytes()
