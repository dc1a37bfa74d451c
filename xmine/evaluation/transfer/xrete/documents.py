"""Documents as tasks of XRETE, learned in English: reviews and their stars, laws and their labels.

The Multilingual Amazon Reviews Corpus (Keung et al., 2020), in six languages; the text is the body
of a review alone. MultiEURLEX (Chalkidis et al., 2021), laws of the European Union in 23 languages;
the labels are the 21 EUROVOC concepts of the first level.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, incomplete
from xmine.evaluation.readers.json_rows import filled_text, json_rows, whole_number
from xmine.evaluation.transfer.folds import examples
from xmine.evaluation.transfer.tasks import Examples, Task, to_learn_from
from xmine.files.records import json_text

_TRAIN = "dataset_en_train.json"
_PLACES = ("multiarc", "amazon_reviews_multi")
_FIELDS = ("stars", "review_body", "language")
LEVEL = "level_1"
_FILES = ("train.jsonl", "dev.jsonl", "test.jsonl")

# The text of a law in one language, and its labels.
Law = tuple[str, tuple[str, ...]]


def multiarc_task(data: DataFolder) -> Task:
    """Read the English training reviews and the test reviews of each language."""
    _folder(data, "*", "*")
    with to_learn_from():
        root, inside = _folder(data, "en", "train")
    pattern = inside.format(split="*", name="dataset_*_*.json")
    languages = sorted({path.stem.split("_")[1] for path in root.glob(pattern)})

    def place(language: str, split: str) -> str:
        return inside.format(split=split, name=f"dataset_{language}_{split}.json")

    incomplete(root, [place(each, "test") for each in languages], "a set of test reviews")
    dev = root / place("en", "dev")
    return Task(
        name="multiarc",
        kind="number",
        classes=(),
        train=read_reviews(root / place("en", "train"), "en"),
        dev=read_reviews(dev, "en") if dev.exists() else None,
        tests={each: read_reviews(root / place(each, "test"), each) for each in languages},
        split="Multilingual Amazon Reviews: learned from train in English, measured on test",
    )


def _folder(data: DataFolder, language: str, split: str) -> tuple[Path, str]:
    """Find the folder of a file in either layout, and where its files lie in the folder."""
    name = f"dataset_{language}_{split}.json"
    apart = f"{split}/{name}"  # as the corpus is distributed
    what = f"the Multilingual Amazon Reviews Corpus, {_TRAIN}, dataset_de_test.json and so on"
    places = {name: _PLACES, apart: (*_PLACES, "json", "multiarc/json")}
    folder, pattern = data.holding_first(places, what)
    return folder, "{split}/{name}" if pattern == apart else "{name}"


def read_reviews(path: Path, language: str) -> Examples:
    """Read a file of reviews: their bodies, and 1 to 5 stars."""
    texts, stars = [], []
    for where, row in json_rows(path, _FIELDS):
        if row["language"] != language:
            raise FileError(f"{where}: language {row['language']!r} in a file of {language!r}")
        texts.append((filled_text(row, "review_body", where),))
        stars.append(whole_number(row, "stars", 1, 5, where))
    if not texts:
        raise FileError(f"{path}: no reviews")
    return examples(texts, stars)


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
