"""The tables of a run as Parquet: the sentences of a side, and the candidates.

`SIDE.parquet` has a row per sentence, `SIDE.repeats.parquet` a row per line that was folded into an
earlier one, `candidates.parquet` a row per pair that could be kept. polars is loaded when a table
is written or read.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xmine.errors import FileError
from xmine.files.atomic import replacing
from xmine.files.records import open_parquet, write_parquet
from xmine.text.sentences import Sentences

if TYPE_CHECKING:
    import polars as pl

ROWS_OF_A_GROUP = 65536

_AGAIN = "mine into another folder"

_TEXTS = ("text", "place")
KEPT = "kept."  # begins the names of columns that were kept of an input
OUTCOMES = "kept", "below", "dropped"  # what became of a candidate
_COUNTS = ("total", "blank", "repeated", "unknown")


def write_table(sentences: Sentences, path: Path) -> None:
    """Write `line`, `offset` if lines were cut into sentences, `occurrences`, `text`, `place`.

    The file's metadata has the name and the counts of `Sentences`. Repeated lines, if there are
    any, go to `NAME.repeats.parquet`.
    """
    import polars as pl

    metadata = {each: str(getattr(sentences, each)) for each in ("name", *_COUNTS)}
    metadata["unknown_lines"] = " ".join(map(str, sentences.unknown_lines))
    metadata["files"] = json.dumps(sentences.files)
    columns = {
        "line": sentences.lines,
        "offset": sentences.offsets,
        "occurrences": sentences.occurrences,
        "text": sentences.texts,
        "place": sentences.places,
        **{f"{KEPT}{name}": column for name, column in sentences.kept.items()},
    }
    given = {name: column for name, column in columns.items() if column is not None}
    schema = {
        name: pl.String if name in _TEXTS or name.startswith(KEPT) else pl.Int64 for name in given
    }
    if sentences.stands_for is not None:
        lines = np.arange(1, sentences.total + 1)
        folded = np.flatnonzero(sentences.stands_for != lines)
        repeats = {"line": lines[folded], "stands_for": sentences.stands_for[folded]}
        beside = path.with_suffix(".repeats.parquet")
        write_columns(beside, dict.fromkeys(repeats, pl.Int64), len(folded), repeats)
    write_columns(path, schema, len(sentences), given, metadata)


def write_columns(
    path: Path,
    schema: "Mapping[str, type[pl.DataType]]",
    rows: int,
    columns: Mapping[str, Any],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write a table of a run, a group of rows at a time; a column that is None is null."""
    import polars as pl

    def group(start: int) -> pl.DataFrame:
        some = slice(start, min(rows, start + ROWS_OF_A_GROUP))
        given = {name: None if each is None else each[some] for name, each in columns.items()}
        return pl.DataFrame(given, schema)

    with replacing(path) as partial, partial.open("wb") as stream:
        blocks = map(group, range(0, rows, ROWS_OF_A_GROUP))
        write_parquet(blocks, schema, stream, metadata or {}, ROWS_OF_A_GROUP)


def read_columns(path: Path, *names: str) -> "tuple[pl.DataFrame, dict[str, str]]":
    """Read those of some columns that the table of a side has, `line` among them.

    `KEPT` stands for all columns that were kept.

    Returns:
        the columns, and the metadata: the name of the side's file, and the counts of its lines.
    """
    import polars as pl

    with open_parquet(path) as file:
        schema, metadata = file.schema, file.metadata
        is_one = "line" in schema and schema.get("text") == pl.String and "name" in metadata
        if not is_one or not all(metadata.get(each, "").isdecimal() for each in _COUNTS):
            raise FileError(f"{path}: not a line table", _AGAIN)
        table = file.read(
            *(each for each in schema if each in names or (KEPT in names and each.startswith(KEPT)))
        )
    _check_lines(table["line"], int(metadata["total"]), path)
    return table, metadata


def _check_lines(numbers: "pl.Series", total: int, path: Path) -> None:
    """Refuse a column that has anything but lines of a file, from 1 to `total`."""
    if numbers.dtype.is_integer() and numbers.is_between(1, total).all(ignore_nulls=False):
        return
    raise FileError(f"{path}: it has lines that are not there", _AGAIN)


def candidates_schema() -> "dict[str, type[pl.DataType]]":
    """Give the type of each column of the candidates."""
    import polars as pl

    return {
        "source": pl.Int64,
        "target": pl.Int64,
        "score": pl.Float32,
        "cosine": pl.Float32,
        "prob": pl.Float32,
        "flags": pl.String,
        "eligible": pl.Boolean,
        "margin": pl.Float32,
        "kept": pl.Boolean,
        "outcome": pl.String,
        "reason": pl.String,
        "rival": pl.Int64,
        "evidence": pl.String,
    }
