"""The jobs of the app: they go on whatever screen is shown."""

import contextlib
from typing import Any

from textual.app import App

from .jobs import Job, JobTold, outcome


class JobQueue:
    """At most one job of each kind.

    Attributes:
        jobs: kind, `mining` or `training` -> the last job of it, running or over.
    """

    def __init__(self, app: App[Any]) -> None:
        """Begin with nothing to do."""
        self._app = app
        self.jobs: dict[str, Job] = {}
        self._unseen: set[str] = set()

    def __str__(self) -> str:
        """Say for the top line what runs, and what ended without being seen; empty for nothing."""
        said = []
        for kind, job in self.jobs.items():
            if job.runs:
                said.append(str(job))
            elif kind in self._unseen:
                said.append(f"{kind}: {outcome(job)}")
        return "  ".join(said)

    def start(self, job: Job) -> None:
        """Run a job, of which no other is running."""
        self.jobs[job.title] = job
        self._unseen.discard(job.title)
        self._app.run_worker(job.run(self._told), group=job.title, name=job.title)

    def runs(self, kind: str) -> bool:
        """Whether a job of a kind is under way."""
        return kind in self.jobs and self.jobs[kind].runs

    def see(self, kind: str) -> None:
        """Forget that nobody has seen how a job ended."""
        self._unseen.discard(kind)

    def _told(self, job: Job) -> None:
        if not job.runs:
            self._unseen.add(job.title)
        with contextlib.suppress(Exception):  # an app that ends has no screen left to tell
            self._app.screen.post_message(JobTold(job))
