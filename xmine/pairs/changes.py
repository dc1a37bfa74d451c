"""Two tables of pairs -> the pairs that are new, gone and changed; when each pair of a run came.

Pairs are the same where both texts are equal. The first of several equal pairs, by file and line,
is the first of the others. A pair is changed if its probability (without one: its score) differs by
`BEYOND` or more, or if its source was paired with another target.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from xmine.display import count
from xmine.errors import FileError
from xmine.files.records import json_row, open_parquet
from xmine.pairs.losses import Losses
from xmine.pairs.pair import COLUMNS, pair_frame
from xmine.pairs.tsv import tsv_row
from xmine.run.folder import PAIRS_FILE, RUN_FILE, SINCE_FILE
from xmine.run.run_file import check_written
from xmine.run.tables import write_columns

if TYPE_CHECKING:
    import polars as pl

BEYOND = 0.05
KINDS = "new", "gone", "changed"
_TEXTS = ["source", "target"]
_SECONDS = "%Y-%m-%dT%H:%M:%S"
_LOG_DATE = 19  # characters


def counted(rows: "pl.DataFrame") -> dict[str, int]:
    """Count the rows of `compare` by kind."""
    return {name: int((rows["change"] == name).sum()) for name in KINDS}


def told(counts: dict[str, int]) -> str:
    """Say how many pairs are new, gone and changed."""
    if not any(counts.values()):
        return "the pairs are those of before"
    new, gone, changed = (counts[name] for name in KINDS)
    return f"new: {count(new, 'pair')}, gone: {gone:,}, changed: {changed:,}"


def read_table(path: str | Path) -> "pl.DataFrame":
    """Read the kept pairs of a run, or those of a file: a column for each of `COLUMNS`."""
    folder = Path(path)
    if (folder / RUN_FILE).is_file():
        check_written(folder, PAIRS_FILE)
        return read_kept(folder / PAIRS_FILE)
    from xmine.pairs.io import read_pairs

    return pair_frame(read_pairs(str(path)))


def read_kept(path: Path) -> "pl.DataFrame":
    """Read the pairs that a run has written."""
    import polars as pl

    with open_parquet(path) as file:
        if any(file.schema.get(name) != pl.String for name in _TEXTS):
            raise FileError(f"{path}: not the pairs of a run", "mine into another folder")
        found = file.read(*(name for name in COLUMNS if name in file.schema))
    return pl.concat([pair_frame([]), found], how="diagonal")


def compare(old: "pl.DataFrame", new: "pl.DataFrame") -> "pl.DataFrame":
    """Find the pairs of two tables, as `read_table` gives them, that differ.

    Returns:
        a row for each new pair, then for each that is gone, then for each that changed: `change`,
        one of KINDS, the columns of pairs, and `old_target`, `old_prob`, `old_score`, `old_flags`.
    """
    import polars as pl

    join = partial(pl.DataFrame.join, maintain_order="left")
    old, new = _numbered(old, _TEXTS), _numbered(new, _TEXTS)
    key = [*_TEXTS, "nth"]
    added, gone = join(new, old, key, "anti"), join(old, new, key, "anti")
    was = {f"old_{name}": name for name in ("prob", "score", "flags")}
    before = old.select(*key, **was)
    moved = join(new, before, key, "inner").filter(_moved())
    # Of what is left, a source that is on both sides has another target now.
    by_source = ["source", "nth"]
    added, gone = _numbered(added, ["source"]), _numbered(gone, ["source"])
    before = gone.select(*by_source, old_target="target", **was)
    again = join(added, before, by_source, "inner")
    kinds = [
        join(added, gone, by_source, "anti"),
        join(gone, added, by_source, "anti"),
        pl.concat([moved, again], how="diagonal"),
    ]
    named = zip(KINDS, kinds, strict=True)
    found = [each.select(pl.lit(name).alias("change"), pl.exclude("nth")) for name, each in named]
    return pl.concat(found, how="diagonal")


def rows_of(rows: "pl.DataFrame", losses: Losses, *, as_json: bool) -> Iterator[str]:
    """Make a line of names and a row of each pair, or an object of each pair."""
    names = [name for name in rows.columns if rows[name].null_count() < len(rows)]
    if not as_json:
        yield "\t".join(names or ["change", "source", "target"]) + "\n"
    for row in rows.select(names).iter_rows():
        cells = [round(each, 4) if isinstance(each, float) else each for each in row]
        if as_json:
            named = zip(names, cells, strict=True)
            yield json_row({name: each for name, each in named if each is not None})
        else:
            yield tsv_row(["" if each is None else str(each) for each in cells], losses)


def _numbered(pairs: "pl.DataFrame", key: list[str]) -> "pl.DataFrame":
    """Number the pairs that are equal, by their places; the order of the pairs stays."""
    import polars as pl

    places = ["source_file", "source_line", "target_file", "target_line"]
    return pairs.with_columns(nth=pl.int_range(pl.len()).over(key, order_by=pl.struct(places)))


def _moved() -> "pl.Expr":
    import polars as pl

    apart = [(pl.col(name) - pl.col(f"old_{name}")).abs() for name in ("prob", "score")]
    # Both are float32: .95 and .9 are not quite .05 apart.
    return (pl.coalesce(apart) >= BEYOND - 1e-6).fill_null(value=False)


def note_since(folder: Path, before: "pl.DataFrame", now: "pl.DataFrame") -> None:
    """Keep in a run which of its pairs were not there before, and when they came.

    The file has both texts and the time of each pair that the first mining lacked.
    """
    import polars as pl

    path, time = folder / SINCE_FILE, datetime.now(UTC).strftime(f"{_SECONDS}.%f")
    came = now.select(_TEXTS).unique(maintain_order=True).join(before, _TEXTS, "anti")
    dated = came.with_columns(since=pl.lit(time))
    known = None
    with suppress(FileError):  # of a file that somebody changed, no date is kept
        known = _dated(folder)
    if known is not None:
        dated = pl.concat([known.join(now, _TEXTS, "semi").join(came, _TEXTS, "anti"), dated])
    if len(dated) or known is not None:
        schema = dict.fromkeys(dated.columns, pl.String)
        write_columns(path, schema, len(dated), {name: dated[name] for name in dated.columns})


def _dated(folder: Path) -> "pl.DataFrame | None":
    """Read the pairs that came later; None where none did."""
    import polars as pl

    path = folder / SINCE_FILE
    if not path.is_file():
        return None
    with open_parquet(path) as file:
        if file.schema != dict.fromkeys([*_TEXTS, "since"], pl.String):
            raise FileError(f"{path}: not the dates of pairs", "remove it")
        return file.read(*_TEXTS, "since")


def came(folder: Path, pairs: "pl.DataFrame") -> "pl.Series":
    """Tell when each kept pair of a run came to it: 2026-11-28T09:30:00, in UTC.

    `pairs` has the columns `source` and `target`; a pair that nobody dated came first.
    """
    import polars as pl

    dated, log = _dated(folder), folder / "log.txt"
    first = log.read_text(encoding="utf-8")[:_LOG_DATE].replace(" ", "T") if log.is_file() else ""
    if dated is None:
        dated = pl.DataFrame(schema=dict.fromkeys([*_TEXTS, "since"], pl.String))
    return pairs.join(dated, _TEXTS, "left", maintain_order="left")["since"].fill_null(first)
