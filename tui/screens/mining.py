"""Two text files -> a mining run: a form, the estimate, progress, and then its pairs."""

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult

from xmine.errors import OptionError

from ..commands import given, named
from ..jobs import MINING, Job
from ..widgets.form_line import FormLine, PathLine, choice_line
from .job_base import JobScreen

_FLAGS = ("model", "threshold", "drop", "seed-pairs")


class MiningScreen(JobScreen):
    """The form of `xmine mine`, and its job."""

    NAME = "Mine"
    KIND: ClassVar[str] = MINING

    def form(self) -> ComposeResult:
        yield PathLine("source", id="source", hint="text file, a sentence per line; ctrl+o: choose")
        yield PathLine("target", id="target", hint="the same in the other language")
        yield PathLine("output", "run/", id="output", hint="folder of the run, or a file of pairs")
        yield choice_line("if it exists", ("go on with it", "replace it"), 0, "in-the-way")
        yield PathLine("--model", id="model", hint="the embedded encoder")
        yield FormLine("--threshold", id="threshold", hint="auto, or the lowest score to keep")
        yield FormLine("--drop", id="drop", hint="none: flags of pairs to drop, as in copy,number")
        yield PathLine("--seed-pairs", id="seed-pairs", hint="none: a judged run, or known pairs")
        yield FormLine("more", id="more", hint="any flags of xmine mine --help")

    def words(self) -> list[str]:
        files = {name: self.line(name).value for name in ("source", "target", "output")}
        for name, file in files.items():
            if not file:
                raise OptionError(f"{name}: no name yet", "write one, or ctrl+o to choose a file")
        source, target, output = map(named, files.values())
        flags = [word for name in _FLAGS for word in given(f"--{name}", self.line(name).value)]
        force = ["--force"] if self.chosen("in-the-way") == 1 else []
        return ["mine", source, target, *flags, *self.line("more").values(), "-o", output, *force]

    def take_model(self, model: str) -> None:
        """Put the name of an encoder in its line."""
        self.line("model").input.value = model

    def job(self, words: list[str]) -> Job:
        return Job(self.KIND, words, Path(self.line("output").value))

    def after(self, job: Job) -> str:
        if job.code == 0 and "pairs" in job.result:
            precision = job.result.get("precision")
            expected = f", expected precision {precision:.2f}" if precision is not None else ""
            return f"{job.result['pairs']:,} pairs{expected}; enter: look at them   n: form"
        return super().after(job)

    def done_with(self, job: Job) -> None:
        self.host.open(job.output)
