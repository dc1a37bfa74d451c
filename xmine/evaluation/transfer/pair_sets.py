"""PAWS-X and XNLI as pairs of sentences with a class: what is learned in English, what is measured.

Yang et al., 2019, "PAWS-X"; Conneau et al., 2018, "XNLI".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.readers.labelled_pairs import (
    PAWSX_LABELS,
    XNLI_LABELS,
    ByLanguage,
    LabelledPair,
    pawsx_files,
    read_pawsx,
    read_xnli,
    xnli_file,
)
from xmine.evaluation.transfer.folds import folds, labels_of, sharing_texts

FOLDS = 5


@dataclass(frozen=True, slots=True)
class PairSet:
    """A data set of pairs."""

    name: str
    title: str
    classes: tuple[str, ...]
    positive: int  # the class that a high cosine stands for
    read: Callable[[DataFolder, str], ByLanguage]  # data folder and split -> pairs by language
    # data folder and split -> the file of its English pairs, for messages
    english_file: Callable[[DataFolder, str], Path]
    splits: tuple[str, ...]  # those it has that can be learned from, beside dev


@dataclass(frozen=True, slots=True)
class PairSplit:
    """What is learned in English, what the regularisation is chosen on, and what is measured.

    `source` and `tuned_on` name the files of the first two, for messages.
    """

    learn: Sequence[LabelledPair]
    tune: Sequence[LabelledPair] | None
    measured: ByLanguage
    source: str
    tuned_on: str


SETS = (
    PairSet(
        "pawsx",
        "PAWS-X",
        PAWSX_LABELS,
        positive=1,
        read=read_pawsx,
        english_file=lambda data, split: pawsx_files(data, split)["en"],
        splits=("train",),
    ),
    # XNLI's training set is MultiNLI, of another layout: `transfer` learns from it.
    PairSet("xnli", "XNLI", XNLI_LABELS, 0, read_xnli, xnli_file, ()),
)


def parts_of(each: PairSet, data: DataFolder) -> tuple[list[PairSplit], str]:
    """Cut a data set into what is learned and what is measured; say in words what the parts are.

    Learned from train, else dev; measured on test, else dev. Where both would be dev: in five
    parts, so that no item, translation of one, or English sentence is on both sides.
    """
    found: dict[str, ByLanguage] = {}
    missing: dict[str, MissingData] = {}
    for split in (*each.splits, "dev", "test"):
        try:
            found[split] = each.read(data, split)
        except MissingData as error:
            missing[split] = error
            continue
        if "en" not in found[split]:
            raise FileError(
                f"{each.title}, {split}: no English file; there are {', '.join(found[split])}",
                "pairs are learned in English",
            )
    source = "train" if "train" in found else "dev"
    target = "test" if "test" in found else "dev"
    if not found:
        raise missing["dev"]
    for split, purpose in ((target, "measure on"), (source, "learn from")):
        if split not in found:
            raise FileError(
                f"{each.title}: {' and '.join(found)} found, {split} to {purpose} is missing",
                missing[split].message,
            )
    if source == target:
        parts = _dev_in_parts(each, found["dev"], str(each.english_file(data, "dev")))
        return parts, f"dev, {FOLDS}-fold cross-validation by item"
    tune = found["dev"]["en"] if {"train", "dev", "test"} <= found.keys() else None
    tuned = ", tuned on English dev" if tune else ""
    learned = str(each.english_file(data, source))
    tuned_on = str(each.english_file(data, "dev")) if tune else learned
    part = PairSplit(found[source]["en"], tune, found[target], learned, tuned_on)
    return [part], f"{target}, learned from English {source}{tuned}"


def _dev_in_parts(each: PairSet, dev: ByLanguage, file: str) -> list[PairSplit]:
    english = dev["en"]
    groups = sharing_texts([pair.texts for pair in english])
    parts = folds("pair", labels_of(english), FOLDS, f"{each.title}, {file}", groups)
    held = {
        english[place].item: number
        for number, (_, places) in enumerate(parts)
        for place in places.tolist()
    }
    for language, pairs in dev.items():
        if held.keys().isdisjoint(pair.item for pair in pairs):
            raise FileError(
                f"{each.title}, dev: no pair of {language} has the id of an English one"
            )
    splits = []
    for number in range(FOLDS):
        learn = [pair for pair in english if held[pair.item] != number]
        measured = {
            language: [pair for pair in pairs if held.get(pair.item) == number]
            for language, pairs in dev.items()
        }
        splits.append(PairSplit(learn, None, measured, file, file))
    return splits
