"""What the command says to a program that runs it: lines of JSON, and an end when it leaves."""

import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.toys.command import Command, Toy
from xmine.cli import console
from xmine.cli import progress_events as events
from xmine.cli.console import Console
from xmine.progress import Progress


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XMINE_PROGRESS", "json")


def heard(err: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in err.splitlines()]


@pytest.mark.usefixtures("asked")
def test_stages_warnings_and_the_result_go_apart(
    command: Command, toy_files: Toy, toy_folder: Path
) -> None:
    words = ["mine", "en.txt", "zh.txt", "--model", toy_folder, "-o", "run/", "--json"]
    ended = command(*words)
    told = heard(ended.err)
    assert json.loads(ended.out)["pairs"] > 0
    stages = [each for each in told if "stage" in each]
    assert [*dict.fromkeys(each["stage"] for each in stages)] == [
        *("reading", "encoding", "searching", "matching tokens", "reading lines"),
        "looking for stretches",
    ]
    last = {each["stage"]: each for each in stages}
    assert all(each["done"] == each["total"] > 0 for each in last.values())
    assert told[0]["said"].startswith("estimate: 60 x 60 lines")
    assert [each["warning"] for each in told if "warning" in each] == json.loads(ended.out)[
        "warnings"
    ]


@pytest.mark.usefixtures("asked")
def test_an_error_is_an_event_with_its_hint(command: Command) -> None:
    ended = command("mine", "en.txt", "zh.txt", "--precision", "0.9", "--threshold", "1.2")
    assert ended.code == 2
    hint = "both choose where to cut: give one of them"
    assert heard(ended.err) == [{"error": "--precision and --threshold", "hint": hint}]


@pytest.mark.usefixtures("asked")
def test_few_lines_of_many_reports_but_always_the_last_of_a_stage(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Console(as_json=True).progress() as report:
        for done in range(1, 5001):
            report(Progress("one", done, 9999, {"loss": float("inf"), "rows/s": 2.5}))
        report(Progress("two", 0, 4))
        report(Progress("two", 1, 4))
    told = heard(capsys.readouterr().err)
    assert len(told) < 60
    assert told[0] == {"stage": "one", "done": 1, "total": 9999, "numbers": {"rows/s": 2.5}}
    assert told[-3]["done"] == 5000
    assert [(each["stage"], each["done"]) for each in told[-2:]] == [("two", 0), ("two", 1)]


def test_in_a_pipe_a_stage_that_lasts_is_told_at_once_and_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = 0.0
    monkeypatch.setattr(console, "time", SimpleNamespace(monotonic=lambda: clock))
    monkeypatch.setattr(console, "_PAUSE", 0.001)
    told = []
    with Console().progress() as report:
        for now, stage in (
            (0, Progress("short", 0, 9)),
            (1.9, Progress("short", 8, 9)),
            (2.1, Progress("short", 9, 9)),
            (2.1, Progress("long", 0, 4000)),
            (4.2, Progress("long", 1000, 4000, {"loss": 2.5})),
            (34.0, Progress("long", 2000, 4000)),
            (34.3, Progress("long", 3000, 4000)),
        ):
            clock = now
            report(stage)
            time.sleep(0.1)
            told.append(capsys.readouterr().err)
    assert told == [
        *[""] * 4,
        "xmine: long: 1,000 of 4,000  loss 2.5\n",
        "",
        "xmine: long: 3,000 of 4,000\n",
    ]


def test_quiet_is_quiet_for_a_program_too(asked: None, capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(quiet=True)
    with console.progress() as report:
        report(Progress("one", 1, 1))
    console.say("something")
    console.warn("something bad")
    assert heard(capsys.readouterr().err) == [{"warning": "something bad"}]


def test_an_attached_command_ends_when_its_standard_input_closes() -> None:
    script = (
        "import time; from xmine.cli import progress_events as events; "
        "events.end_with_our_program(); "
        "print('begun', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"XMINE_ATTACHED": "1"},
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(20) == -15


def test_without_being_asked_nothing_watches_standard_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("XMINE_ATTACHED", raising=False)
    monkeypatch.setattr(events, "_watch", lambda: pytest.fail("watches"))
    events.end_with_our_program()
