"""Labels for other tools, and from them: tasks of Label Studio, and CSV for a spreadsheet.

https://labelstud.io/guide/task_format has the format of the tasks. Who annotates there is known by
an address of mail, and Label Studio refuses others: so a judge stands in a field of the annotation.
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
from xmine.pairs.judgements import KINDS, LABELS, REJECT, TAKEN_BACK, WORDS, verdict_of

_PLACES = ("source_line", "target_line", "source_offset", "target_offset")
_COLUMNS = (*_PLACES, "judge", "verdict", "kind", "note", "adjudicates", "source", "target")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")  # how a cell begins that a spreadsheet may run
# The labeling interface of the tasks, for the settings of a project in Label Studio.
_KEYS = dict(zip(WORDS, "axu1234", strict=True))
_CHOICES = "".join(f'\n    <Choice value="{word}" hotkey="{key}"/>' for word, key in _KEYS.items())
_INTERFACE = f"""<View>
  <Text name="source" value="$source"/>
  <Text name="target" value="$target"/>
  <Choices name="verdict" toName="target" choice="single" showInLine="true">{_CHOICES}
  </Choices>
  <TextArea name="note" toName="target" placeholder="note"/>
  <TextArea name="judge" toName="target" placeholder="your name, if not that of the account"/>
</View>
"""


def write_labels(
    opened: Opened, judgements: Judgements, rows: Rows, path: str, *, force: bool
) -> str:
    """Write some pairs with all labels on them into .json or .csv, and say what was written.

    Beside tasks.json the labeling interface for them is written, as tasks.xml.
    """
    outputs = [Path(path)]
    if Path(path).suffix == ".json":
        outputs.append(Path(path).with_suffix(".xml"))
        tasks = [_task(opened, judgements, row) for row in rows.tolist()]
        texts = [json.dumps(tasks, ensure_ascii=False, indent=1) + "\n", _INTERFACE]
    else:
        sheet = io.StringIO(newline="")
        writer = csv.DictWriter(sheet, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows.tolist():
            for label in judgements.given(row) or (None,):
                writer.writerow(_cells(opened, row, label))
        texts = ["\ufeff" + sheet.getvalue()]  # without the mark Excel takes UTF-8 for another one
    for each in outputs:
        check_free(each, force=force)
    with replacing_all(outputs) as partials:
        for partial, text in zip(partials, texts, strict=True):
            partial.write_text(text, encoding="utf-8", errors="replace", newline="")
    also = f", their labeling interface in {outputs[1]}" if outputs[1:] else ""
    return f"{path}: {count(len(rows), 'pair')}{also}"


def _data(opened: Opened, row: int) -> dict[str, Any]:
    """Tell where a pair stands, and its texts."""
    (_, ours, sources), (_, theirs, targets) = opened.sides
    texts = ours.texts[int(sources[row])], theirs.texts[int(targets[row])]
    key = key_of(opened, row)
    places = dict(zip(_PLACES, key, strict=False)) | {"target_line": key.target_line or row + 1}
    known = {name: each for name, each in places.items() if each is not None}
    return known | dict(zip(("source", "target"), texts, strict=True))


def _task(opened: Opened, judgements: Judgements, row: int) -> dict[str, Any]:
    def result(name: str, kind: str, field: str, *said: str) -> dict[str, Any]:
        return {"from_name": name, "to_name": "target", "type": kind, "value": {field: [*said]}}

    annotations = []
    for label in judgements.given(row):
        found = [result("verdict", "choices", "choices", label.word)]
        found += [result("note", "textarea", "text", label.note)] if label.note else []
        found += [result("judge", "textarea", "text", label.judge)]
        annotations.append({"result": found, "ground_truth": label.decides})
    return {"data": _data(opened, row), "annotations": annotations}


def _cells(opened: Opened, row: int, label: Given | None) -> dict[str, Any]:
    cells = _data(opened, row)
    if label is not None:
        kind = label.word if label.word in KINDS else ""
        cells |= {"judge": label.judge, "verdict": verdict_of(label.word), "kind": kind}
        cells |= {"note": label.note, "adjudicates": "yes" if label.decides else ""}
    return {
        name: f"'{each}" if isinstance(each, str) and each.startswith(_FORMULA) else each
        for name, each in cells.items()
    }


def read_given(path: str, opened: Opened, by: str) -> list[Given]:
    """Read labels from a JSON export of Label Studio, or from CSV with a header.

    Pairs without a label are passed over, and annotations that were skipped. `by` is the judge of
    a label of which the file names none.

    Raises:
        FileError: a row or an annotation is no label of a pair, and is named.
    """
    rows = _annotations(path) if path.endswith(".json") else _table(path)
    found = []
    for where, place, said in rows:
        try:
            found.append(_given(opened, place, said, by))
        except (XmineError, ValueError, TypeError, KeyError) as error:
            hint = "a row names source_line, target_line, judge and verdict; no label was taken"
            raise FileError(f"{where}: {error}", hint) from None
    return found


def _given(opened: Opened, data: Mapping[str, Any], said: Mapping[str, Any], by: str) -> Given:
    lines = [int(data[name]) for name in _PLACES[:2]]
    starts = [None if data.get(name) in (None, "") else int(data[name]) for name in _PLACES[2:]]
    row = row_at(opened, (lines[0], starts[0]), (lines[1], starts[1]))
    for name, side, places in opened.sides:
        text = str(data.get(name) or "")
        if text and text.split() != side.texts[int(places[row])].split():
            raise FileError(f"the {name} of these lines is another text now")
    words = {str(each).strip().lower() for each in said["verdict"]} - {""}
    words -= {REJECT} if words & {*KINDS} else set()
    if len(words) != 1 or not words <= {*WORDS, TAKEN_BACK}:
        told = " and ".join(sorted(words)) or "nothing"
        raise FileError(f"{told} is no verdict: one of {', '.join((*LABELS, *KINDS))}")
    judge, note = (" ".join(str(said.get(name) or "").split()) for name in ("judge", "note"))
    return Given(row, judge or by, words.pop(), note, bool(said.get("adjudicates")))


def _table(path: str) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    rows = ((where, cells) for where, _, cells in csv_rows(path) if any(cells))
    head = [cell.strip().lower() for cell in next(rows, ("", []))[1]]
    if not {"source_line", "target_line", "verdict"} <= {*head}:
        raise FileError(f"{name_of(path)}:1: no columns source_line, target_line and verdict")
    for where, told in rows:
        cells = [each[1:] if each[:1] == "'" and each[1:2] in _FORMULA else each for each in told]
        row = dict(zip(head, cells, strict=False))
        verdict = [row["verdict"] if len(cells) == len(head) else "", row.get("kind", "")]
        if len(cells) != len(head):
            raise FileError(f"{where}: {len(cells)} cells, the first row has {len(head)}")
        if any(each.strip() for each in verdict):
            yield where, row, {**row, "verdict": verdict}


def _annotations(path: str) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    name = name_of(path)
    tasks = parsed_json(read_bytes(path).decode("utf-8-sig", "replace"), name)
    for n, task in enumerate(tasks if isinstance(tasks, list) else [tasks], 1):
        try:
            data, annotations = task["data"], task["annotations"]
            for each in annotations:
                said: dict[str, Any] = {"verdict": []}
                for result in each["result"]:
                    value = result["value"]
                    said["verdict"] += value.get("choices", [])
                    if "text" in value and result["from_name"] in ("note", "judge"):
                        said[result["from_name"]] = " ".join(value["text"])
                who = each.get("completed_by")
                who = who.get("email") or who.get("id") if isinstance(who, dict) else who
                said = {"judge": who, "adjudicates": each.get("ground_truth"), **said}
                if said["verdict"] and not each.get("was_cancelled"):
                    yield f"{name}: task {n}", data, said
        except (KeyError, TypeError, AttributeError):
            hint = "export the project as JSON, not as JSON-MIN"
            raise FileError(f"{name}: task {n}: not as Label Studio writes tasks", hint) from None
