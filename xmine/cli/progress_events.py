"""What the command says as lines of JSON on stderr, for a program that runs it and shows it.

XMINE_PROGRESS=json asks for it. XMINE_ATTACHED=1 ties the command to that program's life: when its
standard input closes, it ends as if it were terminated.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict

from xmine.hardware import limit_memory
from xmine.progress import Progress, Report

_SECONDS = 0.1  # between two lines of one stage


def wanted() -> bool:
    """Whether what is said is to be JSON."""
    return os.environ.get("XMINE_PROGRESS") == "json"


def tell(event: Mapping[str, object]) -> None:
    """Write one event; one that cannot be written is lost, since nobody is there to read it."""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(json.dumps(event) + "\n")
            sys.stderr.flush()


@contextmanager
def progress_events() -> Iterator[Report]:
    """Give a `report` that writes at most ten lines a second of a stage, and always its last."""
    last: Progress | None = None
    sent: Progress | None = None
    written = 0.0

    def write() -> None:
        nonlocal sent, written
        if last is not None and last != sent:
            finite = {name: x for name, x in last.numbers.items() if abs(x) < float("inf")}
            tell(asdict(last) | {"numbers": finite})
            sent, written = last, time.monotonic()

    def report(progress: Progress) -> None:
        nonlocal last
        begins = last is None or last.stage != progress.stage
        if begins:
            write()
        last = progress
        ends = progress.done >= progress.total
        if begins or ends or time.monotonic() - written >= _SECONDS:
            write()

    try:
        yield report
    finally:
        write()


def end_with_our_program() -> None:
    """Watch standard input where XMINE_ATTACHED asks for it, and end when it closes."""
    if os.environ.get("XMINE_ATTACHED") == "1":
        limit_memory(None)  # that of the app in a browser
        threading.Thread(target=_watch, name="watching standard input", daemon=True).start()


def _watch() -> None:
    with suppress(OSError):
        while os.read(0, 4096):
            pass
    os.kill(os.getpid(), signal.SIGTERM)
