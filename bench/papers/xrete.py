"""The tasks of XRETE that a head learns: their files -> tasks, learned from English if not asked.

Emma-X (Guo et al., 2023), appendix C. AmericasNLI (Ebrahimi et al., 2022) and XNLI are learned from
MultiNLI, as XNLI or XTREME distributes its pairs; XCOPA (Ponti et al., 2020) from Social IQa (Sap
et al., 2019) and COPA (Roemmele et al., 2011), whichever there are; PAWS-X, the Multilingual Amazon
Reviews Corpus (Keung et al., 2020) and MultiEURLEX (Chalkidis et al., 2021), laws with the 21
EUROVOC concepts of the first level, from their own training sets.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from papers import labelled_pairs as labels
from papers.headed import one_of, read_headed
from papers.json_rows import filled_text, json_rows, whole_number
from papers.labelled_pairs import ByLanguage, read_pawsx, read_xnli
from papers.tasks import Examples, HeadTask, examples, pair_examples
from xmine.errors import FileError
from xmine.evaluation.data import (
    DataFolder,
    MissingData,
    incomplete,
    read_aligned,
)
from xmine.files.records import json_text

# The questions of COPA, behind the premise: in English for every language, as XCOPA has no others.
QUESTIONS = {"cause": "What was the CAUSE of this?", "effect": "What happened as a RESULT?"}
LEVEL = "level_1"  # of the labels of laws
ENGLISH = ("en",)

_Read = Callable[[DataFolder, str], ByLanguage]


def xnli_task(data: DataFolder, learned: Sequence[str] = ENGLISH) -> HeadTask:
    """Read XNLI: learned from MultiNLI, tuned on English dev, measured on test, or else on dev."""
    tests, split, dev = _test_or_dev(read_xnli, data)
    train, names = _multinli(data, learned)
    said = f"learned from MultiNLI train in {names}; XNLI {split}"
    return HeadTask("xnli", "pair", labels.XNLI_LABELS, train, dev, tests, said)


def pawsx_task(data: DataFolder, learned: Sequence[str] = ENGLISH) -> HeadTask:
    """Read PAWS-X: learned from its train; otherwise as XNLI."""
    tests, split, dev = _test_or_dev(read_pawsx, data)
    train, names = _chosen(pair_examples(read_pawsx(data, "train")), learned, "PAWS-X train")
    said = f"learned from PAWS-X train in {names}; PAWS-X {split}"
    return HeadTask("pawsx", "pair", labels.PAWSX_LABELS, train, dev, tests, said)


def _chosen(
    found: Mapping[str, Examples], learned: Sequence[str], what: str
) -> tuple[Examples, str]:
    """Join the examples of the languages to learn from, or of all; and name these."""
    names = list(found) if "all" in learned else list(learned)
    if lacking := [name for name in names if name not in found]:
        raise FileError(f"{what}: no {', '.join(lacking)}", f"there are {', '.join(found)}")
    said = "English" if names == ["en"] else ", ".join(names)
    return _joined([found[name] for name in names]), said


def _joined(parts: Sequence[Examples]) -> Examples:
    texts = [each for part in parts for each in part.texts]
    return Examples(texts, np.concatenate([part.answers for part in parts]))


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


def americasnli_task(data: DataFolder, learned: Sequence[str] = ENGLISH) -> HeadTask:
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
    train, spoken = _multinli(data, learned)
    said = f"learned from MultiNLI train in {spoken}; AmericasNLI {Path(name).stem.split('.')[-1]}"
    dev = _english_dev(read_xnli, data)
    return HeadTask("americasnli", "pair", labels.XNLI_LABELS, train, dev, tests, said)


def _multinli(data: DataFolder, learned: Sequence[str]) -> tuple[Examples, str]:
    """Read training pairs: XNLI-MT has a head and `contradictory`, XTREME has neither."""
    headed, plain = "multinli.train.*.tsv", "train-*.tsv"
    mt = "XNLI-MT-1.0/multinli"
    places = {plain: ("xnli",), headed: ("xnli", mt, f"xnli/{mt}")}
    what = "XNLI to learn from: train-en.tsv as XTREME has it, or multinli.train.en.tsv of XNLI-MT"
    folder, pattern = data.holding_first(places, what)

    def rows(path: Path) -> Iterator[tuple[tuple[str, ...], int]]:
        names = ("premise", "hypo", "label")
        for where, row in read_headed(path, names, has_head=pattern == headed):
            label = row["label"].replace("contradictory", "contradiction")
            number = one_of(label, labels.XNLI_LABELS, where, "label of MultiNLI")
            yield (row["premise"], row["hypo"]), number

    found = {}
    for path in sorted(folder.glob(pattern)):
        language = path.stem.removeprefix(pattern.partition("*")[0])
        if "all" in learned or language in learned:
            found[language] = examples(rows(path), path)
    return _chosen(found, learned, f"{folder}: MultiNLI train")


def xcopa_task(data: DataFolder, learned: Sequence[str] = ENGLISH) -> HeadTask:
    """Read XCOPA, test or else validation, with whichever there is of Social IQa and COPA."""
    del learned  # both are in English alone
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
    tests = {language: read_copa(folder / file) for language, file in files.items()}
    sources = " and ".join(name for name, rows in found.items() if rows)
    said = f"learned from {sources} train in English; XCOPA {split}"
    return HeadTask("xcopa", "choice", (), _joined(train), _copa(data, "val.jsonl"), tests, said)


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


def multiarc_task(data: DataFolder, learned: Sequence[str] = ENGLISH) -> HeadTask:
    """Read the training reviews and the test reviews of each language."""
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
    reviews = {}
    for path in sorted(folder.glob(inside.format("train", "*"))):
        language = path.stem.split("_")[1]
        if "all" in learned or language in learned:
            reviews[language] = read_reviews(path, language)
    train, names = _chosen(reviews, learned, f"{folder}: training reviews")
    return HeadTask(
        name="multiarc",
        kind="number",
        classes=(),
        train=train,
        dev=read_reviews(dev, "en") if dev.exists() else None,
        tests={language: read_reviews(folder / name, language) for language, name in tests.items()},
        split=f"Multilingual Amazon Reviews: learned from train in {names}, measured on test",
    )


def read_reviews(path: Path, language: str) -> Examples:
    """Read a file of reviews: their bodies, and 1 to 5 stars."""

    def rows() -> Iterator[tuple[tuple[str, ...], int]]:
        for where, row in json_rows(path, ("stars", "review_body", "language")):
            if row["language"] != language:
                raise FileError(f"{where}: language {row['language']!r} in a file of {language!r}")
            yield (filled_text(row, "review_body", where),), whole_number(row, "stars", 1, 5, where)

    return examples(rows(), path)


def multieurlex_task(data: DataFolder, learned: Sequence[str] = ENGLISH) -> HeadTask:
    """Read MultiEURLEX: laws to learn from, and those of each language to measure on."""
    files = ("train.jsonl", "dev.jsonl", "test.jsonl")
    places = ("multieurlex", "multi_eurlex")
    folder = data.holding("test.jsonl", places, f"MultiEURLEX, {', '.join(files)}")
    incomplete(folder, files, "MultiEURLEX")
    only = "en" if tuple(learned) == ENGLISH else ""
    train, tests = read_laws(folder / files[0], only), read_laws(folder / files[2])
    dev = read_laws(folder / files[1], "en")["en"]
    every = *train.values(), dev, *tests.values()
    laws = [law for language in every for law in language]
    classes = sorted({label for _, labels in laws for label in labels})

    def marked(laws: Sequence[tuple[str, Sequence[str]]]) -> Examples:
        rows = (((text,), [each in labels for each in classes]) for text, labels in laws)
        return examples(rows, folder)

    marked_train = {name: marked(found) for name, found in train.items()}
    learnt, names = _chosen(marked_train, learned, f"{folder / files[0]}")
    return HeadTask(
        name="multieurlex",
        kind="document",
        classes=classes,
        train=learnt,
        dev=marked(dev),
        tests={language: marked(found) for language, found in tests.items()},
        split=f"MultiEURLEX {LEVEL}: learned from train in {names}, measured on test",
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
