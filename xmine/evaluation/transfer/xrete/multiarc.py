"""The Multilingual Amazon Reviews Corpus: how many stars a review gives, in six languages.

Keung et al. (2020), learned from English reviews; the text is the body of a review alone.
"""

from pathlib import Path

import numpy as np

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData, incomplete
from xmine.evaluation.readers.json_rows import filled_text, json_rows, whole_number
from xmine.evaluation.transfer.tasks import Examples, Task, to_learn_from

_TRAIN = "dataset_en_train.json"
_PLACES = ("multiarc", "amazon_reviews_multi")
_FIELDS = ("stars", "review_body", "language")


def multiarc_task(data: DataFolder) -> Task:
    """Read the English training reviews and the test reviews of each language."""
    what = f"the Multilingual Amazon Reviews Corpus, {_TRAIN}, dataset_de_test.json and so on"
    _folder(data, what, "*", "*")
    root, inside = to_learn_from(lambda data: _folder(data, what, "en", "train"), data)
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


def _folder(data: DataFolder, what: str, language: str, split: str) -> tuple[Path, str]:
    """Find the folder of a file in either layout, and where its files lie in it."""
    name = f"dataset_{language}_{split}.json"
    try:
        return data.holding(name, _PLACES, what), "{name}"
    except MissingData:  # as it is distributed
        places = (*_PLACES, "json", "multiarc/json")
        return data.holding(f"{split}/{name}", places, what), "{split}/{name}"


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
    return Examples(texts, np.array(stars, dtype=np.float64))
