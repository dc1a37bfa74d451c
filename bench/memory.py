"""A process -> the most memory it held, looked at every 50 ms; a command -> what it cost.

Anonymous memory (RssAnon) is what a process has made for itself and the machine cannot take back;
RSS counts pages of mapped files as well. Children count with their parent.
"""

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

EVERY = 0.05  # seconds
_MEGABYTE = 1e6


@dataclass
class Peak:
    """The most that was seen, in bytes."""

    anonymous: int = 0  # RssAnon of the process and its children together
    resident: int = 0  # the same of VmRSS
    before: int = 0  # RssAnon when watching began

    def see(self, held: tuple[int, int]) -> None:
        """Take a look into account."""
        self.anonymous, self.resident = max(self.anonymous, held[0]), max(self.resident, held[1])


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took."""

    seconds: float  # from start to end
    cpu_seconds: float  # of the process and the children it waited for
    peak: Peak
    code: int  # exit code; minus the signal if one ended it
    output: str  # the last lines of what it wrote

    def figures(self) -> dict[str, object]:
        """Give the figures for a record, memory in megabytes of 10^6 bytes."""
        return {
            "seconds": round(self.seconds, 2),
            "cpu_seconds": round(self.cpu_seconds, 2),
            "peak_anonymous_megabytes": megabytes(self.peak.anonymous),
            "peak_resident_megabytes": megabytes(self.peak.resident),
        }


def megabytes(amount: int) -> int:
    """Round bytes to megabytes of 10^6."""
    return round(amount / _MEGABYTE)


def held(pid: int) -> tuple[int, int]:
    """Sum RssAnon and VmRSS of a process and its children; what has ended holds nothing."""
    anonymous = resident = 0
    for each in [pid, *descendants(pid)]:
        status = _fields(each)
        anonymous += status.get("RssAnon", 0)
        resident += status.get("VmRSS", 0)
    return anonymous, resident


@contextmanager
def watched(pid: int | None = None, every: float = EVERY) -> Iterator[Peak]:
    """Look at a process, or at this one, until the block ends."""
    watching = os.getpid() if pid is None else pid
    peak = Peak(before=held(watching)[0])
    over = threading.Event()

    def watch() -> None:
        peak.see(held(watching))
        while not over.wait(every):
            peak.see(held(watching))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()
        peak.see(held(watching))


def cost_of(
    command: Sequence[str | Path], *, cache: Path | None = None, every: float = EVERY
) -> Cost:
    """Run a command and watch it.

    Args:
        command: with its arguments.
        cache: folder that stands for the user's cache (XMINE_CACHE).
        every: seconds between two looks, which take up to a millisecond.
    """
    environment = {**os.environ} if cache is None else {**os.environ, "XMINE_CACHE": str(cache)}
    with tempfile.TemporaryFile() as log:
        started = time.perf_counter()
        with subprocess.Popen(
            [str(each) for each in command],
            stdout=log,
            stderr=log,
            env=environment,
            start_new_session=True,
        ) as process:
            try:
                with watched(process.pid, every) as peak:
                    _, status, usage = os.wait4(process.pid, 0)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
            process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - started
        log.seek(max(0, log.tell() - 20_000))
        output = log.read().decode("utf-8", "replace")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, peak, process.returncode, output)


def bytes_under(path: Path) -> int:
    """Add up the sizes of a file, or of the files in a folder."""
    if path.is_file():
        return path.stat().st_size
    return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())


def descendants(pid: int) -> list[int]:
    """List the children of a process, and theirs."""
    found: list[int] = []
    try:
        listings = list(Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:  # the process has ended
        return found
    for listing in listings:
        try:
            children = [int(each) for each in listing.read_text().split()]
        except OSError:  # the thread has ended
            continue
        for child in children:
            found += [child, *descendants(child)]
    return found


def _fields(pid: int) -> dict[str, int]:
    """Read the fields of a process that are amounts of memory, in bytes."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    rows = (line.split() for line in lines if line.endswith(" kB"))
    return {row[0].rstrip(":"): int(row[1]) * 1024 for row in rows}
