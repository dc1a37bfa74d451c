"""The Multilingual Amazon Reviews Corpus: how many stars a review gives, in six languages.

Keung et al. (2020), learned from English reviews; the text is the body of a review alone.
"""

from pathlib import Path

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, incomplete
from xmine.evaluation.readers.json_rows import filled_text, json_rows, whole_number
from xmine.evaluation.transfer.folds import examples
from xmine.evaluation.transfer.tasks import Examples, Task, to_learn_from

_TRAIN = "dataset_en_train.json"
_PLACES = ("multiarc", "amazon_reviews_multi")
_FIELDS = ("stars", "review_body", "language")


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
