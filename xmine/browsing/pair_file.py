"""A file of pairs in any format -> its pairs in memory."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from xmine.browsing.opened import Opened, TextColumn, TextSide, flags_of, numbers_of
from xmine.pairs.io import languages_of, read_pairs
from xmine.pairs.pair import UNKNOWN_LANGUAGES, pair_frame

if TYPE_CHECKING:
    import polars as pl


def open_file(path: Path) -> Opened:
    """Read the pairs of a file, in its order."""
    languages = languages_of(path) or UNKNOWN_LANGUAGES
    pairs = pair_frame(read_pairs(path))
    rows = np.arange(len(pairs))
    scores, origins = numbers_of(pairs["score"]), pairs["origin"]
    source, target = (pairs[f"{name}_line"].is_null().to_numpy() for name in ("source", "target"))
    return Opened(
        path,
        _side(pairs, "source", path),
        _side(pairs, "target", path),
        rows,
        rows,
        scores,
        numbers_of(pairs["cosine"]),
        numbers_of(pairs["prob"]),
        None if pairs["flags"].null_count() == len(pairs) else flags_of(pairs["flags"]),
        np.ones(len(pairs), dtype=bool),
        np.zeros(len(pairs), dtype=bool) if scores is None else ~np.isnan(scores),
        None,
        languages,
        {},
        {},
        margins=numbers_of(pairs["margin"]),
        numbered=(source, target) if source.any() or target.any() else None,
        origins=None if origins.null_count() == len(pairs) else TextColumn(origins.fill_null("")),
    )


def _side(pairs: "pl.DataFrame", name: str, path: Path) -> TextSide:
    """Take the texts of one side, and their lines; a pair without a line has its number."""
    import polars as pl

    numbers = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    lines = pairs.select(pl.coalesce(f"{name}_line", numbers)).to_series()
    return TextSide(f"{path}: {name}", TextColumn(pairs[name]), lines.to_numpy())
