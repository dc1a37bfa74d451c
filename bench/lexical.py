"""A table of word translations, learnt from pairs: IBM model 1 both ways over an encoder's pieces.

Brown et al., 1993, "The mathematics of statistical machine translation", section 4.1. The lexical
table is a trial of bench/rerank.py and no part of xmine.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.tokens import TokenVectors

ROUNDS = 5  # of expectation maximisation
LEAST = 1e-3  # probability of an entry that is kept
_LONGEST = 60  # tokens of a side of the pairs that are read
_PAIRS_AT_ONCE = 50_000
_RATIOS = (-1.5, 6.0)  # where the log of a likelihood ratio is cut off
_EXPLAINED = 0.02  # probability from which a token explains another one

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Direction:
    """The probabilities of said tokens by given tokens.

    Attributes:
        given, said: int64 [entries], tokens.
        probs: float32 [entries], above LEAST.
        null: float64 [tokens], probabilities by no token at all.
        unigram: float64 [tokens], shares of all said tokens.
    """

    given: Rows
    said: Rows
    probs: NDArray[np.float32]
    null: Floats
    unigram: Floats

    def dense(self, given: Rows, said: Rows) -> NDArray[np.float32]:
        """Give the probabilities of some said tokens by some given ones, [given, said]."""
        table = np.zeros((len(given), len(said)), dtype=np.float32)
        rows, columns = (_places(each, len(self.null)) for each in (given, said))
        at = rows[self.given], columns[self.said]
        there = (at[0] >= 0) & (at[1] >= 0)
        table[at[0][there], at[1][there]] = self.probs[there]
        return table


def _places(tokens: Rows, vocabulary: int) -> Rows:
    """Turn around a list of tokens: the place of each, -1 for the others."""
    places = np.full(vocabulary, -1, dtype=np.int64)
    places[tokens] = np.arange(len(tokens))
    return places


def learn(source: TokenVectors, target: TokenVectors, vocabulary: int) -> tuple[Direction, ...]:
    """Learn targets by sources, then sources by targets, from pairs: row i of both sides.

    Entries of tokens that stand together in one pair alone are left out.
    """
    links = _links(source, target)
    seen = [
        np.unique(_keys(source, target, *each, vocabulary), return_counts=True) for each in links
    ]
    keys, places = np.unique(np.concatenate([each[0] for each in seen]), return_inverse=True)
    keys = keys[np.bincount(places, np.concatenate([each[1] for each in seen])) > 1]
    del seen, places
    known = []
    for each in _links(source, target):
        wanted = _keys(source, target, *each, vocabulary)
        entry = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        there = keys[entry] == wanted
        known.append((each[0][there], each[1][there], entry[there].astype(np.int32)))
    given, said = keys // vocabulary, keys % vocabulary
    forward = [(target_at, entry) for _, target_at, entry in known]
    backward = [(source_at, entry) for source_at, _, entry in known]
    return (
        _learn(given, said, forward, np.asarray(target.ids), vocabulary),
        _learn(said, given, backward, np.asarray(source.ids), vocabulary),
    )


def _links(
    source: TokenVectors, target: TokenVectors
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Give the positions of every two tokens of a pair, for some pairs at a time."""
    lengths = source.lengths, target.lengths
    some = np.flatnonzero(np.maximum(*lengths) <= _LONGEST)
    for start in range(0, len(some), _PAIRS_AT_ONCE):
        rows = some[start : start + _PAIRS_AT_ONCE]
        left, right = (each[rows] for each in lengths)
        links = left * right
        place = np.arange(links.sum()) - np.repeat(np.cumsum(links) - links, links)
        across = np.repeat(right, links)
        yield (
            (np.repeat(source.starts[rows], links) + place // across).astype(np.int32),
            (np.repeat(target.starts[rows], links) + place % across).astype(np.int32),
        )


def _keys(
    source: TokenVectors,
    target: TokenVectors,
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    vocabulary: int,
) -> Rows:
    ids = np.asarray(source.ids), np.asarray(target.ids)
    keys: Rows = ids[0][left].astype(np.int64) * vocabulary + ids[1][right]
    return keys


def _learn(
    given: Rows,
    said: Rows,
    links: Sequence[tuple[NDArray[np.int32], NDArray[np.int32]]],
    ids: NDArray[np.int32],
    vocabulary: int,
) -> Direction:
    """Maximise the likelihood of said tokens `ids`; a link is a position in `ids` and an entry."""
    unigram = np.bincount(ids, minlength=vocabulary) / len(ids)
    # In the first round all given tokens, and none, explain a token equally well.
    probs, by_null = np.ones(len(given)), np.ones(len(ids))
    for _ in range(ROUNDS):
        total = by_null.copy()  # [positions]
        for position, entry in links:
            total += np.bincount(position, probs[entry], minlength=len(ids))
        counts = np.zeros(len(given))
        for position, entry in links:
            counts += np.bincount(entry, probs[entry] / total[position], minlength=len(given))
        of_given = np.bincount(given, counts, minlength=vocabulary)
        probs = counts / np.maximum(of_given, 1e-12)[given]
        unexplained = np.bincount(ids, weights=by_null / total, minlength=vocabulary)
        null: Floats = unexplained / unexplained.sum()
        by_null = null[ids]
    kept = probs > LEAST
    return Direction(given[kept], said[kept], probs[kept].astype(np.float32), null, unigram)


def compare(
    tables: Sequence[Direction], source: TokenVectors, target: TokenVectors, x: Rows, y: Rows
) -> dict[str, Floats]:
    """Compare pairs of sentences by the two tables that `learn` gives.

    Returns:
        The mean log-likelihood ratio against the unigram, and the share of tokens, by how rare they
        are, that a token of the other side explains; of each the lower and the mean of both
        directions, float64 [pairs].
    """
    forward = _compare(tables[0], source, target, x, y)
    backward = _compare(tables[1], target, source, y, x)
    found: dict[str, Floats] = {}
    for number, name in enumerate(("likelihood", "explained")):
        both = np.stack([forward[number], backward[number]])
        found |= {f"lower {name}": both.min(axis=0), f"mean {name}": both.mean(axis=0)}
    return found


def _compare(table: Direction, given: TokenVectors, said: TokenVectors, x: Rows, y: Rows) -> Floats:
    """Give the mean log-likelihood ratio and the explained share, [2, pairs]."""
    words, places = zip(
        *(np.unique(np.asarray(each.ids), return_inverse=True) for each in (given, said)),
        strict=True,
    )
    probs = table.dense(*words)
    null, unigram = table.null[words[1]], np.maximum(table.unigram[words[1]], 1e-8)
    starts = given.starts.tolist(), said.starts.tolist()
    found = np.zeros((2, len(x)))
    for pair, (left, right) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        rows = places[0][starts[0][left] : starts[0][left + 1]]
        columns = places[1][starts[1][right] : starts[1][right + 1]]
        if len(rows) and len(columns):
            by = probs[rows[:, None], columns]
            likely = (by.sum(axis=0) + null[columns]) / (len(rows) + 1)
            rare = -np.log(unigram[columns])
            ratios = np.log(np.maximum(likely, 1e-12)) + rare
            found[0, pair] = ratios.clip(*_RATIOS).mean()
            found[1, pair] = rare[by.max(axis=0) > _EXPLAINED].sum() / rare.sum()
    return found
