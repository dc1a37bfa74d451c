"""The tasks of XRETE: each format on files made here, what is wrong with one."""

from pathlib import Path

import numpy as np

from tests.toys.xrete import (
    make_multieurlex,
    make_xcopa,
    make_xnli,
    only,
)


def test_xnli(tmp_path: Path) -> None:
    make_xnli(tmp_path)
    task = only(tmp_path, "xnli")
    assert task.classes == ("entailment", "neutral", "contradiction")
    assert task.train.texts[2] == ("I wait.", "I am late.")
    assert task.train.answers.tolist() == [0, 2, 1] and task.train.answers.dtype == np.float64
    assert list(task.tests) == ["de", "en"] and task.tests["de"].answers.tolist() == [0, 2]
    assert task.dev and task.dev.answers.tolist() == [0, 2] and task.split.endswith("XNLI test")
    for language in ("en", "de"):
        (tmp_path / f"xnli/test-{language}.tsv").unlink()
    task = only(tmp_path, "xnli")
    assert task.dev is None and task.split.endswith("XNLI dev")  # nothing is tuned on the test


def test_xcopa(tmp_path: Path) -> None:
    make_xcopa(tmp_path)
    task = only(tmp_path, "xcopa")
    assert task.train.texts == [
        ("Kim ran. Why?", "late", "bored", "asleep"),
        ("Kim ran. Why?", "late", "bored", "asleep"),
        ("B What was the CAUSE of this?", "It fell.", "It flew."),
    ]
    assert task.train.answers.tolist() == [0, 2, 0]
    assert task.tests["zh"].texts == [("A What happened as a RESULT?", "It fell.", "It flew.")]
    assert task.dev and task.dev.answers.tolist() == [1]
    assert "Social IQa and COPA" in task.split and "XCOPA test" in task.split
    (tmp_path / "copa/train.jsonl").unlink()
    (tmp_path / "copa/val.jsonl").unlink()
    task = only(tmp_path, "xcopa")
    assert len(task.train.texts) == 2 and task.dev is None and "from Social IQa train" in task.split
    for language in ("et", "zh"):
        (tmp_path / f"xcopa/data/{language}/test.{language}.jsonl").unlink()
    assert "XCOPA val" in only(tmp_path, "xcopa").split


def test_multieurlex(tmp_path: Path) -> None:
    make_multieurlex(tmp_path)
    task = only(tmp_path, "multieurlex")
    assert task.classes == ["1", "3", "5"]  # of what is read; a law only in German is not
    assert task.train.texts == [("Regulation on pears, en",)]
    assert task.train.answers.tolist() == [[1, 1, 0]]
    assert {name: each.answers.tolist() for name, each in task.tests.items()} == {
        "en": [[1, 0, 0], [0, 0, 1]],
        "de": [[1, 0, 0]],
    }  # no Maltese: it is null
