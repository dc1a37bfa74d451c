"""The tasks of XRETE that a head learns: their files -> tasks, learned from English alone.

Emma-X (Guo et al., 2023), appendix C. AmericasNLI (Ebrahimi et al., 2022) and XNLI are learned from
MultiNLI, as XNLI or XTREME distributes its pairs; XCOPA (Ponti et al., 2020) from Social IQa (Sap
et al., 2019) and COPA (Roemmele et al., 2011), whichever there are; PAWS-X, the Multilingual Amazon
Reviews Corpus (Keung et al., 2020) and MultiEURLEX (Chalkidis et al., 2021), laws with the 21
EUROVOC concepts of the first level, from their own training sets.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from xmine.errors import FileError
from xmine.evaluation.data import (
    DataFolder,
    MissingData,
    incomplete,
    one_of,
    read_aligned,
    read_headed,
    read_tab_separated,
)
from xmine.evaluation.readers import labelled_pairs as labels
from xmine.evaluation.readers.json_rows import filled_text, json_rows, whole_number
from xmine.evaluation.readers.labelled_pairs import ByLanguage, read_pawsx, read_xnli
from xmine.evaluation.transfer.tasks import Examples, Task, examples, pair_examples
from xmine.files.records import json_text

# The questions of COPA, behind the premise: in English for every language, as XCOPA has no others.
QUESTIONS = {"cause": "What was the CAUSE of this?", "effect": "What happened as a RESULT?"}
LEVEL = "level_1"  # of the labels of laws

_Read = Callable[[DataFolder, str], ByLanguage]


def xnli_task(data: DataFolder) -> Task:
    """Read XNLI: learned from MultiNLI, tuned on English dev, measured on test, or else on dev."""
    tests, split, dev = _test_or_dev(read_xnli, data)
    said = f"learned from MultiNLI train in English; XNLI {split}"
    return Task("xnli", "pair", labels.XNLI_LABELS, _multinli(data), dev, tests, said)


def pawsx_task(data: DataFolder) -> Task:
    """Read PAWS-X: learned from English train; otherwise as XNLI."""
    tests, split, dev = _test_or_dev(read_pawsx, data)
    train = pair_examples(read_pawsx(data, "train"))["en"]
    said = f"learned from PAWS-X train in English; PAWS-X {split}"
    return Task("pawsx", "pair", labels.PAWSX_LABELS, train, dev, tests, said)


def _test_or_dev(read: _Read, data: DataFolder) -> tuple[dict[str, Examples], str, Examples | None]:
    """Read test with English dev to tune on, or else dev with nothing to tune on."""
    try:
        return pair_examples(read(data, "test")), "test", _english_dev(read, data)
    except MissingData:
        return pair_examples(read(data, "dev")), "dev", None


def _english_dev(read: _Read, data: DataFolder) -> Examples | None:
    try:
        return pair_examples(read(data, "dev")).get("en")
    except MissingData:
        return None


def americasnli_task(data: DataFolder) -> Task:
    """Read AmericasNLI, test or else dev; tuned on XNLI's English dev where that is there."""
    places = ("americasnli", "AmericasNLI", "americasnli/data/anli_final", "data/anli_final")
    names = [name for x in ("test", "dev") for name in (f"{x}.tsv", f"{x}/anli.{x}.tsv")]
    what = "AmericasNLI, test.tsv or dev.tsv"
    folder, name = data.holding_first(dict.fromkeys(names, places), what)
    found: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for where, row in read_headed(folder / name, ("language", "premise", "hypothesis", "label")):
        label = one_of(row["label"], labels.XNLI_LABELS, where, "label of AmericasNLI")
        texts = row["premise"], row["hypothesis"]
        found.setdefault(row["language"], []).append((texts, label))
    if not found:
        raise FileError(f"{folder / name}: has a head and no lines")
    tests = {language: examples(rows, language) for language, rows in found.items()}
    said = f"learned from MultiNLI train in English; AmericasNLI {Path(name).stem.split('.')[-1]}"
    dev = _english_dev(read_xnli, data)
    return Task("americasnli", "pair", labels.XNLI_LABELS, _multinli(data), dev, tests, said)


def _multinli(data: DataFolder) -> Examples:
    """Read English training pairs: XNLI-MT has a head and `contradictory`, XTREME has neither."""
    headed, plain = "multinli.train.en.tsv", "train-en.tsv"
    mt = "XNLI-MT-1.0/multinli"
    places = {plain: ("xnli",), headed: ("xnli", mt, f"xnli/{mt}")}
    what = f"XNLI to learn from: {plain} as XTREME has it, or {headed} of XNLI-MT"
    folder, name = data.holding_first(places, what)
    path = folder / name

    def rows() -> Iterator[tuple[tuple[str, ...], int]]:
        if name == headed:
            found = read_headed(path, ("premise", "hypo", "label"))
            lines = ((where, (row["premise"], row["hypo"], row["label"])) for where, row in found)
        else:
            lines = ((where, (x[0], x[1], x[2])) for where, x in read_tab_separated(path, 3))
        for where, (premise, hypothesis, label) in lines:
            known = "contradiction" if label == "contradictory" else label
            yield (
                (premise, hypothesis),
                one_of(known, labels.XNLI_LABELS, where, "label of MultiNLI"),
            )

    return examples(rows(), path)


def xcopa_task(data: DataFolder) -> Task:
    """Read XCOPA, test or else validation, with whichever there is of Social IQa and COPA."""
    patterns = {"*/test.*.jsonl": "test", "*/val.*.jsonl": "val"}
    places = dict.fromkeys(patterns, ("xcopa/data", "xcopa", "data"))
    folder, pattern = data.holding_first(places, "XCOPA, data/et/test.et.jsonl and so on")
    split = patterns[pattern]
    languages = sorted({path.name.split(".")[1] for path in folder.glob("*/*.*.jsonl")})
    files = {each: f"{each}/{split}.{each}.jsonl" for each in languages}
    incomplete(folder, list(files.values()), f"XCOPA {split}")
    found = {"Social IQa": _siqa(data), "COPA": _copa(data, "train.jsonl")}
    train = [rows for rows in found.values() if rows]
    if not train:
        what = "Social IQa, train.jsonl and train-labels.lst, or COPA, train.jsonl, to learn from"
        raise data.missing(f"{what}, in siqa")
    texts = [each for rows in train for each in rows.texts]
    whole = Examples(texts, np.concatenate([rows.answers for rows in train]))
    tests = {language: read_copa(folder / file) for language, file in files.items()}
    sources = " and ".join(name for name, rows in found.items() if rows)
    said = f"learned from {sources} train in English; XCOPA {split}"
    return Task("xcopa", "choice", (), whole, _copa(data, "val.jsonl"), tests, said)


def _copa(data: DataFolder, name: str) -> Examples | None:
    folder = data.find(name, ("copa", "COPA"))
    return read_copa(folder / name) if folder else None


def read_copa(path: Path) -> Examples:
    """Read a JSONL file of XCOPA, or of COPA as SuperGLUE has it."""

    def rows() -> Iterator[tuple[tuple[str, ...], int]]:
        fields = ("premise", "choice1", "choice2", "question", "label")
        for where, row in json_rows(path, fields):
            premise, *choices, question = (filled_text(row, name, where) for name in fields[:4])
            one_of(question, tuple(QUESTIONS), where, "question of COPA")
            texts = f"{premise} {QUESTIONS[question]}", *choices
            yield texts, whole_number(row, "label", 0, 1, where)

    return examples(rows(), path)


def _siqa(data: DataFolder) -> Examples | None:
    """Read Social IQa: a JSONL file, and a file with 1, 2 or 3 for each of its lines."""
    places = ("siqa", "socialiqa-train-dev", "siqa/socialiqa-train-dev")
    files = ("train.jsonl", "train-labels.lst")
    folder = data.find(files[0], places)
    if folder is None or folder == data.path:  # where train.jsonl may be that of another data set
        folder = data.find(files[1], places)
    if folder is None:
        return None
    incomplete(folder, files, "Social IQa")
    questions, labels = (folder / name for name in files)
    answers = read_aligned(questions, labels)[1]
    fields = ("context", "question", "answerA", "answerB", "answerC")
    asked = list(json_rows(questions, fields))
    if len(asked) != len(answers):  # a blank line is no question
        raise FileError(f"{questions}: {len(asked):,} questions and {len(answers):,} labels")

    def rows() -> Iterator[tuple[tuple[str, ...], int]]:
        for at, ((where, row), label) in enumerate(zip(asked, answers, strict=True), start=1):
            context, question, *choices = (filled_text(row, name, where) for name in fields)
            answer = one_of(label.strip(), ("1", "2", "3"), f"{labels}:{at}", "label")
            yield (f"{context} {question}", *choices), answer

    return examples(rows(), questions)


def multiarc_task(data: DataFolder) -> Task:
    """Read the English training reviews and the test reviews of each language."""
    apart, places = "train/dataset_en_train.json", ("multiarc", "amazon_reviews_multi")
    folder, pattern = data.holding_first(
        {apart[6:]: places, apart: (*places, "json", "multiarc/json")},  # as it is distributed
        f"the Multilingual Amazon Reviews Corpus, {apart[6:]}, dataset_de_test.json and so on",
    )
    inside = "{0}/dataset_{1}_{0}.json" if pattern == apart else "dataset_{1}_{0}.json"
    found = folder.glob(inside.format("*", "*"))
    languages = sorted({path.stem.split("_")[1] for path in found})
    tests = {each: inside.format("test", each) for each in languages}
    incomplete(folder, list(tests.values()), "a set of test reviews")
    dev = folder / inside.format("dev", "en")
    return Task(
        name="multiarc",
        kind="number",
        classes=(),
        train=read_reviews(folder / inside.format("train", "en"), "en"),
        dev=read_reviews(dev, "en") if dev.exists() else None,
        tests={language: read_reviews(folder / name, language) for language, name in tests.items()},
        split="Multilingual Amazon Reviews: learned from train in English, measured on test",
    )


def read_reviews(path: Path, language: str) -> Examples:
    """Read a file of reviews: their bodies, and 1 to 5 stars."""

    def rows() -> Iterator[tuple[tuple[str, ...], int]]:
        for where, row in json_rows(path, ("stars", "review_body", "language")):
            if row["language"] != language:
                raise FileError(f"{where}: language {row['language']!r} in a file of {language!r}")
            yield (filled_text(row, "review_body", where),), whole_number(row, "stars", 1, 5, where)

    return examples(rows(), path)


def multieurlex_task(data: DataFolder) -> Task:
    """Read MultiEURLEX: laws in English to learn from, and those of each language to measure on."""
    files = ("train.jsonl", "dev.jsonl", "test.jsonl")
    places = ("multieurlex", "multi_eurlex")
    folder = data.holding("test.jsonl", places, f"MultiEURLEX, {', '.join(files)}")
    incomplete(folder, files, "MultiEURLEX")
    train, dev = (read_laws(folder / name, "en")["en"] for name in files[:2])
    tests = read_laws(folder / files[2])
    laws = [*train, *dev, *(law for language in tests.values() for law in language)]
    classes = sorted({label for _, labels in laws for label in labels})

    def marked(laws: Sequence[tuple[str, Sequence[str]]]) -> Examples:
        rows = (((text,), [each in labels for each in classes]) for text, labels in laws)
        return examples(rows, folder)

    return Task(
        name="multieurlex",
        kind="document",
        classes=classes,
        train=marked(train),
        dev=marked(dev),
        tests={language: marked(found) for language, found in tests.items()},
        split=f"MultiEURLEX {LEVEL}: learned from train in English, measured on test",
    )


def read_laws(path: Path, only: str = "") -> Mapping[str, list[tuple[str, Sequence[str]]]]:
    """Read the texts and labels of laws in each language that they are in, or in one of them."""
    found: dict[str, list[tuple[str, Sequence[str]]]] = {}
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
                found.setdefault(language, []).append((text, labels))
    if not found:
        raise FileError(f"{path}: no law" + (f" in {only}" if only else ""))
    return found
