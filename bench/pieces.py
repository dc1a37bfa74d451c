"""How many pieces should go through a transformer's layers at once? Seconds for each number.

    python bench/pieces.py TEXT MODEL [--json FILE]

Reads every eighth line of TEXT, 256 at most, with and without gradients, with `--tokens-at-once`
of each number in turn; all at once is what a batch was before there was such an option. The better
of two turns counts.
"""

import argparse
import time
from pathlib import Path

import torch

from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.reports.record import record, write_record
from xmine.text.inputs import read_texts
from xmine.trainer.data.rows import Side
from xmine.trainer.models.transformer import TransformerTower

NUMBERS = (512, 1024, 2048, 4096, 8192, 10**9)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", type=Path)
    parser.add_argument("model")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    tower = TransformerTower(SentenceEncoder.load(arguments.model))
    side = tower.cut(list(read_texts(arguments.text))[::8][:256])
    rows = []
    for number in NUMBERS:
        tower.tokens_at_once = number
        reading, learning = (
            min(seconds(tower, side, learns=learns) for _ in range(2)) for learns in (False, True)
        )
        rows.append({"pieces": number, "reading": reading, "learning": learning})
        print(f"{number:>12,} {reading:8.2f} s {learning:8.2f} s with gradients", flush=True)
    if arguments.json:
        facts = {"sentences": len(side), "pieces": len(side.ids), "dtype": tower.body.dtype}
        write_record(
            arguments.json, record({**facts, "threads": torch.get_num_threads(), "rows": rows})
        )


def seconds(tower: TransformerTower, side: Side, *, learns: bool) -> float:
    """Measure one batch."""
    began = time.perf_counter()
    with torch.set_grad_enabled(learns):
        vectors = tower.embed(side)
        if learns:
            torch.autograd.backward(vectors.sum())
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
