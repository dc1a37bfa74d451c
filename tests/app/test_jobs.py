"""Commands that the app runs: heard while they run, stopped, and never left behind."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from xmine.progress import Progress
from xmine.tui.jobs import Job, ask_command, share

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def endless(tmp_path: Path) -> list[str]:
    """A command that waits for text which never comes."""
    os.mkfifo(tmp_path / "en.txt")
    return ["score", str(tmp_path / "en.txt"), str(EXAMPLES / "zh.txt")]


def is_there(pid: int) -> bool:
    """Whether a process runs, and is not merely what is left of one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(gone: int, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while is_there(gone) and time.monotonic() < end:
        time.sleep(0.02)
    return not is_there(gone)


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


def test_a_command_that_fails_says_why() -> None:
    wrong = asyncio.run(ask_command(["convert", "missing.tsv", "x.tsv"]))
    assert wrong.code == 1 and not wrong.result
    assert wrong.error.startswith("missing.tsv: ")


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


def test_whoever_stops_waiting_leaves_no_process(endless: list[str]) -> None:
    async def left() -> int:
        job = Job("mining", endless, Path())
        running = asyncio.create_task(job.run(lambda job: None))
        while job.pid is None:
            await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return job.pid

    assert not is_there(asyncio.run(left()))


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
