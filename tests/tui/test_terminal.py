"""The app in a terminal of its own: what a kill leaves, what quitting gives back, what ends it."""

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
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.toys.app import is_there, wait_until
from xmine.browsing.opening import open_pairs
from xmine.judging.judgements import Judgements
from xmine.tui.background import view_at
from xmine.tui.state import place_in
from xmine.tui.terminal import PROBE

pytestmark = pytest.mark.usefixtures("usual_signals")


def read_until(terminal: int, wanted: bytes, seconds: float = 60.0) -> bytes:
    seen, until = b"", time.monotonic() + seconds
    while wanted not in seen:
        left = until - time.monotonic()
        assert left > 0, f"{wanted!r} did not come: {seen[-2000:]!r}"
        if select.select([terminal], [], [], left)[0]:
            seen += os.read(terminal, 1 << 16)
    return seen


App = tuple[int, "subprocess.Popen[bytes]"]


@contextmanager
def in_terminals(run: Path, *commands: list[str], told: bool = True) -> Iterator[list[App]]:
    """Run each command in a terminal that is its own; give our ends of the terminals, and the apps.

    An app's judge is its number. It has drawn the pairs of the run.
    """
    opened = open_pairs(run)
    best = f"{opened.pair(0).score:.4f}".encode()
    found: list[App] = []
    try:
        for number, command in enumerate(commands):
            ours, theirs = pty.openpty()
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            app = subprocess.Popen(
                [sys.executable, *command, str(run)],
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                env={**os.environ, "TERM": "xterm-256color", "XMINE_JUDGE": str(number)},
                start_new_session=True,  # so that its end is told, as in a window
                preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if told else None,
            )
            os.close(theirs)
            found.append((ours, app))
        for terminal, _ in found:
            assert PROBE.encode() in read_until(terminal, best)  # widths are asked for
        yield found
    finally:
        for terminal, app in found:
            app.kill()
            app.wait()
            with suppress(OSError):  # closed by the test
                os.close(terminal)


BROWSE = ["-m", "xmine", "browse"]
# Begins what is named first, and tells the number of its process in a file beside the run.
BUSY = """
import sys, time
from pathlib import Path
from xmine.cli.browse import _show
from xmine.tui.app import XmineApp
from xmine.tui.jobs import Job

what, run = sys.argv[1], Path(sys.argv[2])

def write():
    while not app.ending.code:  # until it is asked to end
        time.sleep(0.02)
    time.sleep(float(what))
    (run.parent / "whole").write_text("whole")

def begin(itself):
    global app
    app = itself
    if what == "job":
        job = Job("mining", ["score", f"{run.parent}/fifo", f"{run.parent}/fifo"], Path())
        app.jobs.start(job)
        told = lambda: job.pid and (run.parent / "pid").write_text(str(job.pid))
        app.set_interval(0.1, told)  # until there is a process
    else:
        app.run_worker(write, thread=True, group="export")

XmineApp.on_ready = begin
_show(run)
"""


SOON = 15.0  # seconds for what takes two, on a busy machine


def test_a_session_that_ends_ends_the_app(run_copy: Path) -> None:
    with in_terminals(run_copy, BROWSE) as ((terminal, app),):
        os.write(terminal, b"x")
        read_until(terminal, b"1 judged")
        for number in (signal.SIGTERM, signal.SIGHUP):
            app.send_signal(number)
        assert app.wait(30) in (128 + signal.SIGTERM, 128 + signal.SIGHUP)
        read_until(terminal, b"\x1b[?1049l")
    assert Judgements.open(open_pairs(run_copy)).of(0) == "reject"


def test_a_terminal_that_closes_ends_the_app(run_copy: Path) -> None:
    with in_terminals(run_copy, *[BROWSE] * 2) as apps:
        for terminal, app in apps:
            os.write(terminal, b"t")
            time.sleep(0.15)  # the screen is being drawn, and nobody reads it
            os.close(terminal)
            assert app.wait(SOON) == 128 + signal.SIGHUP


def test_a_terminal_that_is_gone_without_a_signal_ends_the_app(run_copy: Path) -> None:
    with in_terminals(run_copy, BROWSE, told=False) as ((terminal, app),):
        os.close(terminal)
        assert app.wait(SOON) == 0


def test_a_job_ends_with_the_terminal(run_copy: Path) -> None:
    os.mkfifo(run_copy.parent / "fifo")  # text that never comes
    with in_terminals(run_copy, ["-c", BUSY, "job"]) as ((terminal, app),):
        until = time.monotonic() + 60
        while not (told := run_copy.parent / "pid").is_file() or not told.read_text():
            assert time.monotonic() < until
            time.sleep(0.05)
        job = int(told.read_text())
        assert is_there(job)
        os.write(terminal, b"t")
        time.sleep(0.15)
        os.close(terminal)
        assert app.wait(SOON) == 128 + signal.SIGHUP
        assert wait_until(gone=job)


def test_a_terminal_that_takes_nothing_keeps_no_app_from_ending(run_copy: Path) -> None:
    with in_terminals(run_copy, BROWSE) as ((terminal, app),):
        for _ in range(30):  # more than fits a terminal that nobody reads
            os.write(terminal, b"?")
            time.sleep(0.05)
            os.write(terminal, b"\x1b")
            time.sleep(0.05)
        app.send_signal(signal.SIGTERM)
        assert app.wait(SOON) == 128 + signal.SIGTERM


@pytest.mark.parametrize(
    ("seconds", "closes", "whole"),
    [
        (3, False, True),
        pytest.param(0.5, True, True, marks=pytest.mark.long),
        pytest.param(60, True, False, marks=pytest.mark.long),
    ],
    ids=["a terminal", "closed", "closed, and a long file"],
)
def test_what_is_written_is_waited_for(
    run_copy: Path, seconds: float, closes: bool, whole: bool
) -> None:
    with in_terminals(run_copy, ["-c", BUSY, str(seconds)]) as ((terminal, app),):
        if closes:
            os.close(terminal)
            time.sleep(0.2)
        for number in (signal.SIGTERM, signal.SIGHUP):
            app.send_signal(number)
            time.sleep(0.2)
        if not closes:
            read_until(terminal, b"\x1b[?1049l")
        assert app.wait(SOON) in (128 + signal.SIGTERM, 128 + signal.SIGHUP)
    assert (run_copy.parent / "whole").is_file() == whole


@pytest.mark.parametrize("asked", [True, False], ids=["closed", "and its server is killed"])
def test_a_browser_window_that_closes_ends_the_app_which_remembers_its_place(
    run_copy: Path, asked: bool
) -> None:
    score = open_pairs(run_copy).pair(2).score
    window = {"TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver"}
    app = subprocess.Popen(
        [sys.executable, *BROWSE, str(run_copy)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **window},
    )
    with app:
        assert app.stdin is not None and app.stdout is not None
        drawn = read_until(app.stdout.fileno(), b"Neighbours")  # keys at the bottom
        assert PROBE.encode() in drawn
        app.stdin.write(_packet(b"D", b"jj"))
        app.stdin.flush()
        read_until(
            app.stdout.fileno(), f"score {score:.4f}".encode()
        )  # of the pair under the cursor
        if asked:
            app.stdin.write(_packet(b"M", b'{"type": "quit"}'))
            app.stdin.flush()
            read_until(app.stdout.fileno(), b'{"type": "exit"}')
        else:
            app.stdout.close()
            app.stdin.close()
        assert app.wait(SOON) == 0
    assert view_at(place_in(run_copy), open_pairs(run_copy), None).row == 2


def _packet(kind: bytes, content: bytes) -> bytes:
    """Make what Textual's server sends."""
    return kind + len(content).to_bytes(4, "big") + content
