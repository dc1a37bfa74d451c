"""What all workers of a test run share: the first that asks makes it."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Give a folder that `make(folder)` has filled, in this process or in another worker's."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with folder.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.fstat(lock.fileno()).st_size:
            shutil.rmtree(folder, ignore_errors=True)  # of one that failed
            folder.mkdir()
            make(folder)
            lock.write("made")
    return folder
