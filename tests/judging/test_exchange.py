"""Labels that go to spreadsheets and other tools, and come back."""

import csv
from pathlib import Path

import numpy as np
import pytest

from xmine.browsing.opening import open_pairs
from xmine.errors import FileError
from xmine.judging.exchange import read_labels, write_labels
from xmine.judging.judgements import Judgements


@pytest.fixture
def bob(tmp_path: Path) -> Judgements:
    texts = ['say "a", b', "=1+1", "'tis", "<b>x</b>", "中文；"]
    rows = [f"{n}\t{n + 3}\t{text}\tt{n}\n" for n, text in enumerate(texts, 1)]
    path = tmp_path / "pairs.tsv"
    path.write_text("source_line\ttarget_line\tsource\ttarget\n" + "".join(rows), "utf-8")
    return Judgements.open(open_pairs(path), "bob")


def test_what_is_written_is_read_again_and_changes_nothing(bob: Judgements, tmp_path: Path) -> None:
    Judgements.open(bob.opened, "ann").judge_all(range(4), "accept")
    bob.judge(1, "partial")
    bob.note(1, '=half, "only"; 半')
    bob.judge(0, "source", adjudicates=True)
    path = str(tmp_path / "labels.csv")
    write_labels(bob, np.arange(5), path, force=False)
    given = read_labels(path, bob)
    assert given == [each for row in range(5) for each in bob.given(row)]
    assert len(given) == 6 and bob.take(given) == 0
    fresh = Judgements.open(bob.opened, "cem", beside=tmp_path / "other.tsv")
    assert fresh.take(given) == 6 and [*map(fresh.given, range(5))] == [*map(bob.given, range(5))]
    with pytest.raises(FileError, match="exists already"):
        write_labels(bob, np.arange(5), path, force=False)
    # And no spreadsheet takes a text for a formula.
    rows = [*csv.DictReader(Path(path).read_text("utf-8-sig").splitlines())]
    assert {row["source"][:2] for row in rows} == {"sa", "'=", "''", "<b", "中文"}


HEAD = "source_line,target_line,judge,verdict,kind,source\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}1,4,ann,accept,,\n3,3,ann,accept,,\n", "a.csv:3: .*no pair of line 3"),
        (f"{HEAD}3,6,ann,fine,,\n", "a.csv:2: fine is none of"),
        (f"{HEAD}3,6,ann,accept,partial,\n", "a.csv:2: accept and partial is none"),
        (f"{HEAD}x,6,ann,accept,,\n", "a.csv:2: .*'x'"),
        (f"{HEAD}3,6,ann\n", "a.csv:2: 3 cells, the first row has 6"),
        (f"{HEAD}3,6,ann,accept,,else\n", "a.csv:2: the source of these lines is another text"),
        ("source_line,target_line\n3,6\n", "a.csv:1: no columns"),
    ],
)
def test_a_wrong_row_is_named(bob: Judgements, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(FileError, match=said):
        read_labels(str(tmp_path / "a.csv"), bob)
