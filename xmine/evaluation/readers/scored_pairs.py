"""Files of text pairs with people's scores -> pairs and scores: SemEval's STS sets, SICK, STS-B."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.display import count
from xmine.errors import FileError
from xmine.evaluation.data import finite_number, read_tab_separated
from xmine.files.reading import read_lines
from xmine.files.records import csv_rows

BEST = 5  # what SemEval gives pairs that mean the same; 0 is for those that share nothing


@dataclass(frozen=True, slots=True)
class ScoredPairs:
    """Pairs of texts that people have scored."""

    name: str  # where they come from, for messages
    first: list[str]
    second: list[str]
    gold: NDArray[np.float64]  # float64 [pairs], the scores
    languages: tuple[str, str] = ("en", "en")  # of the first texts and of the second


def read_score_first(path: Path, columns: tuple[int, int, int] = (1, 2, 0)) -> ScoredPairs:
    """Read `score<TAB>text<TAB>text`, or other columns of both texts and the score.

    A line without a score was not judged and does not count.
    """
    one, other, score = columns
    lines = read_tab_separated(path, max(columns) + 1)
    rows = ((where, line[one], line[other], line[score]) for where, line in lines)
    return _scored(path, [row for row in rows if row[-1].strip()])


def read_score_apart(texts: Path, scores: Path, *, fewer_scores: bool = False) -> ScoredPairs:
    """Read `text<TAB>text` and a file with a score on each line, as SemEval distributes its sets.

    A blank line among the scores stands for a pair that was not judged; it does not count.
    """
    pairs, gold = list(read_tab_separated(texts, 2)), read_lines(scores)
    if len(pairs) != len(gold) and not (fewer_scores and len(pairs) > len(gold)):
        raise FileError(
            f"{texts} has {count(len(pairs), 'line')} and {scores} {len(gold):,}",
            "line N of one has to belong to line N of the other",
        )
    rows = [
        (f"{scores}:{line}", columns[0], columns[1], score)
        for line, ((_, columns), score) in enumerate(zip(pairs, gold, strict=False), start=1)
    ]
    return _scored(scores, [row for row in rows if row[-1].strip()])


def read_sick(path: Path) -> ScoredPairs:
    """Read SICK: tab-separated with a head, of which `relatedness_score` is the score."""
    names = "sentence_A", "sentence_B", "relatedness_score"
    (_, head), *lines = read_tab_separated(path, 5)
    if lacking := [name for name in names if name not in head[:5]]:
        raise FileError(f"{path}:1: the head has no column {', '.join(lacking)}")
    one, other, score = map(head.index, names)
    return _scored(path, [(where, line[one], line[other], line[score]) for where, line in lines])


def read_stsb(path: Path) -> ScoredPairs:
    """Read STS-B as stsb-multi-mt has it, comma-separated with quotes: `text,text,score`."""
    pairs = []
    for where, _, row in csv_rows(path):
        if len(row) != 3:
            raise FileError(f"{where}: {len(row)} columns; expected text,text,score")
        pairs.append((where, row[0].strip("\n"), row[1].strip("\n"), row[2]))
    return _scored(path, pairs)


def _scored(path: Path, rows: Iterable[tuple[str, str, str, str]]) -> ScoredPairs:
    """Gather `(file:line, text, text, score)`."""
    first, second, gold = [], [], []
    for where, one, other, text in rows:
        score = finite_number(text, where, f"score from 0 to {BEST}")
        if not 0 <= score <= BEST:
            raise FileError(f"{where}: the score is {score:g}; expected 0 to {BEST}")
        first.append(one)
        second.append(other)
        gold.append(score)
    if not gold:
        raise FileError(f"{path}: no pair has a score")
    return ScoredPairs(str(path), first, second, np.array(gold))
