"""Tasks for a cluster on this machine. A worker has the name of its node in NODE_OF_TEST."""

import os
import signal
import time
from pathlib import Path

from xmine.errors import FileError
from xmine.files.atomic import replacing


def write(path: Path, seconds: float = 0.0) -> None:
    """Work for some seconds, and write node and threads."""
    with replacing(path) as partial:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(0.01)
        said = os.environ["NODE_OF_TEST"], os.environ["OMP_NUM_THREADS"]
        partial.write_text(" ".join(said), encoding="utf-8")


def is_first(path: Path) -> bool:
    """Tell whether nobody has asked about this path before."""
    try:
        path.with_suffix(".begun").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def die_once(path: Path) -> None:
    """Be killed at the first call, as by the system for want of memory."""
    if is_first(path):
        time.sleep(0.2)  # Ray tells where a call runs a moment after its start
        os.kill(os.getpid(), signal.SIGKILL)
    write(path)


def die(path: Path) -> None:
    """Be killed at each call."""
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(path: Path) -> None:
    """Raise an error of xmine's."""
    raise FileError(f"{path}: line 7 is broken", "mend the line")


def fail(path: Path) -> None:
    """Raise another error, with a value that cannot be pickled."""
    raise ValueError("no such thing", open(os.devnull))  # noqa: SIM115


# What the workers of a node run at their start, in place of another machine: a node that does not
# see a folder, and a node with another version of xmine.
BLIND = """
import errno, os, sys

def hide(event, values):
    hidden = os.environ["HIDDEN_IN_TEST"]
    if event == "open" and str(values[0]).startswith(hidden):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), values[0])

sys.addaudithook(hide)
"""
OLD = """
import xmine.version

xmine.version.__version__ = "0.0.1"
"""
