"""Train on few pairs with the settings that follow from them, and measure the encoders.

    python bench/few_pairs.py PAIRS.tsv.gz --data EVAL_FOLDER -o FOLDER [--counts 1000 3000]

Trains into FOLDER/COUNT on pairs drawn from all, by `xmine train COUNT.tsv -o COUNT` and nothing
else, and writes FOLDER/figures.json: retrieval, and mining BUCC at the best threshold and `auto`.
"""

import argparse
import gzip
import json
import random
from pathlib import Path

from embedded import measure, xmine  # type: ignore[import-not-found]

from xmine.evaluation.reports.record import record, write_record


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs")
    parser.add_argument("--data", required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument(
        "--counts", type=int, nargs="+", default=[1_000, 3_000, 12_000, 25_000, 50_000]
    )
    arguments = parser.parse_args()
    arguments.output.mkdir(exist_ok=True)
    with gzip.open(arguments.pairs, "rt", encoding="utf-8") as file:
        rows = ["\t".join(line.rstrip("\n").split("\t")[:2]) + "\n" for line in file]
    random.Random(1).shuffle(rows)
    figures: dict[str, dict[str, float]] = {}
    for count in arguments.counts:
        file, folder = arguments.output / f"{count}.tsv", arguments.output / str(count)
        if not folder.exists():
            file.write_text("".join(rows[:count]), encoding="utf-8")
            trained = xmine("train", str(file), "-o", str(folder), "--json")
            folder.with_suffix(".json").write_text(trained, encoding="utf-8")
        facts = json.loads(folder.with_suffix(".json").read_text(encoding="utf-8"))
        told = {
            "steps": facts["estimate"]["steps"],
            "seconds": facts["seconds"],
            "estimated_seconds": round(facts["estimate"]["seconds"], 1),
        }
        figures[str(count)] = {**told, **measure(folder, arguments.data)}
        print(count, figures[str(count)], flush=True)
    write_record(arguments.output / "figures.json", record({"pairs": figures}))


if __name__ == "__main__":
    main()
