"""Lines of both sides, and chosen pairs of lines -> what the rules of flags read of them.

Python reads line by line, and so in one thread. Where the lines are in files, tasks read them side
by side: in processes of this machine, or on a cluster.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.reranking import RerankingWeights
from xmine.files.scratch import taken
from xmine.flags.line_features import LineFeatures, plan_features, read_line_features
from xmine.flags.negation import negated_alone, negators
from xmine.flags.numbers import differing, reader
from xmine.flags.placeholders import differing as placeholders
from xmine.flags.placeholders import may_have
from xmine.progress import Progress, Report, silent
from xmine.run.local import processes_for
from xmine.run.pair_steps import look_at
from xmine.run.steps import Steps, python_task
from xmine.run.task import Task
from xmine.run.texts import TextFiles
from xmine.text.packed import PickedTexts
from xmine.text.sentences import Sentences

# Flags that comparing both texts of a pair tells.
COMPARED = "number", "negation", "placeholder"
PAIR = np.dtype([(name, "?") for name in COMPARED])
_PAIRS_AT_ONCE = 4_096
_PAIRS_OF_A_TASK = 16_384
_LINES_OF_A_PROCESS = 2**15  # at least: about as long as a process takes to start
_WEIGHT = 2.0  # a pair takes as long as two lines

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Sides = tuple[Sentences, Sentences]
Texts = tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class ReadLines:
    """What the rules of flags read.

    Attributes:
        languages: the codes of both sides, or `und`.
        source, target: the features of the lines of both sides.
        pairs: which of the chosen pairs have each of the flags COMPARED, see `compared`.
        untranslated: bool [3, pairs], see `xmine.flags.rules.untranslated`; None until it is told.
    """

    languages: tuple[str, str]
    source: LineFeatures
    target: LineFeatures
    pairs: NDArray[Any]
    untranslated: Any = None

    def take(self, order: NDArray[np.intp]) -> "ReadLines":
        """Follow the pairs, which are put in another order."""
        told = None if self.untranslated is None else self.untranslated[:, order]
        return replace(self, pairs=taken(self.pairs, order), untranslated=told)

    def against(self, pairs: tuple[Rows, Rows], weights: RerankingWeights) -> Floats:
        """Tell what is taken off the reranked scores of the chosen pairs: float64 [pairs].

        Only chosen pairs are read for that, since reading takes as long as matching tokens.
        """
        x, y = pairs
        less: Floats = weights.other_numbers * self.pairs["number"].astype(np.float64)
        less += weights.other_language * (self.source.foreign[x] | self.target.foreign[y])
        less += weights.other_mark * (self.source.mark[x] != self.target.mark[y])
        return less


def read_lines(
    sides: Sides,
    pairs: tuple[Rows, Rows],
    languages: tuple[str, str],
    report: Report = silent,
    steps: Steps | None = None,
) -> ReadLines:
    """Compute the features of all lines, and compare the texts of pairs.

    Args:
        sides: the sentences that were searched.
        pairs: rows of both sides, int64 [pairs] twice.
        languages: the codes of both sides, or `und`.
        report: called meanwhile.
        steps: make the files of features; None for none.
    """
    total, before = sum(map(len, sides)) + len(pairs[0]), 0

    def tick(done: int) -> None:
        report(Progress("reading lines", before + done, total))

    if steps:
        found = _in_tasks(steps, sides, pairs, languages, tick)
    else:
        texts = PickedTexts(sides[0].texts, pairs[0]), PickedTexts(sides[1].texts, pairs[1])
        found = compared(texts, languages, tick)
    before = len(pairs[0])
    source = read_line_features(sides[0], languages[0], tick, steps, "source")
    before += len(sides[0])
    target = read_line_features(sides[1], languages[1], tick, steps, "target")
    return ReadLines(languages, source, target, found)


def _in_tasks(
    steps: Steps,
    sides: Sides,
    pairs: tuple[Rows, Rows],
    languages: tuple[str, str],
    tick: Callable[[int], None],
) -> NDArray[Any]:
    """Compute features and compare pairs; give what comparing tells."""
    blocks = sum(len(each) // _LINES_OF_A_PROCESS for each in sides)
    apart, lines = steps.engine.shared or processes_for(blocks) > 1, sum(map(len, sides))
    texts: list[Sequence[str] | TextFiles] = [each.texts for each in sides]
    if apart:
        texts = [TextFiles.write(each, steps) for each in sides]
    tasks = list[Task]()
    for name, side, language, each in zip(
        ("source", "target"), sides, languages, texts, strict=True
    ):
        written = each if isinstance(each, TextFiles) else None
        tasks += plan_features(steps, name, side, language, written)[1]
    steps.engine.run(tasks, lambda share: tick(int(share * lines)))
    look, task = partial(_compared, texts, languages), python_task(_WEIGHT, apart=apart)
    how: Any = {"size": _PAIRS_OF_A_TASK, "apart": apart, "task": task}
    how["tick"] = lambda done: tick(lines + done)
    return look_at(pairs, look, PAIR, steps, "compared", languages, **how)


def _compared(
    texts: Sequence[Sequence[str] | TextFiles], languages: tuple[str, str], x: Rows, y: Rows
) -> NDArray[Any]:
    """Compare some pairs, in a task."""
    left, right = (each.open() if isinstance(each, TextFiles) else each for each in texts)
    return compared((PickedTexts(left, x), PickedTexts(right, y)), languages)


def compared(
    texts: Texts,
    languages: tuple[str, str],
    tick: Callable[[int], None] = silent,
    names: Sequence[str] = COMPARED,
) -> NDArray[Any]:
    """Compare the texts of pairs: a table [pairs] with a bool for each name, false if not asked.

    `tick` is told how many are done.
    """
    readers, lists = list(map(reader, languages)), list(map(negators, languages))
    tests: dict[str, Callable[[tuple[str, str]], bool]] = {
        "number": lambda pair: differing(*pair, *readers) is not None,
        "negation": lambda pair: any(negated_alone(pair, *lists)),
        "placeholder": lambda pair: any(map(may_have, pair)) and placeholders(*pair) is not None,
    }
    found = np.zeros(len(texts[0]), PAIR)
    for start in range(0, len(found), _PAIRS_AT_ONCE):
        rows = slice(start, start + _PAIRS_AT_ONCE)
        some = list(zip(texts[0][rows], texts[1][rows], strict=True))
        for name in names:
            found[name][rows] = list(map(tests[name], some))
        tick(start + len(some))
    return found
