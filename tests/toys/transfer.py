"""Toy texts of a topic, SentEval's files made of them; what tests of `transfer` share."""

from pathlib import Path

import numpy as np
from papers.benchmarks import TransferOptions
from papers.tasks import Examples, examples
from papers.transfer import evaluate_transfer

from tests.toys.files import write
from tests.toys.sentences import english_word
from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.data import DataFolder
from xmine.evaluation.result import Result

TWO_FILES = {
    "MR": ("rt-polarity.neg", "rt-polarity.pos"),
    "CR": ("custrev.neg", "custrev.pos"),
    "SUBJ": ("subj.subjective", "subj.objective"),
    "MPQA": ("mpqa.neg", "mpqa.pos"),
}
QUESTIONS = ("ABBR:exp", "DESC:def", "ENTY:animal", "HUM:ind", "LOC:city", "NUM:dist")


def text(topic: int, seed: int, words: int = 5) -> str:
    """Make a text whose words come from one twelfth of the toy words."""
    random = np.random.default_rng([topic, seed])
    return " ".join(english_word(10 * topic + int(at)) for at in random.integers(0, 10, words))


def write_two(root: Path, name: str, topics: tuple[int, int] = (0, 1), count: int = 20) -> None:
    for file, topic in zip(TWO_FILES[name], topics, strict=True):
        write(root / name / file, [text(topic, seed) for seed in range(count)])


def write_senteval(root: Path) -> None:
    for name in TWO_FILES:
        write_two(root, name)
    for split in ("train", "dev", "test"):
        rows = [f"{text(at % 2, hash_of(split, at))}\t{at % 2}" for at in range(20)]
        write(root / "SST/binary" / f"sentiment-{split}", rows)
    for file, count in (("train_5500.label", 48), ("TREC_10.label", 12)):
        rows = [f"{QUESTIONS[at % 6]} {text(at % 6, hash_of(file, at))}" for at in range(count)]
        write(root / "TREC" / file, rows)
    for split, count in (("train", 100), ("test", 20)):
        rows = ["\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String"]
        for at in range(count):
            first = text(at % 5, hash_of(split, at))
            second = text(at % 5 if at % 2 else 5 + at % 5, hash_of(split, at + 1000))
            rows.append(f"{at % 2}\t{at}\t{at + 1}\t{first}\t{second}")
        write(root / "MRPC" / f"msr_paraphrase_{split}.txt", rows)


def hash_of(name: str, at: int) -> int:
    return sum(map(ord, name)) * 10_000 + at


def measure(encoder: SentenceEncoder, data: Path | None, *task: str) -> Result:
    return evaluate_transfer(encoder, DataFolder(data), TransferOptions(task=list(task)))


def two_topics() -> Examples:
    return examples((((text(at % 2, at),), at % 2) for at in range(20)), "toy")
