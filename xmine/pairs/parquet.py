"""Parquet: typed columns with the names of `Pair`, or a `translation` struct with two languages.

pyarrow is loaded only when such a file is read or written.
"""

from collections.abc import Iterable, Iterator
from itertools import islice, repeat
from pathlib import Path
from typing import Any, BinaryIO

from xmine.errors import FileError
from xmine.files.reading import name_of
from xmine.files.records import column_texts, is_text, listed, open_parquet
from xmine.pairs.language_choice import Choice
from xmine.pairs.losses import SURROGATES, Losses, Rules
from xmine.pairs.pair import COLUMNS, UNKNOWN, Languages, Pair, is_whole, split_head
from xmine.version import __version__

ROWS_OF_A_GROUP = 20_000
_ROWS_AT_A_TIME = 5_000
_RULES = Rules(SURROGATES)


def write(stream: BinaryIO, pairs: Iterable[Pair], languages: Languages, losses: Losses) -> None:
    """Write row groups of zstd-compressed columns: those that some pair of the first group has.

    The file's metadata has the keys `xmine`, the version, and `languages`, such as `en,zh`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    held, pairs = split_head(pairs, ROWS_OF_A_GROUP)
    types = {float: pa.float32(), int: pa.int64(), str: pa.string()}
    names = [name for name in COLUMNS if name in held | {"source", "target"}]
    others = [name for name in COLUMNS if name not in names]
    facts = {"xmine": __version__, "languages": ",".join(languages)}
    schema = pa.schema([(name, types[COLUMNS[name]]) for name in names], facts)
    with pq.ParquetWriter(pa.PythonFile(stream, "w"), schema, compression="zstd") as writer:
        while some := list(islice(pairs, ROWS_OF_A_GROUP)):
            columns = {name: [getattr(pair, name) for pair in some] for name in names}
            for name in names:
                if COLUMNS[name] is str:
                    columns[name] = [text and losses.fit(text, _RULES) for text in columns[name]]
            for pair in some if others else ():
                losses.leave_out(others, pair)
            writer.write_table(pa.table(columns, schema))


def languages(path: str | Path) -> Languages | None:
    """Read the languages out of the metadata or, of a `translation`, out of its type."""
    with open_parquet(path) as file:
        return _said(file.schema_arrow)


def _said(schema: Any) -> Languages | None:  # noqa: ANN401 - pyarrow has no types
    said = (schema.metadata or {}).get(b"languages", b"").decode("utf-8", "replace").split(",")
    if "source" not in schema.names and "translation" in schema.names:
        kind = schema.field("translation").type
        said = [kind.field(at).name for at in range(getattr(kind, "num_fields", 0))]
    return (said[0] or UNKNOWN[0], said[1] or UNKNOWN[0]) if len(said) == 2 else None


def read(
    path: str | Path, chosen: Languages | None = None, losses: Losses | None = None
) -> Iterator[Pair]:
    """Read pairs, some thousand rows at a time.

    Args:
        path: the file.
        chosen: which two languages of a `translation`, or which two columns; else a `translation`
            must have two languages, source first.
        losses: nothing is lost.

    Raises:
        FileError: see `xmine.files.records.open_parquet`; also when there are no such columns.
    """
    name = name_of(path)
    choice = Choice(path, chosen)
    with open_parquet(path) as file:
        schema = file.schema_arrow
        sides = _sides(schema, choice, name)
        kept = {each: kind for each, kind in COLUMNS.items() if each in schema.names}
        _check_types(schema, sides, kept, name)
        others = [each for each in kept if each not in ("source", "target")]
        row = 0
        for batch in file.iter_batches(_ROWS_AT_A_TIME, columns=[*map(".".join, sides), *others]):
            columns = {
                side: column_texts(_inside(batch, parts), row, name)
                for side, parts in zip(("source", "target"), sides, strict=True)
            }
            for each in others:
                columns[each] = _values(batch.column(each), each, row, name)
            some = map(Pair, *(columns.get(each, repeat(None)) for each in Pair._fields))
            yield from map(choice.turned, some)
            row += batch.num_rows


def _sides(schema: Any, choice: Choice, name: str) -> list[tuple[str, ...]]:  # noqa: ANN401
    """Choose the columns of source and target, each a path: a language may be in a struct."""
    names = schema.names
    if "source" in names and "target" in names:
        choice.of_columns(_said(schema))
        return [("source",), ("target",)]
    wanted = ["source", "target"]
    if "source" not in names:
        if "translation" in names:
            struct = schema.field("translation").type
            codes = [struct.field(at).name for at in range(getattr(struct, "num_fields", 0))]
            return [("translation", each) for each in choice.of_translation(codes, name)]
        if choice.asked and choice.languages and any(each in names for each in choice.languages):
            wanted = list(choice.languages)
            if all(each in names for each in wanted):
                return [(each,) for each in wanted]
    missing = next(each for each in wanted if each not in names)
    raise FileError(
        f"{name}: no column {missing!r}, only {listed('column', names)}",
        "pairs have columns source and target, or translation: a struct of two texts; "
        f"or name two columns: {name}:en,zh",
    )


def _check_types(
    schema: Any,  # noqa: ANN401
    sides: list[tuple[str, ...]],
    kept: dict[str, type],
    name: str,
) -> None:
    kinds = {each: (schema.field(each).type, wanted) for each, wanted in kept.items()}
    for outer, *inner in sides:
        kind = schema.field(outer).type
        for each in inner:
            kind = kind.field(each).type
        kinds[".".join([outer, *inner])] = (kind, str)
    for each, (kind, wanted) in kinds.items():
        if not _fits(kind, wanted):
            words = {str: "text", int: "whole numbers", float: "numbers"}
            raise FileError(
                f"{name}: the column {each!r} is {kind}, not {words[wanted]}",
                "write it again with that type",
            )


def _fits(kind: Any, wanted: type) -> bool:  # noqa: ANN401
    from pyarrow import types

    if types.is_null(kind) or wanted is str:
        return types.is_null(kind) or is_text(kind)
    if types.is_dictionary(kind):
        kind = kind.value_type
    return types.is_integer(kind) or (wanted is float and types.is_floating(kind))


def _inside(batch: Any, parts: tuple[str, ...]) -> Any:  # noqa: ANN401
    from pyarrow import compute

    column = batch.column(parts[0])
    return compute.struct_field(column, list(parts[1:])) if parts[1:] else column


def _values(
    column: Any,  # noqa: ANN401
    each: str,
    row: int,
    name: str,
) -> list[Any]:
    kind = COLUMNS[each]
    if each == "flags":  # empty where none were found, null where nobody looked
        texts, known = column_texts(column, row, name), column.is_valid().to_pylist()
        return [text if is_known else None for text, is_known in zip(texts, known, strict=True)]
    if kind is str:
        return [text or None for text in column_texts(column, row, name)]
    values: list[Any] = column.to_pylist()
    if kind is float:  # pandas writes NaN for what is not there
        return [value if value is None or value == value else None for value in values]
    for number, value in enumerate(values, start=row + 1):
        if value is not None and not is_whole(value):
            raise FileError(
                f"{name}: row {number}: {each!r} is not a whole number from 0 to 10^18",
                "mend the row, or leave it out",
            )
    return values
