"""Time the loss against a queue of keys, and its gradient, at several sizes of the queue.

    python bench/key_queue.py [--sizes 4096,65536,409600] [--rows 1024] [--dim 768] [--device cuda]

The rows are random: neither time nor memory depends on what they are. Memory is what the process,
or the GPU, holds beside the queue and the rows. `results/key-queue.json` is left.
"""

import argparse
import re
import statistics
import time
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import normalize

from xmine.evaluation.reports.record import record, write_record
from xmine.trainer.losses.with_queue import contrast_with_queue
from xmine.trainer.models.queue import KeyQueue
from xmine.trainer.options.contrast import MocoOptions

RESULTS = Path(__file__).parent / "results" / "key-queue.json"
REPEATS = 3


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="4096,65536,409600")
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--dim", type=int, default=768)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    torch.manual_seed(1)
    found = []
    for size in map(int, arguments.sizes.split(",")):
        queue = KeyQueue(size, arguments.dim).to(device)
        queue.put(normalize(torch.randn(size, arguments.dim)), torch.arange(size)[:, None])
        rows = [normalize(torch.randn(arguments.rows, arguments.dim)).to(device) for _ in range(2)]
        texts = -1 - torch.arange(arguments.rows, device=device)[:, None]
        before, seconds = _held(device, anew=True), []
        for _ in range(REPEATS):
            query = rows[0].clone().requires_grad_()
            began = time.perf_counter()
            loss = contrast_with_queue(query, rows[1], texts, queue, 25.0, MocoOptions())
            torch.autograd.backward(loss)
            if device.type == "cuda":
                torch.cuda.synchronize()
            seconds.append(time.perf_counter() - began)
        megabytes = round((_held(device) - before) / 1e6)
        row = {"keys": size, "seconds": statistics.median(seconds), "megabytes": megabytes}
        found.append(row)
        print(f"{size:>9,} keys  {row['seconds']:8.3f} s  {megabytes:,} MB more")
    facts: dict[str, Any] = {"rows": arguments.rows, "dim": arguments.dim, "sizes": found}
    write_record(RESULTS, record({**facts, "device": arguments.device}))


def _held(device: torch.device, *, anew: bool = False) -> int:
    """Give the most bytes that were held so far, or since the last time that it began anew."""
    if device.type == "cuda":
        if anew:
            torch.cuda.reset_peak_memory_stats()
        return torch.cuda.max_memory_allocated()
    if anew:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return 1024 * int(re.findall(r"VmHWM:\s+(\d+)", status)[0])


if __name__ == "__main__":
    main()
