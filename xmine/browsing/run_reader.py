"""A mining run -> all its candidates in memory, whatever was kept of them.

People copy, edit and mix up the files of a run; what does not fit is named before it is looked at.
"""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from xmine.browsing.opened import Bools, Opened, Rows, Side
from xmine.errors import FileError, OptionError
from xmine.files.records import open_parquet
from xmine.flags.flag_set import Flags
from xmine.flags.names import FLAGS
from xmine.mining.options import MiningOptions
from xmine.pairs.pair import UNKNOWN, Languages
from xmine.run.folder import PAIRS_FILE, RUN_FILE, STAGES, SUMMARY_FILE
from xmine.run.run_file import check_written, read_tables
from xmine.run.tables import read_table
from xmine.scoring.threshold import floored

_SOURCE, _TARGET = "source.parquet", "target.parquet"
_CANDIDATES = "candidates.parquet"
_KINDS = {
    "source": "int64",
    "target": "int64",
    "score": "float",
    "cosine": "float",
    "prob": "float",
    "flags": "string",
    "eligible": "bool",
}
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
    sources, targets = (table.column(name).to_numpy() for name in ("source", "target"))
    scores, cosines = (table.column(name).to_numpy() for name in ("score", "cosine"))
    probs = table.column("prob")
    kept = _kept(folder / PAIRS_FILE, source, target, sources, targets)
    summary.number("translations")
    allowed = table.column("eligible").to_numpy()
    opened = Opened(
        folder,
        source,
        target,
        sources,
        targets,
        scores,
        cosines,
        None if probs.null_count == len(table) else probs.to_numpy(),
        _flags(table.column("flags")),
        kept,
        allowed,
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
    return replace(opened, cut=cut, eligible=kept | (allowed & (ranks < cut)))


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
    table = read_table(path)
    return Side(table.name, table.packed, table.lines, table.offsets)


def _candidates(path: Path, source: Side, target: Side) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Read the pairs, of sentences that are there."""
    with open_parquet(path) as file:
        there = {field.name: str(field.type) for field in file.schema_arrow}
        for name, kind in _KINDS.items():
            if there.get(name) != kind:
                has = f"{name} is {there[name]}, not {kind}" if name in there else f"no {name}"
                raise FileError(f"{path}: not the candidates of a run: {has}", _AGAIN)
        table = file.read(columns=list(_KINDS))
    for name in ("source", "target", "score", "cosine"):
        if table.column(name).null_count:
            raise FileError(f"{path}: a pair without {name}", _AGAIN)
    for name, side in (("source", source), ("target", target)):
        rows = table.column(name).to_numpy()
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(side.lines):
            raise FileError(
                f"{path}: a pair of row {rows.max():,} of {name}.parquet, which has "
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
    with open_parquet(path) as file:
        kept: Bools = np.zeros(len(sources), dtype=bool)
        if not file.metadata.num_rows:  # then there are no columns of lines either
            return kept
        names = [f"{name}_line" for name in ("source", "target")]
        for side, name in ((source, "source_offset"), (target, "target_offset")):
            names += [name] * (side.offsets is not None)
        there = {field.name: str(field.type) for field in file.schema_arrow}
        for name in names:
            if there.get(name) != "int64":
                raise FileError(f"{path}: not the pairs of a run: no {name}", _AGAIN)
        columns = file.read(columns=names)
    if _are_first(columns, source, target, sources, targets):
        kept[: len(columns)] = True
        return kept
    found = []
    for side, name in ((source, "source"), (target, "target")):
        lines = columns.column(f"{name}_line").to_numpy()
        if side.offsets is None:
            found.append(np.searchsorted(side.lines, lines))
            continue
        offsets = columns.column(f"{name}_offset").to_numpy()
        room = int(side.offsets.max(initial=0)) + 1
        found.append(np.searchsorted(side.lines * room + side.offsets, lines * room + offsets))
    room = max(len(target.lines), 1)
    kept = np.isin(sources * room + targets, found[0] * room + found[1])
    if kept.sum() != len(columns):
        raise FileError(
            f"{path}: {len(columns) - kept.sum():,} of its pairs are not in {_CANDIDATES}", _AGAIN
        )
    return kept


def _are_first(
    columns: Any,  # noqa: ANN401 - pyarrow has no types
    source: Side,
    target: Side,
    sources: Rows,
    targets: Rows,
) -> bool:
    """Tell whether the kept pairs are the first candidates, as they are if no option drops any."""
    for side, rows, name in ((source, sources, "source"), (target, targets, "target")):
        first = rows[: len(columns)]
        for what, known in (("line", side.lines), ("offset", side.offsets)):
            if known is None:
                continue
            if not np.array_equal(columns.column(f"{name}_{what}").to_numpy(), known[first]):
                return False
    return True


def _flags(column: Any) -> Flags:  # noqa: ANN401 - pyarrow has no types
    """Read a column of names with commas between."""
    bits = _Bits()
    flags = (bits[names] for chunk in column.chunks for names in chunk.to_pylist())
    return Flags(np.fromiter(flags, np.uint16, len(column)))


class _Bits(dict[str | None, int]):
    """Names of flags -> the bits of them, see `Flags`."""

    def __missing__(self, names: str | None) -> int:
        known = [name for name in (names or "").split(",") if name in FLAGS]
        self[names] = sum(1 << FLAGS.index(name) for name in set(known))
        return self[names]
