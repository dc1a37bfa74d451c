"""Lines and pairs are read alike in this process, in other processes, and by tasks of an engine."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.toys.engines import Shuffled
from xmine.encoders.reranking import RerankingWeights
from xmine.flags import line_features, reading
from xmine.flags.line_features import last_mark
from xmine.flags.numbers import differing, reader
from xmine.flags.reading import ReadLines, read_lines
from xmine.progress import Progress, silent
from xmine.run.steps import Steps
from xmine.text.packed import PackedTexts
from xmine.text.sentences import Sentences, sentence_table

LANGUAGES = "en", "zh"
ENGLISH = [f"They sold {row} of {row % 7} boats on day {row % 3}." for row in range(50)]
CHINESE = [
    f"他们在第{row % 3}天卖了{row % 7}条船中的{row + (row % 5 == 0)}条。" for row in range(50)
]
ENGLISH[10], ENGLISH[20] = "完全不同的语言", "…"

Rows = NDArray[np.int64]
Sides = tuple[Sentences, Sentences]


@pytest.fixture
def sides() -> Sides:
    source, target = sentence_table("en.txt", ENGLISH), sentence_table("zh.txt", CHINESE)
    return replace(source, texts=PackedTexts.of(ENGLISH)), target


@pytest.fixture
def pairs() -> tuple[Rows, Rows]:
    rng = np.random.default_rng(3)
    x = np.concatenate([np.arange(50), rng.integers(0, 50, 30)])
    return x, np.concatenate([np.arange(50), rng.integers(0, 50, 30)])


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_features, "LINES_OF_A_TASK", 16)
    monkeypatch.setattr("xmine.flags.reading._LINES_OF_A_PROCESS", 16)
    monkeypatch.setattr(reading, "_PAIRS_OF_A_TASK", 30)


def same(one: ReadLines, other: ReadLines) -> bool:
    def arrays(read: ReadLines) -> list[Any]:
        sides = read.source, read.target
        found = [getattr(side, each.name) for side in sides for each in fields(side)]
        return [*found, read.pairs]

    return one.languages == other.languages and all(map(np.array_equal, arrays(one), arrays(other)))


def test_numbers_are_compared_pair_by_pair(sides: Sides, pairs: tuple[Rows, Rows]) -> None:
    read, readers = read_lines(sides, pairs, LANGUAGES), (reader("en"), reader("zh"))
    numbers = read.pairs["number"]
    for row, (x, y) in enumerate(zip(*pairs, strict=True)):
        found = differing(ENGLISH[x], CHINESE[y], *readers)
        assert numbers[row] == (found is not None)
    assert 10 < numbers.sum() < 70 and read.source.foreign.nonzero()[0].tolist() == [10]
    order = np.arange(80)[::-1]
    assert np.array_equal(read.take(order).pairs, read.pairs[::-1])


def test_a_task_reads_half_a_character(tmp_path: Path) -> None:
    """A list of Python may have one; the vectors are then given."""
    texts = ["3 bees \ud83d", "4 bees"], ["3 蜜蜂", "5 蜜蜂"]
    sides = sentence_table("en", texts[0]), sentence_table("zh", texts[1])
    steps, pairs = Steps(tmp_path / "parts", Shuffled()), (np.arange(2), np.arange(2))
    found = read_lines(sides, pairs, LANGUAGES, silent, steps)
    assert found.pairs["number"].tolist() == [False, True]


def test_tasks_of_an_engine_read_the_same(
    sides: Sides, pairs: tuple[Rows, Rows], tmp_path: Path
) -> None:
    told: list[Progress] = []
    plain = read_lines(sides, pairs, LANGUAGES, told.append)
    assert told[-1] == Progress("reading lines", 180, 180) and len(told) > 2
    told.clear()
    engine = Shuffled()
    steps = Steps(tmp_path / "parts", engine)
    assert same(read_lines(sides, pairs, LANGUAGES, told.append, steps), plain)
    assert told[-1] == Progress("reading lines", 180, 180) and len(told) > 2
    assert len(engine.ran) == 4 + 4 + 3 and all(task.in_python for task in engine.ran)
    steps.sweep()
    assert {path.name for path in steps.folder.iterdir()} == steps.used
    assert same(read_lines(sides, pairs, LANGUAGES, silent, steps), plain)
    assert len(engine.ran) == 11


@pytest.mark.parametrize("threads", [1, pytest.param(3, marks=pytest.mark.process)])
def test_processes_read_the_same(
    sides: Sides,
    pairs: tuple[Rows, Rows],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    threads: int,
) -> None:
    monkeypatch.setattr("xmine.run.local.blas_threads", lambda: threads)
    plain, here = read_lines(sides, pairs, LANGUAGES), []
    look = line_features._look

    def looked(*given: Any) -> None:
        here.append(given)
        look(*given)

    monkeypatch.setattr(line_features, "_look", looked)
    steps = Steps(tmp_path / "parts")
    assert same(read_lines(sides, pairs, LANGUAGES, silent, steps), plain)
    assert len(here) == (8 if threads == 1 else 0)


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        *(("It rains.", 1), ("下雨了。", 1), ("“It rains!”", 1), ("It rains (a lot…) ", 1)),
        *(("Does it rain?", 2), ("下雨吗？」", 2), ("هل تمطر؟", 2), ("बारिश हो रही है।", 1)),
        *(("Rain", 0), ("Rain:", 0), ("?\"'", 2), ("»", 0), ("", 0)),
    ],
)
def test_a_line_ends_as_a_sentence_as_a_question_or_as_neither(text: str, mark: int) -> None:
    assert last_mark(text) == mark


def test_what_differs_is_taken_off_the_scores_of_pairs() -> None:
    left = sentence_table(
        "en", ["It rains in May.", "Rain, 12 hours", "Does it rain?", "Дождь в мае."]
    )
    right = sentence_table("zh", ["五月下雨。", "雨下了13个小时。", "下雨吗？", "下雨"])
    pairs = np.array([0, 0, 1, 2, 3]), np.array([0, 2, 1, 2, 3])
    read = read_lines((left, right), pairs, ("en", "zh"))
    weights = RerankingWeights(other_numbers=100, other_language=10, other_mark=1)
    assert read.against(pairs, weights).tolist() == [0, 1, 101, 0, 11]
