"""Files of BUCC 2018 -> sentences with ids, and gold pairs; its own layout and that of XTREME.

BUCC: `zh-en/zh-en.{sample,training,test}.{zh,en,gold}`. XTREME: `zh-en.{dev,test}.*` in one folder,
where `dev` is BUCC's sample and `test` is BUCC's training part, its gold withheld.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xmine.encoders.metadata import EncoderFacts
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData, incomplete, read_tab_separated
from xmine.evaluation.languages import chosen_languages

NO_FACTS = EncoderFacts()
SPLITS = ("sample", "training", "test")
_GOLD = re.compile(r"([a-z]+-[a-z]+)\.(sample|dev|training|test)\.gold")
_OTHER = "pseudo-bucc"  # a folder of the same format, for bench/embedded.py: never read as BUCC
_WHAT = "BUCC 2018's zh-en/zh-en.{sample,training,test}.{zh,en,gold}, or zh-en.dev.* of XTREME"


@dataclass(frozen=True, slots=True)
class BuccSplit:
    """One split of one language pair."""

    name: str  # as its files are named, such as zh-en.sample
    # `(id, text)` of every line, source and target
    sides: tuple[list[tuple[str, str]], list[tuple[str, str]]]
    gold: frozenset[tuple[str, str]]  # the true pairs of ids


@dataclass(frozen=True, slots=True)
class BuccFolder:
    """Where the files are, and the language pairs to measure."""

    path: Path
    pairs: Sequence[str]
    there: Sequence[str]  # all that there are

    def has(self, split: str) -> bool:
        """Tell whether a split has gold pairs in all language pairs."""
        return all(self._stem(pair, split) for pair in self.pairs)

    def need(self, split: str, wish: str) -> None:
        """Check that a split has gold pairs in all language pairs."""
        lacking = [f"{pair}.{split}.gold" for pair in self.pairs if not self._stem(pair, split)]
        if lacking:
            raise FileError(
                f"{self.path}: {wish} needs gold pairs of {split}: {', '.join(lacking)} missing",
                "choose another --protocol or --threshold-from, or one pair with --pair",
            )

    def read(self, pair: str, split: str) -> BuccSplit:
        """Read a split that is there."""
        stem = self._stem(pair, split)
        if stem is None:
            raise FileError(f"{self.path}: no {pair}.{split}.gold")
        names = [f"{stem.name}.{end}" for end in (*pair.split("-"), "gold")]
        incomplete(stem.parent, names, stem.name)
        source, target, gold = (stem.parent / name for name in names)
        sides = read_sentences_by_id(source), read_sentences_by_id(target)
        return BuccSplit(stem.name, sides, read_gold(gold, sides))

    def _stem(self, pair: str, split: str) -> Path | None:
        """Find a split by its gold file: the path without the language."""
        for place in (self.path / pair, self.path):
            golds = {path.name.split(".")[-2] for path in place.glob(f"{pair}.*.gold")}
            # XTREME has no `training`: where there is `dev` and not that, `test` is BUCC's training
            renamed = "dev" in golds and "training" not in golds
            names = {
                "sample": ("sample", "dev"),
                "training": ("test" if renamed else "training",),
                "test": () if renamed else ("test",),
            }
            for name in names[split]:
                if name in golds:
                    return place / f"{pair}.{name}"
        return None


def find_bucc(
    data: DataFolder, wanted: Sequence[str] = (), facts: EncoderFacts = NO_FACTS
) -> BuccFolder:
    """Find the folder of BUCC and its language pairs: wanted ones, or those of an encoder."""
    places = dict.fromkeys(("*-*.*.gold", "*-*/*-*.*.gold"), ("bucc2018",))
    folder, _ = data.holding_first(places, _WHAT)
    golds = [path for pattern in places for path in folder.glob(pattern)]
    golds = [path for path in golds if path.resolve().parent.name != _OTHER]
    found = sorted({match[1] for path in golds if (match := _GOLD.fullmatch(path.name))})
    if not found:
        raise MissingData(f"{folder}: no gold file; expected {_WHAT}", expected=_WHAT)
    pairs = chosen_languages(wanted, found, facts, f"{folder}: no gold file of {{}}")
    return BuccFolder(folder, pairs, found)


def read_sentences_by_id(path: Path) -> list[tuple[str, str]]:
    """Read `id<TAB>text` lines."""
    texts: dict[str, str] = {}
    for where, (name, *rest) in read_tab_separated(path, 2):
        if name in texts:
            line = 1 + list(texts).index(name)
            raise FileError(f"{where}: the id {name} is that of line {line} too")
        texts[name] = "\t".join(rest)
    return list(texts.items())


def read_gold(path: Path, sides: Sequence[Sequence[tuple[str, str]]]) -> frozenset[tuple[str, str]]:
    """Read `id<TAB>id` lines, source first."""
    known = [{name for name, _ in side} for side in sides]
    pairs: dict[tuple[str, str], None] = {}
    for where, (source, *rest) in read_tab_separated(path, 2):
        pair = source, "\t".join(rest)
        for name, ids, side in zip(pair, known, ("source", "target"), strict=True):
            if name not in ids:
                raise FileError(
                    f"{where}: no {side} sentence has the id {name!r}",
                    "the first column holds ids of the first language",
                )
        if pair in pairs:
            raise FileError(f"{where}: the pair of line {1 + list(pairs).index(pair)} again")
        pairs[pair] = None
    return frozenset(pairs)
