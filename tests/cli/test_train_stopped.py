"""xmine train is told to end while one long call of C++ makes its vocabulary."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

WORDS = 200_000  # on each side: twenty seconds of one core for a vocabulary


@pytest.fixture
def learning(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A run in the middle of making its vocabulary, and what it keeps in $TMPDIR."""
    dice = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    rows = [
        "\t".join(
            " ".join("".join(dice.choices(letters, k=8)) for _ in range(30)) for _ in range(2)
        )
        for _ in range(WORDS // 30)
    ]
    (tmp_path / "pairs.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    settings = {"XMINE_PROGRESS": "json", "TMPDIR": str(tmp_path / "temporary")}
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "xmine",
            "train",
            "pairs.tsv",
            "-o",
            "new",
            *"--encoder scratch --held-out 100".split(),
        ],
        cwd=tmp_path,
        env={**os.environ, **settings},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that a signal can go to the group, as Ctrl-C does
    ) as process:
        assert process.stderr
        while '"vocabulary"' not in (line := process.stderr.readline()):
            assert line, "it ended before"
        assert not list(tmp_path.glob("new.training/*.model"))
        while not list(tmp_path.glob("temporary/*/normaliser.tsv")):
            assert process.poll() is None
            time.sleep(0.01)
        time.sleep(1.0)  # into the call
        try:
            yield process
        finally:
            process.kill()


def children_of(process: "subprocess.Popen[str]") -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "ppid=,pid="], capture_output=True, text=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    return [int(child) for parent, child in rows if int(parent) == process.pid]


def is_there(pid: int) -> bool:
    listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return bool(listed.stdout.strip("Z+ \n"))


@pytest.mark.slow
@pytest.mark.usefixtures("usual_signals")
@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [
        (signal.SIGTERM, 143, ["said"]),
        pytest.param(signal.SIGINT, 130, ["said", "error"], marks=pytest.mark.long),
    ],
)
def test_a_run_that_makes_a_vocabulary_ends_at_once_and_leaves_no_process_and_no_file(
    learning: "subprocess.Popen[str]",
    tmp_path: Path,
    sent: signal.Signals,
    code: int,
    said: list[str],
) -> None:
    children = children_of(learning)
    begun = time.monotonic()
    if sent == signal.SIGINT:
        os.killpg(learning.pid, sent)  # the terminal sends it to all
    else:
        learning.send_signal(sent)
    assert learning.wait(20) == code
    assert time.monotonic() - begun < 5
    assert learning.stderr
    assert [next(iter(json.loads(line))) for line in learning.stderr] == said
    assert children
    until = time.monotonic() + 5  # a child that got Ctrl-C itself ends by itself
    while any(map(is_there, children)):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert not [path for path in (tmp_path / "temporary").rglob("*") if path.is_file()]
    left = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    kept = {"data.txt", "inputs.txt", "options.toml", "metrics.jsonl"}
    assert left == kept | {"pairs.tsv", ".lock"}


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux alone does this")
def test_a_run_that_is_killed_takes_the_process_with_it(learning: "subprocess.Popen[str]") -> None:
    (child,) = children_of(learning)
    learning.kill()
    learning.wait()
    until = time.monotonic() + 5
    while is_there(child):
        assert time.monotonic() < until
        time.sleep(0.05)
