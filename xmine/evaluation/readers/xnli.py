"""XNLI: the same premises and hypotheses in up to 15 languages, read in either of its two formats.

Conneau et al. (2018), "XNLI: Evaluating cross-lingual sentence representations": one file of all
languages with a head, `xnli.dev.tsv`; or as XTREME (Hu et al., 2020) lays it out, one file without
a head for each language, `dev-en.tsv`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData, one_of, read_columns, read_headed

LABELS = ("entailment", "neutral", "contradiction")
_FOLDERS = ("xnli", "XNLI-1.0", "xnli/XNLI-1.0")
_HEAD = ("language", "gold_label", "sentence1", "sentence2", "pairID")


@dataclass(frozen=True, slots=True)
class NliPair:
    """A premise and what might follow from it, in one language."""

    item: str  # names the pair; its translations have the same name
    premise: str  # the sentence taken for true
    hypothesis: str  # the sentence judged by it
    label: int  # place in `LABELS`


def has_xnli(data: DataFolder, split: str) -> bool:
    """Tell whether a data folder has a split of XNLI."""
    try:
        _folder(data, split)
    except MissingData:
        return False
    return True


def read_xnli(data: DataFolder, split: str) -> dict[str, list[NliPair]]:
    """Read a split, `dev` or `test`: language -> its pairs, in the same order in all languages."""
    folder, whole = _folder(data, split), f"xnli.{split}.tsv"
    if (folder / whole).exists():
        return _read_whole(folder / whole)
    paths = sorted(folder.glob(f"{split}-*.tsv"))
    pairs = {path.stem.removeprefix(f"{split}-"): _read_one(path) for path in paths}
    names = dict(zip(pairs, paths, strict=True))
    for language, path in names.items():
        _check_alike(paths[0], next(iter(pairs.values())), path, pairs[language])
    return pairs


def xnli_file(data: DataFolder, split: str) -> Path:
    """Name the file that the English pairs of a split come from."""
    folder, whole = _folder(data, split), f"xnli.{split}.tsv"
    return folder / (whole if (folder / whole).exists() else f"{split}-en.tsv")


def _folder(data: DataFolder, split: str) -> Path:
    what = f"XNLI, xnli.{split}.tsv with all languages or {split}-en.tsv and so on"
    try:
        return data.holding(f"xnli.{split}.tsv", _FOLDERS, what)
    except MissingData:
        return data.holding(f"{split}-*.tsv", ("xnli",), what)


def _read_one(path: Path) -> list[NliPair]:
    pairs = []
    for at, (where, columns) in enumerate(read_columns(path, 3), start=1):
        premise, hypothesis, label = columns[:3]
        known = one_of(label, LABELS, where, "label of XNLI")
        pairs.append(NliPair(str(at), premise, hypothesis, known))
    return pairs


def _check_alike(
    first: Path, expected: Sequence[NliPair], path: Path, pairs: Sequence[NliPair]
) -> None:
    if len(pairs) != len(expected):
        raise FileError(
            f"{first} has {len(expected):,} lines and {path} {len(pairs):,}",
            "line N has to be the same item in every language",
        )
    for pair, other in zip(expected, pairs, strict=True):
        if pair.label != other.label:
            raise FileError(
                f"{path}:{other.item}: {LABELS[other.label]}, but in {first} {LABELS[pair.label]}",
                "line N has to be the same item in every language",
            )


def _read_whole(path: Path) -> dict[str, list[NliPair]]:
    """Read the file of all languages; items in the order of the first language."""
    found: dict[str, dict[str, NliPair]] = {}
    for where, row in read_headed(path, _HEAD):
        of_language, item = found.setdefault(row["language"], {}), row["pairID"]
        if item in of_language:
            raise FileError(f"{where}: pair {item} is there twice in {row['language']}")
        label = one_of(row["gold_label"], LABELS, where, "label of XNLI")
        of_language[item] = NliPair(item, row["sentence1"], row["sentence2"], label)
    if not found:
        raise FileError(f"{path}: has a head and no lines")
    first, expected = next(iter(found.items()))
    for language, pairs in found.items():
        differing = expected.keys() ^ pairs.keys()
        if differing:
            raise FileError(
                f"{path}: pair {min(differing)} is in one of {first} and {language} only",
                f"{first} has {len(expected):,} pairs and {language} {len(pairs):,}",
            )
        for item, pair in expected.items():
            if pairs[item].label != pair.label:
                raise FileError(f"{path}: pair {item} has another label in {language} than {first}")
    return {language: [pairs[item] for item in expected] for language, pairs in found.items()}
