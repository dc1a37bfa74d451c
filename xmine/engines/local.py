"""Tasks run here, one after the other: each has threads of its own."""

from collections.abc import Callable, Sequence
from pathlib import Path

from xmine.engines.task import Task


class LocalEngine:
    """Runs tasks in this process."""

    name = "local"
    shared = False

    def __init__(self) -> None:
        """Have no numbers: no task runs beside another."""
        self.numbers: dict[str, float] = {}

    def begin(self, folder: Path, note: Callable[[str], None]) -> None:
        """Do nothing: this process sees what it writes."""

    def run(self, tasks: Sequence[Task], tick: Callable[[float], None]) -> None:
        """Run tasks, see `Engine.run`."""
        total, done = sum(task.weight for task in tasks), 0.0
        for task in tasks:
            tick(done / total)
            if not task.is_done():
                task.function(*task.arguments)
            done += task.weight
        tick(1.0)
