"""The files of each task of XRETE made here; what its tests share."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from papers.tasks import HeadTask
from papers.transfer import read_tasks

from tests.toys import files
from xmine.evaluation.data import DataFolder

Row = Mapping[str, object]


def write(path: Path, lines: Sequence[str | Row]) -> None:
    files.write(path, [each if isinstance(each, str) else json.dumps(each) for each in lines])


def only(root: Path, name: str) -> HeadTask:
    [task] = read_tasks(DataFolder(root), [name])[name]
    assert task.name == name
    return task


PAIRS = ["A cat sleeps.\tAn animal rests.\tentailment", "It rains.\tIt is dry.\tcontradiction"]


def multinli(root: Path) -> None:
    write(root / "xnli/train-en.tsv", [*PAIRS, "I wait.\tI am late.\tneutral"])


def copa(premise: str, label: object = 1, question: str = "effect") -> Row:
    row = {"premise": premise, "choice1": "It fell.", "choice2": "It flew.", "question": question}
    return {**row, "label": label, "idx": 0, "changed": False}


def law(languages: Sequence[str], labels: Sequence[str]) -> Row:
    texts = {each: f"Regulation on pears, {each}" for each in languages}
    concepts = {"level_1": list(labels), "level_2": ["7"], "level_3": [], "all_levels": []}
    return {
        "celex_id": "32000R0001",
        "text": {**texts, "mt": None},
        "eurovoc_concepts": concepts,
        "publication_date": "2000-01-01",
    }


def review(language: str, stars: object, body: str = "Works well.") -> Row:
    return {
        "review_id": "en_1",
        "product_id": "p",
        "reviewer_id": "r",
        "stars": stars,
        "review_body": body,
        "review_title": "Fine",
        "language": language,
        "product_category": "kitchen",
    }


def make_americasnli(root: Path) -> None:
    multinli(root)
    head = "language\tpremise\thypothesis\tlabel"
    write(
        root / "americasnli/test.tsv", [head, *(f"{x}\t{y}" for x in ("aym", "gn") for y in PAIRS)]
    )


def make_xnli(root: Path) -> None:
    multinli(root)
    for language in ("en", "de"):
        for split in ("dev", "test"):
            write(root / f"xnli/{split}-{language}.tsv", PAIRS)


def make_xcopa(root: Path) -> None:
    for language in ("et", "zh"):
        for split in ("val", "test"):
            write(root / f"xcopa/data/{language}/{split}.{language}.jsonl", [copa("A")])
    asked = {"context": "Kim ran.", "question": "Why?"}
    answers = {"answerA": "late", "answerB": "bored", "answerC": "asleep"}
    write(root / "siqa/train.jsonl", [{**asked, **answers}, {**asked, **answers}])
    write(root / "siqa/train-labels.lst", ["1", "3"])
    write(root / "copa/train.jsonl", [copa("B", 0, "cause")])
    write(root / "copa/val.jsonl", [copa("C")])


def make_multieurlex(root: Path) -> None:
    write(root / "multieurlex/train.jsonl", [law(["en", "de"], ["1", "3"]), law(["de"], ["2"])])
    write(root / "multieurlex/dev.jsonl", [law(["en"], ["3"])])
    write(root / "multieurlex/test.jsonl", [law(["en", "de"], ["1"]), law(["en"], ["5"])])


def make_multiarc(root: Path) -> None:
    for language in ("en", "fr"):
        for split in ("train", "dev", "test"):
            rows = [review(language, 4), review(language, "1")]
            write(root / f"multiarc/dataset_{language}_{split}.json", rows)


def make_pawsx(root: Path) -> None:
    for name in ("train-en", "dev-en", "dev-fr", "test-en", "test-fr"):
        write(root / f"pawsx/{name}.tsv", ["One two.\tTwo one.\t1", "One two.\tTwo three.\t0"])


MAKE: dict[str, Callable[[Path], None]] = {
    "americasnli": make_americasnli,
    "xnli": make_xnli,
    "xcopa": make_xcopa,
    "multieurlex": make_multieurlex,
    "multiarc": make_multiarc,
    "pawsx": make_pawsx,
}
