"""The end of the app: threads that only read are not waited for.

Python waits for every thread before it ends. Whoever leaves while a million texts are looked
through would see a terminal that hangs.
"""

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

_NAME = "xmine-reads"
_PATIENCE = 0.3  # seconds for threads that are nearly done


class Readers(ThreadPoolExecutor):
    """Threads of the app's workers; what writes is waited for before (`Working.leave`)."""

    def __init__(self) -> None:
        """Have as many threads as usual."""
        super().__init__(thread_name_prefix=_NAME)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for a moment only."""
        del wait, cancel_futures
        super().shutdown(wait=False, cancel_futures=True)
        until = time.monotonic() + _PATIENCE
        for thread in _reading():
            thread.join(max(0.0, until - time.monotonic()))


def _reading() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(_NAME)]


def leave_readers(code: int) -> None:
    """End the process with an exit code if threads still read; return if none does."""
    if _reading():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
