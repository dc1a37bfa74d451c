"""Several files of pairs -> the two languages of each, and which row is in which."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.errors import FileError
from xmine.files.suffixes import kind_of, packing_of
from xmine.pairs.pair import Languages
from xmine.text.languages import is_code, same_language

_CODE = r"[a-z]{2,3}(?:[-_](?:[A-Z]{2}|[A-Z][a-z]{3}))?"
# Two codes with a hyphen between, as words of their own; found where they overlap, too.
_NAMED = re.compile(rf"(?<![^\W_])(?=({_CODE})-({_CODE})(?![^\W_]))")
_NAMING = "name the file after its languages, the first column's first, as in {}"


@dataclass(frozen=True, slots=True, eq=False)
class LanguagePairs:
    """Which two languages each row is in.

    Attributes:
        codes: the source and the target language of each pair of languages, none twice.
        of_rows: int64 [rows], places among `codes`; a number past the last is of no pair.
    """

    codes: tuple[Languages, ...]
    of_rows: NDArray[np.int64]

    @property
    def names(self) -> tuple[str, ...]:
        """Name the pairs of languages, as in en-de."""
        return tuple(map("-".join, self.codes))

    @property
    def languages(self) -> tuple[str, ...]:
        """List the languages, each once, those of the first pair first."""
        return tuple(dict.fromkeys(code for pair in self.codes for code in pair))

    def rows(self) -> list[NDArray[np.intp]]:
        """Give the rows of each pair of languages, rising."""
        return [np.flatnonzero(self.of_rows == place) for place in range(len(self.codes))]

    def take(self, rows: NDArray[np.integer[Any]]) -> "LanguagePairs":
        """Keep some rows, in the order of `rows`."""
        return LanguagePairs(self.codes, self.of_rows[rows])


def named_languages(path: str) -> Languages | None:
    """Read two codes out of a file's name: en and de of `news.en-de.tsv.gz`.

    None where there are none, or more than two as in `my-en-de.tsv`.
    """
    name = Path(path[: len(path) - len(packing_of(path))]).name
    stem = Path(name).stem if kind_of(path) else name
    found = [pair for pair in _NAMED.findall(stem) if all(map(is_code, pair))]
    return found[0] if len(found) == 1 else None


def settle_languages(
    files: Sequence[str], said: Sequence[Languages | None]
) -> list[tuple[Languages, bool]]:
    """Settle the languages of several files, and which are read with their sides swapped.

    A language that all files have is on the side where the first file has it.

    Args:
        files: their names.
        said: the languages that the files themselves say, source first.

    Returns:
        For each file its languages as they will be read, and whether its sides are swapped.

    Raises:
        FileError: a file has no languages, or not those that its name says, or one language
            twice; or two files have the same two.
    """
    told = list(map(_told, files, said))
    every = sorted({code for pair in told for code in pair}, key=lambda code: (len(code), code))
    pairs = [(_shortest(one, every), _shortest(other, every)) for one, other in told]
    for at, (file, pair) in enumerate(zip(files, pairs, strict=True)):
        if pair[0] == pair[1]:
            raise FileError(f"{file}: both sides are in {pair[0]}", _NAMING.format("a.en-de.tsv"))
        for earlier, other in zip(files[:at], pairs, strict=False):
            if set(pair) == set(other):
                raise FileError(
                    f"{earlier} and {file}: both are in {other[0]} and {other[1]}",
                    "put them into one file",
                )
    shared = set(pairs[0]).intersection(*pairs[1:])
    turned = [pairs[0].index(code) != pair.index(code) for pair in pairs for code in shared]
    if len(shared) != 1:
        turned = [False] * len(pairs)
    return [
        ((pair[1], pair[0]) if turn else pair, turn)
        for pair, turn in zip(pairs, turned, strict=True)
    ]


def _told(file: str, said: Languages | None) -> Languages:
    named = named_languages(file)
    if not named and not said:
        raise FileError(
            f"{file}: no languages: neither its name nor the file says them",
            _NAMING.format(f"train.en-de{Path(file).suffix or '.tsv'}"),
        )
    if named and said:
        if any(all(map(same_language, named, codes)) for codes in (said, said[::-1])):
            return said
        raise FileError(
            f"{file}: its languages are {said[0]} and {said[1]}, not {named[0]} and {named[1]} as "
            "its name says",
            _NAMING.format(f"train.{said[0]}-{said[1]}{Path(file).suffix}"),
        )
    languages = named or said
    assert languages
    return languages


def _shortest(code: str, every: Sequence[str]) -> str:
    """Give the shortest code that may be the same language: en for en-US, where both are there."""
    return next(each for each in every if same_language(each, code))
