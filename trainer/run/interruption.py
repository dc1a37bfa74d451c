"""Signals that end a program, held until a step of training has ended."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn


@contextmanager
def held_signals() -> Iterator[Callable[[], int]]:
    """Let a step end before Ctrl-C or SIGTERM acts, so that it can be saved.

    Yields:
        What gives the number of the signal that arrived, or 0. A second one does not wait, but for
        SIGTERM after SIGTERM: Slurm ends torchrun and all its processes, which torchrun ends, too.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: 0
        return
    arrived: list[int] = []

    def hold(number: int, frame: object) -> None:
        if arrived and not number == arrived[-1] == signal.SIGTERM:
            signal.signal(number, before[number])
            end_by(number)
        arrived.append(number)

    before = {int(each): signal.signal(each, hold) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: arrived[-1] if arrived else 0
    finally:
        for number, action in before.items():
            signal.signal(number, action)


def end_by(number: int) -> NoReturn:
    """Let a signal do what it does; Ctrl-C that is ignored, as in a job of a script, ends, too."""
    signal.raise_signal(number)
    raise KeyboardInterrupt
