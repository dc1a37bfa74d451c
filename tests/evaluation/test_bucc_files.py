"""BUCC: its files, in each layout, wrong ones and missing ones."""

from pathlib import Path
from typing import Any

import pytest

from tests.toys.bucc import ToyFiles, Write, measure, writer
from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.readers.bucc import find_bucc, read_gold, read_sentences_by_id
from xmine.evaluation.retrieval.bucc import unified

Side = list[tuple[str, str]]


def test_wrong_ids_are_named_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "x.zh").write_text("zh-1\t一\nzh-2\t二\nzh-1\t三\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"x.zh:3: the id zh-1 is that of line 1 too"):
        read_sentences_by_id(tmp_path / "x.zh")
    (tmp_path / "x.zh").write_text("zh-1\ta\tb\nzh-2 c\n")
    with pytest.raises(FileError, match=r"x.zh:2: 1 column; expected 2 with tabs between"):
        read_sentences_by_id(tmp_path / "x.zh")
    sides: tuple[Side, Side] = ([("zh-1", "一"), ("zh-2", "二")], [("en-1", "one")])
    for text, message in [
        ("zh-1\ten-1\nzh-2\ten-9\n", "x.gold:2: no target sentence has the id 'en-9'"),
        ("en-1\tzh-1\n", "x.gold:1: no source sentence has the id 'en-1'"),
        ("zh-1\ten-1\nzh-1\ten-1\n", "x.gold:2: the pair of line 1 again"),
        ("", "x.gold: the file is empty"),
    ]:
        (tmp_path / "x.gold").write_text(text)
        with pytest.raises(FileError, match=message):
            read_gold(tmp_path / "x.gold", sides)


def test_texts_that_come_again_are_searched_once_and_never_counted() -> None:
    side = [("1", "same"), ("2", "other"), ("3", " same"), ("4", "Same")]
    assert unified(side) == ([("1", "same"), ("2", "other"), ("4", "Same")], {"1"})


@pytest.fixture
def write(toy_files: ToyFiles, tmp_path: Path) -> Write:
    return writer(toy_files, tmp_path)


def test_in_the_layout_of_xtreme_test_is_the_training_part(write: Write) -> None:
    write("zh-en.dev")
    data = write("zh-en.test")
    folder = find_bucc(DataFolder(data))
    assert folder.read("zh-en", "sample").name == "zh-en.dev"
    assert folder.read("zh-en", "training").name == "zh-en.test"
    assert not folder.has("test")
    assert find_bucc(DataFolder(data / "bucc2018")).pairs == ["zh-en"]


def test_missing_files_are_named(toy_encoder: SentenceEncoder, write: Write) -> None:
    data = write("zh-en.dev")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"protocol": "laser"}, "--protocol laser needs .*training: zh-en.training.gold missing"),
        ({"protocol": "xtreme"}, "--protocol xtreme needs .*zh-en.training.gold missing"),
        ({"threshold_from": "training"}, "zh-en.training.gold missing"),
    ]
    for options, message in wrong:
        with pytest.raises(FileError, match=message):
            measure(toy_encoder, data, **options)
    (data / "bucc2018").rename(data / "pseudo-bucc")  # of the same format, and not BUCC
    for folder in (data, data / "pseudo-bucc"):
        with pytest.raises(MissingData, match="expected BUCC 2018"):
            measure(toy_encoder, folder)
    (data / "pseudo-bucc").rename(data / "bucc2018")
    (data / "bucc2018" / "zh-en.dev.en").unlink()
    with pytest.raises(FileError, match=r"incomplete: zh-en.dev.en missing"):
        measure(toy_encoder, data)


def test_one_gold_pair_is_too_few_for_halves(toy_encoder: SentenceEncoder, write: Write) -> None:
    data = write("zh-en.dev")
    gold = data / "bucc2018" / "zh-en.dev.gold"
    gold.write_text(gold.read_text().splitlines()[0] + "\n")
    with pytest.raises(FileError, match="too few pairs to hold out a half of them: 1"):
        measure(toy_encoder, data)
