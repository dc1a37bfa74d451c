"""SentEval's seven transfer tasks: its files, as its script leaves them -> tasks to learn.

Conneau & Kiela, 2018, "SentEval: An Evaluation Toolkit for Universal Sentence Representations".
Movie and product reviews, subjectivity, opinion, questions, paraphrases; all English.
"""

from collections.abc import Iterator
from pathlib import Path

from papers.headed import one_of, read_headed
from papers.labelled_pairs import PAWSX_LABELS
from papers.tasks import HeadTask, Kind, examples, folds
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, incomplete, read_tab_separated
from xmine.files.reading import read_bytes

OUTER_FOLDS = 10
QUESTIONS = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
_SENTIMENTS = ("negative", "positive")

_Rows = Iterator[tuple[tuple[str, ...], int]]  # texts and class


def senteval_task(data: DataFolder, name: str) -> list[HeadTask]:
    """Read a task; one without a split of its own comes as ten, one for each part held out."""
    inside, files, read, classes = _TASKS[name]
    places = [f"{root}{inside}" for root in ("senteval/", "senteval/data/downstream/", "")]
    what = f"SentEval's {inside}"
    folder, _ = data.holding_first(dict.fromkeys(files, places), f"{what}, {' and '.join(files)}")
    incomplete(folder, files, what)
    if read:
        train, *dev, test = (examples(read(folder / file), folder / file) for file in files)
        of_pairs = name == "mrpc"
        kind: Kind = "pair" if of_pairs else "class"
        tuned = dev[0] if dev else None
        split = "SentEval, split of its own"
        return [
            HeadTask(name, kind, classes, train, tuned, {"en": test}, split, symmetric=of_pairs)
        ]
    sides = [_latin_lines(folder / file) for file in files]
    rows = (((text,), label) for label, side in enumerate(sides) for _, text in side)
    whole, split = examples(rows, folder), f"SentEval, {OUTER_FOLDS}-fold cross-validation"
    return [
        HeadTask(name, "class", classes, whole.some(learn), None, {"en": whole.some(held)}, split)
        for learn, held in folds("class", whole.answers, OUTER_FOLDS, str(folder))
    ]


def _sentiments(path: Path) -> _Rows:
    for where, (text, label, *_) in read_tab_separated(path, 2):
        yield (text,), one_of(label.strip(), ("0", "1"), where, "label of SST")


def _questions(path: Path) -> _Rows:
    for where, line in _latin_lines(path):
        label, _, question = line.partition(" ")
        if not question.strip():
            raise FileError(f"{where}: no question", "expected 'NUM:dist How far is it ?'")
        answer = one_of(label.partition(":")[0], QUESTIONS, where, "class of questions")
        yield (question.strip(),), answer


def _paraphrases(path: Path) -> _Rows:
    for where, row in read_headed(path, ("Quality", "#1 String", "#2 String")):
        label = one_of(row["Quality"], ("0", "1"), where, "label of MRPC")
        yield (row["#1 String"], row["#2 String"]), label


def _latin_lines(path: Path) -> list[tuple[str, str]]:
    """Give `(file:line, text)` of lines that are not blank.

    SentEval reads these files as Latin-1, and TREC's has bytes that are no UTF-8.
    """
    lines = read_bytes(path).decode("latin-1").split("\n")
    found = [(f"{path}:{at}", text.strip()) for at, text in enumerate(lines, 1) if text.strip()]
    if not found:
        raise FileError(f"{path}: the file is empty")
    return found


_SST = ("sentiment-train", "sentiment-dev", "sentiment-test")
_MRPC = ("msr_paraphrase_train.txt", "msr_paraphrase_test.txt")
# name -> folder; files of class 0 and class 1, or of train, dev if there is one, and test; the
# reader of the latter; the classes
_TASKS = {
    "mr": ("MR", ("rt-polarity.neg", "rt-polarity.pos"), None, _SENTIMENTS),
    "cr": ("CR", ("custrev.neg", "custrev.pos"), None, _SENTIMENTS),
    "subj": ("SUBJ", ("subj.subjective", "subj.objective"), None, ("subjective", "objective")),
    "mpqa": ("MPQA", ("mpqa.neg", "mpqa.pos"), None, _SENTIMENTS),
    "sst2": ("SST/binary", _SST, _sentiments, _SENTIMENTS),
    "trec": ("TREC", ("train_5500.label", "TREC_10.label"), _questions, QUESTIONS),
    "mrpc": ("MRPC", _MRPC, _paraphrases, PAWSX_LABELS),
}
# name -> one of its files
SENTEVAL = {name: f"senteval/{folder}/{files[0]}" for name, (folder, files, *_) in _TASKS.items()}
