"""Probable pairs of sentences, and the document of each -> pairs of documents, and a figure.

A document is the translation of the one that most of its probable pairs lead to: bilingual document
alignment by the sentences of both (Buck & Koehn, 2016, "Findings of the WMT 2016 bilingual document
alignment shared task").
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import lgamma, log
from typing import NamedTuple

import numpy as np

from xmine.scoring.probability import Floats, sigmoid
from xmine.scoring.rescoring import Rows, best_other

# The log-odds of a pair of documents for `Overlap.figures`, which
# `python bench/documents.py EVAL --fit` learns.
WEIGHTS = (-0.295, 0.174, 1.429)
LEAST_SHARE, _SMALL = 1e-3, 1e-2
_ELSEWHERE = 0.2  # share of the sentences of a document whose translations lie in others
_DOUBTED = 0.02  # below this probability documents are no pair
# The share of sentences that mining finds translated in documents that are a pair, and in others:
# beta distributions, of means .89 and .01. The odds of documents whose names agree.
_TRANSLATED, _CHANCE, _NAMED = (1.0, 0.12), (0.02, 2.0), 9.0
MOST_ADDED = 6.0  # log-odds that other pairs add: pairs of one encoder are not independent


class Document(NamedTuple):
    """A pair of documents: their numbers, the pairs of sentences in them, and its probability."""

    source: int
    target: int
    sentences: float
    prob: float


@dataclass(frozen=True, slots=True)
class Overlap:
    """How many pairs of sentences each pair of documents is expected to share.

    Attributes:
        keys: int64 [pairs of documents], rising: source times `width` plus target.
        sums: float64 [pairs of documents], the expected number of translations.
        of_source, of_target: float64 [documents], the expected number in each document.
        width: the number of target documents.
    """

    keys: Rows
    sums: Floats
    of_source: Floats
    of_target: Floats
    width: int

    @classmethod
    def of(cls, documents: tuple[Rows, Rows], counts: tuple[int, int], probs: Floats) -> "Overlap":
        """Add up the probabilities of pairs of sentences, whose documents are given."""
        x, y = documents
        keys, places = np.unique(x * counts[1] + y, return_inverse=True)
        sums: Floats = np.bincount(places, probs, len(keys)).astype(np.float64)
        ours, theirs = (
            np.bincount(each, probs, count).astype(np.float64)
            for each, count in zip((x, y), counts, strict=True)
        )
        return cls(keys, sums, ours, theirs, counts[1])

    def evidence(self, x: Rows, y: Rows, own: Floats, sizes: tuple[Rows, Rows]) -> Floats:
        """Tell what their documents add to the log-odds of pairs of sentences.

        In documents that are a pair the rate of translations is far higher than elsewhere.
        Whether they are a pair, the other sentences in them tell.

        Args:
            x, y: int64 [pairs], the documents of pairs of sentences.
            own: float64 [pairs], the probability of each, which is no evidence for itself.
            sizes: int64 [documents] of both sides, the sentences of each document.
        """
        keys = x * self.width + y
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        common = np.where(self.keys[at] == keys, self.sums[at], 0) - own
        covered = np.clip(common / np.maximum(np.minimum(sizes[0][x], sizes[1][y]) - 1, 1), 0, 1)
        are_pair = sigmoid(WEIGHTS[0] + WEIGHTS[2] * _odds(covered))
        are_pair = np.where(are_pair < _DOUBTED, 0, are_pair)
        cells = sizes[0].sum() * sizes[1].sum()
        known, first = np.unique(keys, return_index=True)
        one, other = np.divmod(known, self.width)
        inside = (are_pair[first] * sizes[0][one] * sizes[1][other]).sum()
        every, there = own.sum(), (own * are_pair).sum()
        within, without = (there + 1) / (inside + cells / (every + 1)), every - there + 1
        rate = are_pair * within * cells + (1 - are_pair) * without
        added: Floats = np.minimum(np.log(rate / (every + 1)), MOST_ADDED)
        return added

    def pairs(
        self, sizes: tuple[Rows, Rows], named: Mapping[int, int] | None = None, *, told: bool = True
    ) -> list[Document]:
        """Pair documents, each once, the most probable first.

        Args:
            sizes: int64 [documents] of both sides, the sentences of each document.
            named: source documents, each with the target document whose name agrees.
            told: whether a pair of sentences that was not found says something, which it does not
                in a language that the encoder does not know.
        """
        odds = self.figures(sizes) @ np.array(WEIGHTS)
        columns = zip(self.keys.tolist(), odds.tolist(), self.sums.tolist(), strict=True)
        every = {key: (own, k) for key, own, k in columns}
        for x, y in (named or {}).items():
            own, k = every.get(x * self.width + y, (-np.inf, 0.0))
            here, there = sizes[0][x], sizes[1][y]
            n, elsewhere = int(min(here, there)), (self.of_source[x] - k, self.of_target[y] - k)
            if elsewhere[0] <= _ELSEWHERE * here and elsewhere[1] <= _ELSEWHERE * there:
                found_so = _likelihood(k, n, _TRANSLATED) - _likelihood(k, n, _CHANCE)
                every[x * self.width + y] = max(own, log(_NAMED) + told * found_so), k
        taken, found = (set[int](), set[int]()), list[Document]()
        for own, k, key in sorted((-own, -k, key) for key, (own, k) in every.items()):
            one, other = divmod(key, self.width)
            if one not in taken[0] and other not in taken[1]:
                taken[0].add(one)
                taken[1].add(other)
                found.append(Document(one, other, -k, float(sigmoid(np.array(-own)))))
        return found

    def figures(self, sizes: tuple[Rows, Rows]) -> Floats:
        """Give the figures of pairs of documents, float64 [pairs, 3], as `WEIGHTS` weighs them.

        One; how many times its share is that of the best other pair of either document, as a
        logarithm; and the log-odds of a sentence of the smaller document to have a translation.
        """
        x, y = np.divmod(self.keys, self.width)
        shares = self.sums / (self.of_source[x] + self.of_target[y] - self.sums + 1)
        rivals = np.maximum(best_other(shares, x), best_other(shares, y))
        lead = np.log((shares + LEAST_SHARE) / (rivals + LEAST_SHARE))
        covered = np.minimum(self.sums / np.minimum(sizes[0][x], sizes[1][y]), 1)
        return np.stack([np.ones(len(x)), lead, _odds(covered)], axis=1)


def _likelihood(k: float, n: int, share: tuple[float, float]) -> float:
    """Give the logarithm of the probability of k of n, but for the ways to choose them."""
    (a, b), k = share, min(k, n)

    def beta(one: float, other: float) -> float:
        return lgamma(one) + lgamma(other) - lgamma(one + other)

    return beta(a + k, b + n - k) - beta(a, b)


def _odds(shares: Floats) -> Floats:
    odds: Floats = np.log((shares + _SMALL) / (1 - shares + _SMALL))
    return odds
