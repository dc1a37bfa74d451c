"""Files of records: objects of JSONL, rows of CSV, columns of Parquet, for texts and pairs alike.

A text that is null is blank. pyarrow is loaded only when a Parquet file is opened.
"""

import csv
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xmine.errors import FileError
from xmine.files.reading import name_of, read_blocks, read_bytes, stream_lines

_MAGIC = b"PAR1"
_JSON_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "a text",
    bool: "true or false",
    type(None): "null",
}


def json_objects(path: str | Path, *, may_be_empty: bool = False) -> Iterator[Any]:
    """Give `(file:line, object)` for each line of JSONL; a blank line has None for an object.

    Raises:
        FileError: see `stream_lines`; also when a line is no JSON object.
    """
    name = name_of(path)
    for number, line in enumerate(stream_lines(path, may_be_empty=may_be_empty), start=1):
        where = f"{name}:{number}"
        yield where, _json_object(line, where) if line.strip() else None


def parsed_json(text: str, where: str, hint: str = "") -> Any:  # noqa: ANN401 - what JSON holds
    """Parse JSON.

    Raises:
        FileError: it is none, or is nested or has numbers beyond Python's limits.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, " if "\n" in text else ""
        raise FileError(
            f"{where}: not JSON: {error.msg} ({place}character {error.colno})", hint
        ) from None
    except RecursionError:
        raise FileError(f"{where}: not JSON: brackets inside brackets without end", hint) from None
    except ValueError as error:  # a number beyond Python's limits
        raise FileError(f"{where}: JSON that cannot be read: {error}") from None


def csv_rows(path: str | Path) -> Iterator[tuple[str, int, list[str]]]:
    """Give `(file:line, lines, cells)` for each row of CSV; a blank line has no cells.

    A row begins on `line`, and is as many lines long as its quoted cells make it.

    Raises:
        FileError: see `stream_lines`; also when a quote is open or out of place.
    """
    name, begins = name_of(path), 1
    rows = csv.reader((line + "\n" for line in stream_lines(path)), strict=True)
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
        hint += f": jq -c '.[]' {name} > rows.jsonl"
    row = parsed_json(line, where, hint)
    if not isinstance(row, dict):
        raise FileError(f"{where}: {json_name(row)}, not a JSON object", hint)
    return row


def json_name(value: object) -> str:
    """Name what a JSON value is."""
    return _JSON_NAMES.get(type(value), "a number")


def json_text(value: object, field: str, where: str) -> str:
    r"""Take the text of a field; null is blank.

    Raises:
        FileError: it is no text, or has half a character (`\ud800`), which no file can hold.
    """
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


@contextmanager
def open_parquet(path: str | Path) -> Iterator[Any]:
    """Open a Parquet file as pyarrow's ParquetFile; one inside an archive is unpacked into memory.

    Raises:
        FileError: it is no Parquet file or a broken one, now or while it is read, or two columns
            have the same name.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = name_of(path)
    start = b""
    for block in read_blocks(path):  # the first ones of an archive may be empty
        start += block
        if len(start) >= len(_MAGIC):
            break
    if not start:
        raise FileError(f"{name}: the file is empty")
    if not start.startswith(_MAGIC):
        raise FileError(f"{name}: not a Parquet file", "a Parquet file begins with PAR1")
    with Path(path).open("rb") as stream:
        plain = stream.read(4) == _MAGIC
    try:
        with pq.ParquetFile(str(path) if plain else pa.BufferReader(read_bytes(path))) as file:
            names = file.schema_arrow.names
            for each in names:
                if names.count(each) > 1:
                    raise FileError(f"{name}: two columns {each!r}", "give each a name of its own")
            yield file
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        why = str(error).partition("\n")[0].split(". ")[0].rstrip(".")[:200]
        raise FileError(f"{name}: a broken Parquet file: {why}", "copy it again") from error


def is_text(kind: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    """Tell whether a column of a type holds texts."""
    from pyarrow import types

    plain = kind.value_type if types.is_dictionary(kind) else kind
    return types.is_string(plain) or types.is_large_string(plain)  # type: ignore[no-any-return]


def column_texts(column: Any, row: int, name: str) -> list[str]:  # noqa: ANN401
    """Take the texts of a column, or of a part of one that begins behind `row` rows.

    Raises:
        FileError: one is not UTF-8; the message names the row.
    """
    try:
        return [value or "" for value in column.to_pylist()]
    except UnicodeDecodeError:
        for number, cell in enumerate(column, start=row + 1):
            try:
                cell.as_py()
            except UnicodeDecodeError as error:
                raise FileError(
                    f"{name}: row {number}: not UTF-8", "write it again as UTF-8"
                ) from error
        raise
