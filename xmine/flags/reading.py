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
from xmine.flags.near_copies import copied, too_unequal
from xmine.flags.negation import negated_alone, negators
from xmine.flags.numbers import differing, reader
from xmine.flags.placeholders import differing as placeholders
from xmine.flags.placeholders import may_have
from xmine.progress import Progress, Report, silent
from xmine.run.local import LocalEngine, processes_for
from xmine.run.pair_steps import look_at
from xmine.run.steps import Steps, python_task
from xmine.run.task import Task
from xmine.run.texts import TextFiles
from xmine.text.identification import tell_apart
from xmine.text.languages import UNKNOWN_LANGUAGE, scripts_of
from xmine.text.packed import PickedTexts
from xmine.text.sentences import Sentences

# Flags that comparing both texts of a pair tells.
COMPARED = "number", "negation", "placeholder"
PAIR = np.dtype([(name, "?") for name in COMPARED])
_PAIRS_AT_ONCE = 4_096
_PAIRS_OF_A_TASK = 16_384
_LINES_OF_A_PROCESS = 2**15  # at least: about as long as a process takes to start
_WEIGHT = 2.0  # a pair takes as long as two lines
# Of a near-copy that is told to be in one language: words that are not capitalised, as names are;
# and its probability, which Danish beside Norwegian, or Spanish beside Portuguese, does not reach.
_FEWEST_WORDS, _SURE = 3, 0.95

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
        untranslated: bool [3, pairs], the copies, near-copies, and those in another language.
    """

    languages: tuple[str, str]
    source: LineFeatures
    target: LineFeatures
    pairs: NDArray[Any]
    untranslated: NDArray[np.bool_]

    def take(self, order: NDArray[np.intp]) -> "ReadLines":
        """Follow the pairs, which are put in another order."""
        told = self.untranslated[:, order]
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

    `pairs` are rows of both sides, int64 [pairs] twice; `languages` their codes, or `und`; `steps`
    make the files of features and figures.
    """
    lines = sum(map(len, sides))

    def tick(before: int, done: int) -> None:
        report(Progress("reading lines", before + done, lines + len(pairs[0])))

    apart, texts = False, list[Sequence[str] | TextFiles]([each.texts for each in sides])
    if steps:
        blocks = sum(len(each) // _LINES_OF_A_PROCESS for each in sides)
        if apart := steps.engine.shared or processes_for(blocks) > 1:
            texts = [TextFiles.write(each, steps) for each in sides]
        tasks = list[Task]()
        for each in zip(("source", "target"), sides, languages, texts, strict=True):
            tasks += plan_features(steps, *each)[1]
        steps.engine.run(tasks, lambda share: tick(0, int(share * lines)))
    source = read_line_features(sides[0], languages[0], partial(tick, 0), steps, "source")
    behind = partial(tick, len(sides[0]))
    target = read_line_features(sides[1], languages[1], behind, steps, "target")
    look, task = partial(_compared, texts, languages), python_task(_WEIGHT, apart=apart)
    how: Any = {"tick": partial(tick, lines), "apart": apart, "task": task}
    found = look_at(pairs, look, PAIR, steps, "compared", languages, _PAIRS_OF_A_TASK, **how)
    look = partial(_untranslated, sides, languages, source, target)
    scripts = (scripts_of(code, side.texts) for code, side in zip(languages, sides, strict=True))
    made_of = [*languages, *(" ".join(sorted(each)) for each in scripts)]
    given = look, "?", steps, "untranslated", made_of, _PAIRS_OF_A_TASK
    told = look_at(pairs, *given, engine=LocalEngine()).T
    return ReadLines(languages, source, target, found, told)


def _compared(
    texts: Sequence[Sequence[str] | TextFiles], languages: tuple[str, str], x: Rows, y: Rows
) -> NDArray[Any]:
    """Compare some pairs, in a task."""
    left, right = (each.open() if isinstance(each, TextFiles) else each for each in texts)
    return compared((PickedTexts(left, x), PickedTexts(right, y)), languages)


def compared(
    texts: Texts, languages: tuple[str, str], names: Sequence[str] = COMPARED
) -> NDArray[Any]:
    """Compare the texts of pairs: a table [pairs] with a bool for each name, false if not asked."""
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
    return found


def _untranslated(
    sides: Sides,
    languages: tuple[str, str],
    left: LineFeatures,
    right: LineFeatures,
    x: Rows,
    y: Rows,
) -> NDArray[np.bool_]:
    """Mark copies, near-copies, and pairs with a line in another language than its side.

    Gives bool [pairs, 3]. Only the texts of pairs that may be copies or near-copies are looked at;
    near-copies of some words are of one language if both texts look like it.
    """
    source, target = sides
    scripts = scripts_of(languages[0], source.texts), scripts_of(languages[1], target.texts)
    same_script = not scripts[0].isdisjoint(scripts[1])
    ours, theirs = left.letters[x], right.letters[y]
    same = (left.keys[x] == right.keys[y]) | (np.maximum(ours, theirs) == 0)
    unequal = too_unequal(
        np.minimum(ours, theirs), np.maximum(ours, theirs), same_script=same_script
    )
    near = ~unequal & (left.beyond_latin[x] == right.beyond_latin[y])
    rows = np.flatnonzero(same | near)
    texts = PickedTexts(source.texts, x[rows]), PickedTexts(target.texts, y[rows])
    copy, near_copy = np.zeros(len(x), dtype=bool), np.zeros(len(x), dtype=bool)
    foreign = left.foreign[x] | right.foreign[y]
    for row, *both in zip(rows, *texts, strict=True):
        kind = copied(*both, same_script=same_script)
        copy[row], near_copy[row] = kind == "copy", kind == "near-copy"
        few = min(sum(map(str.islower, text.split())) for text in both) < _FEWEST_WORDS
        if near_copy[row] and not foreign[row] and not few:
            first, second = (tell_apart(text, languages, _SURE) for text in both)
            foreign[row] = first == second != UNKNOWN_LANGUAGE
    return np.stack([copy, near_copy, foreign], axis=1)
