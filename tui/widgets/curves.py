"""The metrics of a training run, read while they are written, and drawn as two curves."""

import json
import math
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Static
from textual_plotext import PlotextPlot

from xmine.display import short

METRICS_FILE = "metrics.jsonl"
# What the figures of the top line mean, in the order in which they are told.
MEANINGS = {
    "spearman": "correlation of cosines with the scores of people",
    "halves": "held-out pairs retrieved where half of the source's tokens are left out",
    "accuracy": "held-out pairs retrieved, both ways",
    "likeness": "mean cosine of sentences that are no translations: near 1, the encoder collapses",
}
_WEIGHT = 0.9  # of what was before, in the smoothed loss
_LOG_FROM = 10.0  # times that the largest loss is the smallest, from where the axis is logarithmic
_LEAST_SPAN = 0.05  # of the axis of a measure: less is noise
_WIDEST_TICK = 12  # cells between two ticks below a curve

Curve = dict[float, float]  # step -> value


class Metrics:
    """The metrics that a training run has logged so far."""

    def __init__(self, output: Path, begun: Path | None = None, since: float = 0.0) -> None:
        """Read the log in `begun`, or in `output` where it is no older than the time `since`."""
        self._output, self._begun, self._since = output, begun, since
        self.heard: dict[str, Curve] = {}  # stage -> losses that progress told; short runs log few
        self.losses: dict[str, Curve] = {}  # stage, without a name if it is the only one -> losses
        self.measures: dict[str, dict[str, Curve]] = {}  # one of MEANINGS -> stage -> values
        self.figures: dict[str, float] = {}  # the last value of each metric

    @property
    def decides(self) -> str:
        """Name the measure to draw, the first of MEANINGS that was logged; empty without any."""
        return next((name for name in MEANINGS if name in self.measures), "")

    def refresh(self) -> None:
        """Read the log, which may have moved to where the encoder stays."""
        logged = b""
        log, begun = (Path(each or "", METRICS_FILE) for each in (self._output, self._begun))
        with suppress(OSError):
            if self._begun is not None and begun.exists():
                logged = begun.read_bytes()
            elif log.stat().st_mtime >= self._since:  # else it is that of the encoder in the way
                logged = log.read_bytes()
        self.losses = {stage: dict(steps) for stage, steps in self.heard.items()}
        self.measures, self.figures = {}, {}
        for line in logged.split(b"\n")[:-1]:  # the last line may be written just now
            with suppress(ValueError, KeyError, TypeError, AttributeError):
                row = json.loads(line)
                step, stage = float(row.pop("step")), str(row.pop("stage", ""))
                self.figures |= {name: x for name, x in row.items() if isinstance(x, int | float)}
                if "loss" in row:
                    self.losses.setdefault(stage, {})[step] = float(row["loss"])
                for name in MEANINGS.keys() & row:
                    stages = self.measures.setdefault(name, {})
                    stages.setdefault(stage, {})[step] = float(row[name])

    def in_a_row(self, curves: dict[str, Curve]) -> Curve:
        """Put the curves of all stages one behind the other."""
        found, before = dict[float, float](), 0.0
        for stage in self.losses | curves:
            found |= {before + step: y for step, y in sorted(curves.get(stage, {}).items())}
            before += max([0.0, *self.losses.get(stage, ()), *curves.get(stage, ())])
        return found


def smoothed(values: Sequence[float]) -> list[float]:
    """Average each value with those before it, whose weights fall by a tenth a step."""
    means, total, weight = [], 0.0, 0.0
    for value in values:
        total, weight = total * _WEIGHT + value, weight * _WEIGHT + 1
        means.append(total / weight)
    return means


class Curves(Vertical):
    """The loss beside what was measured on held-out pairs, and the best of these."""

    def compose(self) -> ComposeResult:
        with Horizontal():
            for name in ("loss", "measure"):
                yield PlotextPlot(id=f"curve-{name}")
        yield Static(id="curve-figures", markup=False)

    def show(self, metrics: Metrics) -> None:
        """Draw a run; without a figure, draw nothing."""
        decides = metrics.decides
        losses = metrics.in_a_row(metrics.losses)
        measured = metrics.in_a_row(metrics.measures.get(decides, {}))
        self.display = bool(losses)
        titles = ("loss, smoothed", decides or "not measured yet")
        for side, title, curve in zip(("loss", "measure"), titles, (losses, measured), strict=True):
            _draw(self.query_one(f"#curve-{side}", PlotextPlot), title, curve)
        said = [f"lr {metrics.figures['lr']:.1e}"] if "lr" in metrics.figures else []
        others = [name for name in MEANINGS if name != decides and name in metrics.figures]
        said += [f"{name} {short(metrics.figures[name])}" for name in others]
        if measured:
            at = max(measured, key=lambda step: (measured[step], step))
            said.append(f"best {decides} {measured[at]:.3f} at step {at:,.0f} (◆)")
        told = [f"{name}: {MEANINGS[name]}" for name in filter(None, (decides, *others))]
        line = Text("\n".join(["   ".join(said), *told]), "dim")
        self.query_one("#curve-figures", Static).update(line)


def _draw(plot: PlotextPlot, title: str, curve: Curve) -> None:
    """Draw one side; a diamond marks the best of a measure."""
    plt, is_loss = plot.plt, plot.id == "curve-loss"
    plt.clear_figure()
    plt.title(title)
    if is_loss and curve and 0 < min(curve.values()) * _LOG_FROM < max(curve.values()):
        curve = {x: math.log10(y) for x, y in curve.items() if y > 0}
        plt.title(f"{title}, logarithmic")
        low, high = min(curve.values()), max(curve.values())
        ticks = [low + (high - low) * part / 3 for part in range(4)]
        plt.yticks(ticks, [short(10**tick) for tick in ticks])
    xs, ys = list(curve), list(curve.values())
    if xs and is_loss:
        plt.scatter(xs, ys, marker="braille", color="gray")  # the batches themselves
        plt.plot(xs, smoothed(ys), marker="braille", color="green")
    elif xs:
        plt.plot(xs, ys, marker="braille", color="cyan")
        middle, half = (max(ys) + min(ys)) / 2, max(max(ys) - min(ys), _LEAST_SPAN) / 2
        plt.ylim(middle - half, middle + half)
        ticks = [middle + half * part for part in (-1, 0, 1)]
        plt.yticks(ticks, [f"{tick:.2f}" for tick in ticks])
        best = max(curve, key=lambda step: (curve[step], step))
        plt.scatter([best], [curve[best]], marker="◆", color="yellow")
    if xs:
        most = max(2, plot.size.width // _WIDEST_TICK)
        every = max(1, round((max(xs) - min(xs)) / most))
        plt.xticks([float(x) for x in range(round(min(xs)), round(max(xs)) + 1, every)])
    plot.refresh()
