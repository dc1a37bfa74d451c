"""The tasks of XRETE: each format on files made here, what is wrong with one."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from papers.transfer import read_tasks

from tests.toys.xrete import (
    MAKE,
    PAIRS,
    Row,
    copa,
    law,
    make_americasnli,
    make_multiarc,
    make_multieurlex,
    make_xcopa,
    make_xnli,
    only,
    review,
    write,
)
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData


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


def test_multinli_of_xnli_mt(tmp_path: Path) -> None:
    make_xnli(tmp_path)
    (tmp_path / "xnli/train-en.tsv").unlink()
    lines = ["premise\thypo\tlabel", "It rains .\tIt is dry .\tcontradictory"]
    write(tmp_path / "XNLI-MT-1.0/multinli/multinli.train.en.tsv", lines)
    assert only(tmp_path, "xnli").train.answers.tolist() == [2]
    write(tmp_path / "XNLI-MT-1.0/multinli/multinli.train.en.tsv", lines[:1])
    with pytest.raises(FileError, match=r"multinli.train.en.tsv: no examples"):
        read_tasks(DataFolder(tmp_path))


def test_americasnli_in_both_layouts(tmp_path: Path) -> None:
    make_americasnli(tmp_path)
    task = only(tmp_path, "americasnli")
    assert list(task.tests) == ["aym", "gn"] and task.dev is None
    assert task.tests["gn"].texts[0] == ("A cat sleeps.", "An animal rests.")
    (tmp_path / "americasnli/test.tsv").unlink()
    lines = ["id\tlanguage\tpremise\thypothesis\tlabel", "7\thch\tA.\tB.\tneutral"]
    write(tmp_path / "americasnli/data/anli_final/dev/anli.dev.tsv", lines)
    write(tmp_path / "xnli/dev-en.tsv", PAIRS)
    task = only(tmp_path, "americasnli")
    assert task.tests["hch"].answers.tolist() == [1] and task.split.endswith("AmericasNLI dev")
    assert task.dev and len(task.dev.texts) == 2
    write(tmp_path / "americasnli/data/anli_final/dev/anli.dev.tsv", lines[:1])
    with pytest.raises(FileError, match="has a head and no lines"):
        read_tasks(DataFolder(tmp_path))


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


def test_multiarc_in_both_layouts(tmp_path: Path) -> None:
    make_multiarc(tmp_path)
    task = only(tmp_path, "multiarc")
    assert task.train.texts == [("Works well.",)] * 2 and task.train.answers.tolist() == [4, 1]
    assert list(task.tests) == ["en", "fr"]
    for path in (tmp_path / "multiarc").iterdir():
        split = path.stem.split("_")[2]
        (tmp_path / "multiarc/json" / split).mkdir(parents=True, exist_ok=True)
        path.rename(tmp_path / "multiarc/json" / split / path.name) if path.is_file() else None
    again = only(tmp_path, "multiarc")
    assert again.train.texts == task.train.texts and list(again.tests) == ["en", "fr"]


WRONG: list[tuple[str, str, Sequence[str | Row], str]] = [
    ("xnli", "xnli/train-en.tsv", ["A.\tB.\tmaybe"], "'maybe' is no label of MultiNLI"),
    ("americasnli", "americasnli/test.tsv", ["premise\tlabel", "A\tB"], "no column language"),
    ("xcopa", "copa/train.jsonl", [copa("A", None)], "'label' is null"),
    ("xcopa", "copa/train.jsonl", [copa("A", 1, "why")], "'why' is no question of COPA"),
    ("xcopa", "siqa/train-labels.lst", ["1"], "has 2 lines and .* 1"),
    ("xcopa", "siqa/train-labels.lst", ["1", "4"], "lst:2: '4' is no label"),
    ("xcopa", "xcopa/data/ta/val.ta.jsonl", [copa("A")], "ta/test.ta.jsonl missing"),
    ("multieurlex", "multieurlex/dev.jsonl", [law(["de"], ["1"])], "no law in en"),
    ("multieurlex", "multieurlex/dev.jsonl", [law(["en"], [])], "no labels of level_1"),
    ("multiarc", "multiarc/dataset_fr_test.json", [review("fr", 6)], "'stars' is 6"),
    ("multiarc", "multiarc/dataset_fr_test.json", [review("en", 5)], "'en' in a file of 'fr'"),
    ("multiarc", "multiarc/dataset_ja_dev.json", [review("ja", 5)], "dataset_ja_test.json missing"),
]


@pytest.mark.parametrize(("name", "file", "lines", "message"), WRONG)
def test_what_is_wrong_is_named(
    name: str, file: str, lines: Sequence[str | Row], message: str, tmp_path: Path
) -> None:
    MAKE[name](tmp_path)
    only(tmp_path, name)
    write(tmp_path / file, lines)
    with pytest.raises(FileError, match=message) as error:
        read_tasks(DataFolder(tmp_path))
    assert not isinstance(error.value, MissingData)
