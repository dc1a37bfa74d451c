"""XNLI and PAWS-X: labelled pairs of sentences, the same pairs in several languages.

XNLI (Conneau et al., 2018): one file of all languages with a head, `xnli.dev.tsv`, or as XTREME
(Hu et al., 2020) lays it out, a file without a head for each language, `dev-en.tsv`. PAWS-X (Yang
et al., 2019): both sentences share nearly all their words, so overlap tells nothing.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from papers.headed import one_of, read_headed
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder
from xmine.files.reading import read_lines

XNLI_LABELS = ("entailment", "neutral", "contradiction")
PAWSX_LABELS = ("different", "paraphrase")  # written 0 and 1
_XNLI_HEAD = ("language", "gold_label", "sentence1", "sentence2", "pairID")
PLAIN = ("sentence1", "sentence2", "label")  # the columns of files without a head
_PAWSX_FILES = {"train": "train.tsv", "dev": "dev_2k.tsv", "test": "test_2k.tsv"}
_ALIKE = "a pair has to have the same id, or line, and label in every language"


class ClassifiedPair(NamedTuple):
    """Two sentences of one language and their class; a pair and its translations share an item."""

    item: str
    texts: tuple[str, str]  # of XNLI the premise and the hypothesis
    label: int  # place in the labels of the data set

    @property
    def is_translated(self) -> bool:
        """Whether there are two: `NS` stands where a translator could make nothing of one."""
        return all(text.strip() not in ("", "NS") for text in self.texts)


ByLanguage = Mapping[str, Sequence[ClassifiedPair]]
_Rows = dict[str, tuple[str, ClassifiedPair]]  # item -> `file:line`, and the pair


def read_xnli(data: DataFolder, split: str) -> dict[str, list[ClassifiedPair]]:
    """Read a split, `dev` or `test`: language -> its pairs, in the same order in all languages."""
    name, plain = f"xnli.{split}.tsv", f"{split}-*.tsv"
    what = f"XNLI, {name} with all languages or {split}-en.tsv and so on"
    places = {name: ("xnli", "XNLI-1.0", "xnli/XNLI-1.0"), plain: ("xnli",)}
    folder, pattern = data.holding_first(places, what)
    whole = pattern == name
    files = {"": folder / name} if whole else _by_language(folder, split)
    rows: dict[str, _Rows] = {}
    for file, path in files.items():
        lines = read_headed(path, _XNLI_HEAD if whole else PLAIN, has_head=whole)
        for at, (where, row) in enumerate(lines, start=1):
            label = row["gold_label" if whole else "label"]
            _add(
                rows.setdefault(row["language"] if whole else file, {}),
                where,
                row["pairID"] if whole else str(at),
                (row["sentence1"], row["sentence2"]),
                one_of(label, XNLI_LABELS, where, "label of XNLI"),
            )
    if not rows:
        raise FileError(f"{folder / name}: has a head and no lines")
    names = {each: f"{folder / pattern.replace('*', each)}, {each}" for each in rows}
    _check_alike(names, rows, XNLI_LABELS)
    items = next(iter(rows.values()))
    return {language: [found[item][1] for item in items] for language, found in rows.items()}


def read_pawsx(data: DataFolder, split: str) -> dict[str, list[ClassifiedPair]]:
    """Read a split in every language that there is, English first; `train` is English alone.

    Pairs of which a sentence is empty or `NS` are left out, as the distributor's README asks: they
    have no translation, and a label that differs from the English one.
    """
    name, plain = f"*/{_PAWSX_FILES[split]}", f"{split}-*.tsv"
    what = f"PAWS-X, {split}-en.tsv and so on, or en/{_PAWSX_FILES[split]} and so on"
    places = {name: ("pawsx", "x-final", "pawsx/x-final"), plain: ("pawsx",)}
    folder, pattern = data.holding_first(places, what)
    files = _by_language(folder, split)
    if pattern == name:
        files = {path.parent.name: path for path in folder.glob(name)}
    if "en" not in files:
        raise FileError(
            f"{next(iter(files.values()))}: no English file of the split {split} beside it",
            "PAWS-X is learned from English, and its items are the English ones",
        )
    order = sorted(files, key=lambda language: (language != "en", language))
    rows = {language: _pawsx_rows(files[language]) for language in order}
    _check_alike({language: str(files[language]) for language in order}, rows, PAWSX_LABELS)
    found = {}
    for language in order:
        found[language] = [pair for _, pair in rows[language].values() if pair.is_translated]
        if not found[language]:
            raise FileError(f"{files[language]}: no pair with two sentences")
    return found


def _by_language(folder: Path, split: str) -> dict[str, Path]:
    paths = sorted(folder.glob(f"{split}-*.tsv"))
    return {path.stem.removeprefix(f"{split}-"): path for path in paths}


def _add(rows: _Rows, where: str, item: str, texts: tuple[str, str], label: int) -> None:
    if item in rows:
        raise FileError(f"{where}: the id {item} stands twice")
    rows[item] = where, ClassifiedPair(item, texts, label)


def _pawsx_rows(path: Path) -> _Rows:
    """Read the pairs of a language; without ids, an item is its line number."""
    rows: _Rows = {}
    has_ids = read_lines(path)[0].split("\t")[0] == "id"
    for at, (where, row) in enumerate(read_headed(path, PLAIN, has_head=has_ids), start=1):
        texts = row["sentence1"], row["sentence2"]
        if not has_ids:
            texts = _unquoted(texts[0]), _unquoted(texts[1])
        label = one_of(row["label"], ("0", "1"), where, "label of a pair")
        _add(rows, where, row.get("id", str(at)), texts, label)
    return rows


def _unquoted(text: str) -> str:
    """Undo the quotes that XTREME's script puts around a sentence that has some itself."""
    inner = text[1:-1]
    quoted = text[:1] == text[-1:] == '"' and '""' in inner and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if quoted else text


def _check_alike(
    names: Mapping[str, str], rows: Mapping[str, _Rows], labels: Sequence[str]
) -> None:
    """Check that each language has the items of the first, with its labels; names are of files."""
    first, expected = next(iter(rows.items()))
    for language, found in rows.items():
        for own, other in ((language, first), (first, language)):
            for item, (where, _) in rows[own].items():
                if item not in rows[other]:
                    raise FileError(f"{where}: the id {item} is not in {names[other]}", _ALIKE)
        for item, (where, pair) in found.items():
            label = expected[item][1].label
            if pair.is_translated and pair.label != label:
                raise FileError(
                    f"{where}: {labels[pair.label]}, but in {names[first]} {labels[label]}", _ALIKE
                )
