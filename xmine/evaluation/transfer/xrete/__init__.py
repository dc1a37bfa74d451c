"""The tasks of XRETE that a head learns: files in a data folder -> what is learned and measured on.

Emma-X (Guo et al., 2023), appendix C. All are learned from English alone and measured in every
language there is ("zero-shot"); the paper also trains on translations ("translate-train-all").
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.readers import pawsx, xnli
from xmine.evaluation.transfer.folds import sharing_texts
from xmine.evaluation.transfer.tasks import Examples, NothingToLearnFrom, Task, to_learn_from
from xmine.evaluation.transfer.xrete.americasnli import read_americasnli, read_multinli
from xmine.evaluation.transfer.xrete.multiarc import multiarc_task
from xmine.evaluation.transfer.xrete.multieurlex import multieurlex_task
from xmine.evaluation.transfer.xrete.xcopa import xcopa_task

_Pair = TypeVar("_Pair", xnli.NliPair, pawsx.ParaphrasePair)


def xrete_tasks(
    data: DataFolder,
    wanted: Sequence[str] = (),
    note: Callable[[str], None] = lambda text: None,
) -> list[Task]:
    """Read the tasks of XRETE that a data folder has, in the order of `XRETE`."""
    tasks = []
    for name, read in XRETE.items():
        if wanted and name not in wanted:
            continue
        try:
            tasks.append(read(data))
        except MissingData as error:
            if name in wanted:
                raise
            if isinstance(error, NothingToLearnFrom):
                note(f"{name} was not learned: {error.message}")
    return _sharing(tasks)


def _sharing(tasks: Sequence[Task]) -> list[Task]:
    """Let tasks of the same examples have the same object, so that they are learned once."""
    found: list[Task] = []
    for task in tasks:
        for other in found:
            if task.train.texts == other.train.texts:
                task = replace(task, train=other.train)
            if task.dev and other.dev and task.dev.texts == other.dev.texts:
                task = replace(task, dev=other.dev)
        found.append(task)
    return found


def americasnli_task(data: DataFolder) -> Task:
    """Read AmericasNLI: learned from MultiNLI, tuned on XNLI's English dev where that is there."""
    tests, split = read_americasnli(data)
    train = to_learn_from(read_multinli, data)
    return Task(
        name="americasnli",
        kind="pair",
        classes=xnli.LABELS,
        train=_nli(train),
        dev=_english_dev(xnli.read_xnli, data, _nli),
        tests={language: _nli(pairs) for language, pairs in tests.items()},
        split=f"learned from MultiNLI train in English; AmericasNLI {split}",
    )


def xnli_task(data: DataFolder) -> Task:
    """Read XNLI: learned from MultiNLI, tuned on English dev, measured on test.

    Where there is no test, dev is measured on and nothing is tuned.
    """
    tests, split = _test_or_dev(xnli.read_xnli, data)
    train = to_learn_from(read_multinli, data)
    return Task(
        name="xnli",
        kind="pair",
        classes=xnli.LABELS,
        train=_nli(train),
        dev=_english_dev(xnli.read_xnli, data, _nli) if split == "test" else None,
        tests={language: _nli(pairs) for language, pairs in tests.items()},
        split=f"learned from MultiNLI train in English; XNLI {split}",
    )


def pawsx_task(data: DataFolder) -> Task:
    """Read PAWS-X: learned from English train; otherwise as XNLI."""
    tests, split = _test_or_dev(pawsx.read_pawsx, data)
    train = to_learn_from(lambda data: pawsx.read_pawsx(data, "train")["en"], data)
    return Task(
        name="pawsx",
        kind="pair",
        classes=pawsx.LABELS,
        train=_paraphrases(train),
        dev=_english_dev(pawsx.read_pawsx, data, _paraphrases) if split == "test" else None,
        tests={language: _paraphrases(pairs) for language, pairs in tests.items()},
        split=f"learned from PAWS-X train in English; PAWS-X {split}",
    )


# The name of a task, as it is asked for -> its reader.
XRETE: Mapping[str, Callable[[DataFolder], Task]] = {
    "americasnli": americasnli_task,
    "xnli": xnli_task,
    "xcopa": xcopa_task,
    "multieurlex": multieurlex_task,
    "multiarc": multiarc_task,
    "pawsx": pawsx_task,
}
# The name of a task -> a file of it, in the data folder.
XRETE_FILES: Mapping[str, str] = {
    "americasnli": "americasnli/test.tsv",
    "xnli": "xnli/train-en.tsv",
    "xcopa": "xcopa/data/et/test.et.jsonl",
    "multieurlex": "multieurlex/test.jsonl",
    "multiarc": "multiarc/dataset_en_train.json",
    "pawsx": "pawsx/train-en.tsv",
}
ACCURACY = ("americasnli", "xnli", "xcopa", "pawsx")  # those measured by it

_Read = Callable[[DataFolder, str], dict[str, list[_Pair]]]


def _test_or_dev(read: _Read[_Pair], data: DataFolder) -> tuple[dict[str, list[_Pair]], str]:
    try:
        return read(data, "test"), "test"
    except MissingData:
        return read(data, "dev"), "dev"


def _english_dev(
    read: _Read[_Pair], data: DataFolder, examples: Callable[[Sequence[_Pair]], Examples]
) -> Examples | None:
    try:
        pairs = read(data, "dev").get("en")
    except MissingData:
        return None
    return examples(pairs) if pairs else None


def _nli(pairs: Sequence[xnli.NliPair]) -> Examples:
    return _examples([(each.premise, each.hypothesis) for each in pairs], pairs)


def _paraphrases(pairs: Sequence[pawsx.ParaphrasePair]) -> Examples:
    return _examples([(each.first, each.second) for each in pairs], pairs)


def _examples(texts: Sequence[tuple[str, str]], pairs: Sequence[_Pair]) -> Examples:
    answers = np.array([each.label for each in pairs], dtype=np.float64)
    return Examples(texts, answers, sharing_texts(texts))
