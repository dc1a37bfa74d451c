"""Lines of both sides, and chosen pairs of lines -> what the rules of flags read of them.

Python reads line by line, and so in one thread. Where the lines are in files, tasks read them side
by side: in processes of this machine, or on a cluster.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.engines.task import Task
from xmine.files.atomic import remove, writing
from xmine.files.digests import digest
from xmine.files.scratch import empty, taken
from xmine.files.sealed_arrays import drop_changed, opened_sealed, write_sealed
from xmine.flags.flag_set import Bools
from xmine.flags.line_features import (
    FeatureFiles,
    LineFeatures,
    feature_tasks,
    read_line_features,
)
from xmine.flags.numbers import differing, reader
from xmine.progress import Progress, Report, silent
from xmine.text.packed import PickedTexts
from xmine.text.sentences import Sentences

_PAIRS_AT_ONCE = 4_096
_PAIRS_OF_A_TASK = 16_384
_WEIGHT = 2.0  # a pair takes as long as two lines

Rows = NDArray[np.int64]
Sides = tuple[Sentences, Sentences]
Texts = tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class ReadLines:
    """What the rules of flags read.

    Attributes:
        languages: the codes of both sides, or `und`.
        source, target: the features of the lines of both sides.
        other_numbers: bool [pairs], which of the chosen pairs have other numbers on both sides.
    """

    languages: tuple[str, str]
    source: LineFeatures
    target: LineFeatures
    other_numbers: Bools

    def take(self, order: NDArray[np.intp]) -> "ReadLines":
        """Follow the pairs, which are put in another order."""
        return replace(self, other_numbers=taken(self.other_numbers, order))


def read_lines(
    sides: Sides,
    pairs: tuple[Rows, Rows],
    languages: tuple[str, str],
    report: Report = silent,
    files: FeatureFiles | None = None,
) -> ReadLines:
    """Compute the features of all lines, and compare the numbers of pairs.

    Args:
        sides: the sentences that were searched.
        pairs: rows of both sides, int64 [pairs] twice.
        languages: the codes of both sides, or `und`.
        report: called meanwhile.
        files: where tasks find the lines, and where the features are kept; None for nowhere.
    """
    total, done = sum(map(len, sides)) + len(pairs[0]), 0

    def seen(more: int) -> None:
        nonlocal done
        done += more
        if not files:
            tick(done / total)

    def tick(share: float) -> None:
        report(Progress("reading lines", round(share * total), total))

    texts = PickedTexts(sides[0].texts, pairs[0]), PickedTexts(sides[1].texts, pairs[1])
    if files:
        numbers = _in_tasks(files, sides, texts, languages, tick)
    else:
        numbers = other_numbers(texts, languages, seen)
    source = read_line_features(sides[0], languages[0], seen, files, "source")
    target = read_line_features(sides[1], languages[1], seen, files, "target")
    if files:
        remove(files.parts)
    return ReadLines(languages, source, target, numbers)


def _in_tasks(
    files: FeatureFiles,
    sides: Sides,
    texts: Texts,
    languages: tuple[str, str],
    tick: Callable[[float], None],
) -> Bools:
    """Let tasks make the files of features that are not there, and compare the numbers of pairs."""
    with writing(files.parts):
        files.parts.mkdir(exist_ok=True)
        compared = list(_number_tasks(files.parts, texts, languages))
    tasks = [*compared]
    for name, side, language in zip(("source", "target"), sides, languages, strict=True):
        tasks += feature_tasks(files, name, side, language)
    files.engine.run(tasks, tick)
    differ, start = empty(len(texts[0]), bool), 0
    for task in compared:
        found = opened_sealed(task.makes[0], bool)
        differ[start : start + len(found)] = found
        start += len(found)
    return differ


def _number_tasks(folder: Path, texts: Texts, languages: tuple[str, str]) -> Iterator[Task]:
    """Write the texts of pairs to files, and give the tasks that compare the numbers in these."""
    for start in range(0, len(texts[0]), _PAIRS_OF_A_TASK):
        rows = slice(start, start + _PAIRS_OF_A_TASK)
        some = json.dumps([texts[0][rows], texts[1][rows]], ensure_ascii=False)
        path = folder / f"numbers-{digest(some, *languages)}.json"
        remove(path)
        path.write_text(some, "utf-8", "surrogatepass")
        made, weight = path.with_suffix(".npy"), _WEIGHT * len(texts[0][rows])
        drop_changed(made, bool)
        yield Task(write_other_numbers, (path, languages, made), (made,), weight, in_python=True)


def write_other_numbers(texts: Path, languages: tuple[str, str], path: Path) -> None:
    """Compare the numbers of pairs whose texts are in a file, in a task."""
    left, right = json.loads(texts.read_text("utf-8", "surrogatepass"))
    write_sealed(path, other_numbers((left, right), languages))


def other_numbers(
    texts: Texts,
    languages: tuple[str, str],
    seen: Callable[[int], None] = lambda pairs: None,
) -> Bools:
    """Mark pairs whose numbers differ, bool [pairs]; `seen` is told how many more it has read."""
    readers = reader(languages[0]), reader(languages[1])
    differ = np.empty(len(texts[0]), dtype=bool)
    for start in range(0, len(differ), _PAIRS_AT_ONCE):
        rows = slice(start, start + _PAIRS_AT_ONCE)
        some = zip(texts[0][rows], texts[1][rows], strict=True)
        differ[rows] = [differing(*pair, *readers) is not None for pair in some]
        seen(len(differ[rows]))
    return differ
