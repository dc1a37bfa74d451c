"""Numbers -> lines of English words, and their translations word by word.

A line's draws are hashes of the seed and its number, so that any line can be made alone, in any
order, on any machine: nothing is rounded but by single additions, products and quotients of floats.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from wordlists import WordLists, word_lists

Draws = NDArray[np.float64]
Rows = NDArray[np.int64]
Bits = NDArray[np.uint64]
Strings = NDArray[np.object_]


# What lines are made of, found by a random search that compared cosines with those of newstest2019.
LENGTHS = (5, 12, 20, 32, 48, 80, 110)  # words of a line at the quantiles of `_LENGTHS_AT`
DOCUMENT = 12  # lines of a document, on average
TOPICS, MEMBERS = 128, 41  # how many topics there are, and the words of each; a document has two
KEPT = 8  # words that a document keeps using
OWN = (1.5, 4.6, 4.9, 6.0, 7.0)  # how many words of a line are such, at `_QUARTERS`
MOST = 0.8  # the largest share of a line that they make up
TOPICAL, NUMBERS = 0.17, 0.02  # the shares of words of the document's topics, and of numbers
WRONG = (0.06, 0.13, 0.23, 0.29, 0.4)  # the share of words that a translation gets wrong
ENGLISH = 0.68  # the share of these that are wrong on the English side
FLATNESS = 2.5  # added to a word's rank, whose reciprocal is its frequency
_LENGTHS_AT = (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1)
_QUARTERS = (0, 0.25, 0.5, 0.75, 1)
_TOPICS = 2  # of a document: words at even and at odd places

# What a draw is for; it is hashed with the draw's numbers.
_LENGTH, _WRONG_SHARE, _WORD, _DOCUMENT, _MISTAKE, _TOPIC, _KEPT, _OTHER, _ORDER = range(9)

# What is wrong with a word: nothing, or one of these.
_NO_ENGLISH, _OTHER_ENGLISH, _NO_CHINESE, _OTHER_CHINESE, _SECOND_BEST = range(1, 6)


class _Words(NamedTuple):
    """The words of some lines, one after the other: arrays [words], and `starts` [lines + 1]."""

    rows: Rows
    others: Rows  # words that stand in place of wrong ones
    mistakes: Rows
    commas: NDArray[np.bool_]
    starts: Rows


class Corpus:
    """Pairs of lines by number, from 0; the same number gives the same pair whoever asks."""

    def __init__(self, size: int, seed: int) -> None:
        """Take the lists of words; `size` is how many numbers share the documents."""
        self.seed, self.documents = seed, max(1, round(size / DOCUMENT))
        self.lists = _lists(TOPICS, MEMBERS)
        self.cumulated = np.cumsum(1 / (np.arange(self.lists.words) + FLATNESS))

    def english(self, numbers: Rows) -> list[str]:
        """Write the English lines of int64 numbers."""
        words = self._words(numbers)
        rows = np.where(words.mistakes == _OTHER_ENGLISH, words.others, words.rows)
        table = _and_with(self.lists.english, ",")
        rows += words.commas * len(self.lists.english)
        lines = map(" ".join, _texts(table, rows, words.mistakes != _NO_ENGLISH, words.starts))
        return [f"{line[0].upper()}{line[1:].rstrip(',')}." for line in lines]

    def chinese(self, numbers: Rows) -> list[str]:
        """Write the Chinese lines of int64 numbers, the translations of the English ones."""
        words = self._words(numbers)
        rows = np.where(words.mistakes == _OTHER_CHINESE, words.others, words.rows)
        table = np.concatenate(
            [_and_with(self.lists.chinese, "，"), _and_with(self.lists.others, "，")]
        )
        rows += (words.commas + 2 * (words.mistakes == _SECOND_BEST)) * len(self.lists.chinese)
        lines = _texts(table, rows, words.mistakes != _NO_CHINESE, words.starts)
        return ["".join(line).rstrip("，") + "。" for line in lines]

    def shuffled(self, size: int, stream: int) -> Rows:
        """Put the numbers below `size` in an order of the seed's, another one for each stream."""
        hashes = _hashed(self.seed, _ORDER, stream, np.arange(size))
        return np.argsort(hashes, kind="stable")

    def _words(self, numbers: Rows) -> _Words:
        """Draw the words of lines, and the mistakes of their translations."""
        length, own = _two(_hashed(self.seed, _LENGTH, numbers))
        sizes = _between(length, _LENGTHS_AT, LENGTHS).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        lines = np.repeat(numbers, sizes)
        places = np.arange(len(lines)) - np.repeat(starts[:-1], sizes)
        kind, which = _two(_hashed(self.seed, _WORD, lines, places))
        own = np.minimum(_between(own, _QUARTERS, OWN) / sizes, MOST)
        is_own = kind < np.repeat(own, sizes)
        is_topical = kind < np.repeat(own + TOPICAL, sizes)
        is_number = (kind > 1 - 3 * NUMBERS) & (places % 3 == 1)  # never side by side
        rows = np.where(is_topical, self._of_topic(numbers, sizes, places, is_own, which), 0)
        rows = np.where(is_topical, rows, self._frequent(which))
        amounts = len(self.lists.english) - self.lists.words
        rows = np.where(
            is_number, self.lists.words + (which * which * amounts).astype(np.int64), rows
        )
        share, _ = _two(_hashed(self.seed, _WRONG_SHARE, numbers))
        chance, sort = _two(_hashed(self.seed, _MISTAKE, lines, places))
        is_wrong = chance < np.repeat(_between(share, _QUARTERS, WRONG), sizes)
        is_wrong &= ~is_number & (places > 0)  # so that no line is empty
        others = self._frequent(_two(_hashed(self.seed, _OTHER, lines, places))[0])
        commas = sort * 997 % 1 < 1 / 12
        return _Words(rows, others, np.where(is_wrong, self._mistake(sort), 0), commas, starts)

    def _of_topic(
        self, numbers: Rows, sizes: Rows, places: Rows, is_own: NDArray[np.bool_], which: Draws
    ) -> Rows:
        """Draw words of the documents' topics, the nearer ones oftener, or words they keep."""
        spots = _hashed(self.seed, _DOCUMENT, numbers) % np.uint64(self.documents)
        documents, topic = np.repeat(spots, sizes), places % _TOPICS
        topics = _hashed(self.seed, _TOPIC, documents, topic) % np.uint64(TOPICS)
        kept = (which * KEPT).astype(np.int64) // _TOPICS * _TOPICS + topic
        draws = np.where(is_own, _two(_hashed(self.seed, _KEPT, documents, kept))[0], which)
        members = (draws * draws * MEMBERS).astype(np.int64)
        rows: Rows = self.lists.topics[topics.astype(np.int64), members]
        return rows

    def _mistake(self, draws: Draws) -> Rows:
        """Choose what is wrong, one of two things in English or one of three in Chinese."""
        english = ENGLISH
        ours = _NO_ENGLISH + (draws / english * 2).astype(np.int64)
        theirs = _NO_CHINESE + ((draws - english) / (1 - english) * 3).astype(np.int64)
        return np.where(draws < english, ours, theirs)

    def _frequent(self, draws: Draws) -> Rows:
        """Draw words by their frequency."""
        rows: Rows = np.searchsorted(self.cumulated, draws * self.cumulated[-1])
        return rows


@cache
def _lists(topics: int, members: int) -> WordLists:
    return word_lists(topics, members)


def _and_with(words: Sequence[str], mark: str) -> Strings:
    """Put words with a mark behind the words without."""
    return np.array([*words, *(word + mark for word in words)], dtype=object)


def _texts(
    table: Strings, rows: Rows, stays: NDArray[np.bool_], starts: Rows
) -> Iterator[list[str]]:
    """Look up the words of each line that stay."""
    texts = table[rows[stays]].tolist()
    bounds = np.concatenate([[0], np.cumsum(stays)])[starts].tolist()
    return (texts[start:end] for start, end in pairwise(bounds))


def _between(draws: Draws, at: Sequence[float], values: Sequence[float]) -> Draws:
    """Interpolate; `np.interp` may fuse its operations on some machines and round otherwise."""
    places, heights = np.array(at, dtype=np.float64), np.array(values, dtype=np.float64)
    low = np.searchsorted(places, draws, side="right") - 1
    steps = (draws - places[low]) / (places[low + 1] - places[low])
    between: Draws = heights[low] + steps * (heights[low + 1] - heights[low])
    return between


def _hashed(*keys: int | Rows | Bits) -> Bits:
    """Mix numbers into 64 bits that look random: the steps of splitmix64, one for each number."""
    mixed = np.zeros(1, dtype=np.uint64)
    for key in keys:
        number = np.atleast_1d(key).astype(np.uint64) + np.uint64(1)
        mixed = mixed + number * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed = mixed ^ (mixed >> np.uint64(31))
    return mixed


def _two(bits: Bits) -> tuple[Draws, Draws]:
    """Make two numbers of 64 bits, from 0 and below 1."""
    high, low = bits >> np.uint64(32), bits & np.uint64(0xFFFFFFFF)
    return high.astype(np.float64) / 2**32, low.astype(np.float64) / 2**32
