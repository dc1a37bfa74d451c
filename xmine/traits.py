"""Lines of a side -> what makes pairs of them suspicious, as a few numbers for each line.

A line takes about 30 bytes, 80 while the table is made.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.boilerplate import boilerplate, ends_of, variants
from xmine.copies import beyond_latin, letters_of
from xmine.hashing import hashes_of
from xmine.scripts import foreign_lines
from xmine.sentences import Sentences, folded

Bools = NDArray[np.bool_]

_LINES_AT_ONCE = 4_096


@dataclass(frozen=True, slots=True)
class Traits:
    """What is to be known of each line of a side.

    Attributes:
        keys: int64 [lines], a hash of its letters, see `xmine.copies.letters_of`, or of the folded
            text if it has none.
        letters: int32 [lines], how many letters it has.
        beyond_latin: bool [lines], whether some of them are of another script than Latin.
        characters, ascii: int32 [lines], its length, and how many characters of it are ASCII.
        foreign: bool [lines], whether it is in another language than its side.
        groups: int64 [lines], the first line with the same letters, see
            `xmine.boilerplate.variants`.
        boilerplate: bool [lines], whether it is.
    """

    keys: NDArray[np.int64]
    letters: NDArray[np.int32]
    beyond_latin: Bools
    characters: NDArray[np.int32]
    ascii: NDArray[np.int32]
    foreign: Bools
    groups: NDArray[np.int64]
    boilerplate: Bools


def traits_of(side: Sentences, language: str, seen: Callable[[int], None]) -> Traits:
    """Look at every line of a side.

    Args:
        side: its lines.
        language: of them, a code or `und`.
        seen: told now and then how many more lines were looked at.
    """
    is_foreign = foreign_lines(language, side.texts)
    size = len(side)
    keys, ends = np.empty(size, dtype=np.int64), np.empty((size, 3), dtype=np.int64)
    letters, characters, ascii_ = (np.empty(size, dtype=np.int32) for _ in range(3))
    beyond, foreign = np.empty(size, dtype=bool), np.empty(size, dtype=bool)
    for rows, texts, spelt in _by_chunks(side.texts):
        keys[rows] = _keys(texts, spelt)
        ends[rows] = ends_of(spelt)
        letters[rows] = list(map(len, spelt))
        characters[rows] = list(map(len, texts))
        ascii_[rows] = [len(text.encode("ascii", "ignore")) for text in texts]
        beyond[rows] = list(map(beyond_latin, spelt))
        foreign[rows] = list(map(is_foreign, texts, spelt))
        seen(len(texts))
    groups = variants(keys, letters)
    marked = boilerplate(ends, groups, side.occurrences)
    return Traits(keys, letters, beyond, characters, ascii_, foreign, groups, marked)


def groups_of(texts: Sequence[str]) -> NDArray[np.int64]:
    """Find the `groups` of `Traits`, and nothing else."""
    keys = np.empty(len(texts), dtype=np.int64)
    letters = np.empty(len(texts), dtype=np.int32)
    for rows, some, spelt in _by_chunks(texts):
        keys[rows], letters[rows] = _keys(some, spelt), list(map(len, spelt))
    return variants(keys, letters)


def _by_chunks(texts: Sequence[str]) -> Iterator[tuple[slice, Sequence[str], list[str]]]:
    """Give some thousand lines at a time: their rows, their texts, their letters."""
    for start in range(0, len(texts), _LINES_AT_ONCE):
        rows = slice(start, start + _LINES_AT_ONCE)
        some = texts[rows]
        yield rows, some, list(map(letters_of, some))


def _keys(texts: Sequence[str], letters: list[str]) -> NDArray[np.int64]:
    pairs = zip(texts, letters, strict=True)
    return hashes_of(spelt or folded(text) for text, spelt in pairs)
