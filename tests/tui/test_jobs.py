"""Commands that the app runs: heard while they run, stopped, and never left behind."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.toys.app import drive, is_there, wait_until
from tests.toys.screens import screen_text, settled
from xmine.progress import Progress
from xmine.tui.app import XmineApp
from xmine.tui.jobs import Job, share
from xmine.tui.widgets.job_view import going

pytestmark = pytest.mark.usefixtures("usual_signals")
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def endless(tmp_path: Path) -> list[str]:
    """A command that waits for text which never comes."""
    os.mkfifo(tmp_path / "en.txt")
    return ["score", str(tmp_path / "en.txt"), str(EXAMPLES / "zh.txt")]


def test_lines_become_stages_warnings_and_an_error() -> None:
    job = Job("mining", [], Path("run"))
    for line in (
        '{"stage": "reading", "done": 5, "total": 5, "numbers": {}}',
        '{"stage": "encoding", "done": 1, "total": 4, "numbers": {"rows/s": 2.5}}',
        '{"said": "estimate: none"}',
        '{"warning": "few"}',
        "Usage: xmine [red]",
        "[1, 2]",
        "",
        '{"stage": "encoding", "done": 2, "total": 4, "numbers": {}}',
    ):
        job.hear(line)
    assert list(job.stages) == ["reading", "encoding"]
    assert job.stage == Progress("encoding", 2, 4)
    assert str(job) == "mining: encoding 50%"
    assert job.said == ["estimate: none", "warning: few", "Usage: xmine [red]", "[1, 2]"]
    job.hear('{"error": "no such file", "hint": "look again"}')
    assert (job.error, job.hint) == ("no such file", "look again")
    assert share(Progress("one", 0, 0)) == 1.0


def test_the_time_that_a_stage_will_take_follows_from_what_was_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From the step at which a run is resumed: 100 of 400 steps took 10 seconds, 200 are left."""
    now = [50.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    job = Job("training", [], Path("encoder"), started=30.0)
    said = []
    for now[0], stage, done in (
        (50.0, "vocabulary", 1),
        (60.0, "training", 100),
        (61.0, "training", 120),
        (70.0, "training", 200),
    ):
        job.hear(json.dumps({"stage": stage, "done": done, "total": 400, "numbers": {}}))
        said.append(going(job))
    assert job.stage_left == 20.0
    assert said == ["0:20", "0:30", "0:31", "0:40, 0:20 to go"]
    job.code = 0
    assert job.stage_left is None and going(job) == "done"


def test_a_cancelled_command_is_interrupted(endless: list[str]) -> None:
    async def cancelled() -> Job:
        job = Job("mining", endless, Path())
        running = asyncio.create_task(job.run(lambda job: None))
        while job.pid is None:
            await asyncio.sleep(0.01)
        await asyncio.sleep(1.0)
        assert job.runs
        job.cancel()
        assert str(job) == "mining: stopping"
        await running
        return job

    job = asyncio.run(cancelled())
    assert job.cancelled
    assert job.code in (130, -signal.SIGINT)  # in the middle of an import, Python says it so
    assert job.error == "interrupted"


def test_a_killed_app_leaves_no_process(endless: list[str]) -> None:
    script = (
        "import asyncio, sys; from pathlib import Path; from xmine.tui.jobs import Job\n"
        "job = Job('mining', sys.argv[1:], Path())\n"
        "async def main():\n"
        "    running = asyncio.create_task(job.run(lambda job: None))\n"
        "    while job.pid is None: await asyncio.sleep(0.01)\n"
        "    print(job.pid, flush=True)\n"
        "    await running\n"
        "asyncio.run(main())"
    )
    app = subprocess.Popen([sys.executable, "-c", script, *endless], stdout=subprocess.PIPE)
    assert app.stdout is not None
    child = int(app.stdout.readline())
    assert is_there(child)
    time.sleep(0.5)
    os.kill(app.pid, signal.SIGKILL)
    app.wait()
    app.stdout.close()
    assert wait_until(gone=child)


def test_leaving_asks_while_something_runs_and_waits_for_what_is_written() -> None:
    written = threading.Event()

    async def script(pilot: Any) -> None:
        app = pilot.app
        await settled(pilot)
        app.jobs.jobs["mining"] = Job("mining", [], Path("run"))
        for keys in (["q"], ["ctrl+q"], ["ctrl+p", "ctrl+q"], ["ctrl+q", "ctrl+q"]):
            await pilot.press(*keys)
            await pilot.pause()
            assert "stop mining and quit? y" in "\n".join(screen_text(app)), keys
            await pilot.press("n")
            await settled(pilot)
            assert app.return_code is None, keys
            assert app.screen.focused is not None and app.screen.focused.id == "recent", keys
        await pilot.resize_terminal(50, 12)  # where nothing else can be seen
        await pilot.press("q")
        await settled(pilot)
        assert "stop mining and quit? y" in "\n".join(screen_text(app))
        await pilot.press("n")
        await pilot.resize_terminal(80, 24)
        app.run_worker(lambda: written.wait(30), thread=True, group="export")
        await pilot.press("q", "y")
        await pilot.pause()
        assert "a file is being written" in "\n".join(screen_text(app))
        for _ in range(2):  # a session that ends does not wait long for an answer
            app.ending.begin()
            await pilot.pause()
        assert app.return_code is None
        written.set()
        end = time.monotonic() + 20
        while app.return_code is None:
            assert time.monotonic() < end
            await asyncio.sleep(0.01)

    drive(XmineApp(), (80, 24), script)


def test_who_leaves_waits_for_no_thread_that_reads() -> None:
    script = (
        "import functools, time\n"
        "from xmine.cli import browse\n"
        "from xmine.tui.app import XmineApp\n"
        "async def drive(pilot):\n"
        "    pilot.app.run_worker(lambda: time.sleep(60), thread=True, exit_on_error=False)\n"
        "    await pilot.press('q')\n"
        "run = XmineApp.run\n"
        "XmineApp.run = functools.partialmethod(run, headless=True, auto_pilot=drive)\n"
        "browse._show(None)\n"
    )
    begun = time.monotonic()
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, capture_output=True, timeout=50, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert time.monotonic() - begun < 40
