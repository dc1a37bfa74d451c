"""The metrics of a run -> a picture of its loss and of what was measured on the way."""

import json
from pathlib import Path
from typing import Any

from xmine.evaluation.pictures import COLOURS, canvas, legend_below, write_picture

PICTURE_FILE = "training.svg"
_LOSS, _MEASURE = COLOURS[:2]


def draw_training(metrics: Path, title: str) -> None:
    """Draw the loss and the accuracy over the steps; those of stages one behind the other.

    Args:
        metrics: `metrics.jsonl` of a run; `training.svg` goes beside it, with its numbers in
            `training.csv`. Nothing does if nothing was logged.
        title: of the picture.

    Raises:
        XmineError: matplotlib is not installed, or a file cannot be written.
    """
    lines = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    steps, starts = _in_a_row(lines)
    name = _measured(lines)
    losses = [(at, line["loss"]) for at, line in zip(steps, lines, strict=True) if "loss" in line]
    measures = [(at, line[name]) for at, line in zip(steps, lines, strict=True) if name in line]
    if not losses and not measures:
        return
    figure, axes = canvas(title, (7.0, 4.0))
    axes.set(xlabel="step", ylabel="loss")
    if losses:
        axes.plot(*zip(*losses, strict=True), color=_LOSS, linewidth=1.2, label="loss")
    if measures:
        right = axes.twinx()
        right.plot(
            *zip(*measures, strict=True), color=_MEASURE, marker="o", markersize=3, label=name
        )
        right.set(ylabel=name, ylim=(min(0, *(each for _, each in measures)), 1))
        right.spines["top"].set_visible(False)
        right.tick_params(labelsize=8, colors="#555555")
        right.yaxis.label.set_color("#555555")
    for start in starts[1:]:
        axes.axvline(start, color="#bbbbbb", linewidth=0.8, linestyle=":")
    legend_below(figure, 2)
    told = dict.fromkeys(sorted({at for at, _ in [*losses, *measures]}))
    rows = [[at, dict(losses).get(at, ""), dict(measures).get(at, "")] for at in told]
    write_picture(figure, metrics.with_name(PICTURE_FILE), ["step", "loss", name], rows)


def _in_a_row(lines: list[dict[str, Any]]) -> tuple[list[int], list[int]]:
    """Count the steps on through all stages; tell where each stage begins."""
    steps, starts, stage, last = [], [0], None, 0
    for line in lines:
        if stage is not None and line.get("stage", "") != stage:
            starts.append(last)
        if "excluded" not in line:  # the first line is of no stage
            stage = line.get("stage", "")
        steps.append(starts[-1] + int(line["step"]))
        last = steps[-1]
    return steps, starts


def _measured(lines: list[dict[str, Any]]) -> str:
    """Name what was measured: the accuracy of retrieval, or the first measure that there is."""
    names = [
        name
        for line in lines
        if "loss" not in line
        for name in line
        if name not in ("step", "stage", "excluded", "stopped")
    ]
    return "accuracy" if "accuracy" in names or not names else names[0]
