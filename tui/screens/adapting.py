"""A judged run -> its encoder trained on likely and accepted pairs, and the texts mined again."""

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult

from xmine.browsing.opened import Opened
from xmine.trainer.options.adapt import FEWEST, AdaptOptions
from xmine.units import count

from ..commands import free_beside, given, named
from ..jobs import ADAPTING, Job
from ..widgets.form_line import FormLine, PathLine, choice_line
from .job_base import JobScreen


class AdaptScreen(JobScreen):
    """The form of `xmine adapt`, and its job."""

    NAME = "Teach the encoder"
    KIND: ClassVar[str] = ADAPTING
    NEEDED = ("run", "output")
    estimates = False

    def __init__(self) -> None:
        super().__init__()
        self._likely = Path(), 0  # a run, and how many pairs teach its encoder

    def form(self) -> ComposeResult:
        yield PathLine("run", id="run", hint="a run, best a judged one")
        yield PathLine("output", id="output", hint="folder for an encoder and a run of each round")
        yield choice_line("if begun", ("go on", "begin anew"), 0, "in-the-way")
        yield FormLine("--rounds", id="rounds", hint="1")
        yield FormLine("--confidence", id="confidence", hint="0.9: the lowest prob to learn from")
        yield PathLine(
            "--pairs", id="pairs", hint="none: files of other translations", several=True
        )
        yield FormLine("more", id="more", hint="any flags of xmine adapt --help")

    def take_run(self, opened: Opened) -> None:
        """Fill in a run, unless one is adapted right now."""
        run, judgements = (
            (opened.compared[1] if opened.compared else opened).path,
            self.host.judgements,
        )
        if self.host.jobs.runs(self.KIND):
            return
        if opened.probs is not None and judgements is not None and not opened.compared:
            sure = (opened.probs >= AdaptOptions().confidence) & opened.allowed
            self._likely = run, int((sure | (judgements.codes() == 1)).sum())
        out = run.with_name(f"{run.name}-taught")
        self.line("run").input.value = str(run)
        self.line("output").input.value = str(free_beside(out) if out.exists() else out)
        self.show_form()

    def doubt(self) -> str:
        run, likely = self._likely
        if likely >= FEWEST or str(run) != self.line("run").value or self.line("pairs").value:
            return ""
        return f"{count(likely, 'pair')} likely or accepted: {FEWEST} are needed, or --pairs"

    def words(self) -> list[str]:
        run, output = (named(self.line(name).value) for name in self.NEEDED)
        flags = self.flags("rounds", "confidence")
        flags += [word for each in self.line("pairs").values() for word in given("--pairs", each)]
        force = ["--force"] if self.chosen("in-the-way") == 1 else []
        return ["adapt", run, *flags, *self.line("more").values(), "-o", output, *force]

    def job(self, words: list[str]) -> Job:
        output, run = (Path(self.line(name).value) for name in ("output", "run"))
        return Job(self.KIND, words, output, run)

    def after(self, job: Job) -> str:
        if job.code != 0:
            return super().after(job)
        if not job.result.get("best"):
            return "no round retrieves better than the encoder of the run   n: back to the form"
        return (
            f"round {job.result['best']} retrieves best; enter: compare with {job.before}   n: form"
        )

    def done_with(self, job: Job) -> None:
        if job.before and (best := job.result.get("best")):
            self.host.compare(job.before, Path(job.result["rounds"][best]["run"]))
