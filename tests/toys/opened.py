"""A run in memory, without its files."""

from pathlib import Path

import numpy as np
import polars as pl

from xmine.browsing.opened import Opened, TextColumn, TextSide
from xmine.flags.flag_set import Flags
from xmine.flags.names import FLAGS


def opened_run(count: int, path: Path = Path("run"), dropped: list[int] | None = None) -> Opened:
    """A run of so many pairs, best first, cut at the probability 0.5; options drop some."""
    random = np.random.default_rng(1)
    scores = np.sort(random.normal(1.1, 0.1, count).astype(np.float32))[::-1].copy()
    side = TextSide("lines", TextColumn(pl.Series(["a"] * count)), np.arange(count) + 1)
    names = {name: np.zeros(count, dtype=bool) for name in FLAGS}
    rows = np.arange(count)
    exact = 1 / (1 + np.exp(-(scores.astype(np.float64) - 1.2) * 30))
    probs = exact.round(4).astype(np.float32)
    allowed = ~np.isin(rows, dropped or [])
    return Opened(
        *(path, side, side, rows, rows, scores, scores, probs, Flags.of(names)),
        *(allowed.copy(), allowed, 0.5, ("en", "zh"), {"pairs": {}}, {"translations": 150.0}),
    )
