"""Train with each setting of an option and with each seed, and put the figures into one table.

    python bench/ablate.py temperature pairs.tsv -o temperature/ --seeds 1,2,3 --data eval/

`ablations.toml` beside this file has the settings by the name that comes first. What is no option
of this program goes to `xmine train`. The first row, `untrained`, is the encoder that training
begins with: a run of one step whose learning rate changes nothing. FOLDER keeps an encoder and its
figures for each setting and seed, so that the same command goes on where it was stopped, and
`ablation.json` has all figures, their means and their deviations. A setting that `xmine train`
refuses, or whose loss diverges, has no figures. `--list` prints all ablations as a table of
Markdown.
"""

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import product
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from xmine.evaluation.reports.record import record, write_record
from xmine.options import flag
from xmine.trainer.methods import METHODS

UNTRAINED = "untrained"
FAILED = 1  # the exit code of `xmine train` where data or loss do not allow a run
# Benchmarks by short names; any other name is one of `xmine eval`.
BENCHMARKS = {"tatoeba": "tatoeba --language cmn", "stsb": "sts --task stsb"}
MEASURED = ("tatoeba", "bucc", "stsb")
OF_ENGLISH = ("stsb", "sts")  # that an encoder of English alone can be measured on


@dataclass(frozen=True, slots=True)
class Ablation:
    """What is compared, as ablations.toml has it."""

    method: str  # a name in METHODS
    source: str  # the paper and its table
    option: str = ""  # the flag that the values are of; empty if the settings differ in several
    values: list[str] = field(default_factory=list)  # of the option
    settings: dict[str, str] = field(default_factory=dict)  # name -> arguments of `xmine train`

    @property
    def named(self) -> dict[str, str]:
        """Give the arguments of all settings by name."""
        return {**self.settings, **{each: f"{self.option} {each}" for each in self.values}}

    def chosen(self, grid: Sequence[str]) -> dict[str, str]:
        """Give the settings that a grid names, values of the option among them; or all."""
        if not self.option and (unknown := set(grid) - set(self.settings)):
            sys.exit(f"--grid names {', '.join(unknown)}; choose from {', '.join(self.settings)}")
        return {each: self.named.get(each, f"{self.option} {each}") for each in grid} or self.named

    @property
    def still(self) -> list[str]:
        """Give the arguments with which a run leaves its encoders as they are."""
        names = [each.name for each in fields(METHODS[self.method].options)]
        rates = [flag(name) for name in names if name.endswith("learning_rate")]
        return ["--steps", "1", *(word for rate in rates for word in (rate, "1e-12"))]


@dataclass(frozen=True, slots=True)
class Cell:
    """The run with one setting and one seed: its figures, or why there are none."""

    setting: str
    seed: int
    figures: dict[str, float]
    failed: str = ""


def main() -> None:
    """Make one ablation, or list all."""
    if sys.argv[1:] == ["--list"]:
        print(*listed(), sep="\n")
    else:
        print(*table(ablate(*parsed(sys.argv[1:]))), sep="\n")


def parsed(words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Read the options of this program; the other words are of `xmine train`."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("name", metavar="NAME", choices=ablations(), help="of ablations.toml")
    parser.add_argument("-o", "--output", type=Path, metavar="FOLDER", required=True)
    parser.add_argument("--seeds", default="1", help="as in 1,2,3")
    parser.add_argument("--grid", default="", help="other values, or some settings, as in a,b")
    parser.add_argument("--data", help="folder of the benchmarks; without it none is measured")
    parser.add_argument("--measure", action="append", help=f"default: {', '.join(MEASURED)}")
    return parser.parse_known_args(words)


def ablations() -> dict[str, Ablation]:
    """Read ablations.toml."""
    text = Path(__file__).with_name("ablations.toml").read_text(encoding="utf-8")
    return {name: Ablation(**about) for name, about in tomllib.loads(text).items()}


def ablate(arguments: argparse.Namespace, words: Sequence[str]) -> dict[str, Any]:
    """Train and measure what is not there yet; write and give ablation.json."""
    ablation, output = ablations()[arguments.name], arguments.output
    settings = ablation.chosen([each for each in arguments.grid.split(",") if each])
    measured = (arguments.measure or MEASURED) if arguments.data else ()
    output.mkdir(parents=True, exist_ok=True)
    cells = []
    seeds = [int(each) for each in arguments.seeds.split(",")]
    for setting, seed in product([UNTRAINED, *settings], seeds):
        own = shlex.split(settings[setting]) if setting in settings else ablation.still
        line = [*words, "--method", ablation.method, *own, "--seed", str(seed)]
        folder = output / f"{setting}-seed-{seed}"
        cells.append(cell_of(setting, seed, folder, line, measured, arguments.data))
        print(f"{folder}: {cells[-1].failed or cells[-1].figures}", file=sys.stderr)
    found = {
        "ablation": arguments.name,
        "method": ablation.method,
        "option": ablation.option or None,
        "source": ablation.source,
        "settings": settings,
        "cells": [asdict(each) for each in cells],
        "averages": averages(cells),
    }
    write_record(output / "ablation.json", record(found))
    return found


def cell_of(
    setting: str,
    seed: int,
    folder: Path,
    words: list[str],
    measured: Sequence[str],
    data: str | None,
) -> Cell:
    """Make one run, and measure its encoder; or read the figures that are there already."""
    facts = folder.with_name(f"{folder.name}.json")
    asked = {"train": words, "measured": list(measured)}
    if facts.exists():
        found = json.loads(facts.read_text(encoding="utf-8"))
        if found.pop("asked") != asked:
            sys.exit(f"{facts}: was made by another command; give another -o")
        return Cell(setting, seed, **found)
    run = folder.with_name(f"{folder.name}.training")
    done = xmine("train", *words, "-o", str(folder), "--force", "--resume", "auto")
    figures, failed = {}, ""
    if done.returncode == FAILED:
        failed = [each for each in done.stderr.splitlines() if each.startswith("xmine: ")][-1]
        shutil.rmtree(run, ignore_errors=True)
    else:
        figures = trained_figures(json.loads(answer(done)))
        figures |= {name: benchmark(name, folder, data) for name in measured}
    found = {"figures": figures, "failed": failed}
    write_record(facts, {"asked": asked, **found})
    return Cell(setting, seed, figures, failed)


def trained_figures(said: dict[str, Any]) -> dict[str, float]:
    """Take the figures out of what `xmine train --json` prints, but for those of the beginning."""
    beside = ("before", "pairs", "excluded", "seconds")
    return {
        name: x for name, x in said.items() if isinstance(x, float | int) and name not in beside
    }


def benchmark(name: str, folder: Path, data: str | None) -> float:
    """Measure an encoder, or that of English where there are two, and give the headline figure."""
    if (folder / "source").exists() and name in OF_ENGLISH:
        options = tomllib.loads((folder / "options.toml").read_text(encoding="utf-8"))
        is_source = options.get("languages", "en").split(",")[0] == "en"
        folder /= "source" if is_source else "target"
    words = shlex.split(BENCHMARKS.get(name, name))
    done = xmine("eval", *words, "--data", str(data), "--model", str(folder))
    value: float = json.loads(answer(done))["headline"]["value"]
    return value


def xmine(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of xmine that prints JSON."""
    line = [sys.executable, "-m", "xmine", *words, "--json"]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def answer(done: subprocess.CompletedProcess[str]) -> str:
    """Give what a command printed, or stop with its message and what was kept so far."""
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def averages(cells: Sequence[Cell]) -> dict[str, dict[str, dict[str, float | None]]]:
    """Average over seeds: setting -> figure -> mean, and deviation of the sample of several."""
    found: dict[str, dict[str, dict[str, float | None]]] = {}
    for setting in dict.fromkeys(cell.setting for cell in cells):
        rows = [cell.figures for cell in cells if cell.setting == setting]
        found[setting] = {}
        for name in dict.fromkeys(name for row in rows for name in row):
            values = [row[name] for row in rows if name in row]
            deviation = stdev(values) if len(values) > 1 else None
            found[setting][name] = {"mean": fmean(values), "deviation": deviation}
    return found


def table(result: dict[str, Any]) -> list[str]:
    """Lay the means out as a table of Markdown, times 100: a row for each setting."""
    found = {name for each in result["averages"].values() for name in each}
    names = [name for name in ("accuracy", "spearman", *MEASURED) if name in found]
    rows = ["| " + " | ".join([result["option"] or result["ablation"], *names]) + " |"]
    rows.append("|---" * (len(names) + 1) + "|")
    for setting, figures in result["averages"].items():
        cells = [averaged(figures.get(name)) for name in names]
        rows.append("| " + " | ".join([setting, *cells]) + " |")
    return rows


def averaged(figure: dict[str, float] | None) -> str:
    """Show a mean over seeds, and how far they deviate."""
    if figure is None:
        return ""
    deviation = f" ± {100 * figure['deviation']:.1f}" if figure.get("deviation") else ""
    return f"{100 * figure['mean']:.1f}{deviation}"


def listed() -> list[str]:
    """Lay all ablations out as a table."""
    rows = ["| name | method | settings | after |", "|---|---|---|---|"]
    for name, each in ablations().items():
        varied = f"`{each.option}` " if each.option else ""
        place = each.source.rpartition("), ")[2]  # the method names the paper
        cells = [f"`{name}`", each.method, f"{varied}{', '.join(each.named)}", place]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


if __name__ == "__main__":
    main()
