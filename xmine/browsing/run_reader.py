"""A mining run -> all its candidates in memory, whatever was kept of them.

People copy, edit and mix up the files of a run; what does not fit is named before it is looked at.
"""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xmine.browsing.opened import Bools, Opened, Rows, Side, TextColumn, flags_of
from xmine.errors import FileError, OptionError
from xmine.files.records import open_parquet
from xmine.mining.options import MiningOptions
from xmine.pairs.pair import UNKNOWN, Languages
from xmine.run.folder import PAIRS_FILE, RUN_FILE, STAGES, SUMMARY_FILE
from xmine.run.run_file import check_written, read_tables
from xmine.run.tables import candidates_schema, read_columns
from xmine.scoring.threshold import floored

if TYPE_CHECKING:
    import polars as pl

_SOURCE, _TARGET = "source.parquet", "target.parquet"
_CANDIDATES = "candidates.parquet"
_AGAIN = "mine again, into another folder"


def open_run(folder: Path) -> Opened:
    """Read what a run has found.

    Raises:
        FileError: a file is missing or broken, or is not what a run writes or has written, or they
            do not belong together. Vectors, neighbours and traits are not read.
    """
    for name in (_SOURCE, _TARGET, _CANDIDATES, PAIRS_FILE):
        if not (folder / name).is_file():
            raise FileError(
                f"{folder}: a run that is not finished: it has no {name}",
                "give the command that began it again, and it goes on",
            )
    check_written(folder, *STAGES["texts"], *STAGES["pairs"])
    run, summary = _asked(folder / RUN_FILE), _Summary(folder / SUMMARY_FILE)
    source, target = (_side(folder / name) for name in (_SOURCE, _TARGET))
    table = _candidates(folder / _CANDIDATES, source, target)
    sources, targets = (table[name].to_numpy() for name in ("source", "target"))
    kept = _kept(folder / PAIRS_FILE, source, target, sources, targets)
    probs = table["prob"]
    opened = Opened(
        folder,
        source,
        target,
        sources,
        targets,
        table["score"].to_numpy(),
        table["cosine"].to_numpy(),
        None if probs.null_count() == len(table) else probs.to_numpy(),
        flags_of(table["flags"]),
        kept,
        table["eligible"].to_numpy(),
        summary.number("cut"),
        summary.languages(),
        run,
        summary.said,
    )
    ranks, cut = opened.ranks, opened.cut
    assert ranks is not None  # every candidate has a score
    if cut is None:  # below all that is kept, or above everything
        cut = floored(ranks[kept].min() if kept.any() else ranks.max(initial=0) + 1e-4)
        cut = min(cut, 1.0) if opened.by_probability else cut
    return replace(opened, cut=cut, eligible=kept | (opened.allowed & (ranks < cut)))


def _asked(path: Path) -> dict[str, Any]:
    """Read what the run was asked for."""
    tables = read_tables(path)
    if not tables:
        raise FileError(f"{path}: it is empty", _AGAIN)
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise FileError(f"{path}: {name} is no table", _AGAIN)
    known = {each.name for each in fields(MiningOptions)}
    asked = {**tables.get("neighbours", {}), **tables.get("pairs", {})}
    try:
        MiningOptions(**{name: value for name, value in asked.items() if name in known})
    except OptionError as error:
        raise FileError(f"{path}: {error.message}", error.hint) from error
    return tables


def _side(path: Path) -> Side:
    table, metadata = read_columns(path, "line", "offset", "text")
    offsets = table["offset"].to_numpy() if "offset" in table.columns else None
    return Side(metadata["name"], TextColumn(table["text"]), table["line"].to_numpy(), offsets)


def _candidates(path: Path, source: Side, target: Side) -> "pl.DataFrame":
    """Read the candidates; both sentences of each are in the tables of the sides."""
    import polars as pl

    schema = candidates_schema()
    with open_parquet(path) as file:
        for name, kind in schema.items():
            if file.schema.get(name) != kind:
                has = f"{name} is {file.schema[name]}" if name in file.schema else f"no {name}"
                raise FileError(f"{path}: not the candidates of a run: {has}", _AGAIN)
        table = file.read(*schema)
    for name in ("source", "target", "score", "cosine"):
        if table[name].null_count():
            raise FileError(f"{path}: a pair without {name}", _AGAIN)
    for name, side in (("source", source), ("target", target)):
        beyond = table.filter(~pl.col(name).is_between(0, len(side.lines) - 1))[name]
        if len(beyond):
            raise FileError(
                f"{path}: a pair of row {beyond[-1]:,} of {name}.parquet, which has "
                f"{len(side.lines):,}",
                _AGAIN,
            )
    return table


class _Summary:
    """What the command said at the end of the run; the library writes no such file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            read = {}
        except (OSError, ValueError) as error:
            raise self._broken(f"cannot be read: {error}") from error
        if not isinstance(read, dict):
            raise self._broken("it is no object")
        self.said: dict[str, Any] = read
        for name in ("options", "vectors"):
            if not isinstance(read.get(name, {}), dict):
                raise self._broken(f"{name} is no object")

    def number(self, name: str) -> float | None:
        value = self.said.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
            raise self._broken(f"{name} is {value!r}, not a number")
        return float(value)

    def languages(self) -> Languages:
        value = self.said.get("languages", UNKNOWN)
        match value:
            case [str(source), str(target)] | (str(source), str(target)):
                return source, target
        raise self._broken(f"languages is {value!r}, not two codes")

    def _broken(self, why: str) -> FileError:
        return FileError(f"{self._path}: {why}", "remove it, and open the run again")


def _kept(path: Path, source: Side, target: Side, sources: Rows, targets: Rows) -> Bools:
    """Mark the candidates that stand in the file of kept pairs, bool [candidates]."""
    import polars as pl

    places: dict[str, Rows] = {}
    for name, side, rows in (("source", source, sources), ("target", target, targets)):
        places[f"{name}_line"] = side.lines[rows]
        if side.offsets is not None:
            places[f"{name}_offset"] = side.offsets[rows]
    with open_parquet(path) as file:
        if not len(file):  # then there are no columns of lines either
            return np.zeros(len(sources), dtype=bool)
        for name in places:
            if file.schema.get(name) != pl.Int64:
                raise FileError(f"{path}: not the pairs of a run: no {name}", _AGAIN)
        pairs = file.read(*places)
    candidates = pl.DataFrame(places)
    if candidates.head(len(pairs)).equals(pairs):  # as they are if no option drops any
        return np.arange(len(sources)) < len(pairs)
    found = candidates.with_row_index("row").join(pairs, on=list(places), how="semi")
    if len(found) != len(pairs):
        raise FileError(
            f"{path}: {len(pairs) - len(found):,} of its pairs are not in {_CANDIDATES}", _AGAIN
        )
    kept: Bools = np.zeros(len(sources), dtype=bool)
    kept[found["row"].to_numpy()] = True
    return kept
