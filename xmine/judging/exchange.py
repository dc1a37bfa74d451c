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
_TEXTS = ("judge", "note")
_COLUMNS = (*_PLACES, "judge", "verdict", "kind", "note", "adjudicates", "source", "target")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")  # begins a cell that a spreadsheet may run
_KEYS = zip(WORDS, "axu1234", strict=True)
_CHOICES = "".join(f'\n    <Choice value="{word}" hotkey="{key}"/>' for word, key in _KEYS)
_INTERFACE = f"""<View>
  <Text name="source" value="$source"/>
  <Text name="target" value="$target"/>
  <Choices name="verdict" toName="target" choice="single" showInLine="true">{_CHOICES}
  </Choices>
  <TextArea name="note" toName="target" placeholder="note"/>
  <TextArea name="judge" toName="target" placeholder="your name, if not that of the account"/>
</View>
"""


def holds_labels(path: str) -> bool:
    """Tell whether a file is for labels, by its name: tasks.json, labels.csv."""
    return Path(path).suffix in (".json", ".csv")


def write_labels(judgements: Judgements, opened: Opened, rows: Rows, path: str, force: bool) -> str:
    """Write some pairs with all labels on them, and say how many.

    Beside tasks.json stands its labeling interface, tasks.xml, for the project's settings.
    """
    outputs, places = [Path(path)], [(row, _place(opened, row)) for row in rows.tolist()]
    if path.endswith(".json"):
        outputs.append(Path(path).with_suffix(".xml"))
        tasks = [
            {"data": data, "annotations": [*map(_annotation, judgements.given(row))]}
            for row, data in places
        ]
        texts = [json.dumps(tasks, ensure_ascii=False, indent=1) + "\n", _INTERFACE]
    else:
        sheet = io.StringIO(newline="")
        writer = csv.DictWriter(sheet, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row, data in places:
            for label in judgements.given(row) or (None,):
                cells = {**data, **(_cells(label) if label else {})}.items()
                writer.writerow(
                    {x: f"'{y}" if str(y).startswith(_FORMULA) else y for x, y in cells}
                )
        texts = ["\ufeff" + sheet.getvalue()]  # without the mark Excel takes UTF-8 for another one
    for each in outputs:
        check_free(each, force=force)
    with replacing_all(outputs) as partials:
        for partial, text in zip(partials, texts, strict=True):
            partial.write_text(text, encoding="utf-8", errors="replace", newline="")
    return f"{' and '.join(map(str, outputs))}: {count(len(rows), 'pair')}"


def _place(opened: Opened, row: int) -> dict[str, Any]:
    key = key_of(opened, row)
    line = key.source_line if key.target_line is None else key.target_line
    places = zip(_PLACES, (key[0], line, *key[2:4]), strict=True)
    texts = {name: side.texts[int(rows[row])] for name, side, rows in opened.sides}
    return {name: each for name, each in places if each is not None} | texts


def _annotation(label: Given) -> dict[str, Any]:
    said = [("verdict", "choices", "choices", label.word)]
    said += [(name, "textarea", "text", getattr(label, name)) for name in _TEXTS]
    return {
        "result": [
            {"from_name": name, "to_name": "target", "type": kind, "value": {field: [each]}}
            for name, kind, field, each in said
            if each
        ],
        "ground_truth": label.decides,
    }


def _cells(label: Given) -> dict[str, str]:
    said = {"judge": label.judge, "verdict": verdict_of(label.word), "note": label.note}
    kind = label.word if label.word in KINDS else ""
    return {**said, "kind": kind, "adjudicates": "yes" if label.decides else ""}


def read_labels(path: str, opened: Opened, by: str) -> list[Given]:
    """Read labels from a JSON export of Label Studio, or from CSV with a line of names.

    Pairs without a label and skipped annotations are passed over. `by` judges where no name stands.

    Raises:
        FileError: a row or a task is no label of a pair; it is named.
    """
    found = []
    for where, data, said in _tasks(path) if path.endswith(".json") else _table(path):
        try:
            words = {str(each).strip().lower() for each in said["verdict"]} - {""}
            words -= {REJECT} if words & {*KINDS} else set()
            if words:
                judge, note = (" ".join(str(said.get(each) or "").split()) for each in _TEXTS)
                decides = bool(said.get("adjudicates"))
                found.append(Given(_row(opened, data), judge or by, _only(words), note, decides))
        except (XmineError, ValueError, TypeError, LookupError) as error:
            raise FileError(f"{where}: {error}", "no label was taken") from None
    return found


def _only(words: set[str]) -> str:
    if len(words) > 1 or not words <= {*WORDS, TAKEN_BACK}:
        raise FileError(f"{' and '.join(sorted(words))} is none of {', '.join(WORDS)}")
    return words.pop()


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


_Label = tuple[str, Mapping[str, Any], Mapping[str, Any]]  # file:row, the pair, what is said of it


def _table(path: str) -> Iterator[_Label]:
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


def _tasks(path: str) -> Iterator[_Label]:
    tasks = parsed_json(read_bytes(path).decode("utf-8-sig", "replace"), name_of(path))
    for n, task in enumerate(tasks if isinstance(tasks, list) else [tasks], 1):
        where = f"{name_of(path)}: task {n}"
        try:
            for each in task["annotations"]:
                who = each.get("completed_by")
                who = who.get("email") or who.get("id") if isinstance(who, dict) else who
                said = {"judge": who, "adjudicates": each.get("ground_truth"), "verdict": []}
                for result in () if each.get("was_cancelled") else each["result"]:
                    value = result["value"]
                    said["verdict"] += value.get("choices", [])
                    said |= {x: " ".join(value["text"]) for x in _TEXTS if x == result["from_name"]}
                yield where, task["data"], said
        except (LookupError, TypeError, AttributeError):
            raise FileError(f"{where}: not as Label Studio exports JSON") from None
