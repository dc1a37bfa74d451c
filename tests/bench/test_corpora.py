"""Generated corpora: the same for everyone, all lines different, as near to each other as news."""

import hashlib
from pathlib import Path

import corpora
import numpy as np
import pytest
from drawn_lines import Corpus

from xmine.files.reading import read_lines

LINES = 3000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("corpora")
    corpora.write_corpora(made, LINES, seed=3, translated=0.4)
    return made


def test_the_files_are_the_same_on_any_machine(folder: Path) -> None:
    names = ("en.txt", "zh.txt", "gold.tsv")
    digests = [hashlib.sha256((folder / name).read_bytes()).hexdigest()[:16] for name in names]
    assert digests == ["71bc8689ac49d5db", "98c710867bd43eba", "02596686ebbb7904"]


def test_a_line_does_not_depend_on_the_lines_beside_it() -> None:
    corpus = Corpus(100, seed=7)
    numbers = np.arange(100)
    alone = [corpus.chinese(numbers[at : at + 1])[0] for at in range(100)]
    assert corpus.chinese(numbers) == alone
    backwards = corpus.english(numbers[::-1])
    assert backwards[::-1] == corpus.english(numbers)


def test_gold_names_the_translations_and_no_others(folder: Path) -> None:
    english, chinese = (list(read_lines(folder / name)) for name in ("en.txt", "zh.txt"))
    rows = [line.split("\t") for line in read_lines(folder / "gold.tsv")]
    gold = {(english[int(ours) - 1], chinese[int(theirs) - 1]) for ours, theirs in rows}
    assert len(english) == len(chinese) == LINES
    assert len(rows) == len(gold) == 0.4 * LINES
    corpus = Corpus(2 * LINES - len(rows), seed=3)
    numbers = np.arange(2 * LINES - len(rows))
    ours, theirs = corpus.english(numbers), corpus.chinese(numbers)
    assert gold == set(zip(ours[: len(rows)], theirs[: len(rows)], strict=True))
    assert sorted(english) == sorted(ours[:LINES])
    assert sorted(chinese) == sorted(theirs[: len(rows)] + theirs[LINES:])


@pytest.mark.parametrize("translated", [0.0, 1.0])
def test_none_or_all_lines_have_a_translation(tmp_path: Path, translated: float) -> None:
    corpora.write_corpora(tmp_path, 50, seed=1, translated=translated)
    assert (tmp_path / "gold.tsv").read_text().count("\n") == 50 * translated
    assert len(read_lines(tmp_path / "en.txt")) == len(read_lines(tmp_path / "zh.txt")) == 50
