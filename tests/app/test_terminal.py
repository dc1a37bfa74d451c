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


def test_a_kill_loses_no_verdict_and_the_other_app_sees_them(run_copy: Path) -> None:
    opened = open_pairs(run_copy)
    best = f"{opened.pair(0).score:.4f}".encode()
    terminals, apps = [], []
    try:
        for name in ("ann", "bob"):
            ours, theirs = pty.openpty()
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            environment = {**os.environ, "TERM": "xterm-256color", "XMINE_JUDGE": name}
            command = [sys.executable, "-m", "xmine", "browse", str(run_copy)]
            apps.append(
                subprocess.Popen(
                    command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
                )
            )
            os.close(theirs)
            terminals.append(ours)
        for terminal in terminals:
            read_until(terminal, best)
        time.sleep(1)  # keys that come while a screen opens are not heard
        os.write(terminals[0], b"aax")
        read_until(terminals[0], b"3 judged")
        read_until(terminals[1], b"3 judged")  # without a key of its own
        apps[0].send_signal(signal.SIGKILL)
        os.write(terminals[1], b"xq")
        shown = read_until(terminals[1], b"\x1b[?1049l")  # the screen from before is back
        assert b"\x1b[?1049l" in shown
        assert apps[1].wait(30) == 0
    finally:
        for app in apps:
            app.kill()
            app.wait()
        for terminal in terminals:
            os.close(terminal)
    judgements = Judgements.open(opened)
    assert [judgements.of(row) for row in range(4)] == ["reject", "accept", "reject", ""]
    assert judgements.by_judge(0) == {"ann": "accept", "bob": "reject"}
