"""Pairs or texts -> an encoder: a form, the estimate, the loss as it falls, and then mining."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import RadioSet
from textual_plotext import PlotextPlot

from xmine.errors import OptionError
from xmine.trainer.methods import METHODS
from xmine.units import short

from ..commands import given, named
from ..jobs import Job
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
_SHOWN = ("accuracy", "likeness")


class TrainingScreen(JobScreen):
    """The form of `xmine train`, and its job."""

    NAME = "Train"
    KIND: ClassVar[str] = "training"

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

    def words(self) -> list[str]:
        data = {kind: self.line(kind).values() for kind in METHODS[self.method].reads}
        if not any(data.values()):
            kinds = ", ".join(data)
            raise OptionError(f"no data yet: {self.method} learns from {kinds}", "ctrl+o: choose")
        if not (output := self.line("output").value):
            raise OptionError("output: no name yet", "write one")
        in_the_way = [*_IN_THE_WAY.values()][self.chosen("in-the-way")]
        if not in_the_way and any(map(os.path.exists, (output, _begun(output)))):
            raise OptionError(f"{output}: was begun before", "if begun: go on, or replace")
        flags = [(kind, file) for kind in data if kind != "pairs" for file in data[kind]]
        flags += [("method", self.method), *((name, self.line(name).value) for name in _FLAGS)]
        words = ["train", *map(named, data.get("pairs", ()))]
        for name, value in flags:
            words += given(f"--{name}", value)
        words += [*self.line("more").values(), "-o", named(output)]
        return [*words, in_the_way] if in_the_way else words

    def job(self, words: list[str]) -> Job:
        output = Path(self.line("output").value)
        self._metrics = Metrics(output)
        return Job(self.KIND, words, output)

    def show_job(self, job: Job) -> None:
        if self._metrics is None:
            return
        if (stage := job.stage) is not None and "loss" in stage.numbers:
            name = "" if stage.stage == "training" else stage.stage
            self._metrics.heard.setdefault(name, {})[stage.done] = stage.numbers["loss"]
        self._metrics.refresh()
        self.query_one(Curves).show(self._metrics)

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


class Metrics:
    """The metrics that a training run has logged so far.

    Attributes:
        heard: stage -> step -> loss, of the progress; short runs log few.
        losses, accuracies: stage -> step -> value; the only stage of a run has no name.
        figures: the last value of each metric.
    """

    def __init__(self, output: Path) -> None:
        self._places = [Path(each, "metrics.jsonl") for each in (_begun(output), output)]
        self.heard: dict[str, dict[float, float]] = {}
        self.losses: dict[str, dict[float, float]] = {}
        self.accuracies: dict[str, dict[float, float]] = {}
        self.figures: dict[str, float] = {}

    def refresh(self) -> None:
        """Read the log, which may have moved to where the encoder stays."""
        logged = b""
        for place in reversed(self._places):
            with suppress(OSError):
                logged = place.read_bytes()
        self.losses = {stage: dict(steps) for stage, steps in self.heard.items()}
        self.accuracies, self.figures = {}, {}
        for line in logged.split(b"\n")[:-1]:  # the last line may be written just now
            with suppress(ValueError, KeyError, TypeError, AttributeError):
                row = json.loads(line)
                step, stage = float(row.pop("step")), str(row.pop("stage", ""))
                self.figures |= {name: x for name, x in row.items() if isinstance(x, int | float)}
                for name, curves in (("loss", self.losses), ("accuracy", self.accuracies)):
                    if name in row:
                        curves.setdefault(stage, {})[step] = float(row[name])


def _begun(output: str | Path) -> str:
    """Name the folder of a training run that was stopped before its end."""
    return f"{os.path.abspath(output)}.training"


class Curves(PlotextPlot):
    """Two curves: the loss by the axis on the left, accuracy by that on the right."""

    def show(self, metrics: Metrics) -> None:
        """Draw the stages one after the other."""
        self.plt.clear_data()
        self.plt.title("loss, and accuracy on held-out pairs (right)")
        self.plt.xlabel("step")
        before = 0.0
        for stage, losses in metrics.losses.items():
            drawn = [("loss", losses, {"marker": "braille"})]
            if found := metrics.accuracies.get(stage):
                drawn.append(("accuracy", found, {"marker": "x", "yside": "right"}))
            for name, curve, style in drawn:
                steps, label = sorted(curve), f"{name} {stage}".strip()
                xs, ys = [before + step for step in steps], [curve[step] for step in steps]
                self.plt.plot(xs, ys, label=label, **style)
            before += max(losses)
        self.refresh()
