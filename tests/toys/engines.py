"""Engines for tests: tasks run in this process as another process would run them."""

import pickle
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from xmine.run.task import Task


class Shuffled:
    """Runs tasks in any order, from copies that have travelled; stops like Ctrl-C after some.

    Attributes:
        ran: the tasks that made their files.
        stops_after: how many tasks may run.
    """

    name = "shuffled"
    shared = True

    def __init__(self, seed: int = 0, stops_after: int = 10**9) -> None:
        self.note: Callable[[str], None] = lambda text: None
        self.ran: list[Task] = []
        self.stops_after = stops_after
        self._random = random.Random(seed)

    def check(self, folder: Path) -> list[str]:
        assert folder.is_absolute()
        return []

    def run(self, tasks: Sequence[Task], tick: Callable[[float], None]) -> None:
        left: list[Task] = pickle.loads(
            pickle.dumps([each for each in tasks if not each.is_done()])
        )
        self._random.shuffle(left)
        for number, task in enumerate(left):
            tick(number / len(left))
            assert all(path.is_absolute() for path in task.makes)
            if len(self.ran) == self.stops_after:
                raise KeyboardInterrupt
            task.function(*task.arguments)
            assert task.is_done()
            self.ran.append(task)
        tick(1.0)
