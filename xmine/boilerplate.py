"""Lines of a file, as their letters -> those that are boilerplate: variants of one line.

Footers, signatures and forms stand in a file again and again, with other numbers, dates and names.
"""

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# A file has this many variants and repetitions of a line of boilerplate at least, and this share.
_FEWEST_VARIANTS = 30
_VARIANTS_SHARE = 0.002
_FEWEST_LETTERS = 4  # the 年月日 of dates are no line to have variants of
# Lines with half of their letters in common, at one end or at both, are variants with other names;
# there are this many at least and this share, since dates and titles of documents are alike, too.
_FEWEST_ALIKE = 100
_ALIKE_SHARE = 0.015
# Half of a shorter line is nothing but a phrase.
_FEWEST_COMMON = 6
_FEWEST_COMMON_ASCII = 16
# Ends are compared at these lengths, so that lines of nearly the same length are.
_LENGTHS = [round(_FEWEST_COMMON * 1.2**step) for step in range(26)]
_NO_END = 0


def boilerplate(
    letters: Sequence[str], groups: NDArray[np.int64], occurrences: NDArray[np.int64] | None
) -> NDArray[np.bool_]:
    """Mark lines that have many variants: the same letters, or the same ends.

    Args:
        letters: what `xmine.copies.letters_of` makes of each line.
        groups: int64 [lines], what `variants` makes of them.
        occurrences: int64 [lines], how often each stands in the file; None if that is once.
    """
    sizes = np.bincount(groups, weights=occurrences)
    marked: NDArray[np.bool_] = sizes[groups] >= max(
        _FEWEST_VARIANTS, _VARIANTS_SHARE * sizes.sum()
    )
    ends = np.array([_ends(line) for line in letters], dtype=np.int64).reshape(-1, 3)
    _, places, counts = np.unique(ends, return_inverse=True, return_counts=True)
    alike = counts[places].reshape(ends.shape) >= max(_FEWEST_ALIKE, _ALIKE_SHARE * len(letters))
    marked |= (alike & (ends != _NO_END)).any(axis=1)
    return marked


def variants(letters: Sequence[str]) -> NDArray[np.int64]:
    """Number lines so that those with the same letters have the same number, from 0.

    Args:
        letters: what `xmine.copies.letters_of` makes of each; a line with few is its own.
    """
    numbers: dict[str | int, int] = {}
    groups = [
        numbers.setdefault(key if len(key) >= _FEWEST_LETTERS else row, len(numbers))
        for row, key in enumerate(letters)
    ]
    return np.array(groups, dtype=np.int64)


def _ends(line: str) -> tuple[int, int, int]:
    """Hash half of the letters of a line: from its start, from its end, and from both.

    A million lines take 24 MB so, and ten times as much as strings.
    """
    fewest = _FEWEST_COMMON_ASCII if line.isascii() else _FEWEST_COMMON
    place = bisect_left(_LENGTHS, max(len(line) / 2, fewest))
    if place == len(_LENGTHS) or (length := _LENGTHS[place]) > len(line):
        return _NO_END, _NO_END, _NO_END
    half = length // 2
    return hash(line[:length]), hash(line[-length:] + "<"), hash(line[:half] + ">" + line[-half:])
