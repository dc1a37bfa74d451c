"""The header of a table of pairs: which column is what, and a row read by it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import inf

from xmine.errors import FileError
from xmine.pairs.pair import COLUMNS, LARGEST, Pair
from xmine.text.languages import language_name

_NAMES = {
    **{name: name for name in COLUMNS},
    **dict.fromkeys(("src", "source_text", "source_sentence"), "source"),
    **dict.fromkeys(("tgt", "trg", "target_text", "target_sentence"), "target"),
    "src_line": "source_line",
    "tgt_line": "target_line",
    "probability": "prob",
}
_ENGLISH_AND_CHINESE = {"en", "eng", "english", "zh", "zho", "cmn", "zh_cn", "zh_tw", "chinese"}
_CODES = set("ar cs de es fr hi id it ja ko nl pl pt ru th tr uk vi".split())
_OTHERS = _CODES | {language_name(code).lower() for code in _CODES}


def columns_of(row: Sequence[str]) -> dict[str, int]:
    """Find the columns that a header names: field of a pair -> column from 0; empty for other rows.

    A header names both sides, `source` and `target` or two languages, one of them English or
    Chinese; a column of another name is passed over.
    """
    cells = [cell.strip().lower().replace(" ", "_").replace("-", "_") for cell in row]
    names = [_NAMES.get(cell, "") for cell in cells]
    languages = [at for at, cell in enumerate(cells) if cell in _ENGLISH_AND_CHINESE | _OTHERS]
    if len(languages) == 3:  # a number of the row rather than Indonesian
        languages = [at for at in languages if cells[at] != "id"]
    if len(languages) == 2 and any(cells[at] in _ENGLISH_AND_CHINESE for at in languages):
        names[languages[0]], names[languages[1]] = "source", "target"
    found = {name: at for at, name in enumerate(names) if name}
    is_plain = len(found) == len(names) - names.count("")
    return found if is_plain and {"source", "target"} <= found.keys() else {}


def named_pair(row: Sequence[str], columns: Mapping[str, int], place: str) -> Pair:
    """Read a row below a header."""
    cells = {name: row[at] for name, at in columns.items()}
    flags = cells.pop("flags", None)
    values = {name: _value(cell, name, place) for name, cell in cells.items()}
    if flags or values.get("prob") is not None:  # beside a prob no flags mean none
        values["flags"] = flags
    return Pair(**values)  # type: ignore[arg-type]


def _value(cell: str, name: str, place: str) -> str | float | int | None:
    kind = COLUMNS[name]
    if kind is str:
        return cell if name in ("source", "target") else cell or None
    if not cell:
        return None
    lowest, highest = (0, LARGEST) if kind is int else (0, 1) if name == "prob" else (-inf, inf)
    with suppress(ValueError):
        value: float | int = kind(cell)
        if lowest <= value <= highest:
            return value
    raise FileError(f"{place}: {cell!r} is no {name}, as the header says", "mend the line")
