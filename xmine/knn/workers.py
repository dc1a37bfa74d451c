"""Pieces of work -> done by as many threads as BLAS has, each with one BLAS thread.

Two threads with a block each reach the rate of one product on two threads (190-195 GFLOP/s on two
cores), and while one of them looks for the best cells the other multiplies.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, TypeVar

Piece = TypeVar("Piece")

_TICK_SECONDS = 0.25


def blas_threads() -> int:
    """Count the threads that numpy's BLAS would use; 1 where it is not known."""
    from threadpoolctl import threadpool_info

    return max(
        (each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"), default=1
    )


class Crew:
    """Runs pieces of work; with one worker, in the calling thread and with BLAS as it is.

    Attributes:
        stopped: whether a piece failed or the user interrupted: long pieces look at it and return.
    """

    def __init__(self, workers: int) -> None:
        """Start nothing yet."""
        self.workers = workers
        self.stopped = False

    def __enter__(self) -> "Crew":
        """Start the threads."""
        if self.workers > 1:
            from threadpoolctl import threadpool_limits

            self._limits = threadpool_limits(1, user_api="blas")
            self._pool = ThreadPoolExecutor(self.workers, "search")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for the threads to end."""
        if self.workers > 1:
            self.stopped = True
            self._pool.shutdown(cancel_futures=True)
            self._limits.restore_original_limits()

    def run(
        self, work: Callable[[Piece], Any], pieces: Iterable[Piece], tick: Callable[[], None]
    ) -> None:
        """Do all pieces; `tick` is called several times a second, from the calling thread.

        Raises:
            Exception: what a piece raised, or `tick`.
        """
        if self.workers == 1:
            for piece in pieces:
                work(piece)
                tick()
            return
        waiting: set[Future[Any]] = {self._pool.submit(work, piece) for piece in pieces}
        while waiting:
            done, waiting = wait(waiting, _TICK_SECONDS, return_when="FIRST_EXCEPTION")
            for future in done:
                future.result()
            tick()
