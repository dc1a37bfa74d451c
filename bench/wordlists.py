"""The pieces of the embedded encoder -> an English word list with Chinese translations and topics.

A word's translation is the Chinese piece whose vector is nearest. Products of int8 vectors are
whole numbers below 2^24, so that BLAS adds them without rounding and the list is the same on any
machine.
"""

import json
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import EMBEDDED
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.tokenizer import Vocabulary

_ENGLISH = re.compile("▁[a-z]+")
_CHINESE = re.compile("[\u4e00-\u9fff]{1,4}")
_MOST = (
    6000,
    10_000,
)  # pieces of each language, the frequent ones; more would take longer to compare
_FREQUENT = 150  # words such as "the", which stay though no piece translates them well
_LOWEST_COSINE = 0.6  # of a translation; below are names, and beginnings of words
_NUMBERS = 3000
_ROWS_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class WordLists:
    """Words by falling frequency, with the numbers from 0 behind them."""

    english: list[str]  # words and numbers
    chinese: list[str]  # the translation of each
    others: list[str]  # the second best translation of each
    words: int  # how many are words
    # int64 [topics, members], a word and those nearest to it, nearest first
    topics: NDArray[np.int64]


def word_lists(topics: int, members: int) -> WordLists:
    """Read the encoder that ships and make the lists.

    Args:
        topics: how many.
        members: words of each.
    """
    body = StaticEmbedding.load(EMBEDDED)
    assert isinstance(body.pieces, Vocabulary)
    pieces = [piece for piece, _ in json.loads(body.pieces.tokenizer)["model"]["vocab"]]
    english, chinese = (
        np.array([row for row, piece in enumerate(pieces) if pattern.fullmatch(piece)][:most])
        for pattern, most in zip((_ENGLISH, _CHINESE), _MOST, strict=True)
    )
    rows = body.table.rows.astype(np.float32)
    nearest, cosines = _nearest(rows[english], rows[chinese], 2)
    usable = (np.arange(len(english)) < _FREQUENT) | (cosines[:, 0] >= _LOWEST_COSINE)
    english, nearest = english[usable], nearest[usable]
    # Seeds stand at even distances in the list, behind the frequent words.
    seeds = _FREQUENT + np.arange(topics) * (len(english) - _FREQUENT) // topics
    near, _ = _nearest(rows[english[seeds]], rows[english[_FREQUENT:]], members)
    numbers = [str(number) for number in range(_NUMBERS)]
    first, second = ([pieces[row] for row in chinese[nearest[:, rank]]] for rank in (0, 1))
    return WordLists(
        [pieces[row][1:] for row in english] + numbers,
        first + numbers,
        second + numbers,
        len(english),
        near + _FREQUENT,
    )


def _nearest(
    left: NDArray[np.float32], right: NDArray[np.float32], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Find the k rows of `right` nearest to each of `left`: rows and cosines [left, k]."""
    lengths = [
        np.sqrt((side.astype(np.int64) ** 2).sum(axis=1)).astype(np.float32)
        for side in (left, right)
    ]
    rows = np.empty((len(left), k), dtype=np.int64)
    values = np.empty((len(left), k), dtype=np.float32)
    for start in range(0, len(left), _ROWS_AT_ONCE):
        block = slice(start, start + _ROWS_AT_ONCE)
        cosines = left[block] @ right.T
        cosines /= lengths[1]
        cosines /= lengths[0][block, None]
        at = np.arange(len(cosines))
        for rank in range(k):
            rows[block, rank] = best = cosines.argmax(axis=1)
            values[block, rank] = cosines[at, best]
            cosines[at, best] = -np.inf
    return rows, values
