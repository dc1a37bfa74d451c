"""mteb measures the embedded encoder, as sentence-transformers opens it and by `xmine.as_mteb`.

pip install mteb; python bench/as_mteb.py                # the example sentences, of 18 languages
python bench/as_mteb.py --data DATA --languages swe,ell  # of Tatoeba, LASER's files in DATA

A line for each language: F1 of mteb's bitext mining by both, then the seconds that both took.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import datasets
import mteb
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.abstasks.text.bitext_mining import AbsTaskBitextMining
from sentence_transformers import SentenceTransformer

import xmine
from xmine.encoders.encoder import EMBEDDED
from xmine.files.reading import read_lines
from xmine.text.languages import ISO_639_3

EXAMPLES = Path(__file__).parents[1] / "examples" / "languages.tsv"
Texts = dict[str, tuple[list[str], list[str]]]


def of_examples() -> Texts:
    """Give English and each other column of the example sentences."""
    names, *rows = [line.split("\t") for line in read_lines(EXAMPLES)]
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    english = columns.pop("en")
    return {ISO_639_3[name]: (english, texts) for name, texts in columns.items()}


def of_tatoeba(data: Path, codes: list[str]) -> Texts:
    """Give English and the other side of LASER's files."""
    found = {code: data / "tatoeba" / f"tatoeba.{code}-eng" for code in codes}
    return {
        code: (read_lines(f"{path}.eng"), read_lines(f"{path}.{code}"))
        for code, path in found.items()
    }


def task_of(texts: Texts) -> Any:  # noqa: ANN401 - a task of mteb
    """Make a task of texts that are here."""
    languages = {f"eng-{code}": ["eng-Latn", f"{code}-Latn"] for code in texts}  # scripts unread
    about: dict[str, Any] = {
        "name": "XmineTexts",
        "description": "texts of this machine",
        "type": "BitextMining",
        "dataset": {"path": "here", "revision": "1"},
        "main_score": "f1",
        "eval_splits": ["test"],
        "eval_langs": languages,
    }

    class Task(AbsTaskBitextMining):  # type: ignore[misc]
        metadata = TaskMetadata(**about)

        def load_data(self, **_: object) -> None:
            sides = {f"eng-{code}": pair for code, pair in texts.items()}
            tables = {
                name: datasets.Dataset.from_dict({"sentence1": one, "sentence2": other})
                for name, (one, other) in sides.items()
            }
            self.dataset = {name: datasets.DatasetDict(test=x) for name, x in tables.items()}
            self.data_loaded = True

    return Task()


def main() -> None:
    """Measure and print."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path)
    asked.add_argument("--languages", default="deu,cmn,swe,ell")
    given = asked.parse_args()
    warnings.simplefilter("ignore")
    codes = given.languages.split(",")
    texts = of_tatoeba(given.data, codes) if given.data else of_examples()
    models = {"sentence-transformers": SentenceTransformer(str(EMBEDDED)), "xmine": xmine.as_mteb()}
    figures: dict[str, list[float]] = {}
    seconds = []
    for model in models.values():
        began = time.perf_counter()
        result = mteb.evaluate(model, [task_of(texts)], cache=None, show_progress_bar=False)
        seconds.append(time.perf_counter() - began)
        for row in result.task_results[0].scores["test"]:
            figures.setdefault(row["hf_subset"], []).append(row["f1"])
    print("\t".join(["", *models]))
    for name, row in figures.items():
        print("\t".join([name, *(f"{each:.4f}" for each in row)]))
    print("\t".join(["seconds", *(f"{each:.1f}" for each in seconds)]))


if __name__ == "__main__":
    main()
