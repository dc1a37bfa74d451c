"""XCOPA: which of two sentences is the cause or the effect of a premise, in eleven languages.

Ponti et al. (2020), learned from English: Social IQa (Sap et al., 2019) and COPA (Roemmele et al.,
2011), whichever of the two are there.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData, incomplete, one_of, read_aligned
from xmine.evaluation.readers.json_rows import filled_text, json_rows, whole_number
from xmine.evaluation.transfer.folds import examples
from xmine.evaluation.transfer.tasks import Examples, Task, to_learn_from

# The questions of COPA, behind the premise: in English for every language, as XCOPA has no others.
QUESTIONS = {"cause": "What was the CAUSE of this?", "effect": "What happened as a RESULT?"}
_COPA_FIELDS = ("premise", "choice1", "choice2", "question", "label")
_SIQA_FIELDS = ("context", "question", "answerA", "answerB", "answerC")
_XCOPA = "XCOPA, data/et/test.et.jsonl and so on"


def xcopa_task(data: DataFolder) -> Task:
    """Read XCOPA with what it is learned from."""
    split, files = _tests(data)
    try:
        dev = _copa(data, "val.jsonl")
    except MissingData:
        dev = None
    with to_learn_from():
        train, sources = _train(data)
    return Task(
        name="xcopa",
        kind="choice",
        classes=(),
        train=train,
        dev=dev,
        tests={language: read_copa(path) for language, path in files.items()},
        split=f"learned from {' and '.join(sources)} train in English; XCOPA {split}",
    )


def read_copa(path: Path) -> Examples:
    """Read a JSONL file of XCOPA, or of COPA as SuperGLUE has it."""
    texts, answers = [], []
    for where, row in json_rows(path, _COPA_FIELDS):
        question = filled_text(row, "question", where)
        one_of(question, tuple(QUESTIONS), where, "question of COPA")
        premise = filled_text(row, "premise", where)
        choices = [filled_text(row, name, where) for name in ("choice1", "choice2")]
        texts.append((f"{premise} {QUESTIONS[question]}", *choices))
        answers.append(whole_number(row, "label", 0, 1, where))
    return _examples(texts, answers, path)


def read_siqa(questions: Path, labels: Path) -> Examples:
    """Read Social IQa: a JSONL file, and a file with 1, 2 or 3 for each of its lines."""
    read_aligned(questions, labels)  # refuses files of uneven length
    texts, answers = [], []
    for where, row in json_rows(questions, _SIQA_FIELDS):
        asked = " ".join(filled_text(row, name, where) for name in ("context", "question"))
        texts.append((asked, *(filled_text(row, f"answer{letter}", where) for letter in "ABC")))
    for number, label in enumerate(read_aligned(labels)[0], start=1):
        answers.append(one_of(label.strip(), ("1", "2", "3"), f"{labels}:{number}", "label"))
    return _examples(texts, answers, questions)


def _examples(texts: Sequence[tuple[str, ...]], answers: Sequence[int], path: Path) -> Examples:
    if not texts:
        raise FileError(f"{path}: no examples")
    if len(texts) != len(answers):
        raise FileError(f"{path}: {len(texts):,} questions and {len(answers):,} labels")
    return examples(texts, answers)


def _tests(data: DataFolder) -> tuple[str, dict[str, Path]]:
    """Find the files to measure on, test or else validation: which, and language -> file."""
    patterns = {"*/test.*.jsonl": "test", "*/val.*.jsonl": "val"}
    places = dict.fromkeys(patterns, ("xcopa/data", "xcopa", "data"))
    folder, pattern = data.holding_first(places, _XCOPA)
    split = patterns[pattern]
    languages = sorted({path.name.split(".")[1] for path in folder.glob("*/*.*.jsonl")})
    incomplete(folder, [f"{each}/{split}.{each}.jsonl" for each in languages], f"XCOPA {split}")
    return split, {each: folder / each / f"{split}.{each}.jsonl" for each in languages}


def _train(data: DataFolder) -> tuple[Examples, list[str]]:
    """Read whichever there is of Social IQa and COPA, and say which."""
    found: dict[str, Examples] = {}
    missing = None
    for name, read in (("Social IQa", _siqa_train), ("COPA", _copa)):
        try:
            found[name] = read(data)
        except MissingData as error:
            missing = missing or error
    if missing and not found:
        raise missing
    texts = [each for part in found.values() for each in part.texts]
    answers = np.concatenate([part.answers for part in found.values()])
    return Examples(texts, answers), list(found)


def _siqa_train(data: DataFolder) -> Examples:
    what = "Social IQa, train.jsonl and train-labels.lst, or COPA, train.jsonl, to learn from"
    places = ("siqa", "socialiqa-train-dev", "siqa/socialiqa-train-dev")
    files = ("train.jsonl", "train-labels.lst")
    folder = data.find(files[0], places)
    if folder is None or folder == data.path:  # where train.jsonl may be that of another data set
        folder = data.holding(files[1], places, what)
    incomplete(folder, files, "Social IQa")
    return read_siqa(folder / files[0], folder / files[1])


def _copa(data: DataFolder, name: str = "train.jsonl") -> Examples:
    return read_copa(data.holding(name, ("copa", "COPA"), f"COPA of SuperGLUE, {name}") / name)
