"""Labels for spreadsheets and other tools, and from them, as CSV."""

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from xmine.browsing.opened import Opened, Rows, row_at
from xmine.display import count
from xmine.errors import FileError, XmineError
from xmine.files.atomic import check_free, replacing
from xmine.files.reading import name_of
from xmine.files.records import csv_rows
from xmine.judging.judgements import Given, Judgements
from xmine.judging.keys import key_of
from xmine.pairs.judgements import KINDS, REJECT, TAKEN_BACK, WORDS, verdict_of

_PLACES = ("source_line", "target_line", "source_offset", "target_offset")
_COLUMNS = (*_PLACES, "judge", "verdict", "kind", "note", "adjudicates", "source", "target")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")  # begins a cell that a spreadsheet may run


def holds_labels(path: str) -> bool:
    """Tell whether a file is for labels, by its name."""
    return Path(path).suffix == ".csv"


def write_labels(judgements: Judgements, rows: Rows, path: str, *, force: bool) -> str:
    """Write some pairs with all labels on them, and say how many."""
    pairs = [(_place(judgements.opened, row), judgements.given(row)) for row in rows.tolist()]
    check_free(Path(path), force=force)
    with replacing(Path(path)) as partial:
        partial.write_text(_sheet(pairs), encoding="utf-8", errors="replace", newline="")
    return f"{path}: {count(len(rows), 'pair')}"


def _place(opened: Opened, row: int) -> dict[str, Any]:
    """Tell where a pair stands, and its texts."""
    line, other, *starts, _ = key_of(opened, row)
    places = zip(_PLACES, (line, line if other is None else other, *starts), strict=True)
    texts = {name: side.texts[int(rows[row])] for name, side, rows in opened.sides}
    return {name: each for name, each in places if each is not None} | texts


def _sheet(pairs: list[tuple[dict[str, Any], list[Given]]]) -> str:
    sheet = io.StringIO(newline="")
    sheet.write("\ufeff")  # without it Excel takes UTF-8 for another encoding
    writer = csv.DictWriter(sheet, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for place, labels in pairs:
        for label in labels or [Given(0, "", "")]:
            kind = label.word if label.word in KINDS else ""
            cells = {**place, "judge": label.judge, "verdict": verdict_of(label.word), "kind": kind}
            cells |= {"note": label.note, "adjudicates": "yes" if label.decides else ""}
            told = {x: f"'{y}" if str(y).startswith(_FORMULA) else y for x, y in cells.items()}
            writer.writerow(told)
    return sheet.getvalue()


def read_labels(path: str, judgements: Judgements) -> list[Given]:
    """Read labels from CSV with a line of names.

    Pairs without a label are passed over; `by` judges where no name stands.

    Raises:
        FileError: a row is no label of a pair; it is named.
    """
    found = []
    for where, said in _table(path):
        try:
            words = {said.get(x, "").strip().lower() for x in ("verdict", "kind")} - {""}
            words -= {REJECT} if words & {*KINDS} else set()
            if len(words) > 1 or not words <= {*WORDS, TAKEN_BACK}:
                raise FileError(f"{' and '.join(sorted(words))} is none of {', '.join(WORDS)}")
            if words:
                judge, note = (" ".join(str(said.get(x) or "").split()) for x in ("judge", "note"))
                row, decides = _row(judgements.opened, said), bool(said.get("adjudicates"))
                found.append(Given(row, judge or judgements.by, words.pop(), note, decides))
        except (XmineError, ValueError, TypeError, LookupError) as error:
            raise FileError(f"{where}: {error}", "no label was taken") from None
    return found


def _row(opened: Opened, data: Mapping[str, Any]) -> int:
    """Find the pair of two lines, which must have the texts, if any are given."""
    lines = [int(data[name]) for name in _PLACES[:2]]
    starts = [None if data.get(x) in (None, "") else int(data[x]) for x in _PLACES[2:]]
    row = row_at(opened, *zip(lines, starts, strict=True))
    for name, side, places in opened.sides:
        text = str(data.get(name) or "").split()
        if text and text != side.texts[int(places[row])].split():
            raise FileError(f"the {name} of these lines is another text now")
    return row


def _table(path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give where each row stands, and its cells."""
    rows = ((where, cells) for where, _, cells in csv_rows(path) if any(cells))
    head = [cell.strip().lower() for cell in next(rows, ("", []))[1]]
    if not {"source_line", "target_line", "verdict"} <= {*head}:
        raise FileError(f"{name_of(path)}:1: no columns source_line, target_line and verdict")
    for where, cells in rows:
        if len(cells) != len(head):
            raise FileError(f"{where}: {len(cells)} cells, the first row has {len(head)}")
        plain = (x[1:] if x[:1] == "'" and x[1:2] in _FORMULA else x for x in cells)
        yield where, dict(zip(head, plain, strict=True))
