"""Labels for other tools, and from them: tasks of Label Studio, and CSV for a spreadsheet.

https://labelstud.io/guide/task_format describes tasks. Label Studio knows people by their accounts
and refuses tasks of others, so a judge stands in a field of the annotation.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from xmine.browsing.opened import Opened, Rows, row_at
from xmine.display import count
from xmine.errors import FileError, XmineError
from xmine.files.atomic import check_free, replacing_all
from xmine.files.reading import name_of, read_bytes
from xmine.files.records import csv_rows, parsed_json
from xmine.judging.judgements import Given, Judgements
from xmine.judging.keys import key_of
from xmine.pairs.judgements import KINDS, REJECT, TAKEN_BACK, WORDS, verdict_of

_PLACES = ("source_line", "target_line", "source_offset", "target_offset")
_COLUMNS = (*_PLACES, "judge", "verdict", "kind", "note", "adjudicates", "source", "target")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")  # begins a cell that a spreadsheet may run
_KEYS = zip(WORDS, "axu1234", strict=True)
_INTERFACE = """<View>
  <Text name="source" value="$source"/>
  <Text name="target" value="$target"/>
  <Choices name="verdict" toName="target" choice="single" showInLine="true">{}
  </Choices>
  <TextArea name="note" toName="target" placeholder="note"/>
  <TextArea name="judge" toName="target" placeholder="your name, if not that of the account"/>
</View>
""".format("".join(f'\n    <Choice value="{word}" hotkey="{key}"/>' for word, key in _KEYS))


def holds_labels(path: str) -> bool:
    """Tell whether a file is for labels, by its name: tasks.json, labels.csv."""
    return Path(path).suffix in (".json", ".csv")


def write_labels(judgements: Judgements, rows: Rows, path: str, *, force: bool) -> str:
    """Write some pairs with all labels on them, and say how many.

    Beside tasks.json stands its labeling interface, tasks.xml, for the project's settings.
    """
    pairs = [(_place(judgements.opened, row), judgements.given(row)) for row in rows.tolist()]
    files = {Path(path): _sheet(pairs)} if path.endswith(".csv") else {}
    if not files:
        tasks = [{"data": x, "annotations": [*map(_annotation, labels)]} for x, labels in pairs]
        files[Path(path)] = json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"
        files[Path(path).with_suffix(".xml")] = _INTERFACE
    for each in files:
        check_free(each, force=force)
    with replacing_all([*files]) as partials:
        for partial, text in zip(partials, files.values(), strict=True):
            partial.write_text(text, encoding="utf-8", errors="replace", newline="")
    return f"{' and '.join(map(str, files))}: {count(len(rows), 'pair')}"


def _place(opened: Opened, row: int) -> dict[str, Any]:
    """Tell where a pair stands, and its texts."""
    line, other, *starts, _ = key_of(opened, row)
    places = zip(_PLACES, (line, line if other is None else other, *starts), strict=True)
    texts = {name: side.texts[int(rows[row])] for name, side, rows in opened.sides}
    return {name: each for name, each in places if each is not None} | texts


def _annotation(label: Given) -> dict[str, Any]:
    said = {"verdict": label.word, "note": label.note, "judge": label.judge}
    result = []
    for name, each in said.items():
        kind, field = ("choices", "choices") if name == "verdict" else ("textarea", "text")
        item = {"from_name": name, "to_name": "target", "type": kind, "value": {field: [each]}}
        result += [item] if each else []
    return {"result": result, "ground_truth": label.decides}


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
    """Read labels from a JSON export of Label Studio, or from CSV with a line of names.

    Pairs without a label and skipped annotations are passed over; `by` judges where no name stands.

    Raises:
        FileError: a row or a task is no label of a pair; it is named.
    """
    found = []
    for where, data, said in _tasks(path) if path.endswith(".json") else _table(path):
        try:
            words = {str(each).strip().lower() for each in said["verdict"]} - {""}
            words -= {REJECT} if words & {*KINDS} else set()
            if len(words) > 1 or not words <= {*WORDS, TAKEN_BACK}:
                raise FileError(f"{' and '.join(sorted(words))} is none of {', '.join(WORDS)}")
            if words:
                judge, note = (" ".join(str(said.get(x) or "").split()) for x in ("judge", "note"))
                row, decides = _row(judgements.opened, data), bool(said.get("adjudicates"))
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


def _table(path: str) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Give where each row stands, its pair, and what is said of that."""
    rows = ((where, cells) for where, _, cells in csv_rows(path) if any(cells))
    head = [cell.strip().lower() for cell in next(rows, ("", []))[1]]
    if not {"source_line", "target_line", "verdict"} <= {*head}:
        raise FileError(f"{name_of(path)}:1: no columns source_line, target_line and verdict")
    for where, cells in rows:
        if len(cells) != len(head):
            raise FileError(f"{where}: {len(cells)} cells, the first row has {len(head)}")
        plain = (x[1:] if x[:1] == "'" and x[1:2] in _FORMULA else x for x in cells)
        row = dict(zip(head, plain, strict=True))
        yield where, row, {**row, "verdict": [row["verdict"], row.get("kind", "")]}


def _tasks(path: str) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Give what `_table` does, of each annotation."""
    tasks = parsed_json(read_bytes(path).decode("utf-8-sig", "replace"), name_of(path))
    for n, task in enumerate(tasks if isinstance(tasks, list) else [tasks], 1):
        where = f"{name_of(path)}: task {n}"
        try:
            for each in task["annotations"]:
                who = each.get("completed_by")
                who = who.get("email") or who.get("id") if isinstance(who, dict) else who
                said = {"judge": who, "adjudicates": each.get("ground_truth"), "verdict": []}
                for result in () if each.get("was_cancelled") else each["result"]:
                    texts = result["value"].get("text", "")
                    said["verdict"] += result["value"].get("choices", [])
                    said |= {result["from_name"]: " ".join(texts)} if texts else {}
                yield where, task["data"], said
        except (LookupError, TypeError, AttributeError):
            raise FileError(f"{where}: not as Label Studio exports JSON") from None
