"""How time and memory grow with the number of lines, xmine's beside those of its peers.

    python bench/scale.py --parts knn,whole --work FOLDER [--json OUT]

    knn        exact search both ways, with and without kernels, and two `faiss.knn` calls
    whole      `xmine mine` from text to pairs
    recall     pairs of approximate search that exact search finds

A part's figures replace those of the same part in the JSON file, so that parts can be measured one
by one. Without sizes this is a try of a few minutes.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import searching
import whole

from xmine.evaluation.reports.record import record, write_record

Row = dict[str, object]

PARTS: dict[str, Callable[[argparse.Namespace], Iterator[Row]]] = {
    "knn": searching.knn,
    "whole": whole.whole,
    "recall": whole.recall,
}
COMPARED = ("numpy", "faiss-cpu")


def main() -> None:
    """Measure the parts asked for, print them as tables, save, draw."""
    arguments = _arguments()
    found = {}
    if arguments.json and arguments.json.exists():
        found = json.loads(arguments.json.read_text(encoding="utf-8"))
    arguments.work.mkdir(parents=True, exist_ok=True)
    for part in arguments.parts:
        before, rows = surroundings(), []
        for row in PARTS[part](arguments):
            print(row, flush=True)
            rows.append(row)
            found[part] = record({"command": _command(), "rows": rows, "surroundings": before})
            if arguments.json:  # after every row, since the next one may take an hour
                write_record(arguments.json, found)
        print(f"\n{table(rows)}\n", flush=True)


def surroundings() -> Row:
    """Say what a time depends on beside the machine: versions, threads, load."""
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))  # so that BLAS is there
    return {
        "versions": {name: version(name) for name in COMPARED},
        "blas": [
            {name: pool.get(name) for name in ("internal_api", "num_threads", "architecture")}
            for pool in threadpool_info()
        ],
        "cores_allowed": len(os.sched_getaffinity(0)),
        "threads_asked": {
            name: os.environ[name] for name in sorted(os.environ) if name.endswith("_NUM_THREADS")
        },
        "load_average": [round(each, 2) for each in os.getloadavg()],
    }


def table(rows: list[Row]) -> str:
    """Write rows as Markdown; a figure that a row does not have is left empty."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [names, ["---"] * len(names)]
    lines += [[_shown(row.get(name, "")) for name in names] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _shown(value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:,}" if is_number else str(value)


def _command() -> str:
    """Repeat what was asked for, files without their folders."""
    words = [Path(word).name if "/" in word.rstrip("/") else word for word in sys.argv[1:]]
    return " ".join(["python bench/scale.py", *words])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--parts", type=_parts, default=["knn", "whole"])
    add("--work", type=Path, default=Path("scale"), help="folder for corpora and runs")
    add("--json", type=Path, help="figures; parts that are there already stay")
    add("--seed", type=int, default=1)
    search = parser.add_argument_group("knn")
    search.add_argument(
        "--rows", type=_numbers, default=[10_000], help="vectors a side: 10000,50000"
    )
    search.add_argument("--dims", type=_numbers, default=[1024, 256], help="of clustered vectors")
    search.add_argument("--vectors", choices=("clustered", "corpora"), default="clustered")
    search.add_argument("--repeats", type=int, default=3)
    search.add_argument("-k", type=int, default=4)
    search.add_argument("--device", default="cpu", help="of xmine's exact search")
    runs = parser.add_argument_group("whole, recall")
    runs.add_argument("--sizes", type=_numbers, default=[10_000, 30_000], help="lines of corpora")
    runs.add_argument("--translated", type=float, default=0.5, help="share of lines in gold")
    runs.add_argument("--texts", type=Path, nargs=2, help="two files in place of corpora")
    runs.add_argument("--gold", type=Path, help="LINE<TAB>LINE, for --texts")
    runs.add_argument("--output", default="pairs.tsv", help="as in -o; run/ is a run folder")
    runs.add_argument("--options", default="", help="more options of xmine mine, in one string")
    runs.add_argument("--index", default="auto", help="for recall: what to compare with exact")
    return parser.parse_args()


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def _parts(text: str) -> list[str]:
    parts = [each for each in text.split(",") if each]
    if unknown := [each for each in parts if each not in PARTS]:
        raise argparse.ArgumentTypeError(
            f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}"
        )
    return parts


if __name__ == "__main__":
    main()
