"""Lines of both sides, and chosen pairs of lines -> what the rules of flags read of them.

Python reads line by line, and so in one thread. Where the lines are in files, tasks read them side
by side: in processes of this machine, or on a cluster.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.engines.steps import Steps, joined, python_task, unheard
from xmine.files.atomic import remove, writing
from xmine.files.digests import digest
from xmine.files.scratch import taken
from xmine.flags.flag_set import Bools
from xmine.flags.line_features import LineFeatures, plan_features, read_line_features
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
    steps: Steps | None = None,
    tables: tuple[Path, Path] | None = None,
) -> ReadLines:
    """Compute the features of all lines, and compare the numbers of pairs.

    Args:
        sides: the sentences that were searched.
        pairs: rows of both sides, int64 [pairs] twice.
        languages: the codes of both sides, or `und`.
        report: called meanwhile.
        steps: make the files of features; None for none.
        tables: Parquet files with the lines of both sides, for tasks in other processes.
    """
    total, before = sum(map(len, sides)) + len(pairs[0]), 0

    def tick(done: int) -> None:
        report(Progress("reading lines", before + done, total))

    texts = PickedTexts(sides[0].texts, pairs[0]), PickedTexts(sides[1].texts, pairs[1])
    if steps:
        numbers = _in_tasks(steps, sides, pairs, texts, languages, tables, tick, total)
    else:
        numbers = other_numbers(texts, languages, tick)
    before = len(pairs[0])
    source = read_line_features(sides[0], languages[0], tick, steps, "source")
    before += len(sides[0])
    target = read_line_features(sides[1], languages[1], tick, steps, "target")
    return ReadLines(languages, source, target, numbers)


def _in_tasks(
    steps: Steps,
    sides: Sides,
    pairs: tuple[Rows, Rows],
    texts: Texts,
    languages: tuple[str, str],
    tables: tuple[Path, Path] | None,
    tick: Callable[[int], None],
    total: int,
) -> Bools:
    """Compute features and compare the numbers of pairs, all at once; give what numbers tell."""
    made_of = [*(side.digest() for side in sides), *(digest(each.tobytes()) for each in pairs)]
    made_of += languages
    (written,) = steps.files("texts", made_of, range(1))[0]
    maker = partial(_numbers, written if tables else texts, languages)
    rows, task = (
        range(0, len(texts[0]), _PAIRS_OF_A_TASK),
        python_task(_WEIGHT, apart=tables is not None),
    )
    files, tasks = steps.plan("numbers", made_of, rows, maker, [bool], task)
    paths = {each.arguments[1]: _texts_path(written, each.arguments[1]) for each in tasks}
    for start, path in paths.items() if tables else ():
        some = slice(start, start + _PAIRS_OF_A_TASK)
        data = json.dumps([texts[0][some], texts[1][some]], ensure_ascii=False)
        with writing(path):
            path.write_text(data, "utf-8", "surrogatepass")
    for at, name in enumerate(("source", "target")):
        table = tables[at] if tables else None
        tasks += plan_features(steps, name, sides[at], languages[at], table)[1]
    steps.engine.run(tasks, lambda share: tick(int(share * total)))
    for path in paths.values():
        remove(path)
    return joined(files, 0, bool) if files else np.empty(0, bool)


def _texts_path(written: Path, start: int) -> Path:
    return written.with_name(f"{written.stem}-{start}.json")


def _numbers(
    given: Path | Texts, languages: tuple[str, str], start: int, stop: int
) -> Iterator[tuple[Bools]]:
    """Compare the numbers of some pairs, in a task."""
    if isinstance(given, Path):
        data = _texts_path(given, start).read_text("utf-8", "surrogatepass")
        left, right = json.loads(data)
    else:
        left, right = (side[start:stop] for side in given)
    yield (other_numbers((left, right), languages),)


def other_numbers(
    texts: Texts,
    languages: tuple[str, str],
    tick: Callable[[int], None] = unheard,
) -> Bools:
    """Mark pairs whose numbers differ, bool [pairs]; `tick` is told how many are done."""
    readers = reader(languages[0]), reader(languages[1])
    differ = np.empty(len(texts[0]), dtype=bool)
    for start in range(0, len(differ), _PAIRS_AT_ONCE):
        rows = slice(start, start + _PAIRS_AT_ONCE)
        some = zip(texts[0][rows], texts[1][rows], strict=True)
        differ[rows] = [differing(*pair, *readers) is not None for pair in some]
        tick(start + len(differ[rows]))
    return differ
