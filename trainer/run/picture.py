"""The metrics of a run -> a picture of its loss and of what was measured on the way."""

import json
from itertools import groupby
from pathlib import Path
from typing import Any

from xmine.plots.figures import COLOURS, canvas, legend_below, write_picture

PICTURE_FILE = "training.svg"
_LOSS, _MEASURE = COLOURS[:2]


def draw_training(metrics: Path, title: str) -> None:
    """Draw the loss and the accuracy over the steps, a curve for each stage, one behind the other.

    The loss is that of the encoder, without `ranking` of Emma-X's classifier. `training.svg` and
    its numbers, `training.csv`, go beside `metrics.jsonl`; nothing does if nothing was logged.
    """
    logged = map(json.loads, metrics.read_text(encoding="utf-8").splitlines())
    lines = [line for line in logged if not {"excluded", "remark"} & set(line)]  # of no stage
    names = [
        name
        for line in lines
        if "loss" not in line
        for name in line
        if name not in ("step", "stage", "stopped")
    ]
    name = "accuracy" if "accuracy" in names or not names else names[0]
    losses, measures = {}, {}  # by step and stage; steps count on through all stages
    at, starts = 0, list[int]()
    for stage, some in groupby(lines, key=lambda line: line.get("stage", "")):
        starts.append(at)
        for line in some:
            at = starts[-1] + int(line["step"])
            if "loss" in line:
                losses[at, stage] = line["loss"] - line.get("ranking", 0.0)
            if name in line:
                measures[at, stage] = line[name]
    if not losses and not measures:
        return
    figure, axes = canvas(title, (7.0, 4.0))
    axes.set(xlabel="step", ylabel="loss")
    _draw(axes, losses, "loss", color=_LOSS, linewidth=1.2, marker=".", markersize=3)
    if measures:
        right = axes.twinx()
        _draw(right, measures, name, color=_MEASURE, marker="o", markersize=3)
        right.set(ylabel=name, ylim=(min(0, *measures.values()), 1))
        right.spines["top"].set_visible(False)
        right.tick_params(labelsize=8, colors="#555555")
        right.yaxis.label.set_color("#555555")
    for start in starts[1:]:
        axes.axvline(start, color="#bbbbbb", linewidth=0.8, linestyle=":")
    legend_below(figure, 2)
    rows = [
        [at, losses.get((at, stage), ""), measures.get((at, stage), "")]
        for at, stage in sorted({*losses, *measures})
    ]
    write_picture(figure, metrics.with_name(PICTURE_FILE), ["step", "loss", name], rows)


def _draw(axes: Any, values: dict[tuple[int, str], float], label: str, **looks: Any) -> None:  # noqa: ANN401
    """Draw values by step and stage, each stage as a curve of its own."""
    for _, points in groupby(values.items(), key=lambda each: each[0][1]):
        steps, heights = zip(*((at, value) for (at, _), value in points), strict=True)
        axes.plot(steps, heights, label=label, **looks)
        label = ""  # one line of the legend is enough
