"""Tasks that a head on top of an encoder learns: texts with answers, and what learns them.

A learner is either frozen (a linear model on vectors, `transfer.py`) or trains the encoder with the
head (`xmine.trainer.finetune`); a task and its metrics do not know which.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.progress import Report

# class: one text, one of some classes. pair: two texts, one of some classes. choice: a text and
# some continuations, one of them right. document: one text, any number of labels. number: one text,
# a number.
Kind = Literal["class", "pair", "choice", "document", "number"]


_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class Examples:
    """Texts with their answers."""

    # one tuple an example: (text,), (first, second), or (premise, choice, choice, ...)
    texts: Sequence[tuple[str, ...]]
    # float64 [examples] class numbers, places of the right choice, or numbers; for documents
    # float64 [examples, labels] of 0 and 1
    answers: NDArray[np.float64]
    # int64 [examples]; those of one group stay together in cross-validation. None: each stands for
    # itself.
    groups: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """What is learned from `train`, tuned on `dev` if there is one, and measured on each test."""

    name: str
    kind: Kind  # what an example is
    classes: Sequence[str]  # names of the classes or labels; of choices and numbers none
    train: Examples  # examples to learn from
    dev: Examples | None
    tests: Mapping[str, Examples]  # name (a language, mostly) -> examples to measure on
    split: str  # which files, in words
    source: str = "train"  # what train is, for messages
    # whether the order of a pair says nothing; a frozen head does not see it then
    symmetric: bool = False
    with_f1: bool = False  # whether F1 of class 1 stands beside the accuracy


# Scores of examples: float64 [examples, classes], [examples, choices], [examples, labels] or, for
# numbers, [examples].
Predict = Callable[[Sequence[tuple[str, ...]]], NDArray[np.float64]]


class Learner(Protocol):
    """What learns tasks, one after the other."""

    @property
    def protocol(self) -> str:
        """Say how it learns, in a sentence."""
        ...

    def __call__(
        self, encoder: SentenceEncoder, task: Task, prompt: str, report: Report
    ) -> Predict:
        """Learn a task."""
        ...

    def settings(self, encoder: SentenceEncoder) -> Mapping[str, object]:
        """Give the choices that figures depend on."""
        ...

    def notes(self) -> list[str]:
        """Say what a reader has to know of the tasks learned so far."""
        ...


class NothingToLearnFrom(MissingData):
    """There are files to measure a task on, and none to learn it from."""


def to_learn_from(read: Callable[[DataFolder], _Read], data: DataFolder) -> _Read:
    """Read what a task is learned from, when there is what it is measured on."""
    try:
        return read(data)
    except MissingData as error:
        raise NothingToLearnFrom(error.message, error.hint) from None


def check_learnable(task: Task) -> None:
    """Refuse examples that all have the same answer: what never differs cannot be learned."""
    answers = task.train.answers
    if task.kind != "choice" and len(np.unique(answers, axis=0)) < 2:
        of_class = task.kind in ("class", "pair")
        shown = task.classes[int(answers[0])] if of_class else "the same"
        raise FileError(
            f"{task.name}, {task.source}: the answer of all {len(answers):,} examples is {shown}",
            "learning needs two answers at least",
        )


def unlearned(task: Task, answers: NDArray[np.float64]) -> list[str]:
    """Name the classes or labels of some answers that train has no example of."""
    if task.kind in ("class", "pair"):
        places = sorted({*answers.tolist()} - {*task.train.answers.tolist()})
    elif task.kind == "document":
        places = np.flatnonzero(answers.any(axis=0) & ~task.train.answers.any(axis=0)).tolist()
    else:
        places = []
    return [task.classes[int(place)] for place in places]
