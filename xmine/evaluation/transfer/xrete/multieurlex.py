"""MultiEURLEX: what a law of the European Union is about, in 23 languages, learned in English.

Chalkidis et al. (2021); the labels are the 21 EUROVOC concepts of the first level.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, incomplete
from xmine.evaluation.readers.json_rows import json_rows
from xmine.evaluation.transfer.tasks import Examples, Task
from xmine.files.records import json_text

LEVEL = "level_1"
_FILES = ("train.jsonl", "dev.jsonl", "test.jsonl")

# The text of a law in one language, and its labels.
Law = tuple[str, tuple[str, ...]]


def multieurlex_task(data: DataFolder) -> Task:
    """Read MultiEURLEX: laws in English to learn from, and those of each language to measure on."""
    what = f"MultiEURLEX, {', '.join(_FILES)}"
    folder = data.holding("test.jsonl", ("multieurlex", "multi_eurlex"), what)
    incomplete(folder, _FILES, "MultiEURLEX")
    train, dev = (read_laws(folder / name, "en")["en"] for name in _FILES[:2])
    tests = read_laws(folder / _FILES[2])
    laws = [*train, *dev, *(law for language in tests.values() for law in language)]
    classes = sorted({label for _, labels in laws for label in labels})
    return Task(
        name="multieurlex",
        kind="document",
        classes=classes,
        train=_examples(train, classes),
        dev=_examples(dev, classes),
        tests={language: _examples(found, classes) for language, found in tests.items()},
        split=f"MultiEURLEX {LEVEL}: learned from train in English, measured on test",
    )


def read_laws(path: Path, only: str = "") -> dict[str, list[Law]]:
    """Read a file: language -> the laws that there are in it; of one language, if it is named."""
    found: dict[str, list[Law]] = {}
    for where, row in json_rows(path, ("celex_id", "text", "eurovoc_concepts")):
        texts, concepts = row["text"], row["eurovoc_concepts"]
        if not isinstance(texts, dict):
            raise FileError(f"{where}: 'text' has no text for each language")
        labels = concepts.get(LEVEL) if isinstance(concepts, dict) else None
        if not (isinstance(labels, list) and labels and all(isinstance(x, str) for x in labels)):
            raise FileError(f"{where}: 'eurovoc_concepts' has no labels of {LEVEL}")
        for language in [only] if only else texts:
            text = json_text(texts.get(language), language, where)
            if text.strip():  # null where a law is not translated
                found.setdefault(language, []).append((text, tuple(labels)))
    if not found:
        raise FileError(f"{path}: no law" + (f" in {only}" if only else ""))
    return found


def _examples(laws: Sequence[Law], classes: Sequence[str]) -> Examples:
    places = {label: place for place, label in enumerate(classes)}
    answers = np.zeros((len(laws), len(classes)))
    for row, (_, labels) in enumerate(laws):
        answers[row, [places[label] for label in labels]] = 1
    return Examples([(text,) for text, _ in laws], answers)
