"""A column of TSV, CSV, Excel, JSONL or Parquet -> a text for each line or row."""

import json
import re
import tomllib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmine.display import count
from xmine.errors import FileError, XmineWarning
from xmine.extras import needs
from xmine.files.reading import name_of, read_blocks, stream_lines
from xmine.files.records import (
    column_names,
    csv_rows,
    is_text,
    json_objects,
    json_text,
    listed,
    open_parquet,
)
from xmine.files.suffixes import kind_of
from xmine.text.formats.apart import rows_of
from xmine.text.formats.books import opened
from xmine.text.languages import ISO_639_3, LANGUAGES

if TYPE_CHECKING:
    import polars as pl

_ROWS_AT_ONCE = 5000
_LONGEST = 30  # characters of the name of a column
_COLUMN = re.compile("[1-9][0-9]{0,8}")  # its number


class NoColumnError(FileError):
    """A file lacks a column."""


def _name_one(path: str, columns: list[str]) -> str:
    shown = [f"{path}:{column}" for column in columns[:2]]
    return f"name the one with the text, for example {' or '.join(shown)}"


def names_columns(cells: Sequence[str]) -> bool:
    """Tell a row of names from one of texts: most cells are names, and not all of one thing.

    `German, Deutsch` is a pair: both name one language. A single cell is no language, but `text`.
    """
    held = [cell.strip("\ufeff \"'") for cell in cells if cell.strip()]
    meant = [meaning for cell in held if (meaning := _meaning(cell))]
    if len(held) == 1:
        return bool({*meant} & {"text", "sentence", "source", "target"})
    plain = all(len(cell) <= _LONGEST and cell[-1:] not in set(".!?。！？") for cell in held)
    return plain and len({*meant}) > 1 and 2 * len(meant) > len(held)


def _meaning(cell: str) -> str:
    """Tell the language that the name of a column says, or what it holds; nothing of a text."""
    without_region = re.sub(r"[-_][A-Z][A-Za-z]{1,3}\Z", "", cell).lower()
    words = re.findall(r"[^\W\d_]+", without_region)
    known = [_words().get(word, "") for word in words]
    codes = [word for word in words if word in LANGUAGES]
    if not all(known) or not known or len(words) == len(codes) > 1:
        return ""
    spoken = [meaning for meaning in known if meaning in LANGUAGES]
    return spoken[0] if spoken else known[0] + re.sub(r"\D", "", cell)


@cache
def _words() -> dict[str, str]:
    """Give each word its meaning: the code of a language, or what a column of that name holds."""
    text = Path(__file__).with_name("headers.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text).values()
    found = {word: name for table in tables for name in table for word in table[name].split()}
    for code, name in LANGUAGES.items():
        found |= {code: code, name.lower(): code, ISO_639_3.get(code, code): code}
    return found


def no_table(path: str, lines: Iterator[str]) -> Iterator[str]:
    """Give the lines of a .tsv without a column; refuse several columns, if its first line has."""
    begun = False
    for line in lines:
        if not begun and "\t" in line:
            cells = line.split("\t")
            names = column_names(cells)
            at = [names.index(name) for name in ("source", "target")] if names else [0, 1]
            hint = _name_one(path, [str(each + 1) for each in at])
            raise FileError(f"{path}: a table of {len(cells)} columns", hint)
        begun = begun or line != ""
        yield line


def _tell_names(where: str, cells: list[str]) -> None:
    told = f"{where}: left out, since it names {listed('column', cells)}"
    warnings.warn(told, XmineWarning, stacklevel=3)


def csv_column(path: str, column: str) -> Iterator[str]:
    """Give a cell for the first line of each row, and blanks for its others and for the names.

    Of an Excel table a row is a line, and a column may stand behind its sheet: `Sheet!column`.
    """
    rows, width = csv_rows(path), 0
    if kind_of(path) == "xlsx":
        sheet, _, column = column.rpartition("!")
        rows = xlsx_rows(path, sheet)
    at, lines, names = int(column) - 1 if _COLUMN.fullmatch(column) else -1, 0, list[str]()
    if at < 0:
        while not any(names):
            _, more, names = next(rows, ("", 0, [" "]))
            lines += more
        if column not in names:
            unknown = f"no column {column!r}, only " if column else "a table with "
            named = all(map(str.isidentifier, names))
            numbers = [str(number) for number in range(1, len(names) + 1)]
            hint = _name_one(path, names if named else numbers)
            raise NoColumnError(f"{name_of(path)}: {unknown}{listed('column', names)}", hint)
        if names.count(column) > 1:
            raise FileError(
                f"{name_of(path)}: {names.count(column)} columns are named {column!r}",
                f"give the number of one: {name_of(path)}:{names.index(column) + 1}",
            )
        at, width = names.index(column), len(names)
        yield from [""] * lines
    for where, lines, cells in rows:
        if not width and names_columns(cells):
            _tell_names(where, cells)
            yield from [""] * lines
            width = len(cells)
            continue
        width = width or len(cells)
        is_blank = not any(map(str.strip, cells))
        if at >= len(cells) and not is_blank:
            raise _too_few(where, column, cells, "a comma, a semicolon or a tab between,")
        if not is_blank and (len(cells) < width or any(cells[width:])):
            raise FileError(
                f"{where}: {count(len(cells), 'cell')}, and the first row has {width}",
                'a text with the sign that stands between columns needs quotes: "one, two"',
            )
        yield "" if is_blank else cells[at]
        yield from [""] * (lines - 1)


def xlsx_rows(path: str, sheet: str = "") -> Iterator[tuple[str, int, list[str]]]:
    """Give `(file:row, 1, cells)` for each row of a sheet, or of the first; see `csv_rows`."""
    needs(name_of(path), "fastexcel")
    next(read_blocks(path, kind="xlsx"))
    with opened(path):  # no bomb
        rows = rows_of(path, "xlsx", sheet)
    yield from ((f"{name_of(path)}:{at}", 1, row) for at, row in enumerate(rows, start=1))


def _too_few(where: str, column: str, cells: list[str], between: str) -> FileError:
    told = f"{where}: there is no column {column}, only {count(len(cells), 'column')}"
    return FileError(told, f"columns have {between} and count from 1")


def tsv_column(path: str, column: str) -> Iterator[str]:
    """Give a cell of each line, blank for a line of names: of pairs, or with a column's name."""
    at = int(column) - 1 if _COLUMN.fullmatch(column) else -1
    for number, line in enumerate(stream_lines(path), start=1):
        cells = line.split("\t")
        is_names = number == 1 and at >= 0 and names_columns(cells)
        if is_names and not column_names(cells):
            _tell_names(f"{name_of(path)}:1", cells)
        if number == 1 and (at < 0 or is_names or column_names(cells)):
            if at < 0 and column not in cells:
                hint = f"give its number, from 1: {path}:2"
                raise NoColumnError(f"{path}: there is no column {column!r}", hint)
            at = cells.index(column) if at < 0 else at
            yield ""  # its lines keep their numbers
        elif at < len(cells):
            yield cells[at]
        elif line.strip():
            raise _too_few(f"{name_of(path)}:{number}", column, cells, "a tab between")
        else:
            yield ""


def jsonl_field(path: str, field: str) -> Iterator[str]:
    """Give a text of each object, which must have it; null is blank."""
    for where, row in json_objects(path, with_blank=True):
        if row is None:
            yield ""
            continue
        if not field:
            fields = _fields(row)
            texts_in = [each for each in fields if isinstance(_inside(row, each), str)]
            raise FileError(
                f"{name_of(path)}: JSON objects with {listed('field', fields)}",
                _name_one(path, texts_in or fields),
            )
        try:
            value = _inside(row, field)
        except KeyError:
            held = listed("field", _fields(row))
            raise FileError(
                f"{where}: no field {field!r}, only {held}",
                "name a field that every line has, or mend the line",
            ) from None
        yield json_text(value, field, where)


def jsonl_values(path: str, field: str) -> Iterator[str]:
    """Give a field of any kind as a text, blank where a line lacks it."""
    is_there = False
    for where, row in json_objects(path, with_blank=True):
        value = None
        with suppress(KeyError):
            value = _inside(row or {}, field)
            is_there = True
        is_plain = value is None or isinstance(value, str)
        yield json_text(value, field, where) if is_plain else json.dumps(value, ensure_ascii=False)
    if not is_there:
        raise NoColumnError(f"{name_of(path)}: no line has a field {field!r}")


def _inside(row: dict[str, Any], field: str) -> Any:  # noqa: ANN401 - what JSON holds
    """Find `field`, or `a.b` inside `a`; KeyError if there is none."""
    if field in row:
        return row[field]
    outer, dot, inner = field.partition(".")
    if dot and isinstance(row.get(outer), dict):
        return _inside(row[outer], inner)
    raise KeyError(field)


def _fields(row: dict[str, Any], depth: int = 3) -> list[str]:
    """Name the fields of an object as they can be asked for: `a.b` is field b inside field a."""
    names: list[str] = []
    for name, value in row.items():
        inner = _fields(value, depth - 1) if depth and isinstance(value, dict) else []
        names += [f"{name}.{each}" for each in inner] or [name]
    return names


def parquet_column(path: str, column: str, *, only_text: bool = True) -> Iterator[str]:
    """Give a column, or the only one of text; null is blank."""
    name, rows = name_of(path), 0
    with open_parquet(path) as file:
        columns = _columns(file.schema)
        columns = columns if only_text else dict.fromkeys(columns, "")
        chosen = file.texts(_text_column(name, path, column, columns))
        for block in file.blocks([chosen], _ROWS_AT_ONCE):
            rows += len(block)
            yield from block.to_series()
    if not rows:
        raise FileError(f"{name}: no rows in it")


def _columns(schema: "pl.Schema") -> dict[tuple[str, ...], str]:
    """Name every column, those inside structs by their path, with its type if that is not text."""
    import polars as pl

    found: dict[tuple[str, ...], str] = {}
    waiting: list[tuple[tuple[str, ...], Any]] = [((name,), kind) for name, kind in schema.items()]
    while waiting:
        path, kind = waiting.pop(0)
        if isinstance(kind, pl.Struct):
            waiting += [((*path, field.name), field.dtype) for field in kind.fields]
        else:
            found[path] = "" if is_text(kind) else str(kind).lower()
    return found


def _text_column(
    name: str, path: str, column: str, columns: dict[tuple[str, ...], str]
) -> tuple[str, ...]:
    """Choose the column that is named, or the only one of text."""
    named = {".".join(parts): parts for parts in columns}
    texts = [".".join(parts) for parts, kind in columns.items() if not kind]
    if not column and len(texts) == 1:
        return named[texts[0]]
    if not column:
        every = texts or list(named)
        raise FileError(f"{name}: {listed('column', every)}", _name_one(path, every))
    if column not in named:
        raise NoColumnError(
            f"{name}: no column {column!r}, only {listed('column', list(named))}",
            _name_one(path, texts or list(named)),
        )
    if kind := columns[named[column]]:
        raise FileError(
            f"{name}: the column {column!r} is {kind}, not text",
            _name_one(path, texts) if texts else "write it again with a column of text",
        )
    return named[column]
