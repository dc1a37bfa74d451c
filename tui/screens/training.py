"""Pairs or texts -> an encoder: a form, the estimate, the loss as it falls, and then mining."""

from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Label, RadioSet
from textual_plotext import PlotextPlot

from xmine.errors import OptionError
from xmine.trainer.methods import METHODS
from xmine.units import short

from ..forms.command import IN_THE_WAY, training_words
from ..jobs import Job
from ..state.training_metrics import Metrics, is_begun
from ..widgets.options_form import OptionsForm
from ..widgets.path_input import PathLine
from ..widgets.toggles import Choices
from .job_base import JobScreen

_USUAL = "msimcse"
_FIRST = ("encoder", "epochs", "batch_size")  # the options that most users set
# Kinds of a corpus -> the hint of the line.
_KINDS = {
    "pairs": "file of pairs, or a run; ctrl+o: choose",
    "triplets": "none: sentence, entailed, contradicting",
    "nli": "none: labelled pairs",
    "texts": "none: text files, with spaces between",
}
_SHOWN = ("accuracy", "likeness", "spearman", "lr", "pairs_per_second")


class TrainingScreen(JobScreen):
    """The form of `xmine train`, and its job."""

    NAME = "Train"
    KIND: ClassVar[str] = "training"

    def __init__(self) -> None:
        super().__init__()
        self._metrics: Metrics | None = None

    def form(self) -> ComposeResult:
        with Horizontal(classes="line"):
            yield Label(Text("--method"), classes="flag")
            yield Choices(tuple(METHODS), list(METHODS).index(_USUAL), id="method")
        for kind, hint in _KINDS.items():
            label = kind if kind == "pairs" else f"--{kind}"
            yield PathLine(label, id=kind, hint=hint, several=True)
        yield PathLine("output", "encoder/", id="output", hint="folder of the new encoder")
        with Horizontal(classes="line"):
            yield Label(Text("if begun"), classes="flag")
            yield Choices(tuple(IN_THE_WAY), 0, id="in-the-way")
        with Vertical(id="of-method"):
            yield OptionsForm(METHODS[_USUAL].options, first=_FIRST)

    def beside_job(self) -> ComposeResult:
        yield Curves(id="curves")

    def on_mount(self) -> None:
        self._show_kinds()

    @property
    def method(self) -> str:
        """The method that is chosen."""
        return list(METHODS)[max(0, self.query_one("#method", Choices).pressed_index)]

    @on(RadioSet.Changed, "#method")
    async def _change_method(self) -> None:
        """Show the options of another method; a field that both have keeps its text."""
        kind = METHODS[self.method].options
        form = self.query_one(OptionsForm)
        if form.kind is not kind:
            names = kind.__dataclass_fields__
            typed = {name: text for name, text in form.texts.items() if name in names}
            await form.remove()
            await self.query_one("#of-method").mount(OptionsForm(kind, typed, _FIRST))
        self._show_kinds()

    def _show_kinds(self) -> None:
        for line in self.query(PathLine):
            if line.line_id in _KINDS:
                line.display = line.line_id in METHODS[self.method].reads

    def words(self) -> list[str]:
        given = {kind: self.line(kind).values() for kind in METHODS[self.method].reads}
        if not any(given.values()):
            kinds = ", ".join(given)
            raise OptionError(f"no data yet: {self.method} learns from {kinds}", "ctrl+o: choose")
        if not (output := self.line("output").value):
            raise OptionError("output: no name yet", "write one")
        in_the_way = list(IN_THE_WAY)[max(0, self.query_one("#in-the-way", Choices).pressed_index)]
        options = self.query_one(OptionsForm).options()
        if not IN_THE_WAY[in_the_way] and is_begun(Path(output)):
            raise OptionError(f"{output}: was begun before", "if begun: go on, or replace")
        return training_words(self.method, given, options, output, in_the_way=in_the_way)

    def job(self, words: list[str]) -> Job:
        output = Path(self.line("output").value)
        self._metrics = Metrics(output)
        return Job(self.KIND, words, output)

    def show_job(self, job: Job) -> None:
        if self._metrics is None:
            return
        self._metrics.refresh()
        if job.stage is not None:
            self._metrics.hear(job.stage.stage, job.stage.done, job.stage.numbers)
        self.query_one(Curves).show(self._metrics)

    def facts(self) -> str:
        figures = self._metrics.figures if self._metrics and self.shows_job else {}
        said = [f"{name} {short(figures[name])}" for name in _SHOWN[:2] if name in figures]
        return "  ".join([*said, super().facts()])

    def after(self, job: Job) -> str:
        if job.code == 0:
            found = job.result.get("accuracy")
            said = "" if found is None else f"; {found:.1%} of the held-out pairs retrieved"
            return f"{job.output} is made{said}   enter: mine with it   n: form"
        if job.cancelled:
            return "n: back to the form; 'if begun: go on' takes it up where it was"
        return super().after(job)

    def done_with(self, job: Job) -> None:
        self.host.mine_with(str(job.output))


class Curves(PlotextPlot):
    """Two curves: the loss by the axis on the left, accuracy by that on the right."""

    def show(self, metrics: Metrics) -> None:
        """Draw the stages one after the other."""
        self.plt.clear_data()
        self.plt.title("loss, and accuracy on held-out pairs (right)")
        self.plt.xlabel("step")
        before = 0.0
        for stage, losses in metrics.losses.items():
            steps = [before + step for step, _ in losses]
            label = f"loss {stage}".strip()
            self.plt.plot(steps, [x for _, x in losses], label=label, marker="braille")
            if found := metrics.accuracies.get(stage):
                self.plt.plot(
                    [before + step for step, _ in found],
                    [x for _, x in found],
                    label=f"accuracy {stage}".strip(),
                    marker="x",
                    yside="right",
                )
            before = steps[-1]
        self.refresh()
