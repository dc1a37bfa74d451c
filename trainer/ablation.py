"""One option of a method over a grid of values, with several seeds -> one table and a picture.

Its first row is the encoder that training begins with, since a gain over another setting may be a
loss over doing nothing.
"""

import csv
import json
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from xmine.encoder import SentenceEncoder
from xmine.errors import OptionError
from xmine.evaluation.pictures import COLOURS, canvas, write_picture
from xmine.evaluation.record import record, write_record
from xmine.files import replacing
from xmine.options import flag
from xmine.progress import Report, silent
from xmine.trainer.checkpoints import run_folder
from xmine.trainer.corpus import Corpus
from xmine.trainer.options import TrainingOptions
from xmine.trainer.training import train

UNTRAINED = "untrained"
_FIGURES_FILE = "figures.json"

# What measures a trained encoder beside the held-out pairs: names and figures.
Measure = Callable[[Mapping[str, SentenceEncoder]], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Ablation:
    """What is varied, and where that comes from.

    Attributes:
        method: a name in METHODS.
        option: of its options.
        grid: the values, as they are given on the command line.
        source: the paper and its table.
    """

    method: str
    option: str
    grid: tuple[str, ...]
    source: str


_MOCO, _MSIMCSE = "Wang et al. (2021)", "Wang et al. (2022)"

ABLATIONS = {
    "queue-size": Ablation("moco", "queue_size", ("256", "1024", "4096"), f"{_MOCO}, figure 2"),
    "temperature": Ablation(
        "moco", "temperature", ("0.01", "0.04", "0.07", "0.1"), f"{_MOCO}, table 4"
    ),
    "momentum": Ablation("moco", "momentum", ("0", "0.9", "0.99", "0.999"), f"{_MOCO}, table 5"),
    "pooling": Ablation("moco", "pooling", ("mean", "max", "cls"), f"{_MOCO}, table 6"),
    "epochs": Ablation("msimcse", "epochs", ("1", "2", "3"), f"{_MSIMCSE}, table 8"),
    "batch-size": Ablation("msimcse", "batch_size", ("128", "256"), f"{_MSIMCSE}, table 8"),
    "learning-rate": Ablation("msimcse", "learning_rate", ("1e-5", "2e-5"), f"{_MSIMCSE}, table 8"),
    "hard-negatives": Ablation(
        "msimcse", "drop_hard_negatives", ("false", "true"), f"{_MSIMCSE}, table 6"
    ),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One run.

    Attributes:
        setting: the value, or UNTRAINED.
        seed: of the run; None for the encoder that training begins with.
        figures: what was measured.
    """

    setting: str
    seed: int | None
    figures: Mapping[str, float]


def ablate(
    name: str,
    corpus: Corpus,
    options: TrainingOptions,
    output: Path,
    *,
    grid: Sequence[str] = (),
    seeds: Sequence[int] = (1,),
    untrained: Mapping[str, SentenceEncoder],
    measure: Measure,
    report: Report = silent,
) -> list[Cell]:
    """Train once for each value and seed, and write the table.

    What is there already is not trained again, so that a killed ablation goes on.

    Args:
        name: in ABLATIONS.
        corpus: what is trained on, the same for all.
        options: of the method, but for what is varied and the seed.
        output: a folder: an encoder for each cell, `ablation.csv`, `ablation.json`,
            `ablation.png`.
        grid: values; those of ABLATIONS if there are none.
        seeds: of the runs with each value.
        untrained: the encoder that training begins with, under the names that training uses.
        measure: of encoders by name.
        report: called while it goes on.

    Returns:
        The cells, the untrained one first.

    Raises:
        OptionError: a value is none of the option.
        XmineError: see `xmine.trainer.training.train`.
    """
    ablation = ABLATIONS[name]
    values = grid or ablation.grid
    settings = [options_with(options, ablation.option, value) for value in values]  # checked first
    output.mkdir(parents=True, exist_ok=True)
    cells = [Cell(UNTRAINED, None, measure(untrained))]
    for value, setting in zip(values, settings, strict=True):
        for seed in seeds:
            folder = output / f"{value}-seed-{seed}"
            figures = _figures_of(folder)
            if figures is None:
                trained = train(
                    ablation.method,
                    corpus,
                    replace(setting, seed=seed),
                    folder,
                    report,
                    resume=run_folder(folder).exists(),
                )
                figures = {**trained.measures, **measure(trained.encoders)}
                with replacing(folder / _FIGURES_FILE) as partial:
                    partial.write_text(json.dumps(figures), encoding="utf-8")
            cells.append(Cell(value, seed, figures))
    write_tables(name, cells, output)
    return cells


def options_with(options: TrainingOptions, name: str, text: str) -> TrainingOptions:
    """Set one option to a value that is given as text.

    Raises:
        OptionError: it is none of that option.
    """
    hint = typing.get_type_hints(type(options))[name]
    kinds = typing.get_args(hint) or (hint,)
    value: Any = text
    try:
        if bool in kinds:
            value = {"true": True, "false": False}[text.lower()]
        elif int in kinds:
            value = int(text)
        elif float in kinds:
            value = float(text)
    except (ValueError, KeyError):
        if str not in kinds:
            raise OptionError(f"{flag(name)} is {text!r} in the grid", "give numbers") from None
    return replace(options, **{name: value})


def means_of(cells: Sequence[Cell]) -> dict[str, dict[str, float]]:
    """Average the figures of each setting over its seeds: setting -> name -> mean."""
    means = {}
    for setting in dict.fromkeys(cell.setting for cell in cells):
        rows = [cell.figures for cell in cells if cell.setting == setting]
        names = dict.fromkeys(name for row in rows for name in row)
        means[setting] = {name: fmean(row[name] for row in rows if name in row) for name in names}
    return means


def write_tables(name: str, cells: Sequence[Cell], output: Path) -> None:
    """Write what was measured: `ablation.csv`, and `ablation.json` with where it comes from."""
    names = list(dict.fromkeys(each for cell in cells for each in cell.figures))
    with replacing(output / "ablation.csv") as partial, partial.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["setting", "seed", *names])
        for cell in cells:
            figures = [cell.figures.get(each, "") for each in names]
            writer.writerow([cell.setting, "" if cell.seed is None else cell.seed, *figures])
    ablation = ABLATIONS[name]
    facts = {
        "ablation": name,
        "method": ablation.method,
        "option": flag(ablation.option),
        "source": ablation.source,
        "cells": [
            {"setting": cell.setting, "seed": cell.seed, "figures": dict(cell.figures)}
            for cell in cells
        ],
    }
    write_record(output / "ablation.json", record(facts))


def draw(name: str, cells: Sequence[Cell], metric: str, path: Path) -> None:
    """Draw one figure over the settings: a point for each seed, a line through their means.

    Args:
        name: of the ablation.
        cells: see `ablate`.
        metric: the figure, such as `accuracy`.
        path: of the PNG; the numbers go beside it, with `.csv`.

    Raises:
        FileError: matplotlib is missing, or the path cannot be written.
    """
    shown = [cell for cell in cells if metric in cell.figures]
    settings = [each for each in dict.fromkeys(cell.setting for cell in shown) if each != UNTRAINED]
    means = means_of(shown)
    figure, axes = canvas(f"{metric} by {flag(ABLATIONS[name].option)}", (6.0, 3.6))
    points = [cell for cell in shown if cell.setting != UNTRAINED]
    places = [settings.index(cell.setting) for cell in points]
    axes.scatter(places, [cell.figures[metric] for cell in points], s=14, color=COLOURS[0])
    axes.plot([means[each][metric] for each in settings], color=COLOURS[0], linewidth=1.6)
    if UNTRAINED in means:
        axes.axhline(means[UNTRAINED][metric], color="#777777", linewidth=1, linestyle=":")
        axes.annotate(UNTRAINED, (0, means[UNTRAINED][metric]), fontsize=8, color="#777777")
    axes.set_xticks(range(len(settings)), settings)
    rows = ([cell.setting, cell.seed, f"{cell.figures[metric]:.6f}"] for cell in shown)
    write_picture(figure, path, ["setting", "seed", metric], rows)


def _figures_of(folder: Path) -> dict[str, float] | None:
    """Read what an earlier run measured, if it is done."""
    path = folder / _FIGURES_FILE
    if not path.exists():
        return None
    figures: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    return figures
