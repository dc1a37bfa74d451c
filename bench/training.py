"""A short training of a new static encoder -> what the whole command costs, and how one resumes.

    python bench/training.py en-zh.tsv.gz [--against CHECKOUT] [--pairs 30000] [--rounds 2]

The file has English, Chinese, a source and a tier in each line; pairs of the tiers A and B are
drawn. Each round runs `xmine train --method msimcse --encoder scratch --steps 100 --batch-size
1024` from this checkout, from another one, and by torchrun in one process and in two, one thread
each. `results/training.json` is left: CPU seconds of the command and, of these, of the process that
makes the vocabulary, peak memory, bytes that the process wrote (pipes included), and the digest of
the vectors; of two processes how far their vectors are from those of one.
"""

import argparse
import csv
import gzip
import hashlib
import json
import os
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from memory import cost_of
from safetensors.numpy import load_file

from xmine.evaluation.reports.record import record, write_record

HERE = Path(__file__).parent
TRAIN = "train pairs.tsv --method msimcse --encoder scratch --steps 100 --batch-size 1024 --force"
# Tells what the process and its children took, which torchrun's own process does not see.
WATCHED = """
import atexit, json, os, resource, sys
def tell():
    io = dict(line.split(": ") for line in open("/proc/self/io"))
    child = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = {"written": int(io["wchar"]), "vocabulary": child.ru_utime + child.ru_stime}
    json.dump(told, open("told." + os.environ.get("RANK", "0"), "w"))
atexit.register(tell)
from xmine.cli import run
sys.argv[0] = "xmine"
run()
"""


def main() -> None:
    """Measure, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--against", type=Path, help="a checkout of an earlier version")
    parser.add_argument("--pairs", type=int, default=30_000)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1"}
    two = ["-m", "torch.distributed.run", "--master_port", "29544", "--nproc_per_node"]
    contenders: dict[str, tuple[Path, list[str]]] = {"now": (HERE.parent, [])}
    if arguments.against:
        contenders["before"] = arguments.against.resolve(), []
    contenders |= {f"torchrun {each}": (HERE.parent, [*two, each]) for each in "12"}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in contenders}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        draw(arguments.data, arguments.pairs)
        Path("watched.py").write_text(WATCHED)
        for _ in range(arguments.rounds):
            for name, (checkout, launcher) in contenders.items():
                found[name].append(trained(name, checkout, launcher))
                print(name, found[name][-1], flush=True)
        apart = distance(Path("torchrun-1"), Path("torchrun-2"))
    figures = {"command": f"xmine {TRAIN}", "pairs": arguments.pairs, "runs": found} | apart
    write_record(HERE / "results" / "training.json", record(figures))


def draw(data: Path, count: int) -> None:
    """Write some pairs of the tiers A and B, always the same."""
    with gzip.open(data, "rt", encoding="utf-8", newline="\n") as lines:
        rows = [
            x for x in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if x[-1] in "AB"
        ]
    random.Random(1).shuffle(rows)
    text = "".join(f"{english}\t{chinese}\n" for english, chinese, *_ in rows[:count])
    Path("pairs.tsv").write_text(text, encoding="utf-8")


def trained(name: str, checkout: Path, launcher: list[str]) -> dict[str, Any]:
    """Train once, and tell what it took."""
    os.environ["PYTHONPATH"] = str(checkout)
    output = name.replace(" ", "-")
    cost = cost_of([sys.executable, *launcher, "watched.py", *TRAIN.split(), "-q", "-o", output])
    if cost.code:
        sys.exit(cost.output)
    told = json.loads(Path("told.0").read_text())
    weights = Path(output, "model.safetensors").read_bytes()
    return {
        **cost.figures(),
        "of_these_vocabulary": round(told["vocabulary"], 2),
        "megabytes_written": round(told["written"] / 1e6, 1),
        "sha256": hashlib.sha256(weights).hexdigest(),
    }


def distance(one: Path, other: Path) -> dict[str, float]:
    """Tell how many whole numbers of two tables differ, by how much at most, and the scales."""
    first, second = (load_file(each / "model.safetensors") for each in (one, other))
    rows = [each["embeddings"].astype(np.int16) for each in (first, second)]
    scales = [each["weights"] for each in (first, second)]
    known = scales[0] > 0
    return {
        "share_of_numbers_that_differ": float((rows[0] != rows[1]).mean()),
        "at_most_of_127": int(np.abs(rows[0] - rows[1]).max()),
        "scales_differ_at_most": float(np.abs(scales[1][known] / scales[0][known] - 1).max()),
    }


if __name__ == "__main__":
    main()
