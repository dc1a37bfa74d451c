"""A command: its form, made from what the command declares, its progress, and its end."""

from collections.abc import Mapping
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.events import DescendantFocus
from textual.widget import Widget
from textual.widgets import Input, Label, Static

from xmine.display import short
from xmine.errors import OptionError

from ..commands import Field, in_one_line, words_of
from ..jobs import Job, JobTold
from ..key_table import bound
from ..text import shown
from ..widgets.form_line import FormLine
from ..widgets.job_view import JobView, going
from ..widgets.prompt import Prompt
from .base import BaseScreen

# The command -> what its fields hold at first, and what enter does with its result.
_FILLED = {"mine": {"output": "run/"}, "align": {"output": "run/"}, "train": {"output": "encoder/"}}
_NEXT = {"mine": "look at them", "align": "look at them", "train": "mine with it"}
_OTHER = {"mine": "align", "align": "mine"}  # commands that read the same texts
_FIGURES = ("pairs", "beads", "precision", "accuracy", "best", "trained_on")  # of a result


class CommandScreen(BaseScreen):
    """The form of a command; while that runs, the screen shows how far it is."""

    AUTO_FOCUS = ""  # the form takes the focus as soon as it is shown
    BINDINGS = bound(
        "start choose options other copy-command next-field field-back",
        enter="result: Open the result",
        edit="again: Back to the form",
        back="leave: Stop or leave",
    )

    def __init__(self, command: str) -> None:
        super().__init__()
        self._view = None  # the pairs that are open go as soon as others are there
        self.command, self.NAME = command, command.capitalize()
        self._fields = self.host.fields(command, "")
        self._again: tuple[Path, list[str]] | None = None  # the run that is mined again, its texts

    def footer(self) -> tuple[str, set[str]]:
        return "Form", set()

    def body(self) -> ComposeResult:
        with VerticalScroll(id="form", can_focus=False):
            yield from self._lines(_FILLED.get(self.command, {}))
        with Vertical(id="below-form"):
            yield Static(id="command", markup=False)
            yield Static(id="about", markup=False)
        with Vertical(id="job"):
            yield JobView(id="job-view")

    def _lines(self, values: Mapping[str, str]) -> list[Widget]:
        """Make the lines of the form, under the titles of their groups."""
        lines, group = list[Widget](), ""
        for field in self._fields:
            if field.group != group:
                group = field.group
                lines.append(Label(group, classes="group" if field.is_first else "group -more"))
            lines.append(FormLine(field, values.get(field.name, "")))
        return lines

    def values(self) -> dict[str, str]:
        return {line.field.name: line.input.value for line in self.query(FormLine)}

    def take(self, values: Mapping[str, str], before: Path | None = None) -> None:
        """Fill in the form, perhaps to mine the texts of a run again."""
        for line in self.query(FormLine):
            line.input.value = values.get(line.field.name, "")
            line.input.select_all()  # typing replaces it
            line.set_class(not line.field.is_first and not line.input.value, "-more")
        self._again = (before, self._texts()) if before else None
        if not self.host.jobs.runs(self.command):
            self.show_form()

    def _texts(self) -> list[str]:
        return [line.value for line in self.query(FormLine) if not line.field.flag]

    def words(self) -> list[str]:
        """Make the command; an OptionError tells what is missing or wrong."""
        lines = self.query(FormLine)
        return [self.command, *(x for line in lines for x in words_of(line.field, line.value))]

    def missing(self) -> str:
        """Name the fields that must be filled in, and are not."""
        lines = (line for line in self.query(FormLine) if line.field.is_needed and not line.value)
        names = ", ".join(line.label for line in lines)
        return names and f"still to fill in: {names}"

    @property
    def _last(self) -> Job | None:
        return self.host.jobs.jobs.get(self.command)

    def on_mount(self) -> None:
        self.show_form(self._last is None)
        self.set_interval(1.0, self.refresh_top)  # which tells the time of a job

    def on_screen_resume(self) -> None:
        if self.in_form and self.host.jobs.runs(self.command):  # begun from elsewhere
            self.show_form(False)
        elif self._last is not None:
            self._job_told(self._last)

    @property
    def in_form(self) -> bool:
        return not self.query_one("#job").display  # of a job

    def show_form(self, form: bool = True) -> None:
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

    def facts(self) -> str:
        return going(self._last) if self._last is not None and not self.in_form else ""

    def on_job_told(self, event: JobTold) -> None:
        if event.job.title == self.command:
            self._job_told(event.job)

    def _job_told(self, job: Job) -> None:
        if self.in_form:
            return
        self.query_one(JobView).show(job)
        if not job.runs:
            self.query_one(Prompt).close()  # which may still ask whether to stop the job
            self.host.jobs.see(self.command)
            self.refresh_top()
            self.say(self.after(job))
            self.refresh_bindings()

    def after(self, job: Job) -> str:
        if job.cancelled:
            resumes = any(field.name == "resume" for field in self._fields)
            how = "with --resume always it goes on" if resumes else "started again, it goes on"
            return f"f2: back to the form; {how} where it was"
        if job.code != 0:
            return "f2: back to the form"
        found = [(name, job.result.get(name)) for name in _FIGURES]
        said = [f"{name} {short(x)}" for name, x in found if isinstance(x, int | float)]
        said += [str(job.result["said"])] if "said" in job.result else []
        if self._has_result(job):
            what = f"compare with {job.before}" if job.before else _NEXT[self.command]
            said.append(f"enter: {what}")
        return "   ".join([*said, "f2: form"])

    def _has_result(self, job: Job | None) -> bool:
        if job is None or job.code != 0 or "--dry-run" in job.words:
            return False
        return self.command != "adapt" or bool(job.result.get("best"))

    @on(Input.Changed)
    def changed(self) -> None:
        """Show the command of the form, and the fields of its method."""
        if not self.in_form:
            return
        self.query_one("#command", Static).update("")
        self.say(self.missing())
        if not self.missing():
            with self.complaining():
                self.query_one("#command", Static).update(shown(in_one_line(self.words())))

    @on(Input.Submitted)
    def submitted(self) -> None:
        self.action_start()

    @on(Input.Changed, "#field-method")
    async def _take_method(self, event: Input.Changed) -> None:
        fields = self.host.fields(self.command, event.value)
        if fields != self._fields and event.input.has_focus:
            values, self._fields = self.values(), fields
            form = self.query_one("#form")
            await form.remove_children()
            await form.mount(*self._lines(values))
            self.query_one("#field-method").focus()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        for line in event.widget.ancestors:
            if isinstance(line, FormLine):
                self.query_one("#about", Static).update(shown(_about(line.field)))

    def action_all(self) -> None:
        form = self.query_one("#form").toggle_class("-all")
        every = "all options are here" if form.has_class("-all") else "the options used most"
        self.say(f"{every}: tab leads through them")

    def action_other(self) -> None:
        self.host.fill(_OTHER[self.command], self.values())

    def action_start(self) -> None:
        faults = [line for line in self.query(FormLine) if line.fault()]
        if faults:
            faults[0].input.focus()
            self.say(f"{', '.join(line.label for line in faults)}: see there", bad=True)
            return
        with self.complaining():
            if self.host.jobs.runs(self.command):
                raise OptionError(f"{self.command} is under way already")
            said = {line.field.name: Path(line.value) for line in self.query(FormLine)}
            before = said["run"] if self.command == "adapt" else None
            if self._again and self._again[1] == self._texts():
                before = self._again[0]
            self.host.jobs.start(Job(self.command, self.words(), said["output"], before))
            self.show_form(False)
            self.say("escape: stop it   o: look at something else meanwhile")

    def action_pick(self) -> None:
        lines = [line for line in self.query(FormLine) if line.field.is_file]
        line = next((each for each in lines if each.has_focus_within), lines[0])
        self.ask_path(f"{line.label.removeprefix('--')} (tab):", line.take)

    def action_field(self, step: int) -> None:
        (self.focus_next if step > 0 else self.focus_previous)()

    def action_copy(self) -> None:
        with self.complaining():
            job = self._last
            words = self.words() if self.in_form or job is None else job.words
            self.copy(in_one_line(words), "the command is copied")

    def action_result(self) -> None:
        if (job := self._last) is None:
            return
        if self.command == "train":
            self.host.fill("mine", {"model": str(job.output)})
        elif self.command == "adapt" and job.before:
            self.host.compare(job.before, Path(job.result["rounds"][job.result["best"]]["run"]))
        elif job.before:
            self.host.compare(job.before, job.output)
        else:
            self.host.open(job.output)

    def action_again(self) -> None:
        self.show_form()

    def action_leave(self) -> None:
        """Leave the screen; if a job runs there, ask whether to stop the job."""
        if not self.in_form and self.host.jobs.runs(self.command):
            self.confirm(f"stop {self.command}? y/n", self._stop)
        else:
            self.host.back()

    def _stop(self) -> None:
        if (job := self._last) is not None:
            job.cancel()
            self.say("stopping …")
            self._job_told(job)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "other" and self.command not in _OTHER:
            return False
        if action in ("start", "pick", "field", "all", "other"):
            return self.in_form
        over = not self.in_form and not self.host.jobs.runs(self.command)
        if action == "again":
            return over
        if action == "result":
            return over and self._has_result(self._last)
        return super().check_action(action, parameters)


def _about(field: Field) -> str:
    """Say what a field is good for, and which values it takes."""
    choices = [] if field.is_switch else field.choices
    return " ".join(filter(None, [field.help, f"({', '.join(choices)})" if choices else ""]))
