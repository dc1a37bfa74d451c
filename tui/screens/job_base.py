"""The base of screens that run a command: its form, its estimate, its progress, its end."""

import asyncio
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, RadioSet, Static

from xmine.errors import OptionError

from ..commands import given, in_one_line
from ..jobs import Job, JobTold, ask_command
from ..text import shown
from ..widgets.form_line import FormLine, PathLine
from ..widgets.job_view import JobView, going
from ..widgets.prompt import Prompt
from ..widgets.toggles import Choices
from .base import BaseScreen

_PATIENCE = 0.6  # seconds after the last key until an estimate is asked for


class JobScreen(BaseScreen):
    """A form that becomes a command; while that runs, the screen shows how far it is.

    A screen of its own kind says which fields there are (`form`), which words they make (`words`),
    and what the result is good for (`done_with`).
    """

    KIND: ClassVar[str] = ""
    NEEDED: ClassVar[tuple[str, ...]] = ("source", "target", "output")
    _refused: tuple[list[str], str] = [], ""  # words that `--dry-run` refused, and why
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "start", "Start", id="starting.start"),
        Binding("ctrl+o", "pick", "Choose a file", id="starting.pick"),
        Binding("ctrl+y", "copy", "Copy the command", id="starting.copy"),
        Binding("enter", "result", "Open the result", id="starting.result"),
        Binding("n", "again", "New", id="starting.again", tooltip="Back to the form."),
        Binding("escape", "leave", "Stop or leave", id="starting.leave", show=False),
        Binding("tab", "field(1)", "Next field", id="starting.next", show=False),
        Binding("shift+tab", "field(-1)", "Field back", id="starting.before", show=False),
    ]

    def body(self) -> ComposeResult:
        with VerticalScroll(id="form"):
            yield from self.form()
        with Vertical(id="below-form"):
            yield Static(id="command", markup=False)
            yield Static(id="estimate", markup=False)
        with Vertical(id="job"):
            yield JobView(id="job-view")
            yield from self.beside_job()

    def form(self) -> ComposeResult:
        """Give the fields."""
        yield from ()

    def beside_job(self) -> ComposeResult:
        """Give the widgets below the job."""
        yield from ()

    def line(self, name: str) -> FormLine:
        """Give a line of the form by its id."""
        return next(each for each in self.query(FormLine) if each.line_id == name)

    def chosen(self, name: str) -> int:
        """Give the place of what is chosen in a line of choices."""
        return max(0, self.query_one(f"#{name}", Choices).pressed_index)

    @property
    def estimates(self) -> bool:
        """Whether the command has --dry-run."""
        return True

    def missing(self) -> list[str]:
        """Name the fields that must be filled in, and are not."""
        return [name for name in self.NEEDED if not self.line(name).value]

    def flags(self, *names: str) -> list[str]:
        """Give the flags of the lines that are shown and filled in."""
        lines = ((name, self.line(name)) for name in names)
        return [word for x, line in lines if line.display for word in given(f"--{x}", line.value)]

    def doubt(self) -> str:
        """Say why the command will fail; empty where nothing is wrong."""
        return ""

    def words(self) -> list[str]:
        """Make the command.

        Raises:
            OptionError: something is missing or wrong.
        """
        raise NotImplementedError

    def job(self, words: list[str]) -> Job:
        """Make the job of a command."""
        raise NotImplementedError

    def show_job(self, job: Job) -> None:
        """Show more of a job than its progress."""

    def done_with(self, job: Job) -> None:
        """Go on with the result of a job that is done."""

    @property
    def _last(self) -> Job | None:
        return self.host.jobs.jobs.get(self.KIND)

    @property
    def shows_job(self) -> bool:
        """Whether the job is shown, not the form."""
        return bool(self.query_one("#job").display)

    def on_mount(self) -> None:
        self.show_form(self._last is None)
        self.set_interval(1.0, self._tick)

    def on_screen_resume(self) -> None:
        if not self.shows_job and self.host.jobs.runs(self.KIND):  # begun from elsewhere
            self.show_form(False)
        elif self.shows_job and self._last is not None:
            self._job_told(self._last)

    @property
    def in_form(self) -> bool:
        return not self.shows_job

    def show_form(self, form: bool = True) -> None:
        """Show the form, or the job."""
        for name in ("form", "below-form"):
            self.query_one(f"#{name}").display = form
        self.query_one("#job").display = not form
        self.refresh_bindings()
        self.refresh_top()
        if form:
            self.query(Input).first().focus(scroll_visible=False)
            self.changed()
        elif self._last is not None:
            self.set_focus(None)
            self._job_told(self._last)

    def _tick(self) -> None:
        if self.is_current and self.shows_job:
            self.refresh_top()

    def facts(self) -> str:
        return going(self._last) if self._last is not None and self.shows_job else ""

    def on_job_told(self, event: JobTold) -> None:
        if event.job.title == self.KIND:
            self._job_told(event.job)

    def _job_told(self, job: Job) -> None:
        if not self.shows_job:
            return
        self.query_one(JobView).show(job)
        self.show_job(job)
        if not job.runs:
            self.query_one(Prompt).close()  # which may still ask whether to stop the job
            self.host.jobs.see(self.KIND)
            self.refresh_top()
            self.say(self.after(job))
            self.refresh_bindings()

    def after(self, job: Job) -> str:
        """Name the keys after the end of a job."""
        if job.code == 0:
            return "enter: open the result   n: back to the form"
        if job.cancelled:
            return "n: back to the form; started again, it goes on where it was"
        return "n: back to the form"

    @on(Input.Changed)
    @on(RadioSet.Changed)
    def changed(self) -> None:
        """Show the command of the form, and soon its estimate."""
        if self.shows_job:
            return
        words: list[str] = []
        if missing := self.missing():
            self.say(f"still to fill in: {', '.join(missing)}")
        else:
            with self.complaining():
                words = self.words()
                self.say(self.doubt(), bad=bool(self.doubt()))
        self.query_one("#command", Static).update(shown(in_one_line(words)) if words else "")
        self._estimate(words)

    @work(exclusive=True, group="estimate")
    async def _estimate(self, words: list[str]) -> None:
        """Show what `--dry-run` says, or why the command refuses the words."""
        line = self.query_one("#estimate", Static)
        line.update("")
        if not words or not self.estimates:
            return
        await asyncio.sleep(_PATIENCE)
        line.update(Text("estimating …", "dim"))
        asked = await ask_command([*words, "--dry-run"])
        if asked.code == 0:
            line.update(shown(asked.result.get("said", "no estimate")))
        else:
            said = asked.error or " ".join(asked.said[-1:])
            said = "; ".join(filter(None, [said, asked.hint]))
            self._refused = words, said
            line.update(shown(f"! {said}"))

    def action_start(self) -> None:
        with self.complaining():
            if missing := self.missing():
                raise OptionError(
                    f"still to fill in: {', '.join(missing)}", "ctrl+o: choose a file"
                )
            words = self.words()
            if self.host.jobs.runs(self.KIND):
                self.say(f"{self.KIND} is under way already", bad=True)
                return
            self.workers.cancel_group(self, "estimate")
            if words == self._refused[0]:
                self.say(self._refused[1], bad=True)
                self._refused = [], ""
                self._estimate(words)  # the next key starts, unless that is still wrong
                return
            self.host.jobs.start(self.job(words))
            self.show_form(False)
            self.say("escape: stop it   h: look at something else meanwhile")

    def action_pick(self) -> None:
        paths = [*self.query(PathLine)]
        line = next((each for each in paths if each.has_focus_within), paths[0])
        self.ask_path(f"{line.label.removeprefix('--')} (tab):", line.take)

    def action_field(self, step: int) -> None:
        (self.focus_next if step > 0 else self.focus_previous)()

    def action_copy(self) -> None:
        with self.complaining():
            job = self._last
            words = job.words if self.shows_job and job is not None else self.words()
            self.copy(in_one_line(words), "the command is copied")

    def action_result(self) -> None:
        if self._last is not None and self._last.code == 0:
            self.done_with(self._last)

    def action_again(self) -> None:
        if not self.host.jobs.runs(self.KIND):
            self.show_form(True)

    def action_leave(self) -> None:
        """Leave the screen; if a job runs there, ask whether to stop the job."""
        if not self.shows_job or not self.host.jobs.runs(self.KIND):
            self.host.back()
            return
        self.confirm(f"stop {self.KIND}? y/n", self._stop)

    def _stop(self) -> None:
        if (job := self._last) is not None:
            job.cancel()
            self.say("stopping …")
            self._job_told(job)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        del parameters
        if action in ("start", "pick", "field"):
            return not self.shows_job
        over = self.shows_job and not self.host.jobs.runs(self.KIND)
        if action == "again":
            return over
        if action == "result":
            return over and self._last is not None and self._last.code == 0
        return True
