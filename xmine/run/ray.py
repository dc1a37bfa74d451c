"""Tasks run on a Ray cluster, which places each where a core is free. Nothing else loads ray.

Ray starts a task again whose worker or node is lost.
"""

import logging
import os
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from xmine.errors import FileError, XmineError
from xmine.extras import needs
from xmine.files.atomic import writing
from xmine.run.nodes import (
    Failure,
    Node,
    NodeReport,
    Versions,
    check_address,
    check_room,
    look,
    reach,
    refused,
    token_file,
    total_room,
    try_task,
)
from xmine.run.task import Task

_START = (
    "`ray start --head` starts one here, `ray start --address HOST:6379` adds another machine; "
    "its port is 6379, not that of the dashboard"
)
# Read when ray is loaded. Ray would print about lost workers, on stdout among the data, and would
# try a wrong port for a quarter of an hour.
QUIET = {"RAY_DEDUP_LOGS_SKIP_REGEX": "^", "RAY_IGNORE_UNHANDLED_ERRORS": "1"}
_AGAIN = 3  # times that a task is started again whose workers die, also for want of memory
_BRIEF = {"RAY_NUM_REDIS_GET_RETRIES": "1", "RAY_task_oom_retries": str(_AGAIN)}
_ANSWERING = 120.0  # seconds that a node may take to start a worker, which loads numpy
_TICK = 0.2  # seconds between two calls of `tick`, at most
_PAUSE = 0.03  # seconds between two looks for news
_WATCHING = 1.0  # seconds between two looks at the nodes
_SILENT = 20.0  # seconds after which the cluster counts as gone; Ray waits for 60 and exits
_ENDING = 5.0  # seconds that tasks have to delete unfinished files
_UNSEEN = 75.0  # seconds in which NFS may hide a file that was made: 60 in its usual settings


class RayEngine:
    """Runs tasks on a Ray cluster, while a `with` block lasts.

    This process runs on a machine of the cluster. Every task takes one core, and one thread.
    """

    name = "ray"
    shared = True

    def __init__(self, address: str = "") -> None:
        """Name a cluster: HOST:PORT; else RAY_ADDRESS names one, or one runs on this machine."""
        self._address, self._head = address, ""
        self._looked = self._heard = 0.0
        self._nodes: dict[str, Node] = {}
        self._remote: Any = None
        self._versions = Versions.here()
        self.note: Callable[[str], None] = lambda text: None

    def __enter__(self) -> Self:
        """Connect.

        Raises:
            OptionError: the address is none.
            XmineError: no cluster answers, or the cluster has another version of Ray or Python.
        """
        needs("--engine ray", "ray")
        _connect(self._address)
        import ray

        self._head = ray.get_runtime_context().gcs_address
        self._nodes, self._remote = _live_nodes(), ray.remote(_work)
        for node in self._nodes:  # workers start while this process gets ready
            _call(node, lambda: None)
        return self

    def __exit__(self, *error: object) -> None:
        """Disconnect; Ray ends what still runs for this process."""
        import ray

        ray.shutdown()

    @property
    def room(self) -> str:
        """Say what tasks may take in all, for people."""
        return total_room(self._nodes.values())

    def check(self, folder: Path) -> list[str]:
        """Let each node read a token from a folder, and write the token back.

        Returns:
            a line for each node: address, name, what tasks may take there, versions.

        Raises:
            XmineError: a node does not see the folder, does not answer, or has another version of
                xmine or Python.
            FileError: this process cannot write to the folder.
        """
        self._check_some()
        folder, token = folder.absolute(), secrets.token_hex(8)
        wrong, lines = {}, []
        try:
            with writing(token_file(folder, token)):
                token_file(folder, token).write_text(token)
            for node, seen in _ask(list(self._nodes.values()), folder, token):
                if isinstance(seen, str):
                    wrong[node] = seen
                elif bad := seen.differs(self._versions, folder, f"{token}.{node.id}"):
                    wrong[node] = bad
                else:
                    lines.append(f"node {node}: {node.room}, {seen.versions}")
        finally:
            for left in folder.glob(f".{token}*"):
                left.unlink(missing_ok=True)
        if wrong:
            raise refused(wrong)
        live = _live_nodes()  # without those that died meanwhile
        self._nodes = {node: each for node, each in self._nodes.items() if node in live}
        self._check_some()
        return lines

    def _check_some(self) -> None:
        if not self._nodes:
            raise XmineError("no node of the cluster has a core for tasks", _START)

    def run(self, tasks: Sequence[Task], tick: Callable[[float], None]) -> None:
        """Run tasks, see `Engine.run`.

        Raises:
            XmineError: a task raised an error, was lost too often, or fits on no node; the message
                names the task and, where one is known, the node.
            FileError: files stay away that a node made.
        """
        import ray

        assert all(path.is_absolute() for task in tasks for path in task.makes)
        total, self._heard = sum(task.weight for task in tasks), time.monotonic()
        left = [task for task in tasks if not task.is_done()]
        check_room(left, self._nodes.values())
        calls = {self._place(task): task for task in left}
        try:
            while calls:
                if self._watch():
                    check_room(calls.values(), self._nodes.values())
                tick(1 - sum(task.weight for task in calls.values()) / total)
                for call in _ended(list(calls)):
                    self._hear(call, calls.pop(call))
        finally:
            with suppress(Exception):  # the cluster is gone
                for call in calls:  # so that no unfinished file stays; files that are whole do
                    ray.cancel(call)
                if calls:
                    ray.wait(list(calls), num_returns=len(calls), timeout=_ENDING)
        until = time.monotonic() + _UNSEEN
        while hidden := [task for task in left if not task.is_done()]:
            if time.monotonic() > until:
                raise FileError(
                    f"{hidden[0].makes[0].parent}: the files of {hidden[0].name} are not there",
                    "do all nodes see the same folder? then give the command again",
                )
            time.sleep(_TICK)
        tick(1.0)

    def _place(self, task: Task) -> Any:  # noqa: ANN401
        """Start a task wherever there is room; give Ray's reference of the call."""
        room = {"num_cpus": 1, "num_gpus": task.gpus, "memory": task.memory or None}
        call = self._remote.options(**room, max_retries=_AGAIN, scheduling_strategy="SPREAD")
        return call.remote(self._versions, task.function, task.arguments)

    def _hear(self, call: Any, task: Task) -> None:  # noqa: ANN401
        """Look how the call of a task ended, and raise its error."""
        import ray
        from ray import exceptions as of

        where = ""
        try:
            node, failure = ray.get(call)
            where = f" on node {self._nodes[node]}" if node in self._nodes else ""
        except (of.WorkerCrashedError, of.NodeDiedError, of.OutOfMemoryError) as error:
            memory = "too little memory is the usual reason; Ray's logs tell more"
            failure = Failure(f"lost {_AGAIN + 1} times: {_last_line(error)}", memory, str(error))
        except of.RayError as error:
            failure = Failure(_last_line(error), "Ray's logs tell more", str(error))
        if failure:
            self.note(f"{task.name}{where}: {failure.trace or failure.message}")
            raise XmineError(f"{task.name}{where}: {failure.message}", failure.hint)

    def _watch(self) -> bool:
        """Look at the nodes once a second; note and tell whether any joined or died."""
        now = time.monotonic()
        if now - self._looked < _WATCHING:
            return False
        self._looked = now
        try:
            reach(self._head)
        except OSError as error:
            if now - self._heard < _SILENT:
                return False
            raise XmineError(
                f"the Ray cluster at {self._head} is gone: {error}",
                "what is done stays: start the cluster, and give the command again",
            ) from error
        before, self._nodes, self._heard = self._nodes, _live_nodes(), now
        for each in self._nodes.keys() - before.keys():
            self.note(f"node {self._nodes[each]} joined: {self._nodes[each].room}")
        for each in before.keys() - self._nodes.keys():
            self.note(f"node {before[each]} is gone")
        return before.keys() != self._nodes.keys()


def _connect(address: str) -> None:
    """Connect to a cluster, whose messages stay off the terminal."""
    if address:
        check_address(address, _START)
    for name, value in {**QUIET, **_BRIEF}.items():
        os.environ.setdefault(name, value)
    import ray
    from ray._private.services import get_ray_address_from_environment

    of_ours, where = signal.getsignal(signal.SIGTERM), f"at {address}" if address else "here"
    try:
        if not address:  # a cluster that is gone has left its address
            check_address(get_ray_address_from_environment("auto", None), _START)
        ray.init(address=address or "auto", log_to_driver=False, logging_level=logging.CRITICAL)
    except XmineError:
        raise
    except Exception as error:
        raise XmineError(f"no Ray cluster {where}: {_last_line(error)}", _START) from error
    finally:
        if threading.current_thread() is threading.main_thread():  # Ray took the signal
            signal.signal(signal.SIGTERM, of_ours)


def _live_nodes() -> dict[str, Node]:
    """List the nodes with a core for tasks, by their ids."""
    import ray

    nodes = (Node.of(each) for each in ray.nodes() if each["Alive"])
    return {node.id: node for node in nodes if node.cores >= 1}


def _ask(nodes: list[Node], folder: Path, token: str) -> Iterator[tuple[Node, NodeReport | str]]:
    """Let a task on each node look at a folder; give what each saw, or why a node does not tell."""
    import ray

    calls = [_call(node.id, look, folder, token, f"{token}.{node.id}") for node in nodes]
    ready, _ = ray.wait(calls, num_returns=len(calls), timeout=_ANSWERING)
    for node, call in zip(nodes, calls, strict=True):
        try:
            yield node, ray.get(call) if call in ready else f"is silent for {_ANSWERING:.0f} s"
        except (ray.exceptions.NodeDiedError, ray.exceptions.TaskUnschedulableError):
            continue  # it died just now
        except ray.exceptions.RayError as error:
            yield node, f"cannot run xmine: {_last_line(error)}"


def _call(node: str, function: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401
    """Call a function on a node, whether a core is free or not; give the reference."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    there = NodeAffinitySchedulingStrategy(node, soft=False)
    how = {"num_cpus": 0, "max_retries": 0, "scheduling_strategy": there}
    return ray.remote(**how)(function).remote(*arguments)


def _work(
    versions: Versions, function: Callable[..., None], arguments: tuple[Any, ...]
) -> tuple[str, Failure | None]:
    """Call the function of a task, on a node: give the node's id, and how the call failed."""
    import ray

    return ray.get_runtime_context().get_node_id(), try_task(versions, function, arguments)


def _ended(calls: list[Any]) -> list[Any]:
    """Wait for the end of calls for the time of a tick, and give those that have ended."""
    import ray

    until, ready = time.monotonic() + _TICK, list[Any]()
    while not ready and time.monotonic() < until:
        time.sleep(_PAUSE)  # not in Ray's wait: a signal there would end in another exit code
        ready, _ = ray.wait(calls, num_returns=len(calls), timeout=0)
    return ready


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
