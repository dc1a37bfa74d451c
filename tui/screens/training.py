"""Pairs or texts -> an encoder: a form, the estimate, the loss as it falls, and then mining."""

import os
import time
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import RadioSet

from xmine.errors import OptionError
from xmine.trainer.methods import METHODS
from xmine.units import short

from ..commands import given, named
from ..jobs import TRAINING, Job
from ..widgets.curves import Curves, Metrics
from ..widgets.form_line import FormLine, PathLine, choice_line
from .job_base import JobScreen

_USUAL = "msimcse"
# Kinds of a corpus -> the hint of the line.
_KINDS = {
    "pairs": "file of pairs, or a run; ctrl+o: choose",
    "triplets": "none: sentence, entailed, contradicting",
    "nli": "none: labelled pairs",
    "texts": "none: text files, with spaces between",
}
_FLAGS = ("encoder", "epochs", "batch-size")
# Treatment of an output that exists -> its flag.
_IN_THE_WAY = {"refuse": "", "go on": "--resume", "replace": "--force"}
_SHOWN = ("accuracy", "halves", "likeness")


class TrainingScreen(JobScreen):
    """The form of `xmine train`, and its job."""

    NAME = "Train"
    KIND: ClassVar[str] = TRAINING

    def __init__(self) -> None:
        super().__init__()
        self._metrics: Metrics | None = None

    def form(self) -> ComposeResult:
        methods = tuple(METHODS)
        yield choice_line("--method", methods, methods.index(_USUAL), "method")
        for kind, hint in _KINDS.items():
            label = kind if kind == "pairs" else f"--{kind}"
            yield PathLine(label, id=kind, hint=hint, several=True)
        yield PathLine("output", "encoder/", id="output", hint="folder of the new encoder")
        yield choice_line("if begun", tuple(_IN_THE_WAY), 0, "in-the-way")
        yield PathLine("--encoder", id="encoder", hint="auto, or the encoder to start from")
        yield FormLine("--epochs", id="epochs", hint="by the size of the data")
        yield FormLine("--batch-size", id="batch-size", hint="that of the method")
        yield FormLine("more", id="more", hint="any flags of xmine train --method METHOD --help")

    def beside_job(self) -> ComposeResult:
        yield Curves(id="curves")

    @property
    def method(self) -> str:
        """The method that is chosen."""
        return list(METHODS)[self.chosen("method")]

    def on_mount(self) -> None:
        self._show_kinds()

    @on(RadioSet.Changed, "#method")
    def _show_kinds(self) -> None:
        for kind in _KINDS:
            self.line(kind).display = kind in METHODS[self.method].reads

    def missing(self) -> list[str]:
        kinds = METHODS[self.method].reads
        data = [] if any(self.line(each).value for each in kinds) else [" or ".join(kinds)]
        return data + (["output"] if not self.line("output").value else [])

    def words(self) -> list[str]:
        data = {kind: self.line(kind).values() for kind in METHODS[self.method].reads}
        output = self.line("output").value
        in_the_way = [*_IN_THE_WAY.values()][self.chosen("in-the-way")]
        if not in_the_way and any(map(os.path.exists, (output, _begun(output)))):
            raise OptionError(f"{output}: was begun before", "if begun: go on, or replace")
        flags = [(kind, file) for kind in data if kind != "pairs" for file in data[kind]]
        words = ["train", *map(named, data.get("pairs", ()))]
        for name, value in [*flags, ("method", self.method)]:
            words += given(f"--{name}", value)
        words += [*self.flags(*_FLAGS), *self.line("more").values(), "-o", named(output)]
        return [*words, in_the_way] if in_the_way else words

    def job(self, words: list[str]) -> Job:
        output = Path(self.line("output").value)
        self._metrics = Metrics(output, Path(_begun(output)), time.time())
        return Job(self.KIND, words, output)

    def show_job(self, job: Job) -> None:
        if self._metrics is None:
            return
        if (stage := job.stage) is not None and "loss" in stage.numbers:
            name = "" if stage.stage == "training" else stage.stage
            self._metrics.heard.setdefault(name, {})[stage.done] = stage.numbers["loss"]
        self._metrics.refresh()
        curves = self.query_one(Curves)
        curves.show(self._metrics)
        self.set_class(curves.display, "-drawn")

    def facts(self) -> str:
        figures = self._metrics.figures if self._metrics and self.shows_job else {}
        said = [f"{name} {short(figures[name])}" for name in _SHOWN if name in figures]
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


def _begun(output: str | Path) -> str:
    """Name the folder of a training run that was stopped before its end."""
    return f"{os.path.abspath(output)}.training"
