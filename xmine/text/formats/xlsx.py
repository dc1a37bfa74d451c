"""Excel tables -> their rows."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from xmine.extras import needs
from xmine.files.reading import limited, name_of, read_blocks
from xmine.text.formats.apart import made_of
from xmine.text.formats.books import opened


def xlsx_rows(path: str, sheet: str = "") -> Iterator[tuple[str, int, list[str]]]:
    """Give `(file:row, 1, cells)` for each row of a sheet, or of the first; see `csv_rows`."""
    name = name_of(path)
    needs(name, "fastexcel")
    data = limited(path, read_blocks(path, kind="xlsx"))
    with opened(path):  # no bomb
        pass
    reader = Path(__file__).with_name("apart_reader.py")
    made, _ = made_of(data, name, "an Excel table", sys.executable, "-P", reader, "xlsx", sheet)
    for number, row in enumerate(made.splitlines(), start=1):
        yield f"{name}:{number}", 1, json.loads(row)
