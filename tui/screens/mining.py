"""Two text files -> a mining run: a form, the estimate, progress, and then its pairs."""

from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Label

from xmine.errors import OptionError
from xmine.mining.options import MiningOptions

from ..forms.command import mining_words
from ..jobs import MINING, Job
from ..widgets.options_form import OptionsForm
from ..widgets.path_input import PathLine
from ..widgets.toggles import Choices
from .job_base import JobScreen

_MORE = ("model", "seed-pairs", "gold")


class MiningScreen(JobScreen):
    """The form of `xmine mine`, and its job."""

    NAME = "Mine"
    KIND: ClassVar[str] = MINING

    def form(self) -> ComposeResult:
        yield PathLine("source", id="source", hint="text file, a sentence per line; ctrl+o: choose")
        yield PathLine("target", id="target", hint="the same in the other language")
        yield PathLine("output", "run/", id="output", hint="folder of the run, or a file of pairs")
        with Horizontal(classes="line"):
            yield Label(Text("if it exists"), classes="flag")
            yield Choices(("go on with it", "replace it"), 0, id="in-the-way")
        yield PathLine("--model", id="model", hint="the embedded encoder")
        yield PathLine("--seed-pairs", id="seed-pairs", hint="none: known pairs, LINE<TAB>LINE")
        yield PathLine("--gold", id="gold", hint="none: all true pairs, LINE<TAB>LINE")
        yield OptionsForm(MiningOptions)

    def words(self) -> list[str]:
        files = {name: self.line(name).value for name in ("source", "target", "output")}
        for name, file in files.items():
            if not file:
                raise OptionError(f"{name}: no name yet", "write one, or ctrl+o to choose a file")
        return mining_words(
            files["source"],
            files["target"],
            self.query_one(OptionsForm).options(),
            files["output"],
            more={name: self.line(name).value for name in _MORE},
            force=self.query_one("#in-the-way", Choices).pressed_index == 1,
        )

    def take_model(self, model: str) -> None:
        """Put the name of an encoder in its line."""
        self.line("model").take(model)

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
