"""The tables of a run as Parquet: the sentences of a side, and the candidates.

`SIDE.parquet` has a row per sentence, `SIDE.repeats.parquet` a row per line that was folded into an
earlier one, `candidates.parquet` a row per pair that could be kept. polars is loaded when a table
is written or read.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.files import scratch
from xmine.files.atomic import replacing
from xmine.files.records import open_parquet, write_parquet
from xmine.text.packed import PackedTexts
from xmine.text.sentences import Sentences

if TYPE_CHECKING:
    import polars as pl

ROWS_OF_A_GROUP = 65536

_AGAIN = "mine into another folder"

_COUNTS = ("total", "blank", "repeated", "unknown")


def write_table(sentences: Sentences, path: Path) -> list[Path]:
    """Write `line`, `offset` if lines were cut into sentences, `occurrences` and `text`.

    The file's metadata has the name and the counts of `Sentences`.

    Returns:
        The files that were written: `path`, and before it that of the repeated lines, if any.
    """
    import polars as pl

    metadata = {each: str(getattr(sentences, each)) for each in ("name", *_COUNTS)}
    metadata["unknown_lines"] = " ".join(map(str, sentences.unknown_lines))
    columns = {
        "line": sentences.lines,
        "offset": sentences.offsets,
        "occurrences": sentences.occurrences,
        "text": sentences.texts,
    }
    given = {name: column for name, column in columns.items() if column is not None}
    schema = {name: pl.String if name == "text" else pl.Int64 for name in given}
    written = []
    if sentences.stands_for is not None:
        written.append(path.with_suffix(".repeats.parquet"))
        lines = np.arange(1, sentences.total + 1)
        folded = np.flatnonzero(sentences.stands_for != lines)
        repeats = {"line": lines[folded], "stands_for": sentences.stands_for[folded]}
        write_columns(written[0], dict.fromkeys(repeats, pl.Int64), len(folded), repeats)
    write_columns(path, schema, len(sentences), given, metadata)
    return [*written, path]


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


def read_table(path: Path) -> Sentences:
    """Read what `write_table` wrote."""
    table, metadata = read_columns(path, "line", "offset", "occurrences")
    numbers = {name: scratch.stored(table[name].to_numpy()) for name in table.columns}
    return Sentences(
        metadata["name"],
        _packed_texts(path),
        numbers["line"],
        **{each: int(metadata[each]) for each in _COUNTS},
        unknown_lines=tuple(map(int, metadata.get("unknown_lines", "").split())),
        offsets=numbers.get("offset"),
        occurrences=numbers.get("occurrences"),
        stands_for=read_repeats(path, int(metadata["total"])),
    )


def read_columns(path: Path, *names: str) -> "tuple[pl.DataFrame, dict[str, str]]":
    """Read those of some columns that the table of a side has, `line` among them.

    Returns:
        the columns, and the metadata: the name of the side's file, and the counts of its lines.
    """
    import polars as pl

    with open_parquet(path) as file:
        schema, metadata = file.schema, file.metadata
        is_one = "line" in schema and schema.get("text") == pl.String and "name" in metadata
        if not is_one or not all(metadata.get(each, "").isdecimal() for each in _COUNTS):
            raise FileError(f"{path}: not a line table", _AGAIN)
        table = file.read(*(name for name in names if name in schema))
    _check_lines(table["line"], int(metadata["total"]), path)
    return table, metadata


def read_repeats(path: Path, total: int) -> NDArray[np.int64] | None:
    """Read which line each of `total` lines stands for; None if none was folded into another."""
    path = path.with_suffix(".repeats.parquet")
    if not path.exists():
        return None
    with open_parquet(path) as file:
        if not {"line", "stands_for"} <= set(file.schema):
            raise FileError(f"{path}: not a table of repeated lines", _AGAIN)
        repeats = file.read("line", "stands_for")
    for name in repeats.columns:
        _check_lines(repeats[name], total, path)
    stands_for = scratch.stored(np.arange(1, total + 1))
    stands_for[repeats["line"].to_numpy() - 1] = repeats["stands_for"].to_numpy()
    return stands_for


def _check_lines(numbers: "pl.Series", total: int, path: Path) -> None:
    """Refuse a column that has anything but lines of a file, from 1 to `total`."""
    if numbers.dtype.is_integer() and numbers.is_between(1, total).all(ignore_nulls=False):
        return
    raise FileError(f"{path}: it has lines that are not there", _AGAIN)


def _packed_texts(path: Path) -> PackedTexts:
    """Read the texts of a table, a block at a time: they are held once."""
    data, lengths = scratch.Spool(), [np.zeros(1, dtype=np.int64)]
    with open_parquet(path) as file:
        for block in file.blocks([file.texts(["text"])], ROWS_OF_A_GROUP):
            texts = block.to_series()
            data.append(texts.str.join("").item().encode())
            lengths.append(texts.str.len_bytes().to_numpy())
    return PackedTexts(data.array(), scratch.stored(np.cumsum(np.concatenate(lengths))))


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
    }
