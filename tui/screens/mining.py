"""Two texts -> a mining run or an alignment: a form, the estimate, progress, and its pairs."""

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import RadioSet

from xmine.text.inputs import is_file

from ..commands import named
from ..jobs import MINING, Job
from ..widgets.form_line import FormLine, PathLine, choice_line
from .job_base import JobScreen

_FLAGS = ("model", "threshold", "drop", "seed-pairs")


class MiningScreen(JobScreen):
    """The form of `xmine mine` and `xmine align`, and its job."""

    NAME = "Mine"
    KIND: ClassVar[str] = MINING

    def form(self) -> ComposeResult:
        yield PathLine("source", id="source", hint="text file, a sentence per line; ctrl+o: choose")
        yield PathLine("target", id="target", hint="the same in the other language")
        yield PathLine("output", "run/", id="output", hint="folder of the run, or a file of pairs")
        yield choice_line("texts", ("in any order", "of one document: align"), 0, "order")
        yield choice_line("if it exists", ("go on with it", "replace it"), 0, "in-the-way")
        yield PathLine("--model", id="model", hint="the embedded encoder")
        yield FormLine("--threshold", id="threshold", hint="auto, or the lowest score to keep")
        yield FormLine("--drop", id="drop", hint="none: flags of pairs to drop, as in copy,number")
        yield PathLine("--seed-pairs", id="seed-pairs", hint="none: a judged run, or known pairs")
        yield FormLine("more", id="more", hint="any flags of xmine mine --help")

    def __init__(self) -> None:
        super().__init__()
        self._again: tuple[Path, list[str]] | None = None  # the run that is mined again, its texts

    def doubt(self) -> str:
        names = [self.line(name).value for name in ("source", "target", "seed-pairs")]
        gone = [each for each in names if each and not is_file(each)]
        return f"no such file: {', '.join(gone)}" if gone else ""

    def words(self) -> list[str]:
        source, target, output = (named(self.line(name).value) for name in self.NEEDED)
        force = ["--force"] if self.chosen("in-the-way") == 1 else []
        more = [*self.flags(*_FLAGS), *self.line("more").values()]
        return ["mine" if self.estimates else "align", source, target, *more, "-o", output, *force]

    @property
    def estimates(self) -> bool:
        return self.chosen("order") == 0

    @on(RadioSet.Changed, "#order")
    def _show_lines(self) -> None:
        for name in _FLAGS[1:]:  # of mining alone
            self.line(name).display = self.estimates

    def take_run(self, run: Path | None, fields: dict[str, str]) -> None:
        """Fill in the form to mine a run again; without one, only where the form is empty."""
        if run is None and any(self.line(name).value for name in self.NEEDED[:2]):
            return
        for line in self.query(FormLine):
            line.input.value = fields.get(line.line_id, "")
            line.input.select_all()  # typing replaces it
        if run is not None:
            self._again = run, [fields[name] for name in self.NEEDED[:2]]
            if not self.host.jobs.runs(self.KIND):
                self.show_form()

    @property
    def _before(self) -> Path | None:
        """The run that is mined again, as long as the form has its texts."""
        texts = [self.line(name).value for name in self.NEEDED[:2]]
        is_again = self.estimates and self._again and self._again[1] == texts
        return self._again[0] if self._again and is_again else None

    def take_model(self, model: str) -> None:
        """Put the name of an encoder in its line."""
        self.line("model").input.value = model

    def job(self, words: list[str]) -> Job:
        return Job(self.KIND, words, Path(self.line("output").value), self._before)

    def after(self, job: Job) -> str:
        if job.code == 0 and (found := job.result.get("pairs", job.result.get("beads"))):
            precision = job.result.get("precision")
            expected = f", expected precision {precision:.2f}" if precision is not None else ""
            what = f"compare with {job.before}" if job.before else "look at them"
            kind = "pairs" if "pairs" in job.result else "beads"
            return f"{found:,} {kind}{expected}; enter: {what}   n: form"
        return super().after(job)

    def done_with(self, job: Job) -> None:
        if job.before:
            self.host.compare(job.before, job.output)
        else:
            self.host.open(job.output)
