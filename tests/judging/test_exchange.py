"""Labels that go to Label Studio and to spreadsheets, and come back."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xmine.browsing.opened import Opened
from xmine.browsing.opening import open_pairs
from xmine.errors import FileError
from xmine.judging.exchange import read_labels, write_labels
from xmine.judging.judgements import Judgements


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    texts = ['say "a", b', "=1+1", "'tis", "<b>x</b>", "中文；"]
    rows = [f"{n}\t{n + 3}\t{text}\tt{n}\n" for n, text in enumerate(texts, 1)]
    path = tmp_path / "pairs.tsv"
    path.write_text("source_line\ttarget_line\tsource\ttarget\n" + "".join(rows), "utf-8")
    return open_pairs(path)


@pytest.mark.parametrize("name", ["tasks.json", "labels.csv"])
def test_what_is_written_is_read_again_and_changes_nothing(
    opened: Opened, tmp_path: Path, name: str
) -> None:
    ann, bob = Judgements.open(opened, "ann"), Judgements.open(opened, "bob")
    ann.judge_all(range(4), "accept")
    bob.judge(1, "reject", "partial")
    bob.note(1, '=half, "only"; 半')
    bob.adjudicate(0, "reject", "source")
    path = str(tmp_path / name)
    write_labels(bob, opened, np.arange(5), path, force=False)
    given = read_labels(path, opened, "nobody")
    assert given == [each for row in range(5) for each in bob.given(row)]
    assert len(given) == 6 and bob.take(given) == 0
    fresh = Judgements.open(opened, "cem", beside=tmp_path / "other.tsv")
    assert fresh.take(given) == 6 and [*map(fresh.given, range(5))] == [*map(bob.given, range(5))]
    with pytest.raises(FileError, match="exists already"):
        write_labels(bob, opened, np.arange(5), path, force=False)


def test_a_spreadsheet_runs_no_text(opened: Opened, tmp_path: Path) -> None:
    write_labels(Judgements.open(opened), opened, np.arange(5), f"{tmp_path}/a.csv", force=False)
    rows = [*csv.DictReader((tmp_path / "a.csv").read_text("utf-8-sig").splitlines())]
    assert [row["source"][:2] for row in rows] == ["sa", "'=", "''", "<b", "中文"]


def test_annotations_name_their_judge_by_account_and_skipped_ones_are_none(
    opened: Opened, tmp_path: Path
) -> None:
    def annotation(*choices: str, **more: Any) -> dict[str, Any]:
        result = {"from_name": "verdict", "to_name": "target", "type": "choices"}
        return {"result": [{**result, "value": {"choices": [*choices]}}], **more}

    said = [
        annotation("accept", completed_by={"id": 3, "email": "ann@x.org"}),
        annotation("reject", "language", completed_by=7),
        annotation("accept", completed_by=8, was_cancelled=True),
        {"result": [], "completed_by": 9},
    ]
    task = {"data": {"source_line": 2, "target_line": 5}, "annotations": said}
    (tmp_path / "a.json").write_text(json.dumps([task]))
    found = read_labels(str(tmp_path / "a.json"), opened, "me")
    assert [each[:3] for each in found] == [(1, "ann@x.org", "accept"), (1, "7", "language")]


HEAD = "source_line,target_line,judge,verdict,kind,note\n"
CASES: dict[str, tuple[Callable[[str], str], str]] = {
    "no such pair": (lambda row: row + "3,3,ann,accept,,\n", "a.csv:3: .*no pair of line 3"),
    "no verdict": (lambda row: row + "3,6,ann,fine,,\n", "a.csv:3: fine is none of"),
    "two": (lambda row: row + "3,6,ann,accept,partial,\n", "a.csv:3: accept and partial is none"),
    "no line": (lambda row: row + "x,6,ann,accept,,\n", "a.csv:3: .*'x'"),
    "short": (lambda row: row + "3,6,ann\n", "a.csv:3: 3 cells, the first row has 6"),
    "no column": (lambda row: row.replace("verdict", "said"), "a.csv:1: no columns"),
    "other text": (
        lambda row: row.replace("note\n", "note,source\n").replace(",,\n", ",,,else\n"),
        "a.csv:2: the source of these lines is another text now",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_row_is_named_and_nothing_is_taken(
    opened: Opened, tmp_path: Path, name: str
) -> None:
    (change, said), path = CASES[name], tmp_path / "a.csv"
    path.write_text(HEAD + "1,4,ann,accept,,\n")
    assert len(read_labels(str(path), opened, "me")) == 1
    path.write_text(change(path.read_text()))
    with pytest.raises(FileError, match=said):
        read_labels(str(path), opened, "me")


@pytest.mark.parametrize("text", ["{", "7", '[{"data": 3}]', '[{"data": {}, "annotations": [1]}]'])
def test_what_is_no_export_of_label_studio_is_refused(
    opened: Opened, tmp_path: Path, text: str
) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(FileError, match=r"a\.json"):
        read_labels(str(tmp_path / "a.json"), opened, "me")
