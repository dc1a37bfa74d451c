"""Progress where no bar can be drawn, as in a log: a line for each stage that lasts."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from xmine.progress import Progress, Report
from xmine.units import short

_LASTS = 2.0  # seconds after which a stage is told, so that a short run has no such line
_AGAIN = 30.0  # seconds between two lines of one stage
_PAUSE = 0.2  # seconds


def in_words(numbers: dict[str, float]) -> str:
    """Write the numbers of a stage, such as the loss."""
    return "  ".join(f"{name} {short(number)}" for name, number in numbers.items())


@contextmanager
def progress_lines(say: Callable[[str], None]) -> Iterator[Report]:
    """Give a `report`; a thread says where the latest stage is: some report but start and end."""
    latest: Progress | None = None
    due: dict[str, float] = {}
    over = threading.Event()

    def report(progress: Progress) -> None:
        nonlocal latest
        due.setdefault(progress.stage, time.monotonic() + _LASTS)
        latest = progress

    def watch() -> None:
        while not over.wait(_PAUSE):
            now, stage = time.monotonic(), latest
            if stage and stage.done < stage.total and now >= due[stage.stage]:
                due[stage.stage] = now + _AGAIN
                told = f"{stage.stage}: {stage.done:,} of {stage.total:,}"
                say("  ".join(filter(None, [told, in_words(stage.numbers)])))

    watching = threading.Thread(target=watch, name="saying progress", daemon=True)
    watching.start()
    try:
        yield report
    finally:
        over.set()
        watching.join()
