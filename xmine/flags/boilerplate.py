"""Lines of a file, as their letters -> those that are boilerplate: variants of one line.

Footers, signatures and forms stand in a file again and again, with other numbers, dates and names.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xmine.text.folding import HAN
from xmine.text.hashing import first_equal, hashes_of

# A file has this many variants and repetitions of a line of boilerplate at least, and this share.
_FEWEST_VARIANTS = 30
_VARIANTS_SHARE = 0.002
_FEWEST_LETTERS = 4  # the 年月日 of dates are no line to have variants of
# Lines with half of their letters in common, at one end or at both, are variants with other names;
# there are this many at least and this share, since dates and titles of documents are alike, too.
_FEWEST_ALIKE = 100
_ALIKE_SHARE = 0.015
# Half of a shorter line is nothing but a phrase; six Chinese, Japanese or Korean characters say as
# much as sixteen letters.
_FEWEST_COMMON = 6
_FEWEST_COMMON_LETTERS = 16
_DENSE = re.compile(f"[{HAN}\u3041-\u30ff\uac00-\ud7a3]")
# Ends are compared at these lengths, so that lines of nearly the same length are.
_LENGTHS = [round(_FEWEST_COMMON * 1.2**step) for step in range(26)]
_NO_END = 0


def boilerplate(
    ends: NDArray[np.int64], groups: NDArray[np.int64], occurrences: NDArray[np.int64] | None
) -> NDArray[np.bool_]:
    """Mark lines that have many variants: the same letters, or the same ends.

    Args:
        ends: int64 [lines, 3], what `ends_of` makes of the letters of each line.
        groups: int64 [lines], what `variants` makes of them.
        occurrences: int64 [lines], how often each stands in the file; None if that is once.
    """
    sizes = np.bincount(groups, weights=occurrences)
    marked: NDArray[np.bool_] = sizes[groups] >= max(
        _FEWEST_VARIANTS, _VARIANTS_SHARE * sizes.sum()
    )
    fewest = max(_FEWEST_ALIKE, math.ceil(_ALIKE_SHARE * len(ends)))
    for column in ends.T:
        ranked = column[column != _NO_END]
        ranked.sort()
        last = ranked[fewest - 1 :]  # of so many in a row; the same as the first if all are equal
        often = np.unique(last[last == ranked[: len(last)]])
        marked |= np.isin(column, often)
    return marked


def variants(keys: NDArray[np.int64], letters: NDArray[np.int32]) -> NDArray[np.int64]:
    """Find for each line the first one with the same letters: int64 [lines], rows.

    Args:
        keys: int64 [lines], hashes of the letters of each line.
        letters: int32 [lines], how many they are; a line with few is its own.
    """
    groups = first_equal(keys)
    few = np.flatnonzero(letters < _FEWEST_LETTERS)
    groups[few] = few
    return groups


def ends_of(letters: Sequence[str]) -> NDArray[np.int64]:
    """Hash half of the letters of each line: from its start, from its end, and from both.

    A million lines take 24 MB so, and ten times as much as strings.

    Returns:
        int64 [lines, 3]
    """
    ends = np.full((len(letters), 3), _NO_END, dtype=np.int64)
    lengths = [_compared(line) for line in letters]
    parts: list[str] = []
    for line, length in zip(letters, lengths, strict=True):
        if length:
            half = length // 2
            parts += (line[:length], line[-length:] + "<", line[:half] + ">" + line[-half:])
    ends[np.array(lengths, dtype=np.int64) > 0] = hashes_of(parts).reshape(-1, 3)
    return ends


def _compared(line: str) -> int:
    """Tell how many letters of a line are compared with those of others, 0 if it is too short."""
    fewest = _FEWEST_COMMON if _DENSE.search(line) else _FEWEST_COMMON_LETTERS
    place = bisect_left(_LENGTHS, max(len(line) / 2, fewest))
    if place == len(_LENGTHS) or _LENGTHS[place] > len(line):
        return 0
    return _LENGTHS[place]
