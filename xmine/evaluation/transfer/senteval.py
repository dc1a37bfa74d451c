"""SentEval's seven transfer tasks: its files, as its script leaves them -> tasks to learn.

Conneau & Kiela, 2018, "SentEval: An Evaluation Toolkit for Universal Sentence Representations".
Movie and product reviews, subjectivity, opinion, questions, paraphrases; all English.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, incomplete, one_of, read_headed, read_tab_separated
from xmine.evaluation.readers.labelled_pairs import PAWSX_LABELS
from xmine.evaluation.transfer.folds import examples, folds, some
from xmine.evaluation.transfer.tasks import Examples, Task, TaskSet
from xmine.files.reading import read_bytes

OUTER_FOLDS = 10
SENTIMENTS = ("negative", "positive")
QUESTIONS = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
OWN_SPLIT = "SentEval, split of its own"

# name -> folder, files of class 0 and class 1, the classes
_TWO_FILES = {
    "mr": ("MR", ("rt-polarity.neg", "rt-polarity.pos"), SENTIMENTS),
    "cr": ("CR", ("custrev.neg", "custrev.pos"), SENTIMENTS),
    "subj": ("SUBJ", ("subj.subjective", "subj.objective"), ("subjective", "objective")),
    "mpqa": ("MPQA", ("mpqa.neg", "mpqa.pos"), SENTIMENTS),
}


def _two_files(data: DataFolder, name: str) -> list[Task]:
    """Read a task whose classes have a file each: ten tasks, one for each part held out."""
    inside, files, classes = _TWO_FILES[name]
    folder = _folder(data, inside, *files)
    sides = [[text for _, text in _latin_lines(folder / file)] for file in files]
    labels = [0] * len(sides[0]) + [1] * len(sides[1])
    whole = examples([(text,) for side in sides for text in side], labels)
    return [
        Task(
            name,
            "class",
            classes,
            train=some(whole, learn),
            dev=None,
            tests={"en": some(whole, held)},
            split="SentEval, 10-fold cross-validation",
        )
        for learn, held in folds("class", whole.answers, OUTER_FOLDS, str(folder))
    ]


def _sentiments(path: Path) -> Examples:
    texts, labels = [], []
    for where, columns in read_tab_separated(path, 2):
        texts.append((columns[0],))
        labels.append(one_of(columns[1].strip(), ("0", "1"), where, "label of SST"))
    return examples(texts, labels)


def _questions(path: Path) -> Examples:
    texts, labels = [], []
    for where, line in _latin_lines(path):
        label, _, question = line.partition(" ")
        if not question.strip():
            raise FileError(f"{where}: no question", "expected 'NUM:dist How far is it ?'")
        labels.append(one_of(label.partition(":")[0], QUESTIONS, where, "class of questions"))
        texts.append((question.strip(),))
    return examples(texts, labels)


def _paraphrases(path: Path) -> Examples:
    texts, labels = [], []
    for where, row in read_headed(path, ("Quality", "#1 String", "#2 String")):
        labels.append(one_of(row["Quality"], ("0", "1"), where, "label of MRPC"))
        texts.append((row["#1 String"], row["#2 String"]))
    if not texts:
        raise FileError(f"{path}: has a head and no lines")
    return examples(texts, labels)


def _folder(data: DataFolder, name: str, *files: str) -> Path:
    """Find the folder of a task by any of its files; then it has to have all."""
    places = [f"{root}{name}" for root in ("senteval/", "senteval/data/downstream/", "")]
    what = f"SentEval's {name}, {' and '.join(files)}"
    folder, _ = data.holding_first(dict.fromkeys(files, places), what)
    incomplete(folder, files, f"SentEval's {name}")
    return folder


def _latin_lines(path: Path) -> list[tuple[str, str]]:
    """Give `(file:line, text)` of lines that are not blank.

    SentEval reads these files as Latin-1, and TREC's has bytes that are no UTF-8.
    """
    lines = read_bytes(path).decode("latin-1").split("\n")
    found = [(f"{path}:{at}", text.strip()) for at, text in enumerate(lines, 1) if text.strip()]
    if not found:
        raise FileError(f"{path}: the file is empty")
    return found


# name -> folder, files of train, dev if there is one, and test; their reader; the classes
_OWN_SPLITS = {
    "sst2": (
        "SST/binary",
        ("sentiment-train", "sentiment-dev", "sentiment-test"),
        _sentiments,
        SENTIMENTS,
    ),
    "trec": ("TREC", ("train_5500.label", "TREC_10.label"), _questions, QUESTIONS),
    "mrpc": (
        "MRPC",
        ("msr_paraphrase_train.txt", "msr_paraphrase_test.txt"),
        _paraphrases,
        PAWSX_LABELS,
    ),
}


def _own_split(data: DataFolder, name: str) -> Task:
    inside, files, read, classes = _OWN_SPLITS[name]
    folder = _folder(data, inside, *files)
    train, *dev, test = (read(folder / file) for file in files)
    task = Task(name, "class", classes, train, dev[0] if dev else None, {"en": test}, OWN_SPLIT)
    if name == "mrpc":
        return replace(task, kind="pair", symmetric=True, with_f1=True)
    return task


# Tasks without a split of their own come as ten folds.
_READERS = {
    name: (partial(_two_files, name=name), f"senteval/{folder}/{files[1]}")
    for name, (folder, files, _) in _TWO_FILES.items()
} | {
    name: (partial(_own_split, name=name), f"senteval/{folder}/{files[0]}")
    for name, (folder, files, *_) in _OWN_SPLITS.items()
}
SENTEVAL = TaskSet("SentEval", _READERS, averaged=list(_READERS))
