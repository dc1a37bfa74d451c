"""XNLI and PAWS-X: labelled pairs of sentences, the same pairs in several languages.

XNLI (Conneau et al., 2018): one file of all languages with a head, `xnli.dev.tsv`, or as XTREME
(Hu et al., 2020) lays it out, a file without a head for each language, `dev-en.tsv`. PAWS-X (Yang
et al., 2019): both sentences share nearly all their words, so overlap tells nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, one_of, read_columns, read_headed
from xmine.files.reading import read_lines

XNLI_LABELS = ("entailment", "neutral", "contradiction")
PAWSX_LABELS = ("different", "paraphrase")  # written 0 and 1
_UNTRANSLATED = "NS"  # stands where a translator could make nothing of a sentence
_XNLI_FOLDERS = ("xnli", "XNLI-1.0", "xnli/XNLI-1.0")
_XNLI_HEAD = ("language", "gold_label", "sentence1", "sentence2", "pairID")
_PAWSX_HEAD = ("id", "sentence1", "sentence2", "label")
_PAWSX_FILES = {"train": "train.tsv", "dev": "dev_2k.tsv", "test": "test_2k.tsv"}
_ALIKE = "a pair has to have the same id, or line, and label in every language"


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two sentences of one language and their class; a pair and its translations share an item."""

    item: str
    first: str  # of XNLI the premise
    second: str  # of XNLI the hypothesis
    label: int  # place in the labels of the data set

    @property
    def texts(self) -> tuple[str, str]:
        """Both sentences."""
        return self.first, self.second


ByLanguage = Mapping[str, Sequence[LabelledPair]]


def read_xnli(data: DataFolder, split: str) -> dict[str, list[LabelledPair]]:
    """Read a split, `dev` or `test`: language -> its pairs, in the same order in all languages."""
    path = xnli_file(data, split)
    if path.name == f"xnli.{split}.tsv":
        return _read_all_languages(path)
    files = _by_language(path.parent, split)
    found = {language: _read_xnli_file(file) for language, file in files.items()}
    first, expected = next(iter(found.items()))
    hint = "line N has to be the same item in every language"
    for language, pairs in found.items():
        if len(pairs) != len(expected):
            raise FileError(
                f"{files[first]} has {len(expected):,} lines and {files[language]} {len(pairs):,}",
                hint,
            )
        for pair, other in zip(expected, pairs, strict=True):
            if pair.label != other.label:
                raise FileError(
                    f"{files[language]}:{other.item}: {XNLI_LABELS[other.label]}, but in "
                    f"{files[first]} {XNLI_LABELS[pair.label]}",
                    hint,
                )
    return found


def xnli_file(data: DataFolder, split: str) -> Path:
    """Name the file that the English pairs of a split come from."""
    name = f"xnli.{split}.tsv"
    what = f"XNLI, {name} with all languages or {split}-en.tsv and so on"
    places = {name: _XNLI_FOLDERS, f"{split}-*.tsv": ("xnli",)}
    folder, pattern = data.holding_first(places, what)
    return folder / pattern.replace("*", "en")


def read_pawsx(data: DataFolder, split: str) -> dict[str, list[LabelledPair]]:
    """Read a split in every language that there is, English first; `train` is English alone.

    Pairs of which a sentence is empty or `NS` are left out, as the distributor's README asks: they
    have no translation, and a label that differs from the English one.
    """
    files = pawsx_files(data, split)
    if "en" not in files:
        raise FileError(
            f"{next(iter(files.values()))}: no English file of the split {split} beside it",
            "PAWS-X is learned from English, and its items are the English ones",
        )
    order = sorted(files, key=lambda language: (language != "en", language))
    rows = {language: _read_pawsx_file(files[language]) for language in order}
    found = {}
    for language in order:
        _check_like_english(files["en"], rows["en"], files[language], rows[language])
    for language in order:
        found[language] = [pair for _, pair in rows[language].values() if _is_translated(pair)]
        if not found[language]:
            raise FileError(f"{files[language]}: no pair with two sentences")
    return found


def pawsx_files(data: DataFolder, split: str) -> dict[str, Path]:
    """Find the files of a split in either layout: language -> file."""
    name = _PAWSX_FILES[split]
    what = f"PAWS-X, {split}-en.tsv and so on, or en/{name} and so on"
    own = f"*/{name}"
    places = {own: ("pawsx", "x-final", "pawsx/x-final"), f"{split}-*.tsv": ("pawsx",)}
    folder, pattern = data.holding_first(places, what)
    if pattern == own:
        return {path.parent.name: path for path in folder.glob(own)}
    return _by_language(folder, split)


def _by_language(folder: Path, split: str) -> dict[str, Path]:
    paths = sorted(folder.glob(f"{split}-*.tsv"))
    return {path.stem.removeprefix(f"{split}-"): path for path in paths}


def _read_xnli_file(path: Path) -> list[LabelledPair]:
    pairs = []
    for at, (where, columns) in enumerate(read_columns(path, 3), start=1):
        label = one_of(columns[2], XNLI_LABELS, where, "label of XNLI")
        pairs.append(LabelledPair(str(at), columns[0], columns[1], label))
    return pairs


def _read_all_languages(path: Path) -> dict[str, list[LabelledPair]]:
    """Read the file of all languages; items in the order of the first language."""
    found: dict[str, dict[str, LabelledPair]] = {}
    for where, row in read_headed(path, _XNLI_HEAD):
        of_language, item = found.setdefault(row["language"], {}), row["pairID"]
        if item in of_language:
            raise FileError(f"{where}: pair {item} is there twice in {row['language']}")
        label = one_of(row["gold_label"], XNLI_LABELS, where, "label of XNLI")
        of_language[item] = LabelledPair(item, row["sentence1"], row["sentence2"], label)
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


_Rows = dict[str, tuple[str, LabelledPair]]  # item -> `file:line`, and the pair


def _read_pawsx_file(path: Path) -> _Rows:
    rows: _Rows = {}
    for where, item, first, second, label in _pawsx_lines(path):
        truth = one_of(label, ("0", "1"), where, "label of a pair")
        if item in rows:
            raise FileError(f"{where}: the id {item} stands twice")
        rows[item] = (where, LabelledPair(item, first, second, truth))
    return rows


def _pawsx_lines(path: Path) -> Iterator[tuple[str, str, str, str, str]]:
    """Give `file:line`, item, both sentences and label; without ids, an item is its line number."""
    if read_lines(path)[0].split("\t")[0] == "id":
        for where, row in read_headed(path, _PAWSX_HEAD):
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


def _is_translated(pair: LabelledPair) -> bool:
    return all(text.strip() not in ("", _UNTRANSLATED) for text in pair.texts)


def _check_like_english(first: Path, english: _Rows, path: Path, rows: _Rows) -> None:
    """Check that the items of a file are those of the English one, with its labels."""
    if len(rows) != len(english):
        raise FileError(f"{first} has {len(english):,} pairs and {path} {len(rows):,}", _ALIKE)
    for item, (where, pair) in rows.items():
        if item not in english:
            raise FileError(f"{where}: the id {item} is not in {first}", _ALIKE)
        _, other = english[item]
        if _is_translated(pair) and pair.label != other.label:
            raise FileError(
                f"{where}: {PAWSX_LABELS[pair.label]}, but in {first} {PAWSX_LABELS[other.label]}",
                _ALIKE,
            )
