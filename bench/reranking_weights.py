"""Fit the weights of reranking of an encoder that was trained with a file of options.

    python bench/reranking_weights.py PAIRS... [--encoder FOLDER] [--options FILE] [--seeds 1 2 3]

Holds the same pairs out of PAIRS as the training did, fits the weights with each seed, and prints
these and how long that took. With one seed, the weights are written into the folder of the encoder,
which is the one that ships if left out. `xmine train` fits weights in the same way: on as many
pairs of each two languages, in mixtures of their own.
"""

import argparse
import time
from dataclasses import asdict
from pathlib import Path

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.options import load_toml
from xmine.pairs.io import read_parallel
from xmine.trainer.options.msimcse import MsimcseOptions
from xmine.trainer.run.prepare import Split
from xmine.trainer.run.reranking import fitted_weights


def main() -> None:
    """Fit, print, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("pairs", nargs="+", help="pairs that the encoder was trained on")
    parser.add_argument("--encoder", type=Path, default=EMBEDDED)
    parser.add_argument("--options", type=Path, default=None, help="default: that of the encoder")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    given = parser.parse_args()
    options = MsimcseOptions(**load_toml(given.options or given.encoder / "options.toml"))
    held_out = Split.of(read_parallel(*given.pairs), options).held_out
    encoder = SentenceEncoder.load(given.encoder)
    for seed in given.seeds:
        started = time.perf_counter()
        weights = fitted_weights(encoder, held_out, seed)
        if weights is None:
            parser.error(f"{len(held_out):,} held-out pairs are too few")
        figures = ", ".join(f"{name} {value:g}" for name, value in asdict(weights).items())
        print(f"seed {seed}, {time.perf_counter() - started:.0f} s: {figures}", flush=True)
        if len(given.seeds) == 1:
            weights.save(given.encoder)


if __name__ == "__main__":
    main()
