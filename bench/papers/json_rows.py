"""Data sets in JSON and JSONL -> their objects, each with its place, and what stands in them."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xmine.errors import FileError
from xmine.files.reading import decode, read_bytes
from xmine.files.records import json_name, json_objects, json_text, parsed_json


def json_rows(path: Path, fields: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give `(file:line, object)` of each line that is not blank."""
    for where, row in json_objects(path):
        yield where, has_fields(row, fields, where)


def json_file(path: Path) -> dict[str, Any]:
    """Read a file that is one JSON object, on however many lines."""
    found = parsed_json(decode(read_bytes(path), str(path)), str(path))
    return has_fields(found, (), str(path))


def has_fields(value: object, fields: Sequence[str], where: str) -> dict[str, Any]:
    """Take an object that has some fields."""
    if not isinstance(value, dict):
        raise FileError(f"{where}: {json_name(value)}, not a JSON object")
    lacking = [name for name in fields if name not in value]
    if lacking:
        raise FileError(f"{where}: has no field {', '.join(map(repr, lacking))}")
    return value


def filled_text(row: dict[str, Any], field: str, where: str) -> str:
    """Take a text that must not be blank."""
    text = json_text(row[field], field, where)
    if not text.strip():
        raise FileError(f"{where}: the field {field!r} is blank")
    return text


def whole_number(row: dict[str, Any], field: str, low: int, high: int, where: str) -> int:
    """Take a number between two; written as a text it is one too."""
    value = row[field]
    if isinstance(value, bool) or str(value) not in map(str, range(low, high + 1)):
        said = f"{where}: the field {field!r} is {json.dumps(value):.20}; expected {low} to {high}"
        raise FileError(said, "a test set without answers cannot be measured on")
    return int(value)


@contextmanager
def as_distributed(where: str) -> Iterator[None]:
    """Name the place of values of another kind than a data set has."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else error
        raise FileError(f"{where}: not as the data set is distributed: {what}") from None
