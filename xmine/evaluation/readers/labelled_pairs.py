"""XNLI and PAWS-X: labelled pairs of sentences, the same pairs in several languages.

XNLI (Conneau et al., 2018): one file of all languages with a head, `xnli.dev.tsv`, or as XTREME
(Hu et al., 2020) lays it out, a file without a head for each language, `dev-en.tsv`. PAWS-X (Yang
et al., 2019): both sentences share nearly all their words, so overlap tells nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, one_of, read_headed, read_tab_separated
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
_Rows = dict[str, tuple[str, LabelledPair]]  # item -> `file:line`, and the pair


def read_xnli(data: DataFolder, split: str) -> dict[str, list[LabelledPair]]:
    """Read a split, `dev` or `test`: language -> its pairs, in the same order in all languages."""
    path, rows = xnli_file(data, split), dict[str, _Rows]()
    if path.name == f"xnli.{split}.tsv":
        for where, row in read_headed(path, _XNLI_HEAD):
            item, language = row["pairID"], row["language"]
            sides = row["sentence1"], row["sentence2"]
            _add(
                rows.setdefault(language, {}), where, item, *sides, _xnli(row["gold_label"], where)
            )
        if not rows:
            raise FileError(f"{path}: has a head and no lines")
        names = {language: f"{path}, {language}" for language in rows}
    else:
        names = {each: str(file) for each, file in _by_language(path.parent, split).items()}
        for language, file in names.items():
            lines = enumerate(read_tab_separated(Path(file), 3), start=1)
            for at, (where, (first, second, label, *_)) in lines:
                of_language = rows.setdefault(language, {})
                _add(of_language, where, str(at), first, second, _xnli(label, where))
    _check_alike(names, rows, XNLI_LABELS)
    items = next(iter(rows.values()))
    return {language: [found[item][1] for item in items] for language, found in rows.items()}


def _xnli(label: str, where: str) -> int:
    return one_of(label, XNLI_LABELS, where, "label of XNLI")


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
    _check_alike({language: str(files[language]) for language in order}, rows, PAWSX_LABELS)
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


def _read_pawsx_file(path: Path) -> _Rows:
    rows: _Rows = {}
    for where, item, first, second, label in _pawsx_lines(path):
        truth = one_of(label, ("0", "1"), where, "label of a pair")
        _add(rows, where, item, first, second, truth)
    return rows


def _add(rows: _Rows, where: str, item: str, first: str, second: str, label: int) -> None:
    if item in rows:
        raise FileError(f"{where}: the id {item} stands twice")
    rows[item] = (where, LabelledPair(item, first, second, label))


def _pawsx_lines(path: Path) -> Iterator[tuple[str, str, str, str, str]]:
    """Give `file:line`, item, both sentences and label; without ids, an item is its line number."""
    if read_lines(path)[0].split("\t")[0] == "id":
        for where, row in read_headed(path, _PAWSX_HEAD):
            yield where, row["id"], row["sentence1"], row["sentence2"], row["label"]
        return
    for number, (where, columns) in enumerate(read_tab_separated(path, 3), start=1):
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


def _check_alike(
    names: Mapping[str, str], rows: Mapping[str, _Rows], labels: Sequence[str]
) -> None:
    """Check that each language has the items of the first, with its labels; names are of files."""
    first, expected = next(iter(rows.items()))
    for language, found in rows.items():
        counts = f"{names[first]} has {len(expected):,} pairs and {names[language]} {len(found):,}"
        for own, other, theirs in ((found, first, expected), (expected, language, found)):
            for item, (where, _) in own.items():
                if item not in theirs:
                    said = f"{where}: the id {item} is not in {names[other]}"
                    raise FileError(said, f"{counts}; {_ALIKE}")
        for item, (where, pair) in found.items():
            label = expected[item][1].label
            if _is_translated(pair) and pair.label != label:
                raise FileError(
                    f"{where}: {labels[pair.label]}, but in {names[first]} {labels[label]}", _ALIKE
                )
