"""Tasks -> done by as many threads as BLAS has, each with one BLAS thread.

Two threads with a block each reach the rate of one product on two threads (190-195 GFLOP/s on two
cores), and while one of them looks for the best cells the other multiplies.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

Task = TypeVar("Task")
Tool = TypeVar("Tool")

_TICK_SECONDS = 0.25


class WorkerPool:
    """Runs tasks; with one worker, in the calling thread and with BLAS as it is.

    Attributes:
        stopped: whether a task failed or the user interrupted: long tasks read it and return.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.stopped = False

    def __enter__(self) -> "WorkerPool":
        """Start the threads."""
        if self.workers > 1:
            from threadpoolctl import threadpool_limits

            self._limits = threadpool_limits(1, user_api="blas")
            self._pool = ThreadPoolExecutor(self.workers, "search")
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for the threads to end."""
        if self.workers > 1:
            self.stopped = True
            self._pool.shutdown(cancel_futures=True)
            self._limits.restore_original_limits()

    def run(
        self, work: Callable[[Task], Any], tasks: Iterable[Task], tick: Callable[[], None]
    ) -> None:
        """Do all tasks; `tick` is called several times a second, from the calling thread.

        Raises:
            Exception: the first error of a task or of `tick`.
        """
        if self.workers == 1:
            for task in tasks:
                work(task)
                tick()
            return
        waiting: set[Future[Any]] = {self._pool.submit(work, task) for task in tasks}
        while waiting:
            done, waiting = wait(waiting, _TICK_SECONDS, return_when="FIRST_EXCEPTION")
            for future in done:
                future.result()
            tick()


@contextmanager
def lent(tools: list[Tool]) -> Iterator[Tool]:
    """Take a tool, of which there is one for each worker, and put it back."""
    tool = tools.pop()
    try:
        yield tool
    finally:
        tools.append(tool)
