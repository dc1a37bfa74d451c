"""SentEval's seven transfer tasks: its files, as its script leaves them -> tasks to learn.

Conneau & Kiela, 2018, "SentEval: An Evaluation Toolkit for Universal Sentence Representations".
Movie and product reviews, subjectivity, opinion, questions, paraphrases; all English.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from xmine.errors import FileError
from xmine.evaluation.data import (
    DataFolder,
    MissingData,
    incomplete,
    one_of,
    read_columns,
    read_headed,
)
from xmine.evaluation.transfer.folds import examples, folds, some
from xmine.evaluation.transfer.tasks import Examples, Task
from xmine.files.reading import read_bytes

OUTER_FOLDS = 10
SENTIMENTS = ("negative", "positive")
QUESTIONS = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
OWN_SPLIT = "SentEval, split of its own"

# name -> folder, file of class 0, file of class 1, the classes
_TWO_FILES = {
    "mr": ("MR", "rt-polarity.neg", "rt-polarity.pos", SENTIMENTS),
    "cr": ("CR", "custrev.neg", "custrev.pos", SENTIMENTS),
    "subj": ("SUBJ", "subj.subjective", "subj.objective", ("subjective", "objective")),
    "mpqa": ("MPQA", "mpqa.neg", "mpqa.pos", SENTIMENTS),
}


def senteval_tasks(data: DataFolder, wanted: Sequence[str] = ()) -> list[Task]:
    """Read the tasks of SentEval that a data folder has, in the order of `SENTEVAL`.

    Those without a split of their own come as ten tasks of the same name, one for each part held
    out: the figure of the task is the mean of theirs.
    """
    tasks = []
    for name, read in SENTEVAL.items():
        if wanted and name not in wanted:
            continue
        try:
            tasks += read(data, name)
        except MissingData:
            if name in wanted:
                raise
    return tasks


def _two_files(data: DataFolder, name: str) -> list[Task]:
    """Read a task whose classes have a file each: ten tasks, one for each part held out."""
    folder_name, *files, classes = _TWO_FILES[name]
    folder = _folder(data, folder_name, *map(str, files))
    sides = [[text for _, text in _latin_lines(folder / str(file))] for file in files]
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


def _sst2(data: DataFolder, name: str) -> list[Task]:
    files = [f"sentiment-{split}" for split in ("train", "dev", "test")]
    folder = _folder(data, "SST/binary", *files)
    train, dev, test = (_sentiments(folder / file) for file in files)
    return [Task(name, "class", SENTIMENTS, train, dev, {"en": test}, OWN_SPLIT)]


def _sentiments(path: Path) -> Examples:
    rows = [
        (columns[0], one_of(columns[1].strip(), ("0", "1"), where, "label of SST"))
        for where, columns in read_columns(path, 2)
    ]
    return examples([(text,) for text, _ in rows], [label for _, label in rows])


def _trec(data: DataFolder, name: str) -> list[Task]:
    files = ("train_5500.label", "TREC_10.label")
    folder = _folder(data, "TREC", *files)
    train, test = (_questions(folder / file) for file in files)
    return [Task(name, "class", QUESTIONS, train, None, {"en": test}, OWN_SPLIT)]


def _questions(path: Path) -> Examples:
    texts, labels = [], []
    for where, line in _latin_lines(path):
        label, _, question = line.partition(" ")
        if not question.strip():
            raise FileError(f"{where}: no question", "expected 'NUM:dist How far is it ?'")
        labels.append(one_of(label.partition(":")[0], QUESTIONS, where, "class of questions"))
        texts.append((question.strip(),))
    return examples(texts, labels)


def _mrpc(data: DataFolder, name: str) -> list[Task]:
    files = ("msr_paraphrase_train.txt", "msr_paraphrase_test.txt")
    folder = _folder(data, "MRPC", *files)
    train, test = (_paraphrases(folder / file) for file in files)
    classes = ("different", "paraphrase")
    tests = {"en": test}
    return [
        Task(name, "pair", classes, train, None, tests, OWN_SPLIT, symmetric=True, with_f1=True)
    ]


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
    missing = None
    for file in files:
        try:
            folder = data.holding(file, places, f"SentEval's {name}, {' and '.join(files)}")
        except MissingData as error:
            missing = missing or error
        else:
            incomplete(folder, files, f"SentEval's {name}")
            return folder
    assert missing is not None
    raise missing


def _latin_lines(path: Path) -> list[tuple[str, str]]:
    """Give `(file:line, text)` of lines that are not blank.

    SentEval reads these files as Latin-1, and TREC's has bytes that are no UTF-8.
    """
    lines = read_bytes(path).decode("latin-1").split("\n")
    found = [(f"{path}:{at}", text.strip()) for at, text in enumerate(lines, 1) if text.strip()]
    if not found:
        raise FileError(f"{path}: the file is empty")
    return found


# The name of a task, as it is asked for -> its reader.
SENTEVAL: Mapping[str, Callable[[DataFolder, str], list[Task]]] = {
    **dict.fromkeys(_TWO_FILES, _two_files),
    "sst2": _sst2,
    "trec": _trec,
    "mrpc": _mrpc,
}
# The name of a task -> a file of it, in the data folder.
FIRST_FILES: Mapping[str, str] = {
    **{name: f"senteval/{folder}/{file}" for name, (folder, _, file, _) in _TWO_FILES.items()},
    "sst2": "senteval/SST/binary/sentiment-train",
    "trec": "senteval/TREC/train_5500.label",
    "mrpc": "senteval/MRPC/msr_paraphrase_train.txt",
}
