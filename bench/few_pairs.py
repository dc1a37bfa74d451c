"""Train on few pairs with the settings that follow from them, and measure the encoders.

    python bench/few_pairs.py PAIRS.tsv.gz --data EVAL_FOLDER -o FOLDER [--counts 500 5000]
        [--encoders scratch embedded]

Trains into FOLDER/COUNT-ENCODER on pairs drawn from all, by `xmine train COUNT.tsv -o COUNT-ENCODER
--encoder ENCODER` and nothing else, and writes FOLDER/figures.json: retrieval, mining BUCC at the
best threshold and at `auto`, and the seconds that processors worked, with which other work on the
machine has little to do. What was trained already is not trained again. OMP_NUM_THREADS=1 takes one
core.
"""

import argparse
import gzip
import json
import random
import resource
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from embedded import RESULTS, measure, xmine

from xmine.evaluation.reports.record import record, write_record


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs")
    parser.add_argument("--data", required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    counts = [500, 5_000, 50_000, 100_000, 500_000]
    parser.add_argument("--counts", type=int, nargs="+", default=counts)
    parser.add_argument("--encoders", nargs="+", default=["embedded", "scratch"])
    arguments = parser.parse_args()
    arguments.output.mkdir(exist_ok=True)
    with gzip.open(arguments.pairs, "rt", encoding="utf-8") as file:
        rows = ["\t".join(line.rstrip("\n").split("\t")[:2]) + "\n" for line in file]
    random.Random(1).shuffle(rows)
    shipped = json.loads(RESULTS.read_text(encoding="utf-8"))["shipped"]
    figures: dict[str, dict[str, float]] = {"0 embedded": chosen(shipped)}
    for count in arguments.counts:
        file = arguments.output / f"{count}.tsv"
        file.write_text("".join(rows[:count]), encoding="utf-8")
        for encoder in arguments.encoders:
            folder = arguments.output / f"{count}-{encoder}"
            told = trained(file, folder, encoder)
            figures[f"{count} {encoder}"] = {**told, **chosen(measure(folder, arguments.data))}
            print(count, encoder, figures[f"{count} {encoder}"], flush=True)
            write_record(arguments.output / "figures.json", record({"pairs": figures}))


def trained(file: Path, folder: Path, encoder: str) -> dict[str, float]:
    """Train unless it has been done; tell steps and seconds of the run."""
    summary = folder.with_suffix(".json")
    if not folder.exists():
        before = _processor_seconds()
        said = xmine("train", str(file), "-o", str(folder), "--encoder", encoder, "--json")
        facts = {**json.loads(said), "processor_seconds": _processor_seconds() - before}
        summary.write_text(json.dumps(facts), encoding="utf-8")
    facts = json.loads(summary.read_text(encoding="utf-8"))
    return {
        "steps": facts["steps"],
        "processor_seconds": round(facts["processor_seconds"], 1),
        "seconds": facts["seconds"],
    }


def chosen(found: Mapping[str, Any]) -> dict[str, float]:
    """Choose the figures of the sets of English and Chinese."""
    return {name: value for name, value in found.items() if {"cmn", "zh-en"} & set(name.split())}


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
