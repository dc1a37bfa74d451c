"""Parquet: typed columns with the names of `Pair`, or a `translation` struct with two languages.

polars is loaded only when such a file is read or written.
"""

from collections.abc import Iterable, Iterator
from itertools import islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from xmine.errors import FileError
from xmine.files.reading import name_of
from xmine.files.records import ParquetFile, is_text, open_parquet, write_parquet
from xmine.pairs.language_choice import Choice
from xmine.pairs.losses import SURROGATES, Losses, Rules
from xmine.pairs.pair import (
    COLUMNS,
    Languages,
    Pair,
    in_order,
    is_kept,
    pair_schema,
    split_head,
)
from xmine.text.languages import UNKNOWN_LANGUAGE
from xmine.version import __version__

if TYPE_CHECKING:
    import polars as pl

ROWS_OF_A_GROUP = 20_000
_ROWS_AT_A_TIME = 5_000
_RULES = Rules(SURROGATES)


def write(stream: BinaryIO, pairs: Iterable[Pair], languages: Languages, losses: Losses) -> None:
    """Write row groups of zstd-compressed columns: those that some pair of the first group has.

    The file's metadata has the keys `xmine`, the version, and `languages`, such as `en,zh`.
    """
    metadata = {"xmine": __version__, "languages": ",".join(languages)}
    blocks = frames(pairs, losses, _RULES)
    schema = pair_schema(next(blocks).columns)
    write_parquet(blocks, schema, stream, metadata, ROWS_OF_A_GROUP)


def frames(pairs: Iterable[Pair], losses: Losses, rules: Rules) -> "Iterator[pl.DataFrame]":
    """Make an empty table, then one of each ROWS_OF_A_GROUP pairs; `rules` fit their texts."""
    import polars as pl

    held, pairs = split_head(pairs, ROWS_OF_A_GROUP)
    names = in_order(held | {"source", "target"})
    schema = pair_schema(names)
    yield pl.DataFrame(schema=schema)
    while some := list(islice(pairs, ROWS_OF_A_GROUP)):
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for pair in some:
            facts = pair.facts()
            losses.leave_out(facts.keys() - columns)
            for name, column in columns.items():
                value = facts.get(name)
                column.append(losses.fit(value, rules) if isinstance(value, str) else value)
        yield pl.DataFrame(columns, schema)


def languages(path: str | Path) -> Languages | None:
    """Read the languages out of the metadata or, of a `translation`, out of its type."""
    with open_parquet(path) as file:
        return _said(file)


def _said(file: ParquetFile) -> Languages | None:
    said = file.metadata.get("languages", "").split(",")
    if "source" not in file.schema and "translation" in file.schema:
        said = _fields(file)
    return (said[0] or UNKNOWN_LANGUAGE, said[1] or UNKNOWN_LANGUAGE) if len(said) == 2 else None


def _fields(file: ParquetFile) -> list[str]:
    """Name the fields of the column `translation`; none if it is no struct."""
    return [field.name for field in getattr(file.schema["translation"], "fields", ())]


def read(
    path: str | Path, chosen: Languages | None = None, losses: Losses | None = None
) -> Iterator[Pair]:
    """Read pairs, some thousand rows at a time.

    `chosen` names two languages of a `translation`, or two columns. Without it a `translation` must
    have two languages, source first.
    """
    name = name_of(path)
    choice = Choice(path, chosen)
    with open_parquet(path) as file:
        sides = dict(zip(("source", "target"), _sides(file, choice, name), strict=True))
        others = [each for each in COLUMNS if each in file.schema and each not in sides]
        _check_types(file, {**{each: (each,) for each in others}, **sides}, name)
        columns = [file.texts(path).alias(side) for side, path in sides.items()]
        columns += [_column(file, each) for each in others]
        kept = [each for each, kind in file.schema.items() if is_kept(each) and is_text(kind)]
        columns += [file.texts([each]).alias(each) for each in kept]
        for block in file.blocks(columns, _ROWS_AT_A_TIME):
            given: dict[str, Iterable[Any]] = {each: block[each] for each in block.columns}
            given |= {"more": block.select(kept).iter_rows(named=True)} if kept else {}
            some = map(Pair, *(given.get(each, repeat(None)) for each in Pair._fields))
            yield from map(choice.turned, some)


def _sides(file: ParquetFile, choice: Choice, name: str) -> list[tuple[str, ...]]:
    """Choose the columns of source and target, each a path: a language may be in a struct."""
    names = list(file.schema)
    if "source" in names and "target" in names:
        choice.of_columns(_said(file))
    codes = _fields(file) if "translation" in names else None
    hint = "pairs have columns source and target, or translation: a struct of two texts; "
    return choice.columns(names, codes, name, "column", hint + f"or name two columns: {name}:en,zh")


def _check_types(file: ParquetFile, columns: dict[str, tuple[str, ...]], name: str) -> None:
    import polars as pl

    for each, path in columns.items():
        (_, kind), wanted = file.column(path), COLUMNS[each]
        fits = is_text(kind) if wanted is str else kind.is_integer()
        if not (fits or kind == pl.Null or (wanted is float and kind.is_float())):
            words = {str: "text", int: "whole numbers", float: "numbers"}
            raise FileError(
                f"{name}: the column {'.'.join(path)!r} is {str(kind).lower()}, "
                f"not {words[wanted]}",
                "write it again with that type",
            )


def _column(file: ParquetFile, name: str) -> "pl.Expr":
    """Read a column that a pair may lack; what it lacks is null."""
    import polars as pl

    if name == "flags":  # empty where none were found, null where nobody looked
        return file.column([name])[0].cast(pl.String)
    if COLUMNS[name] is str:
        return file.texts([name]).replace("", None)
    column, kind = file.column([name])
    if COLUMNS[name] is float:
        return column.cast(pl.Float64).fill_nan(None)  # pandas writes NaN for what is not there
    return column.cast(pl.Int64) if kind == pl.Null else column
