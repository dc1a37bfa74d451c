"""Tasks that a head on top of an encoder learns: texts with answers, and what learns them.

A learner is either frozen (a linear model on vectors, `frozen.py`) or trains the encoder with the
head (`xmine.trainer.finetune`); a task and its metrics do not know which.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.pair import Encoders
from xmine.errors import FileError, OptionError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.progress import Report

# class: one text, one of some classes. pair: two texts, one of some classes. choice: a text and
# some continuations, one of them right. document: one text, any number of labels. number: one text,
# a number.
Kind = Literal["class", "pair", "choice", "document", "number"]


@dataclass(frozen=True, slots=True)
class Examples:
    """Texts with their answers."""

    # one tuple an example: (text,), (first, second), or (premise, choice, choice, ...)
    texts: Sequence[tuple[str, ...]]
    # float64 [examples] class numbers, places of the right choice, or numbers; for documents
    # float64 [examples, labels] of 0 and 1
    answers: NDArray[np.float64]
    # int64 [examples]; those of one group stay together in cross-validation; None: each on its own
    groups: NDArray[np.int64] | None = None

    def same_as(self, other: "Examples") -> bool:
        """Tell whether these are the same texts with the same answers and groups."""
        arrays = zip((self.answers, self.groups), (other.answers, other.groups), strict=True)
        return self.texts == other.texts and all(starmap(np.array_equal, arrays))


@dataclass(frozen=True, slots=True)
class Task:
    """What is learned from `train`, tuned on `dev` if there is one, and measured on each test."""

    name: str
    kind: Kind
    classes: Sequence[str]  # names of the classes or labels; of choices and numbers none
    train: Examples
    dev: Examples | None
    tests: Mapping[str, Examples]  # language -> examples to measure on
    split: str  # which files, in words
    source: str = "train"  # what train is, for messages
    symmetric: bool = False  # whether a frozen head must not see the order of a pair
    with_f1: bool = False  # whether F1 of class 1 stands beside the accuracy


# Examples and their language -> scores: float64 [examples, classes], [examples, choices],
# [examples, labels] or, for numbers, [examples].
Predict = Callable[[Sequence[tuple[str, ...]], str], NDArray[np.float64]]


class Learner(Protocol):
    """What learns tasks, one after the other."""

    @property
    def protocol(self) -> str:
        """Say how it learns, in a sentence."""
        ...

    def __call__(self, encoder: Encoders, task: Task, prompt: str, report: Report) -> Predict:
        """Learn a task in English; a FileError where its examples have nothing to learn from."""
        ...

    def settings(self, encoder: Encoders) -> Mapping[str, object]:
        """Give the choices that figures depend on."""
        ...

    def notes(self) -> list[str]:
        """Say what a reader has to know of the tasks learned so far."""
        ...


class NothingToLearnFrom(MissingData):
    """There are files to measure a task on, and none to learn it from."""


@contextmanager
def to_learn_from() -> Iterator[None]:
    """Raise NothingToLearnFrom where the files are missing that a task is learned from."""
    try:
        yield
    except MissingData as error:
        raise NothingToLearnFrom(error.message, error.hint) from None


@dataclass(frozen=True, slots=True)
class TaskSet:
    """A collection of tasks, by the names that they are asked for by."""

    title: str
    # name -> reader, whose tasks are folds if they are several; and one of its files in the data
    # folder, for messages
    readers: Mapping[str, tuple[Callable[[DataFolder], Task | list[Task]], str]]
    averaged: Sequence[str]  # the tasks that the mean accuracy is over

    def read(
        self,
        data: DataFolder,
        wanted: Sequence[str] = (),
        note: Callable[[str], None] = lambda text: None,
    ) -> list[Task]:
        """Read the tasks that a data folder has files of, or those of them that are wanted.

        `note` is told of each task left out though there are files to measure it on; a wanted task
        without files is an error. Tasks of the same examples get the same object, so that they are
        learned once.
        """
        found: list[Task] = []
        for name in [each for each in self.readers if each in wanted or not wanted]:
            try:
                read = self.readers[name][0](data)
            except MissingData as error:
                if name in wanted:
                    raise
                if isinstance(error, NothingToLearnFrom):
                    note(f"{name} was not learned: {error.message}")
                continue
            for task in read if isinstance(read, list) else [read]:
                for other in found:
                    if task.train.same_as(other.train):
                        task = replace(task, train=other.train)
                    if task.dev and other.dev and task.dev.same_as(other.dev):
                        task = replace(task, dev=other.dev)
                found.append(task)
        return found


def check_tasks(wanted: Sequence[str], known: Collection[str]) -> None:
    """Refuse the name of a task that there is not."""
    for name in wanted:
        if name not in known:
            raise OptionError(f"there is no task {name!r}", f"there are {', '.join(known)}")


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
