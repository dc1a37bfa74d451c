"""Tasks run here: one after the other with threads of its own each, or in several processes.

Processes are for tasks of Python code, in which one thread works and the others wait.
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from contextvars import copy_context
from pathlib import Path
from subprocess import TimeoutExpired

from xmine.errors import XmineError
from xmine.hardware import allowed_threads, blas_threads
from xmine.run.task import Task
from xmine.run.worker_process import WorkFailed, process_apart

_MOST_PROCESSES = 4
OF_A_PROCESS = 86 * 2**20  # bytes of memory that each takes
_TASKS_OF_A_PROCESS = 2  # at least: a process starts in 0.4 s, a task takes about as long
_TICK = 0.2  # seconds between two looks at processes


class LocalEngine:
    """Runs tasks in this process, or in processes that end with this one."""

    name = "local"
    shared = False

    def __init__(self) -> None:
        """Have nothing to note: there are no nodes."""
        self.note: Callable[[str], None] = lambda text: None

    def check(self, folder: Path) -> list[str]:
        """Find nothing wrong: this process sees what it writes."""
        return []

    def run(self, tasks: Sequence[Task], tick: Callable[[float], None]) -> None:
        """Run tasks, see `Engine.run`."""
        left = [task for task in tasks if not task.is_done()]
        processes = processes_for(len(left))
        if processes > 1 and all(task.in_python for task in left):
            _run_apart(left, processes, lambda: tick(_share(tasks)))
        else:
            threads = allowed_threads() if all(task.in_threads for task in left) else 1
            if left:
                tick(_share(tasks))
            for _ in _in_threads(left, threads):
                tick(_share(tasks))
        tick(1.0)


def _in_threads(tasks: Sequence[Task], threads: int) -> Iterator[None]:
    """Run tasks, and come back after each: one after the other, or some at once."""
    if threads == 1 or len(tasks) < 2:
        for task in tasks:
            task.function(*task.arguments)
            yield
        return
    with ThreadPoolExecutor(threads) as pool:
        # Scratch files are made in the folder that the context of this thread names.
        running = [
            pool.submit(copy_context().run, each.function, *each.arguments) for each in tasks
        ]
        try:
            for each in running:
                each.result()
                yield
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def processes_for(tasks: int) -> int:
    """Count the processes that tasks of Python code take; 1 is this one alone."""
    return max(1, min(blas_threads(), _MOST_PROCESSES, tasks // _TASKS_OF_A_PROCESS))


def _share(tasks: Sequence[Task]) -> float:
    """Give the share of the weights that is done."""
    done = sum(task.weight for task in tasks if task.is_done())
    return done / sum(task.weight for task in tasks)


def _run_apart(tasks: list[Task], processes: int, tick: Callable[[], None]) -> None:
    """Run tasks in processes, some in each; where one fails, the others are killed."""
    given = [pickle.dumps(tasks[first::processes]) for first in range(processes)]
    with ExitStack() as stack:
        started = (process_apart(f"{__name__}:run_here", each) for each in given)
        running = [stack.enter_context(process) for process in started]
        while running:
            tick()
            with suppress(TimeoutExpired):
                running[0].wait(_TICK)
            for process in [each for each in running if each.poll() is not None]:
                running.remove(process)
                given_back, told = process.communicate()
                if process.returncode:
                    said = told.decode("utf-8", "replace")
                    raise WorkFailed("a process of this run", process.returncode, said)
                if given_back:
                    raise XmineError(*pickle.loads(given_back))


def run_here(given: bytes) -> bytes:
    """Run pickled tasks one after the other, in a process for them.

    Returns:
        nothing; or the message and the hint, pickled, of an XmineError that a task raised.
    """
    tasks: list[Task] = pickle.loads(given)
    try:
        for task in tasks:
            task.function(*task.arguments)
    except XmineError as error:
        return pickle.dumps((error.message, error.hint))
    return b""
