"""What the runs of an ablation measured -> averages over seeds, CSV, JSON, pictures."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

from xmine.evaluation.reports.record import record, write_record
from xmine.files.atomic import replacing
from xmine.options import flag
from xmine.plots.figures import COLOURS, canvas, write_picture

from .specs import ABLATIONS

UNTRAINED = "untrained"
# What training measures besides its main figure; the files have it, a table has no room for it.
_BESIDES = (
    "forward",
    "backward",
    "likeness",
    "alignment",
    "uniformity",
    "cosine",
    "principal_ratio",
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One run.

    Attributes:
        setting: its name, or UNTRAINED.
        seed: of the run.
        figures: what was measured; none if training failed.
        failed: why it did, if so.
    """

    setting: str
    seed: int
    figures: Mapping[str, float]
    failed: str = ""


class Average(NamedTuple):
    """A figure over seeds: its mean, and the standard deviation of the sample; None of one seed."""

    mean: float
    deviation: float | None


def averages_of(cells: Sequence[Cell]) -> dict[str, dict[str, Average]]:
    """Average the figures of each setting over its seeds: setting -> name -> average."""
    averages: dict[str, dict[str, Average]] = {}
    for setting in dict.fromkeys(cell.setting for cell in cells):
        rows = [cell.figures for cell in cells if cell.setting == setting]
        averages[setting] = {}
        for name in dict.fromkeys(name for row in rows for name in row):
            values = [row[name] for row in rows if name in row]
            spread = stdev(values) if len(values) > 1 else None
            averages[setting][name] = Average(fmean(values), spread)
    return averages


def main_figures(cells: Sequence[Cell]) -> list[str]:
    """Name the figures that a table has room for: the others are told in the files alone."""
    found = dict.fromkeys(name for cell in cells for name in cell.figures)
    return [name for name in found if name not in _BESIDES]


def table_of(cells: Sequence[Cell]) -> list[list[str]]:
    """Lay out a row for each setting: how many seeds, mean figures and their spread."""
    names = main_figures(cells)
    rows = []
    for setting, averages in averages_of(cells).items():
        seeds = sum(cell.setting == setting for cell in cells)
        rows.append([setting, str(seeds), *(_shown(averages.get(name)) for name in names)])
    return [["setting", "seeds", *names], *rows]


def _shown(average: Average | None) -> str:
    if average is None:
        return "-"
    spread = "" if average.deviation is None else f" ±{average.deviation:.3f}"
    return f"{average.mean:.3f}{spread}"


def facts_of(name: str, cells: Sequence[Cell]) -> dict[str, object]:
    """Tell everything as JSON can hold it: where the ablation comes from, cells, averages."""
    ablation = ABLATIONS[name]
    return {
        "ablation": name,
        "method": ablation.method,
        "option": flag(ablation.option) if ablation.option else None,
        "source": ablation.source,
        "settings": {
            each: dict(ablation.settings.get(each) or {ablation.option: each})
            for each in dict.fromkeys(cell.setting for cell in cells)
            if each != UNTRAINED
        },
        "cells": [asdict(cell) for cell in cells],
        "averages": {
            setting: {figure: average._asdict() for figure, average in averages.items()}
            for setting, averages in averages_of(cells).items()
        },
    }


def write_tables(name: str, cells: Sequence[Cell], output: Path) -> None:
    """Write what was measured: `ablation.csv`, and `ablation.json` with where it comes from."""
    names = list(dict.fromkeys(each for cell in cells for each in cell.figures))
    with replacing(output / "ablation.csv") as partial, partial.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["setting", "seed", *names])
        for cell in cells:
            figures = [cell.figures.get(each, "") for each in names]
            writer.writerow([cell.setting, cell.seed, *figures])
    write_record(output / "ablation.json", record(facts_of(name, cells)))


def draw(name: str, cells: Sequence[Cell], metric: str, path: Path) -> None:
    """Draw one figure over the settings: a point for each seed, their means, the untrained encoder.

    Args:
        name: of the ablation.
        cells: of its runs.
        metric: the figure, such as `accuracy`.
        path: of the PNG; the numbers go beside it, with `.csv`.

    Raises:
        XmineError: matplotlib is missing.
        FileError: the path cannot be written.
    """
    option = ABLATIONS[name].option
    shown = [cell for cell in cells if metric in cell.figures]
    points = [cell for cell in shown if cell.setting != UNTRAINED]
    settings = list(dict.fromkeys(cell.setting for cell in points))
    means = {setting: found[metric].mean for setting, found in averages_of(shown).items()}
    figure, axes = canvas(f"{metric} by {flag(option) if option else name}", (6.0, 3.6))
    places = [settings.index(cell.setting) for cell in points]
    values = [cell.figures[metric] for cell in points]
    axes.scatter(places, values, s=14, color=COLOURS[0], label="a seed", zorder=3)
    line = "-" if option else ""  # settings by name have no order
    trained = [means[each] for each in settings]
    axes.plot(trained, line, marker="_", markersize=18, color=COLOURS[0], linewidth=1.6)
    if UNTRAINED in means:
        axes.axhline(means[UNTRAINED], color="#777777", linewidth=1, linestyle=":")
        axes.annotate(
            UNTRAINED,
            (0, means[UNTRAINED]),
            (0, 3),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            fontsize=8,
            color="#777777",
        )
    axes.set_xticks(range(len(settings)), settings)
    axes.margins(x=0.1)
    rows = ([cell.setting, cell.seed, f"{cell.figures[metric]:.6f}"] for cell in shown)
    write_picture(figure, path, ["setting", "seed", metric], rows)
