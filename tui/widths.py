"""The cells of vowel signs: terminals disagree, so the terminal of the app is asked.

A spacing mark (general category Mc of Unicode), such as ा in Hindi, takes a cell of its own in tmux
and other terminals, and none in some. Rich and Textual count none.
"""

import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

from rich import cells

# A letter and a spacing mark, where the next frame is drawn; then where is the cursor?
PROBE = "\x1b[1;1H\u0915\u093e\x1b[6n\r\x1b[2K"
_MARKED = 2  # the column of the cursor behind both, from 0, where the mark takes a cell


def hear(column: int) -> bool:
    """Hear where the cursor was; tell whether widths are others from now on."""
    if column != _MARKED or cells.get_character_cell_size("\u093e") == 1:
        return False
    load: Callable[[str], cells.CellTable] = vars(cells)["load_cell_table"]
    known: dict[str, cells.CellTable] = {}

    def loaded(version: str = "auto") -> cells.CellTable:
        if version not in known:
            table = load(version)
            known[version] = table._replace(widths=[*_with_marks(table.widths)])
        return known[version]

    vars(cells)["load_cell_table"] = loaded
    cells.get_character_cell_size.cache_clear()
    cells.cached_cell_len.cache_clear()
    return True


def _with_marks(widths: Any) -> Iterator[tuple[int, int, int]]:  # noqa: ANN401 - rows of Rich
    """Leave spacing marks out of the ranges (first, last, cells): what is in none takes a cell."""
    for first, last, size in widths:
        if size:
            yield first, last, size
            continue
        start = first
        for code in range(first, last + 2):
            if code > last or unicodedata.category(chr(code)) == "Mc":
                if start < code:
                    yield start, code - 1, size
                start = code + 1
