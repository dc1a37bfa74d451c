"""Train by every method on a GPU: its losses beside the processor's, and time and memory of a step.

    python bench/gpu.py PAIRS --work FOLDER --json OUT.json [--parts losses,steps] [--methods moco]

    losses   200 steps of a small transformer without dropout, in float32 on the processor and in
             bfloat16 on the GPU: how far the losses of the same step are apart, and whether a
             second run on the GPU has the same losses
    steps    steps of a transformer as large as BERT's base model, in bfloat16: time, memory, and
             floating-point operations per second as a share of those of a large matrix product

PAIRS is a file of English and Chinese; `--steps` needs so many batches of them. Operations are
those that torch counts in a step, with padding. A new encoder begins with random token vectors.
Figures of a method replace those of the same part and method in the JSON file.
"""

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scale import table
from torch.utils.flop_counter import FlopCounterMode

from xmine.evaluation.reports.record import record, write_record
from xmine.progress import Progress
from xmine.trainer.data.corpus import Corpus
from xmine.trainer.data.vocabulary import train_vocabulary
from xmine.trainer.methods import METHODS
from xmine.trainer.models.static import new_static
from xmine.trainer.train import train

Row = dict[str, object]
Size = dict[str, int]
PIECES, SAMPLE = 16_000, 200_000
SMALL: Size = {"dim": 128, "layers": 2, "heads": 2, "batch_size": 128, "max_tokens": 32}
BASE: Size = {"dim": 768, "layers": 12, "heads": 12, "batch_size": 1024, "max_tokens": 64}
NEW: dict[str, Any] = {
    "encoder": "scratch",
    "architecture": "transformer",
    "dropout": 0.0,
    "epochs": 1,
    "held_out": 1000,
}
ON_CPU = {"device": "cpu", "dtype": "float32"}
ON_GPU = {"device": "cuda", "dtype": "bfloat16"}
# What each method learns with; TEACHER stands for the static encoder.
TEACHER = "{teacher}"
QUEUE = {"queue_size": 4096, "in_batch_negatives": True}
RUNS: dict[str, dict[str, Any]] = {
    "moco": QUEUE,
    "msimcse": {"symmetric": True},
    "transaug": {"teacher": TEACHER, "distilled_encoder": "scratch", **QUEUE},
    "emma-x": QUEUE,
}
_WARM = 10  # steps that do not count: memory is taken, kernels are chosen
_SIDE = 8192  # rows and columns of the product that says what the GPU can do
_PRODUCTS = 20


def main() -> None:
    """Measure the parts asked for, print them as tables, save."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs")
    parser.add_argument("--work", type=Path, required=True, help="folder for encoders")
    parser.add_argument("--json", type=Path)
    for name, usual in (("parts", ["losses", "steps"]), ("methods", list(METHODS))):
        parser.add_argument(f"--{name}", type=lambda given: given.split(","), default=usual)
    parser.add_argument("--steps", type=int, default=200)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments.pairs, arguments.work, arguments.steps)
    found: dict[str, dict[str, object]] = {}
    if arguments.json and arguments.json.exists():
        found = json.loads(arguments.json.read_text(encoding="utf-8"))
    about = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
    for part in arguments.parts:
        for method in arguments.methods:
            rows = list({"losses": bench.losses, "steps": bench.steps}[part](method))
            print(f"\n{table(rows)}\n", flush=True)
            found.setdefault(part, {})[method] = record({**about, "rows": rows})
            if arguments.json:  # after every method, since a later one may fail
                write_record(arguments.json, found)


@dataclass
class Watch:
    """Losses of a run, and the time of each step, stage by stage.

    Attributes:
        losses: stage -> the loss of each step.
        seconds: stage -> when each step had ended.
        operations: stage -> floating-point operations until then.
    """

    counter: FlopCounterMode | None = None
    losses: dict[str, list[float]] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    operations: dict[str, list[int]] = field(default_factory=dict)

    def __call__(self, progress: Progress) -> None:
        """Note a step."""
        if "loss" not in progress.numbers:
            return
        stage = progress.stage
        self.losses.setdefault(stage, []).append(progress.numbers["loss"])
        self.seconds.setdefault(stage, []).append(time.perf_counter())
        done = self.counter.get_total_flops() if self.counter else 0
        self.operations.setdefault(stage, []).append(done)

    def step_seconds(self, stage: str) -> float:
        """Give the median time of a step."""
        ends = self.seconds[stage][_WARM:]
        return statistics.median(end - start for start, end in pairwise(ends))


class Bench:
    """Corpus and folder, and the parts that are measured with them."""

    def __init__(self, pairs: str, work: Path, steps: int) -> None:
        """Read the pairs; Emma-X takes their sides as texts besides."""
        read = Corpus.read(pairs)
        assert read.pairs
        self.corpus, self.work, self.taken = read, work, steps
        sides = (read.pairs.sources, read.pairs.targets)
        files = np.repeat(np.arange(2), len(read.pairs))
        self.as_texts = replace(read, texts=[*sides[0], *sides[1]], text_files=files)
        self.vocabulary = train_vocabulary(*sides, PIECES, sample=SAMPLE, seed=1)

    def losses(self, method: str) -> Iterator[Row]:
        """Compare a method's losses on both devices."""
        exact = self.run(method, SMALL, self.taken, ON_CPU)
        quick = self.run(method, SMALL, self.taken, ON_GPU)
        again = self.run(method, SMALL, self.taken, ON_GPU)
        for stage, losses in exact.losses.items():
            both = list(zip(losses, quick.losses[stage], strict=True))
            yield {
                "method": method,
                "stage": stage,
                "steps": len(both),
                "first_loss": round(both[0][0], 4),
                "last_loss": round(both[-1][0], 4),
                "mean_difference": round(statistics.fmean(abs(a - b) for a, b in both), 5),
                "largest_difference": round(max(abs(a - b) for a, b in both), 5),
                "largest_relative": round(max(abs(a - b) / abs(a) for a, b in both), 5),
                "same_again": again.losses[stage] == quick.losses[stage],
            }

    def steps(self, method: str) -> Iterator[Row]:
        """Time steps of a large encoder, then count the operations of some."""
        best = product_speed()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        timed = self.run(method, BASE, 3 * _WARM, ON_GPU)
        memory = torch.cuda.max_memory_allocated()
        with FlopCounterMode(display=False) as counter:
            few = Watch(counter)
            self.run(method, BASE, 3, ON_GPU, few)
        for stage in timed.losses:
            seconds = timed.step_seconds(stage)
            done = few.operations[stage]
            speed = (done[-1] - done[-2]) / seconds
            yield {
                "method": method,
                "stage": stage,
                "pairs": BASE["batch_size"],
                "step_ms": round(1000 * seconds, 1),
                "pairs_per_second": round(BASE["batch_size"] / seconds),
                "run_peak_gb": round(memory / 1e9, 2),
                "tflops": round(speed / 1e12, 1),
                "product_tflops": round(best / 1e12, 1),
                "share": round(speed / best, 3),
            }

    def run(
        self,
        method: str,
        size: Size,
        steps: int,
        how: dict[str, str],
        watch: Watch | None = None,
    ) -> Watch:
        """Train new encoders of a size for some steps."""
        start = self.work / f"start-{size['dim']}"
        if not start.exists():
            new_static(self.vocabulary, size["dim"], seed=1).save(start)
        watch = watch or Watch()
        own = {name: str(start) if x == TEACHER else x for name, x in RUNS[method].items()}
        flags: dict[str, Any] = {**NEW, "start": str(start), "steps": steps, **size, **how, **own}
        options = METHODS[method].options(**flags)
        corpus = self.as_texts if method == "emma-x" else self.corpus
        train(method, corpus, options, self.work / f"{method}-run", watch, force=True)
        return watch


def product_speed() -> float:
    """Measure the operations per second of a large product in bfloat16."""
    left, right = torch.randn(2, _SIDE, _SIDE, device="cuda", dtype=torch.bfloat16)
    times = []
    for _ in range(_PRODUCTS):
        torch.cuda.synchronize()
        started = time.perf_counter()
        left @ right
        torch.cuda.synchronize()
        times.append(time.perf_counter() - started)
    return 2 * _SIDE**3 / statistics.median(times)


if __name__ == "__main__":
    main()
