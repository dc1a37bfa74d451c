"""A file of texts that training must not see -> all texts in the file, whatever its form."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xmine.files.reading import exists, read_lines
from xmine.files.records import csv_rows, json_objects, open_parquet
from xmine.files.suffixes import kind_of
from xmine.pairs.io import read_pairs
from xmine.text.inputs import read_texts


def texts_in(given: str) -> Iterator[str]:
    """Give the texts of a file: lines and their columns, cells, fields, or sides of pairs.

    Args:
        given: a text input (`file.tsv:2` is one column), or pairs as `read_pairs` takes them.

    Raises:
        FileError: the file cannot be read.
    """
    kind = kind_of(given)
    if kind == "tmx" or Path(given).is_dir() or ("," in given and not exists(given)):
        for pair in read_pairs(given):
            yield from (pair.source, pair.target)
    elif not exists(given):  # a column, or a message of what is not there
        yield from read_texts(given)
    elif kind == "csv":
        for _, _, cells in csv_rows(given):
            yield from cells
    elif kind in ("jsonl", "json"):
        for _, row in json_objects(given):
            yield from _strings(row)
    elif kind == "parquet":
        with open_parquet(given) as file:
            yield from file.every_text()
    else:
        for line in read_lines(given):
            yield from (line, *line.split("\t"))


def _strings(value: Any) -> Iterator[str]:  # noqa: ANN401 - what JSON holds
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)
