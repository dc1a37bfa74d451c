"""PAWS-X: pairs of sentences in seven languages, each a paraphrase or not.

Yang et al., 2019, "PAWS-X: A Cross-lingual Adversarial Dataset for Paraphrase Identification":
both sentences of a pair share nearly all their words, so overlap tells nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData, one_of, read_columns, read_headed
from xmine.files.reading import read_lines

LABELS = ("different", "paraphrase")  # written 0 and 1
UNTRANSLATED = "NS"  # stands where a translator could make nothing of a sentence
_DISTRIBUTED = {"train": "train.tsv", "dev": "dev_2k.tsv", "test": "test_2k.tsv"}
_HEAD = ("id", "sentence1", "sentence2", "label")
_ALIKE = "a pair has to have the same id, or line, and label in every language"


@dataclass(frozen=True, slots=True)
class ParaphrasePair:
    """Two sentences of one language."""

    item: str  # the same for a pair and its translations
    first: str  # the sentences
    second: str
    label: int  # place in LABELS


_Rows = dict[str, tuple[str, ParaphrasePair]]  # item -> where it stands, and the pair


def read_pawsx(data: DataFolder, split: str) -> dict[str, list[ParaphrasePair]]:
    """Read a split in every language that there is; `train` is English alone.

    Pairs of which a sentence is empty or `NS` are left out, as the distributor's README asks: they
    have no translation, and a label that differs from the English one.

    Returns:
        Language -> pairs, English first.
    """
    files = pawsx_files(data, split)
    if "en" not in files:
        raise FileError(
            f"{next(iter(files.values()))}: no English file of the split {split} beside it",
            "PAWS-X is learned from English, and its items are the English ones",
        )
    order = sorted(files, key=lambda language: (language != "en", language))
    rows = {language: _read(files[language]) for language in order}
    for language in order:
        _check_alike(files["en"], rows["en"], files[language], rows[language])
    found = {}
    for language in order:
        found[language] = [each for _, each in rows[language].values() if _is_translated(each)]
        if not found[language]:
            raise FileError(f"{files[language]}: no pair with two sentences")
    return found


def pawsx_files(data: DataFolder, split: str) -> dict[str, Path]:
    """Find the files of a split in either layout: language -> file."""
    name = _DISTRIBUTED[split]
    what = f"PAWS-X, {split}-en.tsv and so on, or en/{name} and so on"
    try:
        folder = data.holding(f"*/{name}", ("pawsx", "x-final", "pawsx/x-final"), what)
        return {path.parent.name: path for path in folder.glob(f"*/{name}")}
    except MissingData:
        folder = data.holding(f"{split}-*.tsv", ("pawsx",), what)
    return {path.stem.removeprefix(f"{split}-"): path for path in folder.glob(f"{split}-*.tsv")}


def _read(path: Path) -> _Rows:
    rows: _Rows = {}
    for where, item, first, second, label in _rows(path):
        truth = one_of(label, ("0", "1"), where, "label of a pair")
        if item in rows:
            raise FileError(f"{where}: the id {item} stands twice")
        rows[item] = (where, ParaphrasePair(item, first, second, truth))
    return rows


def _is_translated(pair: ParaphrasePair) -> bool:
    return all(text.strip() not in ("", UNTRANSLATED) for text in (pair.first, pair.second))


def _check_alike(first: Path, english: _Rows, path: Path, rows: _Rows) -> None:
    """Check that the items of a file are those of the English one, with its labels."""
    if len(rows) != len(english):
        raise FileError(f"{first} has {len(english):,} pairs and {path} {len(rows):,}", _ALIKE)
    for item, (where, pair) in rows.items():
        if item not in english:
            raise FileError(f"{where}: the id {item} is not in {first}", _ALIKE)
        _, other = english[item]
        if _is_translated(pair) and pair.label != other.label:
            raise FileError(
                f"{where}: {LABELS[pair.label]}, but in {first} {LABELS[other.label]}", _ALIKE
            )


def _rows(path: Path) -> Iterator[tuple[str, str, str, str, str]]:
    """Give place, item, both sentences and label; without ids, an item is its line number."""
    if read_lines(path)[0].split("\t")[0] == "id":
        for where, row in read_headed(path, _HEAD):
            yield where, row["id"], row["sentence1"], row["sentence2"], row["label"]
        return
    for number, (where, columns) in enumerate(read_columns(path, 3), start=1):
        if len(columns) != 3:
            raise FileError(f"{where}: {len(columns)} columns; expected sentence, sentence, label")
        first, second, label = map(_unquoted, columns)
        yield where, str(number), first, second, label


def _unquoted(text: str) -> str:
    """Undo the quotes that XTREME's script puts around a sentence that has some itself."""
    inner = text[1:-1]
    quoted = text[:1] == text[-1:] == '"' and '""' in inner and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if quoted else text
