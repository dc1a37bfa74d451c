"""PAWS-X and XNLI as pairs of sentences with a class: what is learned in English, what is measured.

Yang et al., 2019, "PAWS-X"; Conneau et al., 2018, "XNLI".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.readers import pawsx, xnli
from xmine.evaluation.transfer.folds import folds, sharing_texts

FOLDS = 5


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two sentences with the number of their class; a pair and its translations share an item."""

    item: str
    texts: tuple[str, str]
    label: int


ByLanguage = Mapping[str, Sequence[LabelledPair]]


@dataclass(frozen=True, slots=True)
class PairSet:
    """A data set of pairs."""

    name: str
    title: str
    classes: tuple[str, ...]
    positive: int  # the class that a high cosine stands for
    read: Callable[[DataFolder, str], ByLanguage]  # data folder and split -> pairs by language
    # data folder and split -> the file of its English pairs, for messages
    file: Callable[[DataFolder, str], Path]
    splits: tuple[str, ...]  # those it has that can be learned from, beside dev


@dataclass(frozen=True, slots=True)
class Part:
    """What is learned in English, what the regularisation is chosen on, and what is measured.

    `source` and `tuned_on` name the files of the first two, for messages.
    """

    learn: Sequence[LabelledPair]
    tune: Sequence[LabelledPair] | None
    measured: ByLanguage
    source: str
    tuned_on: str


def _pawsx_pairs(data: DataFolder, split: str) -> ByLanguage:
    return {
        language: [LabelledPair(x.item, (x.first, x.second), x.label) for x in pairs]
        for language, pairs in pawsx.read_pawsx(data, split).items()
    }


def _xnli_pairs(data: DataFolder, split: str) -> ByLanguage:
    return {
        language: [LabelledPair(x.item, (x.premise, x.hypothesis), x.label) for x in pairs]
        for language, pairs in xnli.read_xnli(data, split).items()
    }


def _pawsx_file(data: DataFolder, split: str) -> Path:
    return pawsx.pawsx_files(data, split)["en"]


SETS = (
    PairSet("pawsx", "PAWS-X", pawsx.LABELS, 1, _pawsx_pairs, _pawsx_file, ("train",)),
    # XNLI's training set is MultiNLI, of another layout: `transfer` learns from it.
    PairSet("xnli", "XNLI", xnli.LABELS, 0, _xnli_pairs, xnli.xnli_file, ()),
)


def parts_of(each: PairSet, data: DataFolder) -> tuple[list[Part], str]:
    """Cut a data set into what is learned and what is measured.

    Learned from train, else dev; measured on test, else dev. Where both would be dev: in five
    parts, so that no item, translation of one, or English sentence is on both sides.

    Returns:
        The parts, and in words what they are.
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
        parts = _dev_in_parts(each, found["dev"], str(each.file(data, "dev")))
        return parts, f"dev, {FOLDS}-fold cross-validation by item"
    tune = found["dev"]["en"] if {"train", "dev", "test"} <= found.keys() else None
    tuned = ", tuned on English dev" if tune else ""
    learned = str(each.file(data, source))
    tuned_on = str(each.file(data, "dev")) if tune else learned
    part = Part(found[source]["en"], tune, found[target], learned, tuned_on)
    return [part], f"{target}, learned from English {source}{tuned}"


def _dev_in_parts(each: PairSet, dev: ByLanguage, file: str) -> list[Part]:
    english = dev["en"]
    groups = sharing_texts([pair.texts for pair in english])
    labels = np.array([pair.label for pair in english], dtype=np.float64)
    parts = folds("pair", labels, FOLDS, f"{each.title}, {file}", groups)
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
    return [
        Part(
            [pair for pair in english if held[pair.item] != number],
            None,
            {
                language: [pair for pair in pairs if held.get(pair.item) == number]
                for language, pairs in dev.items()
            },
            file,
            file,
        )
        for number in range(FOLDS)
    ]
