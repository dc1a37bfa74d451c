"""Tasks that a head on top of an encoder learns: texts with answers, and what learns them.

A learner is either frozen (a linear model on vectors, `frozen.py`) or trains the encoder with the
head (`papers.finetune`); a task and its metrics do not know which.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from papers.labelled_pairs import ByLanguage
from xmine.encoders.pair import Encoders
from xmine.errors import FileError
from xmine.progress import Report

SEED = 1111  # of folds: SentEval's

# class: one text, one of some classes. pair: two texts, one of some classes. choice: a text and
# some continuations, one of them right. document: one text, any number of labels. number: one text,
# a number.
Kind = Literal["class", "pair", "choice", "document", "number"]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Examples:
    """Texts with their answers."""

    # one tuple an example: (text,), (first, second), or (premise, choice, choice, ...)
    texts: Sequence[tuple[str, ...]]
    # float64 [examples] class numbers, places of the right choice, or numbers; for documents
    # float64 [examples, labels] of 0 and 1
    answers: NDArray[np.float64]

    def same_as(self, other: "Examples | None") -> bool:
        """Tell whether these are the same texts with the same answers."""
        return (
            other is not None
            and self.texts == other.texts
            and np.array_equal(self.answers, other.answers)
        )

    def some(self, places: Places) -> "Examples":
        """Take the examples at some places."""
        return Examples([self.texts[at] for at in places.tolist()], self.answers[places])


def examples(rows: Iterable[tuple[tuple[str, ...], Any]], where: Path | str) -> Examples:
    """Gather texts with their answers; `where` they come from is for messages."""
    found = list(rows)
    if not found:
        raise FileError(f"{where}: no examples")
    return Examples([x for x, _ in found], np.array([y for _, y in found], dtype=np.float64))


def pair_examples(pairs: ByLanguage) -> dict[str, Examples]:
    """Join the texts and labels of the pairs of each language."""
    return {
        language: examples(((pair.texts, pair.label) for pair in found), language)
        for language, found in pairs.items()
    }


@dataclass(frozen=True, slots=True)
class HeadTask:
    """What is learned from `train`, tuned on `dev` if there is one, and measured on each test."""

    name: str
    kind: Kind
    classes: Sequence[str]  # names of the classes or labels; of choices and numbers none
    train: Examples
    dev: Examples | None
    tests: Mapping[str, Examples]  # language -> examples to measure on
    split: str  # which files, in words
    # As SentEval has MRPC: a frozen head does not see the order of a pair, pairs that share a
    # sentence may be held out apart, and F1 of class 1 stands beside the accuracy.
    symmetric: bool = False


# Examples and their language -> scores: float64 [examples, classes], [examples, choices],
# [examples, labels] or, for numbers, [examples].
Predict = Callable[[Sequence[tuple[str, ...]], str], NDArray[np.float64]]


class Learner(Protocol):
    """What learns tasks, one after the other."""

    @property
    def protocol(self) -> str:
        """Say how it learns, in a sentence."""

    def __call__(self, encoder: Encoders, task: HeadTask, prompt: str, report: Report) -> Predict:
        """Learn a task in English; a FileError where its examples have nothing to learn from."""

    def settings(self, encoder: Encoders) -> Mapping[str, object]:
        """Give the choices that figures depend on."""


def check_learnable(task: HeadTask) -> None:
    """Refuse examples that all have the same answer: what never differs cannot be learned."""
    answers = task.train.answers
    if task.kind != "choice" and len(np.unique(answers, axis=0)) < 2:
        of_class = task.kind in ("class", "pair")
        shown = task.classes[int(answers[0])] if of_class else "the same"
        raise FileError(
            f"{task.name}, train: the answer of all {len(answers):,} examples is {shown}",
            "learning needs two answers at least",
        )


def sharing_texts(texts: Sequence[tuple[str, ...]]) -> Places:
    """Number the groups, int64 [examples]: those that share a text, on any side, are in one.

    A data set of pairs has each sentence several times: XNLI each premise once for each class. A
    learner that saw the others of a group would take the held-out one for what they are not.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    numbers: dict[str, int] = {}
    edges = [
        (numbers.setdefault(each[0], len(numbers)), numbers.setdefault(text, len(numbers)))
        for each in texts
        for text in each
    ]
    starts, ends = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(edges)), (starts, ends)), shape=(len(numbers),) * 2)
    group_of = connected_components(graph, directed=False)[1]
    return np.array([group_of[numbers[each[0]]] for each in texts], dtype=np.int64)


def folds(
    kind: Kind, answers: NDArray[np.float64], count: int, what: str, groups: Places | None = None
) -> Iterator[tuple[Places, Places]]:
    """Cut examples for cross-validation, with the same share of each class where there are some.

    Gives the places to learn from and those held out, `count` times; groups stay together.
    """
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    by_class = kind in ("class", "pair")
    fewest = int(np.unique(answers, return_counts=True)[1].min()) if by_class else len(answers)
    hint = f"cross-validation with {count} parts needs {count}"
    if fewest < count:
        raise FileError(
            f"{what}: {fewest} examples{' of the rarest class' if by_class else ''}", hint
        )
    if groups is None:
        cut = (StratifiedKFold if by_class else KFold)(count, shuffle=True, random_state=SEED)
        return iter(cut.split(np.zeros(len(answers)), answers))
    grouped = (StratifiedGroupKFold if by_class else GroupKFold)(
        count, shuffle=True, random_state=SEED
    )
    parts = len(np.unique(groups))
    if parts >= count:
        found = list(grouped.split(np.zeros(len(answers)), answers, groups))
        parts = sum(len(held) > 0 for _, held in found)  # one large group may leave others nothing
    if parts < count:
        raise FileError(f"{what}: {parts} groups of examples that share no text", hint)
    return iter(found)
