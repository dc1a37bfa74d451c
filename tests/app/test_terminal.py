"""The app in a terminal of its own: what a kill leaves, and what quitting gives back."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from xmine.browsing.judgements import Judgements
from xmine.browsing.opened import open_pairs


def read_until(terminal: int, wanted: bytes, seconds: float = 60.0) -> bytes:
    seen, until = b"", time.monotonic() + seconds
    while wanted not in seen:
        left = until - time.monotonic()
        assert left > 0, f"{wanted!r} did not come: {seen[-2000:]!r}"
        if select.select([terminal], [], [], left)[0]:
            seen += os.read(terminal, 1 << 16)
    return seen


@contextmanager
def browsing(run: Path, *judges: str) -> Iterator[list[tuple[int, subprocess.Popen[bytes]]]]:
    """Browse a run in a terminal for each judge; give our ends of the terminals, and the apps."""
    opened = open_pairs(run)
    best = f"{opened.pair(0).score:.4f}".encode()
    found: list[tuple[int, subprocess.Popen[bytes]]] = []
    try:
        for name in judges:
            ours, theirs = pty.openpty()
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            environment = {**os.environ, "TERM": "xterm-256color", "XMINE_JUDGE": name}
            command = [sys.executable, "-m", "xmine", "browse", str(run)]
            app = subprocess.Popen(
                command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
            )
            os.close(theirs)
            found.append((ours, app))
        for terminal, _ in found:
            read_until(terminal, best)
        time.sleep(1)  # keys that come while a screen opens are not heard
        yield found
    finally:
        for terminal, app in found:
            app.kill()
            app.wait()
            os.close(terminal)


def test_a_kill_loses_no_verdict_and_the_other_app_sees_them(run_copy: Path) -> None:
    with browsing(run_copy, "ann", "bob") as ((first, killed), (second, left)):
        os.write(first, b"aax")
        read_until(first, b"3 judged")
        read_until(second, b"3 judged")  # without a key of its own
        killed.send_signal(signal.SIGKILL)
        os.write(second, b"xq")
        shown = read_until(second, b"\x1b[?1049l")  # the screen from before is back
        assert b"\x1b[?1049l" in shown
        assert left.wait(30) == 0
    judgements = Judgements.open(open_pairs(run_copy))
    assert [judgements.of(row) for row in range(4)] == ["reject", "accept", "reject", ""]
    assert judgements.by_judge(0) == {"ann": "accept", "bob": "reject"}


def test_a_session_that_ends_ends_the_app(run_copy: Path) -> None:
    with browsing(run_copy, "ann") as ((terminal, app),):
        os.write(terminal, b"x")
        read_until(terminal, b"1 judged")
        for number in (signal.SIGTERM, signal.SIGHUP):
            app.send_signal(number)
        assert app.wait(30) in (128 + signal.SIGTERM, 128 + signal.SIGHUP)
        read_until(terminal, b"\x1b[?1049l")
    assert Judgements.open(open_pairs(run_copy)).of(0) == "reject"
