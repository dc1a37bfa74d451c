"""The tasks of one run on a cluster: which to place, which to place again, which are done.

Nothing here knows Ray: the engine places tasks as calls, and tells what becomes of each call.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xmine.display import count, in_words
from xmine.errors import FileError, XmineError
from xmine.files.atomic import partial_names
from xmine.run.nodes import Failure, Node
from xmine.run.task import Task

AT_ONCE = 0.2  # seconds that tasks are placed for, before the engine listens again
TRIES = 4  # of a task whose workers die
UNSEEN = 75.0  # seconds in which NFS may hide a file that was made: 60 in its usual settings
STUCK = 30.0  # seconds that a task has in any case before the task is started a second time
TIMES = 3  # how many times as long as the slowest task before it has


class _Copy(NamedTuple):
    """A call of a task: the node's id and name, empty while the call waits, and since when."""

    node: str
    name: str
    since: float


@dataclass(eq=False, slots=True)
class _Placed:
    """A task under way.

    Attributes:
        copies: the calls of the task: one, or two.
        lost: how many calls have ended with their worker.
        again: whether the task was started a second time beside the first.
    """

    task: Task
    copies: dict[Any, _Copy] = field(default_factory=dict)
    lost: int = 0
    again: bool = False


class Work:
    """Tasks, and what has become of each.

    Attributes:
        calls: those under way.
        nodes: those alive; the engine keeps them up to date.
        share: of the work that is done.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        nodes: Mapping[str, Node],
        place: Callable[[Task, str], Any],
        stop: Callable[[Any], None],
        note: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Have all tasks to do.

        `place` starts a call of a task, on a node if one is named, else wherever there is room;
        `stop` ends a call; `note` is told of tasks that are started again. Nodes go by their ids.
        """
        self.calls: dict[Any, _Placed] = {}
        self.nodes = nodes
        self._todo = deque(map(_Placed, tasks))
        self._unseen: list[tuple[_Placed, str, float]] = []
        self._total, self._done = sum(task.weight for task in tasks), 0.0
        self._slowest = 0.0  # seconds for a weight of 1
        self._place, self._stop, self._note, self._clock = place, stop, note, clock

    @property
    def is_over(self) -> bool:
        """Tell whether all tasks are done."""
        return not (self._todo or self.calls or self._unseen)

    @property
    def share(self) -> float:
        """Give the share of the weights that is done."""
        return self._done / self._total if self._total else 1.0

    @property
    def numbers(self) -> dict[str, float]:
        """Count nodes, running and waiting tasks."""
        running = sum(bool(placed.copies[call].node) for call, placed in self.calls.items())
        waiting = len(self._todo) + len(self.calls) - running
        return {"nodes": len(self.nodes), "running": running, "waiting": waiting}

    def check_room(self) -> None:
        """Refuse a task that fits on no node, since it would wait for ever."""
        left = [each for each in (*self._todo, *self.calls.values()) if not each.task.is_done()]
        for task in {(each.task.gpus, each.task.memory): each.task for each in left}.values():
            if not any(node.fits(task) for node in self.nodes.values()):
                parts = ["a core"] + ([in_words(task.memory)] if task.memory else [])
                parts += [count(round(task.gpus), "GPU")] if task.gpus else []
                join = "let another machine join: `ray start --address HOST:6379"
                hint = f"{join}`"
                if task.gpus and not any(node.gpus for node in self.nodes.values()):
                    hint = f"{join} --num-gpus 1`; or mine into a new folder with --device cpu"
                raise XmineError(
                    f"{task.name} needs {' and '.join(parts)}; no node of the cluster has that",
                    hint,
                )

    def fill(self) -> None:
        """Place two tasks for each core: one that runs, and one that waits for the core."""
        slots, until = sum(int(node.cores) for node in self.nodes.values()), self._clock() + AT_ONCE
        while self._todo and len(self.calls) < 2 * slots and self._clock() < until:
            placed = self._todo.popleft()
            if placed.task.is_done():
                self._done += placed.task.weight
            else:
                self._start(placed, "")
        if not self._todo and self._slowest:
            for call, placed in list(self.calls.items()):
                self._start_again(call, placed)

    def _start(self, placed: _Placed, node: str) -> None:
        call = self._place(placed.task, node)
        placed.copies[call] = _Copy("", "a node", self._clock())
        self.calls[call] = placed

    def _start_again(self, call: Any, placed: _Placed) -> None:  # noqa: ANN401
        """Start a task a second time, on another node, if the first call takes very long."""
        (node, name, since), task = placed.copies[call], placed.task
        seconds = self._clock() - since
        if placed.again or not node or seconds < max(STUCK, TIMES * self._slowest * task.weight):
            return
        placed.again = True
        used = [each.copies[call].node for call, each in self.calls.items()]
        others = [each for each in self.nodes.values() if each.id != node and each.fits(task)]
        best = min(others, key=lambda each: used.count(each.id) / each.cores, default=None)
        where = f" on {best}" if best else ""
        self._note(f"{task.name}: runs on {name} for {seconds:.0f} s: started{where} too")
        self._start(placed, best.id if best else "")

    def began(self, call: Any, node: str) -> None:  # noqa: ANN401
        """Hear that a call runs on a node."""
        name = f"node {self.nodes[node]}" if node in self.nodes else "a node"
        self.calls[call].copies[call] = _Copy(node, name, self._clock())

    def ended(self, call: Any, failure: Failure | None) -> None:  # noqa: ANN401
        """Hear that the function of a task returned, or raised an error.

        Raises:
            XmineError: the function raised an error; the message names task and node.
        """
        placed, now = self.calls[call], self._clock()
        copy, task = placed.copies[call], placed.task
        if failure:
            said = f"{task.name} on {copy.name}: "
            self._note(said + (failure.trace or failure.message))
            raise XmineError(said + failure.message, failure.hint)
        self._slowest = max(self._slowest, (now - copy.since) / task.weight)
        for other in placed.copies:
            del self.calls[other]
            if other is not call:
                self._stop(other)
        self._unseen.append((placed, copy.name, now + UNSEEN))

    def lost(self, call: Any, why: str) -> None:  # noqa: ANN401
        """Hear that a call ended with its worker or node, and start the task again.

        Raises:
            XmineError: the task was lost too often.
        """
        placed = self.calls.pop(call)
        name = placed.copies.pop(call).name
        placed.lost += 1
        said = f"{placed.task.name}: lost on {name}: {why}"
        if placed.lost == TRIES:
            raise XmineError(
                f"{said} ({TRIES} times lost)",
                "too little memory is the usual reason; Ray's logs on that node tell more",
            )
        self._note(said if placed.copies else f"{said}: started again")
        if not placed.copies:
            self._todo.appendleft(placed)

    def look(self) -> None:
        """Count tasks whose files are there; wait for files that the file system hides.

        Raises:
            FileError: files stay away.
        """
        for each in list(self._unseen):
            placed, node, until = each
            task = placed.task
            if task.is_done():
                self._unseen.remove(each)
                self._done += task.weight
                # Calls that were killed left unfinished files.
                for path in task.makes if placed.lost or placed.again else ():
                    for left in path.parent.glob(partial_names(path)):
                        left.unlink(missing_ok=True)
            elif self._clock() > until:
                raise FileError(
                    f"{task.makes[0].parent}: the files of {task.name} are not there, though "
                    f"{node} made them",
                    "does that node see the same folder? then give the command again",
                )
