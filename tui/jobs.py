"""Mining and training as commands in processes of their own, which the app watches and cancels.

The command that a screen shows is the command that runs. The command writes its progress as JSON
(XMINE_PROGRESS), and ends with the app, whose end closes its standard input (XMINE_ATTACHED).
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textual.app import App
from textual.message import Message

from xmine.errors import XmineError
from xmine.pairs.judgements import append, file_beside, read_from
from xmine.progress import Progress
from xmine.run.folder import RUN_FILE

_PATIENCE = 10.0  # seconds that a signal has to end a command before a stronger one follows
_SOON = 3.0  # seconds of a stage that tell little about the rest
_NICE = 10  # a job is so much nicer than the app, which answers keys first
_KILL = signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL
_LONGEST = 2**24  # bytes of a line: the result of a command is one


@dataclass(slots=True, eq=False)
class Job:
    """A command that runs, or has run."""

    title: str  # its kind, the command
    words: Sequence[str]  # of the command, without `xmine`
    output: Path
    before: Path | None = None  # the run that is mined again, or whose encoder is taught
    stages: dict[str, Progress] = field(default_factory=dict)  # the last one last
    said: list[str] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)  # of a training, one a step
    result: dict[str, Any] = field(default_factory=dict)  # the object on its standard output
    error: str = ""
    hint: str = ""
    code: int | None = None  # None while the command runs
    cancelled: bool = False
    started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    _begun: dict[str, tuple[float, int]] = field(default_factory=dict)  # stage -> time and done
    _process: asyncio.subprocess.Process | None = None

    @property
    def runs(self) -> bool:
        return self.code is None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def stage(self) -> Progress | None:
        """Where the stage is that was heard of last."""
        return next(reversed(self.stages.values()), None)

    @property
    def stage_left(self) -> float | None:
        """Estimate the seconds until the end of the stage; None where it cannot be told yet."""
        if not self.runs or (stage := self.stage) is None:
            return None
        begun, before = self._begun[stage.stage]
        taken, done = time.monotonic() - begun, stage.done - before
        if taken < _SOON or done <= 0 or stage.done >= stage.total:
            return None
        return taken * (stage.total - stage.done) / done

    def __str__(self) -> str:
        """Say in a few words where it is, for the top line."""
        if not self.runs:
            return f"{self.title}: {outcome(self)}"
        if self.cancelled:
            return f"{self.title}: stopping"
        stage = self.stage
        return f"{self.title}: {stage.stage} {share(stage):.0%}" if stage else self.title

    async def run(self, told: Callable[["Job"], None]) -> None:
        """Run the command; `told` is called whenever there is something new.

        Where this is cancelled, the command is stopped as by `cancel`.
        """
        pipe, words = asyncio.subprocess.PIPE, ("-m", "xmine", *self.words, "--json")
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                sys.executable,
                *words,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                env={**os.environ, "XMINE_PROGRESS": "json", "XMINE_ATTACHED": "1"},
                start_new_session=True,  # Ctrl-C in the terminal is for the app
                limit=_LONGEST,
            )
        except OSError as error:
            self.error, self.code = f"cannot be started: {error.strerror}", 1
            told(self)
            return
        assert process.stdout is not None and process.stderr is not None
        with contextlib.suppress(OSError, AttributeError):  # Windows has no such calls
            own = os.getpriority(os.PRIO_PROCESS, 0)
            os.setpriority(os.PRIO_PGRP, process.pid, min(own + _NICE, 19))
        try:
            if self.cancelled:  # before there was a process
                self._send(signal.SIGINT)
            out, _ = await asyncio.gather(process.stdout.read(), self._listen(told))
            with contextlib.suppress(ValueError):
                result = json.loads(out)
                self.result = result if isinstance(result, dict) else {}
            self.code = await process.wait()
        except asyncio.CancelledError:
            await self.stop()
            raise
        finally:
            if process.stdin is not None:
                process.stdin.close()
            self.seconds = time.monotonic() - self.started
            told(self)

    async def _listen(self, told: Callable[["Job"], None]) -> None:
        assert self._process is not None and self._process.stderr is not None
        async for line in self._process.stderr:
            self.hear(line.decode("utf-8", "replace").rstrip("\n"))
            told(self)

    def hear(self, line: str) -> None:
        """Read a line of standard error; a line that is no JSON is a message."""
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        match event:
            case {"stage": str(stage), "done": done, "total": total, "numbers": numbers}:
                self.stages.pop(stage, None)  # the last one is the one that goes on
                self._begun.setdefault(stage, (time.monotonic(), done))
                self.stages[stage] = Progress(stage, done, total, numbers)
                self.losses += [numbers["loss"]] if "loss" in numbers else []
            case {"error": str(error), "hint": str(hint)}:
                self.error, self.hint = error, hint
            case {"warning": str(warning)}:
                self.said.append(f"warning: {warning}")
            case {"said": str(said)}:
                self.said.append(said)
            case _:
                self.said += [line] if line.strip() else []

    def cancel(self) -> None:
        """Interrupt the command, as Ctrl-C would; terminate it at the second call."""
        if self.runs:
            self._send(signal.SIGTERM if self.cancelled else signal.SIGINT)
            self.cancelled = True

    async def stop(self) -> None:
        """End the command, with stronger and stronger signals."""
        process = self._process
        if process is None:
            return
        self.cancelled = True
        for number in (signal.SIGINT, signal.SIGTERM, _KILL):
            self._send(number)
            with contextlib.suppress(TimeoutError):
                self.code = await asyncio.wait_for(process.wait(), _PATIENCE)
                return

    def _send(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if sys.platform == "win32":
                    self._process.terminate()  # the one way to end a process there
                else:
                    os.killpg(self._process.pid, number)


@dataclass
class JobTold(Message):
    """A job is further than before, or over; sent to the screen that is shown."""

    job: Job


def outcome(job: Job) -> str:
    """Say in a word how a job ended."""
    if job.code == 0:
        return "done"
    return "stopped" if job.cancelled else "failed"


def share(progress: Progress) -> float:
    """Give the share of a stage that is done, from 0 to 1."""
    return min(1.0, progress.done / progress.total) if progress.total else 1.0


class JobQueue:
    """At most one job of each kind."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self.jobs: dict[str, Job] = {}  # kind -> the last job of it, running or over
        self._unseen: set[str] = set()

    def __str__(self) -> str:
        """Name running jobs, and finished ones that the user has not seen, for the top line."""
        jobs = self.jobs.items()
        return "  ".join(str(job) for kind, job in jobs if job.runs or kind in self._unseen)

    def start(self, job: Job) -> None:
        self.jobs[job.title] = job
        self._unseen.discard(job.title)
        self._app.run_worker(job.run(self._told), group=job.title, name=job.title)

    def runs(self, kind: str) -> bool:
        return kind in self.jobs and self.jobs[kind].runs

    def see(self, kind: str) -> None:
        """Note that the user has seen how a job ended."""
        self._unseen.discard(kind)

    def _told(self, job: Job) -> None:
        if not job.runs:
            self._unseen.add(job.title)
            if job.before is not None and job.code == 0 and (job.output / RUN_FILE).is_file():
                # Verdicts of another run of the same texts; none, where none can be kept.
                with contextlib.suppress(XmineError):
                    labels, _ = read_from(file_beside(job.before), 0)
                    if labels and not (file := file_beside(job.output)).exists():
                        append(file, labels)
        with contextlib.suppress(Exception):  # an app that ends has no screen left to tell
            self._app.screen.post_message(JobTold(job))
