"""TSV: mined rows (score first, six columns or more), or source, target and perhaps an origin, or
rows as LASER writes them: score, source, target; or what a header says.

A header is written only where the first row would be taken for one, or for a score. There is no
quoting: what stands between two tabs is the text. A sentence's own tabs and line breaks become
spaces.
"""

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, BinaryIO

from xmine.errors import FileError, XmineWarning
from xmine.files.reading import name_of, stream_lines
from xmine.pairs.header import columns_of, named_pair
from xmine.pairs.losses import BREAKS, NULS, SURROGATES, TABS, Losses, Rules
from xmine.pairs.pair import COLUMNS, Languages, Pair, split_head
from xmine.units import count as counted

_ADDRESS = re.compile(r"\s*(?:https?://|www\.)\S+\s*", re.IGNORECASE)
_DECIMAL = re.compile(r"-?\d+(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+)", re.ASCII)
_RULES = Rules(TABS, BREAKS, NULS, SURROGATES)
_OFFSETS: tuple[str, ...] = ("source_offset", "target_offset")
_TRUST: tuple[str, ...] = ("prob", "flags")
_MARGIN: tuple[str, ...] = ("margin",)
_MINED = list(COLUMNS)[:6]


def languages(path: str | Path) -> Languages | None:
    """TSV does not say its languages."""
    return None


def write(stream: BinaryIO, pairs: Iterable[Pair], languages: Languages, losses: Losses) -> None:
    """Write `tsv_rows`; TSV has no place for the languages."""
    write_rows(stream, tsv_rows(pairs, losses))


def tsv_rows(pairs: Iterable[Pair], losses: Losses | None = None) -> Iterator[str]:
    """Make a row of each pair: mined rows or plain ones, as the first thousand pairs have it.

    A mined row is score, source, target, source line, target line, cosine and, where the pairs have
    them, source offset and target offset, then prob and flags, then margin, which never stands
    without prob and flags; a plain one source, target and, where the pairs have them, their origin.
    """
    losses = Losses() if losses is None else losses
    held, pairs = split_head(pairs)
    if is_plain := held <= {"source", "target", "origin"}:
        names = ["source", "target", "origin"][: 2 + ("origin" in held)]
    else:
        held |= {*_TRUST} if "margin" in held else set()
        more = [group for group in (_OFFSETS, _TRUST, _MARGIN) if not held.isdisjoint(group)]
        names = [*_MINED, *chain(*more)]
    others = [name for name in COLUMNS if name not in names]
    for number, pair in enumerate(pairs):
        losses.leave_out(others, pair)
        if is_plain and not number and _is_misread([getattr(pair, name) or "" for name in names]):
            yield "\t".join(names) + "\n"
        cells = [_cell(getattr(pair, name), COLUMNS[name], losses) for name in names]
        yield "\t".join(cells) + "\n"


def tsv_row(cells: list[str], losses: Losses) -> str:
    """Make a row of any cells, counting what does not fit them."""
    return "\t".join(losses.fit(each, _RULES) for each in cells) + "\n"


def _is_misread(cells: list[str]) -> bool:
    """Tell whether a plain row would be taken for a header or, if it has an origin, for a score."""
    is_number = bool(cells[0]) and _is_number(cells[0])
    return bool(columns_of(cells)) or (len(cells) > 2 and is_number)


def _cell(value: Any, kind: type, losses: Losses) -> str:  # noqa: ANN401 - of a pair
    if value is None:
        return ""
    if kind is str:
        return losses.fit(value, _RULES)
    return f"{value:.4f}" if kind is float else str(value)


def read(
    path: str | Path, chosen: Languages | None = None, losses: Losses | None = None
) -> Iterator[Pair]:
    """Read rows by their header; else mined, scored or plain rows, as most of the first ten are.

    Blank lines are passed over. An XmineWarning tells a guess, and `losses` counts columns that are
    none of ours. `chosen` may be the numbers of two columns, from 1: nothing else is read.
    """
    if chosen and chosen[0].isdigit():
        yield from _columns(path, int(chosen[0]), int(chosen[1]))
        return
    losses = Losses() if losses is None else losses
    lines, first = stream_lines(path, may_be_empty=True), []
    rows: list[list[str]] = []
    for line in lines:
        first.append(line)
        if "\t" in line or line.strip():
            rows.append(line.split("\t"))
        if len(rows) == 10:
            break
    # A row with figures at their places is a pair, though its texts may be names of columns.
    header = columns_of(rows[0]) if rows and not _is_mined(rows[0]) else {}
    above = bool(header)
    votes = list(map(_is_mined, rows))
    mined = any(votes) and 2 * sum(votes) >= len(votes)
    scored = not (header or mined) and _are_scored(rows, str(path))
    if rows and not (header or mined):
        _refuse_addresses(rows, str(path), skipped=int(scored))
    widths = Counter(map(len, rows))
    # At a tie the last column is not in all rows; but one of two or three may have a stray tab.
    sign = 1 if len(rows) > 3 else -1
    width = max(2, max(widths, key=lambda each: (widths[each], sign * each), default=2))
    for number, line in zip(count(1), chain(first, lines)):
        columns = line.split("\t")
        if above and columns == rows[0]:  # not where a text reads the same further below
            above = False
            continue
        if len(columns) < 2:
            if not line.strip():
                continue
            raise FileError(
                f"{name_of(path)}:{number}: one column; pairs need two with a tab between",
                "paste source.txt target.txt > pairs.tsv",
            )
        if header:
            if len(columns) != len(rows[0]):
                raise FileError(
                    f"{name_of(path)}:{number}: {counted(len(columns), 'column')}; "
                    f"the header has {len(rows[0])}",
                    "mend the line, or leave out the header",
                )
            if any(cell for at, cell in enumerate(columns) if at not in header.values()):
                losses.leave(["other columns"])
            yield named_pair(columns, header, f"{name_of(path)}:{number}")
            continue
        if _is_mined(columns) != mined:
            wrong = "not a mined pair, as" if mined else "a mined pair, which"
            raise FileError(
                f"{name_of(path)}:{number}: {wrong} the lines around it are" + " not" * (not mined),
                "leave out a header; give mined and other pairs in files of their own",
            )
        if scored and not _is_scored(columns):
            raise FileError(
                f"{name_of(path)}:{number}: not score, source and target, as the lines around it "
                "are",
                f"mend the line; or read two columns only: {name_of(path)}:2,3",
            )
        if not mined and any(columns[width:]):
            raise FileError(
                f"{name_of(path)}:{number}: {counted(len(columns), 'column')}; "
                f"most of the first rows have {width}",
                "a tab inside a text begins a column: take the tab out; or read two columns only: "
                f"{name_of(path)}:{'2,3' if scored else '1,2'}",
            )
        if not mined and any(columns[3:]):
            losses.leave(["columns behind the third"])
        if mined:
            yield _mined_pair(columns, path, number, losses)
        elif scored:
            yield Pair(columns[1], columns[2], float(columns[0]))
        else:
            yield Pair(columns[0], columns[1], origin=(columns[2:] or [""])[0] or None)


def _columns(path: str | Path, source: int, target: int) -> Iterator[Pair]:
    for number, line in enumerate(stream_lines(path, may_be_empty=True), start=1):
        columns = line.split("\t")
        if max(source, target) <= len(columns):
            yield Pair(columns[source - 1], columns[target - 1])
        elif line.strip():
            raise FileError(
                f"{name_of(path)}:{number}: there is no column {max(source, target)}, "
                f"only {counted(len(columns), 'column')}",
                "columns have a tab between and count from 1",
            )


def _mined_pair(row: list[str], path: str | Path, number: int, losses: Losses) -> Pair:
    offsets, more = ["", ""], row[6:]
    # Of nine columns the last is the margin, behind prob and flags; of eight, the last may be no
    # flags beside a prob of 1.
    if len(more) > 1 and len(more) != 3 and all(map(_is_whole, more[:2])) and more[1:] != [""]:
        offsets, more = more[:2], more[2:]
    if any(more) and (len(more) == 1 or not _is_share(more[0])):
        losses.leave(["columns behind the sixth"])
        more = []
    prob, flags, margin = (*more, "", "", "")[:3]
    if not _is_number(margin):
        raise FileError(
            f"{name_of(path)}:{number}: {margin!r} is no margin, as the column behind flags is",
            f"mend the line; or read two columns only: {name_of(path)}:2,3",
        )
    x, y, start, other_start = (
        int(text.removesuffix(".0")) if text else None for text in row[3:5] + offsets
    )
    score, cosine, chance, compared = (
        float(text) if text else None for text in (row[0], row[5], prob, margin)
    )
    # No flags beside a prob: the pair was looked at, and none was found.
    found = flags if prob else flags or None
    return Pair(
        row[1], row[2], score, x, y, cosine, start, other_start, None, chance, found, compared
    )


def _is_mined(row: list[str]) -> bool:
    if len(row) < 6:
        return False
    return all(map(_is_number, (row[0], row[5]))) and all(map(_is_whole, row[3:5]))


def _are_scored(rows: list[list[str]], path: str) -> bool:
    """Tell whether the first rows are as LASER writes them, and warn where they may not be."""
    if not rows or not all(len(row) > 2 and row[0] and _is_number(row[0]) for row in rows):
        return False
    # An origin would be the same in row after row.
    scored = all(map(_is_scored, rows)) and (len(rows) == 1 or len({row[2] for row in rows}) > 1)
    if len(rows) == 1 or not scored:
        taken, other = ("score", "1,2") if scored else ("source", "2,3")
        warnings.warn(
            f"{name_of(path)}: the numbers in column 1 are taken for the {taken}; {path}:{other} "
            f"takes columns {other.replace(',', ' and ')} for the pair instead",
            XmineWarning,
            stacklevel=3,
        )
    return scored


def _refuse_addresses(rows: list[list[str]], path: str, skipped: int) -> None:
    """Refuse a table whose sentences stand right of addresses of pages, as ParaCrawl's do."""
    columns = list(zip(*rows, strict=False))  # those that all rows have
    addresses = [all(map(_ADDRESS.fullmatch, column)) for column in columns]
    texts = [
        number
        for number, column in enumerate(columns, start=1)
        if not addresses[number - 1] and not all(map(_is_number, column))
    ]
    if any(addresses[skipped : skipped + 2]) and len(texts) > 1:
        raise FileError(
            f"{name_of(path)}: column {addresses.index(True) + 1} holds addresses, no sentences",
            f"name the columns of the sentences: {path}:{texts[0]},{texts[1]}",
        )


def _is_scored(row: list[str]) -> bool:
    """Tell a row as LASER writes them; a whole number may be a text, such as a year."""
    return len(row) > 2 and _DECIMAL.fullmatch(row[0]) is not None


def _is_share(text: str) -> bool:
    """Tell whether a cell can be a probability."""
    return not text or (_is_number(text) and 0 <= float(text) <= 1)


def _is_whole(text: str) -> bool:
    """Tell whether a cell is empty or a whole number, perhaps written as 12.0."""
    digits = text.removesuffix(".0")
    return not text or (digits.isascii() and digits.isdigit() and len(digits) <= 18)


def _is_number(text: str) -> bool:
    try:
        return not text or float(text) is not None
    except ValueError:
        return False


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
