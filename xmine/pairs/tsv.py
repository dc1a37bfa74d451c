"""TSV: a line with the names of the columns, then a pair in each row.

Without such a line a file has two columns, source and target, or LASER's three: score, source,
target. There is no quoting: what stands between two tabs is the text. A sentence's own tabs and
line breaks become spaces.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from xmine.display import count as counted
from xmine.errors import FileError
from xmine.files.reading import in_command, name_of, stream_lines
from xmine.files.records import column_names, listed
from xmine.files.suffixes import kind_of
from xmine.pairs.losses import BREAKS, NULS, SURROGATES, TABS, Losses, Rules
from xmine.pairs.pair import COLUMNS, LARGEST, Languages, Pair, in_order, is_kept, split_head
from xmine.text.columns import names_columns

_RULES = Rules(TABS, BREAKS, NULS, SURROGATES)
_NO_HEADER = {2: ["source", "target"], 3: ["score", "source", "target"]}  # columns -> their names
_LARGEST = {name: LARGEST for name, kind in COLUMNS.items() if kind is int} | {"prob": 1}
_TEXTS = {"source", "target"}
_PLAIN = {*_TEXTS, "origin"}
_MINED = set(list(COLUMNS)[:6])
_ALIGNED = "prob source target source_lines target_lines flags".split()


def write(stream: BinaryIO, pairs: Iterable[Pair], languages: Languages, losses: Losses) -> None:
    """Write `tsv_rows`; TSV has no place for the languages."""
    write_rows(stream, tsv_rows(pairs, losses))


def tsv_rows(
    pairs: Iterable[Pair], losses: Losses | None = None, *, header: bool = True
) -> Iterator[str]:
    """Make a line of names, if a `header` is wanted, and a row of each pair.

    The columns are those that some of the first thousand pairs have, in the order of `COLUMNS`.
    Pairs with more than texts and origins have score, lines and cosine in any case, and prob and
    flags together; beads of an alignment have `_ALIGNED`.
    """
    losses = Losses() if losses is None else losses
    held, pairs = split_head(pairs)
    wanted = held | _TEXTS
    if not held <= _PLAIN:
        wanted |= _MINED
        wanted |= {"prob", "flags"} if held & {"prob", "flags", "margin"} else set()
    names = in_order(wanted)
    if "source_lines" in held:
        names = [*_ALIGNED, *in_order(held.difference(_ALIGNED))]
    kinds = {name: COLUMNS.get(name, str) for name in names}
    if header:
        yield "\t".join(names) + "\n"
    for pair in pairs:
        facts = pair.facts()
        losses.leave_out(facts.keys() - kinds)
        cells = (_cell(facts.get(name), kind, losses) for name, kind in kinds.items())
        yield "\t".join(cells) + "\n"


def tsv_row(cells: list[str], losses: Losses) -> str:
    """Make a row of any cells, counting what does not fit them."""
    return "\t".join(losses.fit(each, _RULES) for each in cells) + "\n"


def _cell(value: Any, kind: type, losses: Losses) -> str:  # noqa: ANN401 - of a pair
    if value is None:
        return ""
    if kind is str:
        return losses.fit(value, _RULES)
    return f"{value:.4f}" if kind is float else str(value)


def read(
    path: str | Path, chosen: Languages | None = None, losses: Losses | None = None
) -> Iterator[Pair]:
    """Read rows by the names in the first line, or two columns, or LASER's three.

    Blank lines are passed over; `losses` counts columns of other names. `chosen` may be the numbers
    of two columns, from 1: nothing else is read. Or it names two, where none is `source`.
    """
    losses = Losses() if losses is None else losses
    numbers = [int(each) - 1 for each in chosen or () if each.isdigit()]
    columns: dict[str, int] = {}  # field of a pair -> its column, from 0
    others: set[int] = set()
    width = 0
    for number, line in enumerate(stream_lines(path, may_be_empty=True), start=1):
        if "\t" not in line and not line.strip():
            continue
        row, fault = line.split("\t"), ""
        if not width:
            width, (is_header, columns) = len(row), _columns(row, chosen, losses)
            others = set() if numbers else {*range(width)} - {*columns.values()}
            if is_header:
                continue
        if numbers and max(numbers) >= len(row):
            fault = f"there is no column {max(numbers) + 1}, only {counted(len(row), 'column')}"
        elif not numbers and (not columns or len(row) != width):
            wrong = f"; the first line has {width}" if columns else ", and no line names them"
            fault = f"{counted(len(row), 'column')}{wrong}"
        if fault:
            raise FileError(f"{name_of(path)}:{number}: {fault}", _ways(path, len(row)))
        if any(row[at] for at in others):
            losses.leave(["other columns"])
        yield _pair(row, columns, path, number)


def _columns(
    row: list[str], chosen: Languages | None, losses: Losses
) -> tuple[bool, dict[str, int]]:
    """Tell whether the first row names columns, and the column of each field of a pair, from 0."""
    numbers = [int(each) - 1 for each in chosen or () if each.isdigit()]
    names = column_names(row, None if numbers else chosen)
    told = not names and names_columns(row)  # as others name them: en, zh
    found = names or ([] if told and len(row) > 2 else _NO_HEADER.get(len(row), []))
    known = [*COLUMNS, *filter(is_kept, found)]
    columns = {name: found.index(name) for name in known if name in found}
    if numbers:
        columns = dict(zip(("source", "target"), numbers, strict=True))
    if told and columns:
        losses.pass_over(why=f"that names {listed('column', row)}")
    return bool(names or (told and columns)), columns


def _pair(row: list[str], columns: dict[str, int], path: str | Path, number: int) -> Pair:
    """Make a pair of a row; a blank cell that is no sentence is nothing."""
    values: dict[str, Any] = {}
    for name, at in columns.items():
        cell, kind = row[at], COLUMNS.get(name, str)
        if kind is str:
            values[name] = cell if cell or name in _TEXTS or name not in COLUMNS else None
        elif cell:
            try:
                values[name] = kind(cell)
                fits = name not in _LARGEST or 0 <= values[name] <= _LARGEST[name]
            except ValueError:
                fits = False
            if not fits:
                raise FileError(f"{name_of(path)}:{number}: {cell!r} is no {name}", _ways(path))
    if "prob" in values and "flags" in values:  # looked at, and none was found
        values["flags"] = values["flags"] or ""
    return Pair.of(values)


def _ways(path: str | Path, width: int = 0) -> str:
    if width == 1 and not kind_of(str(path)):
        return f"give the files of both languages: {in_command(name_of(path))},OTHER"
    return (
        "name the columns in the first line, source and target among them; without names two are "
        "source and target, three are score, source and target; or choose two by their numbers: "
        f"{name_of(path)}:1,2"
    )


_BOM = "\ufeff"


def write_rows(stream: BinaryIO, rows: Iterable[str]) -> None:
    """Write rows as UTF-8, many at a time: compressors are slow with small pieces."""
    waiting: Iterator[str] = iter(rows)
    start = True
    while some := "".join(islice(waiting, 500)):
        stream.write(encoded(some, start=start))
        start = False


def encoded(text: str, *, start: bool) -> bytes:
    """Encode text; at the start of a file U+FEFF reads as a byte-order mark, so it gets another."""
    return (_BOM + text if start and text.startswith(_BOM) else text).encode("utf-8")
