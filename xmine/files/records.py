"""Files of records: objects of JSONL, rows of CSV, columns of Parquet, for texts and pairs alike.

A text that is null is blank. polars is loaded only when a Parquet file is opened.
"""

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO, RawIOBase
from itertools import chain, islice
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from xmine.errors import FileError
from xmine.files.reading import in_command, name_of, read_blocks, stream_lines

if TYPE_CHECKING:
    import polars as pl

csv.field_size_limit(2**31 - 1)  # a cell may hold a whole document

_MAGIC = b"PAR1"
_TELL = 100  # lines of CSV that tell what stands between cells
# Of a file with a million rows in a group: a quarter of the memory that reading the groups takes.
_ROWS_READ_AT_ONCE = 65_536
_JSON_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    type(None): "null",
}


def json_row(facts: Mapping[str, object]) -> str:
    """Make a row of JSON; numbers that JSON has no word for (inf) become texts."""
    return json.dumps(_speakable(facts), ensure_ascii=False, allow_nan=False) + "\n"


def _speakable(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _speakable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_speakable(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def json_objects(
    path: str | Path, *, may_be_empty: bool = False, with_blank: bool = False
) -> Iterator[Any]:
    """Give `(file:line, object)` for each line of JSONL; `with_blank`, None for a blank one."""
    name = name_of(path)
    for number, line in enumerate(stream_lines(path, may_be_empty=may_be_empty), start=1):
        where = f"{name}:{number}"
        if with_blank or line.strip():
            yield where, _json_object(line, where) if line.strip() else None


def parsed_json(
    text: str, where: str, hint: str = "", pairs: type[tuple[Any, ...]] | None = None
) -> Any:  # noqa: ANN401 - what JSON holds
    """Parse JSON; with `pairs` an object is a tuple of keys and values, those of one key too."""
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, " if "\n" in text else ""
        raise FileError(
            f"{where}: not JSON: {error.msg} ({place}character {error.colno})", hint
        ) from None
    except RecursionError:
        raise FileError(f"{where}: not JSON: brackets inside brackets without end", hint) from None
    except ValueError as error:  # a number beyond Python's limits
        raise FileError(f"{where}: JSON that cannot be read: {error}") from None


def column_names(row: Sequence[str], sides: tuple[str, str] | None = None) -> list[str]:
    """Read a line of TSV as names of columns: `source`, `target` or `sides` are among them.

    Letters have one case. A column of `sides` is renamed; a line that is no such has no names.
    """
    names = [cell.strip().lower() for cell in row]
    if not {"source", "target"} <= {*names} and sides:
        renamed = dict(zip(map(str.lower, sides), ("source", "target"), strict=True))
        names = [renamed.get(name, name) for name in names]
    return names if {"source", "target"} <= {*names} else []


def csv_rows(path: str | Path) -> Iterator[tuple[str, int, list[str]]]:
    """Give `(file:line, lines, cells)` for each row of CSV; a blank line has no cells.

    A row begins on `line`, and is as many lines long as its quoted cells make it. Between cells
    stands a comma, a semicolon or a tab: what makes most of the first rows as wide as the first.
    """
    name, begins = name_of(path), 1
    lines = (line + "\n" for line in stream_lines(path))
    first = list(islice(lines, _TELL))

    def alike(delimiter: str) -> float:
        with suppress(csv.Error):
            widths = [len(row) for row in csv.reader(first, delimiter=delimiter) if any(row)]
            return widths.count(widths[0]) / len(widths) if widths and widths[0] > 1 else 0.0
        return 0.0

    rows = csv.reader(chain(first, lines), delimiter=max(",;\t", key=alike), strict=True)
    try:
        for cells in rows:
            yield f"{name}:{begins}", rows.line_num + 1 - begins, cells
            begins = rows.line_num + 1
    except csv.Error as error:
        raise FileError(
            f"{name}:{begins}: not CSV: {error}", 'a cell in quotes writes a quote twice: "a ""b"""'
        ) from None


def _json_object(line: str, where: str) -> dict[str, Any]:
    hint = "a JSONL file has one object on each line"
    name, _, number = where.rpartition(":")
    if line.startswith("[") and number == "1":
        hint += f": jq -c '.[]' {in_command(name)} > rows.jsonl"
    row = parsed_json(line, where, hint)
    if not isinstance(row, dict):
        raise FileError(f"{where}: {json_name(row)}, not a JSON object", hint)
    return row


def json_name(value: object) -> str:
    """Name what a JSON value is."""
    return _JSON_NAMES.get(type(value), "a number")


def json_text(value: object, field: str, where: str) -> str:
    r"""Take the text of a field; null is blank."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise FileError(
            f"{where}: the field {field!r} is {json_name(value)}, not a text",
            "mend the line, or leave it out",
        )
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise FileError(
            f"{where}: half a character, \\u{ord(value[error.start]):04x}, at {error.start + 1}",
            "mend or leave out this line; what wrote it cut a text in the middle of a character",
        ) from None
    return value


def listed(noun: str, names: Iterable[str]) -> str:
    """List some names, and count those that would be too many."""
    shown = [repr(name) for name in names]
    more = f" and {len(shown) - 8} more" if len(shown) > 8 else ""
    return f"the {noun}{'s' * (len(shown) != 1)} {', '.join(shown[:8]) or 'none'}{more}"


@dataclass(frozen=True, slots=True)
class ParquetFile:
    """An open Parquet file; its columns are read when they are asked for."""

    name: str
    frame: "pl.LazyFrame"
    schema: "pl.Schema"
    metadata: dict[str, str]

    def __len__(self) -> int:
        """Count the rows."""
        import polars as pl

        return int(self.frame.select(pl.len()).collect().item())

    def column(self, path: Sequence[str]) -> "tuple[pl.Expr, pl.DataType]":
        """Find a column, or a field inside structs, by its very name; give its type too."""
        import polars as pl

        # By position: polars takes some names for patterns.
        column, kind = pl.nth(self.schema.names().index(path[0])), self.schema[path[0]]
        for name in path[1:]:
            fields = kind.fields  # type: ignore[attr-defined]
            at = [field.name for field in fields].index(name)
            column, kind = column.struct[at], fields[at].dtype
        return column, kind

    def texts(self, path: Sequence[str]) -> "pl.Expr":
        """Read a column of texts; null is blank."""
        import polars as pl

        return self.column(path)[0].cast(pl.String).fill_null("")

    def every_text(self) -> "Iterator[str]":
        """Give the texts of all columns of text."""
        named = [name for name, kind in self.schema.items() if is_text(kind)]
        for block in self.blocks([self.texts([name]) for name in named], _ROWS_READ_AT_ONCE):
            for column in block:
                yield from column

    def blocks(self, columns: "Iterable[pl.Expr]", rows: int) -> "Iterator[pl.DataFrame]":
        """Read columns, so many rows at a time at most, in the order of the file."""
        frame = self.frame.select(*columns)
        for start in range(0, len(self), _ROWS_READ_AT_ONCE):
            yield from frame.slice(start, _ROWS_READ_AT_ONCE).collect().iter_slices(rows)

    def read(self, *names: str) -> "pl.DataFrame":
        """Read whole columns."""
        return self.frame.select(*names).collect()


@contextmanager
def open_parquet(path: str | Path) -> Iterator[ParquetFile]:
    """Open a Parquet file; one inside an archive is unpacked into memory."""
    import polars as pl

    name, start = name_of(path), next(read_blocks(path, kind="parquet"))
    if not start:
        raise FileError(f"{name}: the file is empty")
    if not start.startswith(_MAGIC):
        raise FileError(f"{name}: not a Parquet file", "a Parquet file begins with PAR1")
    with Path(path).open("rb") as stream:
        plain = stream.read(4) == _MAGIC

    def source() -> Path | BytesIO:
        return Path(path).absolute() if plain else BytesIO(content)

    content = b"" if plain else b"".join(read_blocks(path, kind="parquet"))
    try:
        frame = pl.scan_parquet(source(), glob=False, hive_partitioning=False)
        yield ParquetFile(name, frame, frame.collect_schema(), pl.read_parquet_metadata(source()))
    except pl.exceptions.DuplicateError as error:
        twice = re.search("column with name '(.*)' has", str(error), re.DOTALL)
        raise FileError(
            f"{name}: two columns {twice[1] if twice else ''!r}", "give each a name of its own"
        ) from error
    # A panic of Rust is no Exception.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        why = str(error).partition("\n")[0].removeprefix("parquet: ")
        if "invalid utf-8" in why.lower():
            raise FileError(
                f"{name}: a text in it is not UTF-8", "write it again as UTF-8"
            ) from error
        why = why.removeprefix("File out of specification: ").rstrip(".")[:200]
        raise FileError(f"{name}: a broken Parquet file: {why}", "copy it again") from error


def write_parquet(
    blocks: "Iterable[pl.DataFrame]",
    schema: "Mapping[str, type[pl.DataType]]",
    stream: BinaryIO,
    metadata: Mapping[str, str],
    rows_of_a_group: int,
) -> None:
    """Write blocks of rows as they come; one group of rows is held at a time."""
    import polars as pl
    from polars.io.plugins import register_io_source

    output = _Output(stream)

    def read(*_: object) -> "Iterator[pl.DataFrame]":
        yield from blocks

    table = register_io_source(read, schema=dict(schema))
    try:
        table.sink_parquet(
            cast("BinaryIO", output),
            compression="zstd",
            compression_level=1,
            row_group_size=rows_of_a_group,
            metadata=dict(metadata),
        )
    except pl.exceptions.PolarsError:
        if output.failed:
            raise output.failed from None
        raise
    except KeyboardInterrupt:
        # polars raises one, and Python another one for the same key, which would end the clean-up.
        with suppress(KeyboardInterrupt):
            sleep(0)
        raise


class _Output(RawIOBase):
    """A stream that keeps its error, which polars turns into one of another type."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.failed: OSError | None = None

    def write(self, data: Any) -> int:  # noqa: ANN401 - any bytes
        try:
            return self._stream.write(data)
        except OSError as error:
            self.failed = error
            raise

    def flush(self) -> None:
        self._stream.flush()


def is_text(kind: "pl.DataType") -> bool:
    """Tell whether a column of a type holds texts."""
    import polars as pl

    return kind in (pl.String, pl.Categorical, pl.Enum)
