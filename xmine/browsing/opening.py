"""A path -> the candidates of a run, kept or not, or the pairs of a file, in memory.

Digests tell which files of a run were changed; here files are refused that do not belong together.
"""

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmine.browsing.opened import CHANGES, FIGURES, Opened, TextColumn, TextSide
from xmine.errors import FileError, XmineError
from xmine.files.records import listed, open_parquet
from xmine.pairs.pair import BEAD_LINES, UNKNOWN_LANGUAGES, Languages, pair_frame
from xmine.pairs.paths import paths_to_read
from xmine.run.folder import ALIGNED, CANDIDATES_FILE, PAIRS_FILE, RESULTS, RUN_FILE, SUMMARY_FILE
from xmine.run.run_file import SEALED, check_written, read_tables
from xmine.run.tables import KEPT, candidates_schema, read_columns
from xmine.text.file_lines import FileLines

if TYPE_CHECKING:
    import polars as pl

_SOURCE, _TARGET = "source.parquet", "target.parquet"
_AGAIN = "mine again, into another folder"
_REMOVE = "remove it, and give the command that made the run again"


def open_pairs(path: Path) -> Opened:
    """Open a mining run, an alignment or a file of pairs."""
    if not (path / RUN_FILE).is_file():
        return _open_file(path)
    is_alignment = ALIGNED in read_tables(path / RUN_FILE).get("also", {})
    return _open_alignment(path) if is_alignment else _open_run(path)


def stamp(path: Path) -> list[tuple[int, int]] | None:
    """Tell one state of the pairs of a run or a file from another; None where none can be told."""
    with suppress(OSError, XmineError):
        in_run = [path / name for name in (CANDIDATES_FILE, SUMMARY_FILE)]
        files = in_run if path.is_dir() else map(Path, paths_to_read(path).paths)
        return [(found.st_ino, found.st_mtime_ns) for found in (each.stat() for each in files)]
    return None


def _open_run(folder: Path) -> Opened:
    """Read what a run has found."""
    _check_finished(folder, _SOURCE, _TARGET, CANDIDATES_FILE, PAIRS_FILE, SUMMARY_FILE)
    check_written(folder, *RESULTS, *SEALED)
    run, summary = read_tables(folder / RUN_FILE), _summary(folder / SUMMARY_FILE)
    source, target = (_side_of_run(folder / name) for name in (_SOURCE, _TARGET))
    table = _candidates(folder / CANDIDATES_FILE, source, target)
    languages = tuple(summary.get("languages", UNKNOWN_LANGUAGES))
    frame = table.with_columns(allowed="eligible")
    opened = Opened(folder, source, target, frame, summary["cut"], languages, run, summary)
    ranks = opened.ranks
    assert ranks is not None  # every candidate has a score
    may_keep = opened.allowed & (ranks < summary["cut"])
    return opened.with_columns(eligible=table["kept"].to_numpy() | may_keep)


def _check_finished(folder: Path, *names: str) -> None:
    for name in names:
        if not (folder / name).is_file():
            raise FileError(
                f"{folder}: a run that is not finished: it has no {name}",
                "give the command that began it again, and it goes on",
            )


def _open_alignment(folder: Path) -> Opened:
    """Read all beads; those of lines without counterpart have no probability."""
    results = (CANDIDATES_FILE, PAIRS_FILE, SUMMARY_FILE)
    _check_finished(folder, *results)
    check_written(folder, *results)
    summary, beads = _summary(folder / SUMMARY_FILE), _open_file(folder / CANDIDATES_FILE)
    languages = tuple(summary.get("languages", UNKNOWN_LANGUAGES))
    may_keep = beads.frame["prob"].is_not_null()
    beads = beads.with_columns(eligible=may_keep, allowed=may_keep)
    return replace(beads, path=folder, cut=summary["cut"], languages=languages)


def _side_of_run(path: Path) -> TextSide:
    table, metadata = read_columns(path, "line", "offset", "text", "place", KEPT)
    offsets = table["offset"].to_numpy() if "offset" in table.columns else None
    known = [name for name in table.columns if name == "place" or name.startswith(KEPT)]
    files = json.loads(metadata.get("files", "null"))
    return TextSide(
        metadata["name"],
        TextColumn(table["text"]),
        table["line"].to_numpy(),
        offsets,
        files=FileLines(*map(tuple, files)) if files else None,
        columns={name.removeprefix(KEPT): TextColumn(table[name]) for name in known},
    )


def _candidates(path: Path, source: TextSide, target: TextSide) -> "pl.DataFrame":
    """Read the candidates; both sentences of each are in the tables of the sides."""
    schema = candidates_schema()
    with open_parquet(path) as file:
        if wrong := [name for name, kind in schema.items() if file.schema.get(name) != kind]:
            raise FileError(
                f"{path}: not the candidates of a run: {listed('column', wrong)}", _AGAIN
            )
        table = file.read(*schema)
    for name, side in (("source", source), ("target", target)):
        if not table[name].is_between(0, len(side.lines) - 1).all(ignore_nulls=False):
            raise FileError(f"{path}: pairs of rows that {name}.parquet does not have", _AGAIN)
    return table


def _summary(path: Path) -> dict[str, Any]:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read: {error}", _REMOVE) from error
    if not isinstance(said, dict) or not isinstance(said.get("cut"), (int, float)):
        raise FileError(f"{path}: not the summary of a run: it has no cut", _REMOVE)
    return said


def _open_file(path: Path) -> Opened:
    """Read the pairs of a file."""
    from xmine.pairs.io import languages_of, read_pairs  # here: it loads every format

    languages = languages_of(path) or UNKNOWN_LANGUAGES
    return opened_of(pair_frame(read_pairs(path)), path, languages)


def opened_of(pairs: "pl.DataFrame", path: Path, languages: Languages) -> Opened:
    """Take the pairs of a table, in its order."""
    import polars as pl

    has_beads = pairs.select(pl.any_horizontal(pl.col(*BEAD_LINES).is_not_null().any())).item()
    numbered = {name: pairs[f"{name}_line"].is_null().to_numpy() for name in ("source", "target")}
    is_numbered = not has_beads and any(each.any() for each in numbered.values())
    rows = pl.int_range(pl.len(), dtype=pl.Int64)
    given = set(pairs.columns).intersection(CHANGES)
    frame = pairs.select(
        *(*FIGURES, "flags", "origin", *given),
        source=rows,
        target=rows,
        eligible=pl.repeat(True, pl.len()),
        allowed=pl.col("score").is_not_null(),
    )
    source, target = (
        _side_of(pairs, name, path, has_beads=has_beads) for name in ("source", "target")
    )
    numbers = numbered if is_numbered else {}
    return Opened(path, source, target, frame, None, languages, {}, {}, numbers)


def _side_of(pairs: "pl.DataFrame", name: str, path: Path, *, has_beads: bool) -> TextSide:
    """Take the texts of one side, and their lines; a pair without a line has its number."""
    import polars as pl

    numbers = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    firsts, lasts = pl.coalesce(f"{name}_line", numbers), pl.lit(0)
    if has_beads:
        lines = pl.col(f"{name}_lines")
        first, last = (
            lines.str.extract(each).cast(pl.Int64, strict=False) for each in (r"^(\d+)", r"(\d+)$")
        )
        before = last.forward_fill().fill_null(0)  # of a bead without lines: the one before
        firsts, lasts = pl.coalesce(first, before), pl.coalesce(last, before - 1)
    found = pairs.select(firsts=firsts, lasts=lasts)
    return TextSide(
        f"{path}: {name}",
        TextColumn(pairs[name]),
        found["firsts"].to_numpy(),
        lasts=found["lasts"].to_numpy() if has_beads else None,
        columns={
            each.removeprefix(f"{name}_"): TextColumn(pairs[each].fill_null(""))
            for each in pairs.columns
            if each.startswith(f"{name}_") and each not in BEAD_LINES
            if pairs[each].dtype == pl.String and pairs[each].null_count() < len(pairs)
        },
    )
