"""XNLI and PAWS-X: labelled pairs of sentences, the same pairs in several languages.

XNLI (Conneau et al., 2018): one file of all languages with a head, `xnli.dev.tsv`, or as XTREME
(Hu et al., 2020) lays it out, a file without a head for each language, `dev-en.tsv`. PAWS-X (Yang
et al., 2019): both sentences share nearly all their words, so overlap tells nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, one_of, read_headed, read_tab_separated
from xmine.files.reading import read_lines

XNLI_LABELS = ("entailment", "neutral", "contradiction")
PAWSX_LABELS = ("different", "paraphrase")  # written 0 and 1
_XNLI_HEAD = ("language", "gold_label", "sentence1", "sentence2", "pairID")
_PAWSX_HEAD = ("id", "sentence1", "sentence2", "label")
_PAWSX_FILES = {"train": "train.tsv", "dev": "dev_2k.tsv", "test": "test_2k.tsv"}
_ALIKE = "a pair has to have the same id, or line, and label in every language"


class LabelledPair(NamedTuple):
    """Two sentences of one language and their class; a pair and its translations share an item."""

    item: str
    texts: tuple[str, str]  # of XNLI the premise and the hypothesis
    label: int  # place in the labels of the data set

    @property
    def is_translated(self) -> bool:
        """Whether there are two: `NS` stands where a translator could make nothing of one."""
        return all(text.strip() not in ("", "NS") for text in self.texts)


ByLanguage = Mapping[str, Sequence[LabelledPair]]
_Rows = dict[str, tuple[str, LabelledPair]]  # item -> `file:line`, and the pair


def read_xnli(data: DataFolder, split: str) -> dict[str, list[LabelledPair]]:
    """Read a split, `dev` or `test`: language -> its pairs, in the same order in all languages."""
    name, plain = f"xnli.{split}.tsv", f"{split}-*.tsv"
    what = f"XNLI, {name} with all languages or {split}-en.tsv and so on"
    places = {name: ("xnli", "XNLI-1.0", "xnli/XNLI-1.0"), plain: ("xnli",)}
    folder, pattern = data.holding_first(places, what)
    lines: dict[str, list[tuple[str, str, str, str, str]]] = {}
    if pattern == name:
        for where, row in read_headed(folder / name, _XNLI_HEAD):
            language, label, first, second, item = (row[each] for each in _XNLI_HEAD)
            lines.setdefault(language, []).append((where, item, first, second, label))
        if not lines:
            raise FileError(f"{folder / name}: has a head and no lines")
    else:
        for language, path in _by_language(folder, split).items():
            found = enumerate(read_tab_separated(path, 3), start=1)
            lines[language] = [(where, str(at), *columns[:3]) for at, (where, columns) in found]  # type: ignore[misc]
    rows = {
        language: _gathered(of_language, XNLI_LABELS, "label of XNLI")
        for language, of_language in lines.items()
    }
    names = {each: f"{folder / pattern.replace('*', each)}, {each}" for each in rows}
    _check_alike(names, rows, XNLI_LABELS)
    items = next(iter(rows.values()))
    return {language: [found[item][1] for item in items] for language, found in rows.items()}


def read_pawsx(data: DataFolder, split: str) -> dict[str, list[LabelledPair]]:
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
    rows = {
        language: _gathered(_pawsx_lines(files[language]), ("0", "1"), "label of a pair")
        for language in order
    }
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


def _gathered(
    lines: Iterable[tuple[str, str, str, str, str]], labels: Sequence[str], what: str
) -> _Rows:
    """Gather `file:line`, item, both sentences and label."""
    rows: _Rows = {}
    for where, item, first, second, label in lines:
        if item in rows:
            raise FileError(f"{where}: the id {item} stands twice")
        pair = LabelledPair(item, (first, second), one_of(label, labels, where, what))
        rows[item] = (where, pair)
    return rows


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
