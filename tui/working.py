"""The jobs of the app: they go on whatever screen is shown, and end with the app."""

import contextlib
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message

from xmine.tui.jobs import Job

if TYPE_CHECKING:
    from xmine.tui.app import XmineApp


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
