"""Two runs or files -> the pairs that differ, which are filtered, judged and written as others are.

The pairs are those of `xmine pairs diff`.
"""

from dataclasses import replace

import numpy as np

from xmine.browsing.opened import Opened, TextSide
from xmine.browsing.opening import opened_of
from xmine.pairs.changes import compare, read_table


def compare_opened(old: Opened, new: Opened) -> Opened:
    """Find the pairs that two runs or files keep and that differ: new, gone, then changed ones.

    `change` tells which is which, `compared` is `(old, new)`; `old_prob` and so on is what changed
    pairs had, in words. Pairs that are gone have the figures of `old`.
    """
    import polars as pl

    found = compare(read_table(old.path), read_table(new.path))
    found = found.with_columns(pl.col("old_prob", "old_score").round(4).cast(pl.String))
    opened = opened_of(found, new.path, new.languages)

    def placed(name: str) -> TextSide:
        """Count the lines of several files as the runs do, and tell where sentences start."""
        side, files, offsets = opened.side(name), new.side(name).files, found[f"{name}_offset"]
        lines = side.lines
        if files is not None and "file" in side.columns:
            places = zip(side.columns["file"], lines.tolist(), strict=True)
            lines = np.array([files.line(*place) for place in places], dtype=np.int64)
        starts = None if offsets.null_count() == len(found) else offsets.fill_null(0).to_numpy()
        return replace(side, lines=lines, offsets=starts, files=files)

    sides = placed("source"), placed("target")
    return replace(opened, source=sides[0], target=sides[1], compared=(old, new))
