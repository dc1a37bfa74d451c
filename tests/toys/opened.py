"""A run in memory, without its files."""

from pathlib import Path

import numpy as np
import polars as pl

from xmine.browsing.opened import Opened, TextColumn, TextSide


def opened_run(count: int, path: Path = Path("run"), dropped: list[int] | None = None) -> Opened:
    """A run of so many pairs, best first, cut at the probability 0.5; options drop some."""
    random = np.random.default_rng(1)
    scores = np.sort(random.normal(1.1, 0.1, count).astype(np.float32))[::-1].copy()
    side = TextSide("lines", TextColumn(pl.Series(["a"] * count)), np.arange(count) + 1)
    exact = 1 / (1 + np.exp(-(scores.astype(np.float64) - 1.2) * 30))
    frame = pl.DataFrame(
        {
            "source": np.arange(count),
            "target": np.arange(count),
            "score": scores,
            "cosine": scores,
            "prob": exact.round(4).astype(np.float32),
            "margin": pl.repeat(None, count, dtype=pl.Float32, eager=True),
            "flags": [""] * count,
            "allowed": ~np.isin(np.arange(count), dropped or []),
        }
    ).with_columns(eligible="allowed")
    return Opened(
        path, side, side, frame, 0.5, ("en", "zh"), {"pairs": {}}, {"translations": 150.0}
    )
