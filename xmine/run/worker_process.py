"""Work in a process of its own, which ends with this one: bytes go in, bytes come out.

For long calls that hold the interpreter: meanwhile this process would answer no signal and no key,
and no thread of Python's could work beside them.
"""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module

from xmine.errors import XmineError

_SIGKILL = 9  # signal.SIGKILL, which Windows does not know
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


class WorkFailed(XmineError):
    """The process ended otherwise than well.

    Attributes:
        told: the standard error of the process.
    """

    def __init__(self, name: str, code: int, told: str) -> None:
        """Name the work, the exit code, and the last line on standard error."""
        last = told.strip().rpartition("\n")[2]
        how = (
            f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        )
        hint = "too little memory is the usual reason" if code == -_SIGKILL else ""
        super().__init__(f"{name} {how}" + (f": {last}" if last else ""), hint)
        self.told = told


@contextmanager
def process_apart(function: str, given: bytes) -> Iterator[subprocess.Popen[bytes]]:
    """Call a function of bytes in a process of its own, which is killed where the block ends.

    The function is named `module:name`; the module is imported in that process.
    """
    # No folder but those of this process is searched for modules: -m alone adds the current one.
    command = [sys.executable, "-P", "-m", "xmine.run.worker_process", function]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment
    ) as process:
        try:
            assert process.stdin
            with suppress(BrokenPipeError), process.stdin as stdin:  # it has ended already
                stdin.write(given)
            process.stdin = None  # which `communicate` would write to
            yield process
        finally:
            process.kill()


def work_apart(function: str, given: bytes, name: str) -> bytes:
    """Call a function of bytes in a process of its own; where this one is to end, kill the process.

    Errors have the name of the work. See `process_apart`.

    Raises:
        WorkFailed: the function raised an error, or the process was killed.
    """
    with process_apart(function, given) as process:
        out, told = process.communicate()
    if process.returncode:
        raise WorkFailed(name, process.returncode, told.decode("utf-8", "replace"))
    return out


def die_with_parent() -> None:
    """Let the system kill this process where its parent is killed, if it is Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)


def _main() -> None:
    """Be that process: Ctrl-C is for the other one, and its end is the end of this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()  # elsewhere than on Linux a process whose parent was killed ends its call
    module, _, name = sys.argv[1].partition(":")
    given = sys.stdin.buffer.read()
    try:
        made = getattr(import_module(module), name)(given)
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")
    sys.stdout.buffer.write(made)


if __name__ == "__main__":
    _main()
