"""The jobs of the app: they go on whatever screen is shown, and end with the app."""

import asyncio
import contextlib
import signal
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import WorkerError

from xmine.tui.jobs import Job
from xmine.tui.leaving import Readers
from xmine.tui.screens.viewing import Asking, Viewing

if TYPE_CHECKING:
    from xmine.tui.app import XmineApp

# Groups of the workers that write files.
_WRITING = ("export", "save", "write")


class JobTold(Message):
    """A job is further than before, or over; sent to the screen that is shown."""

    def __init__(self, job: Job) -> None:
        """Name the job."""
        super().__init__()
        self.job = job


class Working:
    """At most one job of each kind.

    Attributes:
        jobs: kind, `mining` or `training` -> the last job of it, running or over.
    """

    def __init__(self, app: "XmineApp") -> None:
        """Begin with nothing to do."""
        self._app = app
        self.jobs: dict[str, Job] = {}
        self._unseen: set[str] = set()
        self._code = 0

    def begin(self) -> None:
        """Take the threads of the app from those that nobody waits for at its end.

        In a terminal, be ready for its end: Textual would wait for keys for ever.
        """
        loop = asyncio.get_running_loop()
        loop.set_default_executor(Readers())
        if not (self._app.is_headless or self._app.is_web):
            for number in (signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup has it
                    loop.add_signal_handler(number, self._terminated, number)

    def _terminated(self, number: int) -> None:
        """End without a question, and with the exit code of a signal."""
        self._code = 128 + number
        self._app.run_worker(self._end, group="leave")

    def leave(self) -> None:
        """End the app; where that stops a job, ask first."""
        while len(self._app.screen_stack) > 1 and not isinstance(self._app.screen, Viewing):
            self._app.pop_screen()  # the palette
        screen = self._app.screen
        running = " and ".join(kind for kind in self.jobs if self.runs(kind))
        if running and isinstance(screen, Viewing):
            asking = screen.query_one(Asking)
            if asking.display:
                asking.action_give_up()
            screen.ask(f"stop {running} and quit? y: quit; anything else: stay", self._answered)
        else:
            self._app.run_worker(self._end, group="leave")

    def _answered(self, answer: str) -> None:
        if answer.strip().lower() in ("y", "yes"):
            self._app.run_worker(self._end, group="leave")

    async def _end(self) -> None:
        """Wait for what is being written, and for nothing else."""
        writing = [each for each in self._app.workers if each.group.split()[0] in _WRITING]
        writing = [each for each in writing if not each.is_finished]
        if writing and isinstance(self._app.screen, Viewing):
            self._app.screen.say("a file is being written; the app ends as soon as it is whole")
        for each in writing:
            with contextlib.suppress(WorkerError):
                await each.wait()
        self._app.exit(return_code=self._code)

    def start(self, job: Job) -> None:
        """Run a job, of which no other is running."""
        self.jobs[job.title] = job
        self._unseen.discard(job.title)
        self._app.run_worker(partial(job.run, self._told), group=job.title, name=job.title)

    def runs(self, kind: str) -> bool:
        """Whether a job of a kind is under way."""
        return kind in self.jobs and self.jobs[kind].runs

    def see(self, kind: str) -> None:
        """Forget that nobody has seen how a job ended."""
        self._unseen.discard(kind)
        self._show()

    def _told(self, job: Job) -> None:
        if not job.runs:
            self._unseen.add(job.title)
        with contextlib.suppress(Exception):  # an app that ends has no screen left to tell
            self._app.screen.post_message(JobTold(job))
            self._show()

    def _show(self) -> None:
        """Say in the top line what is being done."""
        said = []
        for kind, job in self.jobs.items():
            if job.runs:
                said.append(str(job))
            elif kind in self._unseen:
                said.append(f"{kind}: {outcome(job)}")
        self._app.working = "  ".join(said)
        self._app.refresh_top()


def outcome(job: Job) -> str:
    """Say in a word how a job ended."""
    if job.code == 0:
        return "done"
    return "stopped" if job.cancelled else "failed"
