"""The shipped defaults of each method on each architecture -> held-out retrieval after few steps.

    python bench/defaults.py PAIRS [--cells TEXT ...] [--again] [--set NAME=VALUE ...]
    python bench/defaults.py --show

PAIRS, en-XX.tsv.gz without a header, has English, the other language, source and tier; of tier A
4,000 pairs are drawn. Take a language that the embedded encoder does not know, such as Hungarian.
`results/defaults.json` is left cell by cell, and what it has is not run again. With --set, which
tries another value than the default, figures are printed and not kept. On pairs mSimCSE is plain
InfoNCE, which the others are compared with. Each stage takes so many steps: transaug and emma-x
have two.
"""

import argparse
import csv
import gzip
import json
import random
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from xmine.evaluation.reports.record import record, write_record
from xmine.pairs.io import ParallelText
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.methods import METHODS
from xmine.trainer.options.shared import TrainingOptions
from xmine.trainer.run.checkpoints import TrainingRun
from xmine.trainer.run.fitting import fitted
from xmine.trainer.run.prepare import TrainedTowers
from xmine.trainer.train import deterministic

RESULTS = Path(__file__).parent / "results" / "defaults.json"
PAIRS, STEPS, SEEDS = 4000, (60, 100, 300, 1000), (1, 2)
MANY = 300  # steps, from which on one seed is enough
WORSE = 0.05  # below plain InfoNCE: a default that does not hold
REFERENCE, MEASURES = "msimcse", ("kept", "halves")
ENOUGH = 10_000  # epochs
SMALL: dict[str, Any] = {
    "architecture": "transformer",
    "dim": 64,
    "batch_size": 32,
    "max_tokens": 32,
}
ARCHITECTURES: dict[str, dict[str, Any]] = {
    "static new": {"encoder": "scratch"},
    "transformer new": {"encoder": "scratch", **SMALL},
    "checkpoint": {"encoder": "", "batch_size": 32},  # its folder is made below
    "static embedded": {"encoder": "embedded"},
    "transformer embedded": {"encoder": "scratch", "start": "embedded", **SMALL},
}
Cells = dict[str, dict[str, float]]


def main() -> None:
    """Run the cells that are not there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="?", type=Path)
    parser.add_argument("--cells", nargs="*", default=[], metavar="TEXT", help="in their names")
    parser.add_argument("--again", action="store_true", help="run those that are there, too")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--show", action="store_true", help="print the table, run nothing")
    given = parser.parse_args()
    cells = known()
    tried = {name: json.loads(value) for name, _, value in (x.partition("=") for x in given.set)}
    if given.pairs and not given.show:
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(given.pairs, Path(folder))
            for cell in named():
                is_there = cell in cells and not given.again and not tried
                if is_there or not all(text in f"/{cell}/" for text in given.cells):
                    continue
                measured = bench.measured(cell, tried)
                print(cell, measured, flush=True)
                if not tried:
                    cells = known() | {cell: measured}
                    settings = {"file": given.pairs.name, "pairs": PAIRS, "threads": 1}
                    settings |= {"architectures": ARCHITECTURES}
                    write_record(RESULTS, record(settings | {"cells": cells}))
    print(*table(cells), sep="\n")


def known() -> Cells:
    """Read the cells that are there."""
    found = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    cells: Cells = found.get("cells", {})
    return cells


def named() -> Iterator[str]:
    """Name the cells, those of few steps first."""
    for steps, seed, architecture, method in product(STEPS, SEEDS, ARCHITECTURES, METHODS):
        if steps < MANY or seed == 1:
            yield f"{method}/{architecture}/{steps}/{seed}"


class Run(TrainingRun):
    """A run that nobody resumes."""

    def save(self, name: str, state: Mapping[str, Any]) -> None:
        """Keep the best state alone."""
        if name == "best":
            super().save(name, state)


def trained(method: str, options: TrainingOptions, corpus: Corpus, folder: Path) -> TrainedTowers:
    """Train as `xmine train` does, without what comes before and after."""
    shutil.rmtree(folder, ignore_errors=True)
    options = fitted(options, corpus)
    torch.manual_seed(options.seed)
    with deterministic(1):
        run = Run(folder, options, corpus)
        return METHODS[method].train(corpus, options, run, lambda _: None)


class Bench:
    """Pairs, and the folder in which encoders are trained."""

    def __init__(self, pairs: Path, folder: Path) -> None:
        """Draw pairs of people's translations, and as many others for the checkpoint."""
        with gzip.open(pairs, "rt", encoding="utf-8", newline="\n") as lines:
            rows = [row for row in csv.reader(lines, delimiter="\t", quoting=3) if row[3] == "A"]
        some = random.Random(1).sample(rows, 4 * PAIRS)
        self.corpus, self.other = (
            Corpus(pairs=ParallelText([x[0] for x in part], [x[1] for x in part], [""] * len(part)))
            for part in (some[:PAIRS], some[PAIRS:])
        )
        self.folder, self.languages = folder, pairs.name.partition(".")[0].replace("-", ",")

    def measured(self, cell: str, tried: dict[str, Any]) -> dict[str, float]:
        """Train; `last` is retrieval at the end, `kept` and `halves` of what is kept."""
        method, architecture, steps, seed = cell.split("/")
        given = ARCHITECTURES[architecture] | {"steps": int(steps), "seed": int(seed)}
        given["languages"] = self.languages
        given["epochs"], given["evaluate_every"] = ENOUGH, max(20, int(steps) // 5)
        if architecture == "checkpoint":
            given["encoder"] = str(self.checkpoint())
        if method == "transaug":
            given["distilled_encoder"] = given["encoder"]
        began = time.process_time()
        options = METHODS[method].options(**(given | tried))
        made = trained(method, options, self.corpus, self.folder / "run")
        log = (self.folder / "run" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        last = [line for line in map(json.loads, log) if "accuracy" in line][-1]
        figures = {
            "before": made.measures["before"],
            "last": last["accuracy"],
            "kept": made.measures["accuracy"],
            "halves": made.measures["halves"],
            "likeness": last["likeness"],
        }
        rounded = {name: round(figure, 4) for name, figure in figures.items()}
        return {**rounded, "seconds": round(time.process_time() - began, 1)}

    def checkpoint(self) -> Path:
        """Make a small transformer that knows other pairs, as transformers saves one."""
        path = self.folder / "checkpoint"
        if not path.exists():
            given: dict[str, Any] = SMALL | {
                "languages": self.languages,
                "steps": 1000,
                "epochs": ENOUGH,
            }
            options = METHODS[REFERENCE].options(**given, encoder="scratch")
            body: Any = trained(REFERENCE, options, self.other, self.folder / "run").towers[""].body
            body.model.save_pretrained(path)
            body.tokenizer.save_pretrained(path)
        return path


def table(cells: Cells) -> Iterator[str]:
    """Lay out retrieval of what is kept, by whole sentences and halves, in %, means of the seeds.

    ! is a default that does not hold.
    """
    yield "| architecture | steps | " + " | ".join(METHODS) + " |"
    yield "|---" * (2 + len(METHODS)) + "|"
    for architecture, steps in product(ARCHITECTURES, STEPS):
        row = []
        for method in METHODS:
            names = [f"{architecture}/{steps}/{seed}" for seed in SEEDS]
            names = [x for x in names if {f"{method}/{x}", f"{REFERENCE}/{x}"} <= cells.keys()]
            own, plain = (
                [fmean(cells[f"{who}/{x}"][of] for x in names) for of in MEASURES if names]
                for who in (method, REFERENCE)
            )
            worse = any(x < y - WORSE for x, y in zip(own, plain, strict=True))
            row.append(" / ".join(f"{100 * x:.1f}" for x in own) + "!" * worse)
        yield f"| {architecture} | {steps} | " + " | ".join(row) + " |"


if __name__ == "__main__":
    main()
