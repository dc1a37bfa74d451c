"""Folded texts -> the letter n-grams inside their words, found with arrays."""

import unicodedata
from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.tokenizer import Ids

EDGE = " "  # of a word
_SLOTS = 18  # bits of the number of slots: for 10,000 n-grams 4 % of them are taken
_ODD = np.uint64(0x9E3779B97F4A7C15)  # multiplicative hashing (Knuth, 6.4)


class LetterGrams:
    """Some n-grams of letters, by number; a space in one is the edge of a word."""

    def __init__(self, grams: Sequence[str]) -> None:
        """Take different n-grams, in lower case."""
        self._letters = letter_numbers("".join(grams))
        self._base = int(self._letters.max()) + 1
        self._sizes = sorted({len(gram) for gram in grams})
        numbers = ([len(gram), *(int(self._letters[ord(x)]) for x in gram)] for gram in grams)
        keys = [reduce(lambda key, number: key * self._base + number, row) for row in numbers]
        self._keys = np.array(keys, np.int64)
        self._slots = np.full(1 << _SLOTS, -1, np.int32)
        left = np.arange(len(grams))
        slots = _hashed(self._keys)
        while len(left):  # a slot that is taken passes an n-gram on to the next slot
            free = self._slots[slots] < 0
            self._slots[slots[free][::-1]] = left[free][::-1]  # of several the first
            lost = self._slots[slots] != left
            left, slots = left[lost], (slots[lost] + 1) % len(self._slots)

    def find(self, folded: Sequence[str]) -> Ids:
        """Find the n-grams of texts: their numbers in the order of the texts; see `Ids`."""
        ends = np.cumsum([0, *(len(text) + 1 for text in folded)])
        together = EDGE + EDGE.join([*folded, ""])
        codes = np.frombuffer(together.encode("utf-32-le", "surrogatepass"), np.uint32)
        letters = self._letters[codes]
        found = np.full((len(letters), len(self._sizes)), -1, np.int32)
        key = np.zeros(len(letters), np.int64)
        for size in range(1, self._sizes[-1] + 1 if self._sizes else 0):
            key = key[: len(letters) - size + 1] * self._base + letters[size - 1 :]
            if size in self._sizes:
                place = found[: len(key), self._sizes.index(size)]
                place[:] = self._numbers(key + size * self._base**size)
        counts = np.concatenate([[0], np.cumsum((found >= 0).sum(axis=1))])
        # A text begins at the edge before it, and no n-gram goes on behind the next edge.
        return found[found >= 0], counts[ends]

    def _numbers(self, keys: NDArray[np.int64]) -> NDArray[np.int32]:
        """Look up keys: the numbers of their n-grams, -1 for others."""
        slots = _hashed(keys)
        numbers = self._slots[slots]
        other = np.flatnonzero((numbers >= 0) & (self._keys[numbers] != keys))
        while len(other):
            slots[other] = (slots[other] + 1) % len(self._slots)
            numbers[other] = self._slots[slots[other]]
            other = other[(numbers[other] >= 0) & (self._keys[numbers[other]] != keys[other])]
        return numbers


def frequent_grams(folded: Sequence[str], sizes: range, least: int, most: int) -> list[str]:
    """List the n-grams of letters and their marks that folded texts have most often.

    At most `most`, each seen `least` times or more; none goes beyond a word and its edges.
    """
    together = EDGE + EDGE.join([*folded, ""])
    own = {each.lower() for each in {*together} if unicodedata.category(each)[0] in "LM"}
    letters = "".join(sorted(each for each in own if len(each) == 1))
    codes = np.frombuffer(together.encode("utf-32-le", "surrogatepass"), np.uint32)
    numbers, found = letter_numbers(letters)[codes], list[tuple[int, str]]()
    for size in sizes:
        parts = [numbers[at : len(numbers) - size + 1 + at] for at in range(size)]
        inside = np.logical_and.reduce(parts[1:-1]) if size > 2 else (parts[0] + parts[1] > 0)
        keys, counts = np.unique(np.stack(parts, 1)[inside], axis=0, return_counts=True)
        kept = np.flatnonzero(counts >= least)
        for key, count in zip(keys[kept].tolist(), counts[kept].tolist(), strict=True):
            found.append((-count, "".join((EDGE + letters)[number] for number in key)))
    return [gram for _, gram in sorted(found)[:most]]


def letter_numbers(letters: str) -> NDArray[np.int64]:
    """Number letters by code point, int64 [code points]; capitals as the small ones, others 0."""
    numbers = np.zeros(0x110000, np.int64)
    for number, letter in enumerate(sorted({*letters} - {EDGE}), 1):
        numbers[ord(letter)] = number
        capital = letter.upper()
        if len(capital) == 1 and capital.lower() == letter:
            numbers[ord(capital)] = number
    return numbers


def _hashed(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    hashed = keys.astype(np.uint64) * _ODD >> np.uint64(64 - _SLOTS)
    return hashed.astype(np.int64)
