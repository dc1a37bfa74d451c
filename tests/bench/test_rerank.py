"""The benchmark of reranking: its candidates, its lexical table and its figures, against twins."""

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from candidates import CandidateSet, Pool
from lexical import ROUNDS, compare, learn
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.tokens import TokenVectors
from xmine.knn.neighbours import Neighbours
from xmine.scoring.late_interaction import match_pairs
from xmine.scoring.reranking import Reranker

VOCABULARY = 9
# Tokens of the pairs: 0 is said as 5, 1 as 6, 2 as 7; 3 stands beside 8 in one pair alone.
ENGLISH = [[0, 1], [0, 1], [0], [1, 2], [2, 1, 0], [2], [3, 0]]
CHINESE = [[5, 6], [6, 5], [5], [6, 7], [7, 7, 5], [7], [8, 5]]


def _tokens(sentences: list[list[int]]) -> TokenVectors:
    starts = np.concatenate([[0], np.cumsum([len(each) for each in sentences])])
    table, weights = np.eye(VOCABULARY, dtype=np.float32), np.ones(VOCABULARY, dtype=np.float32)
    ids = np.array([token for each in sentences for token in each], dtype=np.int32)
    return TokenVectors(starts, table, weights, VOCABULARY, ids)


def _model_1(given: list[list[int]], said: list[list[int]]) -> dict[tuple[int | None, int], float]:
    """Learn p(said | given) as the paper writes it, with None for the empty word."""
    pairs = list(zip(given, said, strict=True))
    together = Counter(link for s, t in pairs for link in itertools.product(s, t))
    probs: dict[tuple[int | None, int], float] = defaultdict(float)
    probs |= {link: 1.0 for link, count in together.items() if count > 1}
    for _, t in pairs:
        for token in t:
            probs[None, token] = 1.0
    for _ in range(ROUNDS):
        counts: dict[tuple[int | None, int], float] = defaultdict(float)
        for s, t in pairs:
            for token in t:
                total = sum(probs[each, token] for each in [None, *s])
                for each in [None, *s]:
                    counts[each, token] += probs[each, token] / total
        totals: dict[int | None, float] = defaultdict(float)
        for link, count in counts.items():
            totals[link[0]] += count
        probs = defaultdict(
            float, {link: count / totals[link[0]] for link, count in counts.items() if count}
        )
    return probs


@pytest.mark.parametrize("turned", [False, True])
def test_the_lexical_table_is_that_of_model_1(turned: bool) -> None:
    table = learn(_tokens(ENGLISH), _tokens(CHINESE), VOCABULARY)[turned]
    wanted = _model_1(*((CHINESE, ENGLISH) if turned else (ENGLISH, CHINESE)))
    rows = zip(table.given.tolist(), table.said.tolist(), strict=True)
    found = dict(zip(rows, table.probs.tolist(), strict=True))
    entries = {link: prob for link, prob in wanted.items() if link[0] is not None and prob > 1e-3}
    assert found == pytest.approx(entries, rel=1e-5)
    assert len(found) > 4
    nulls = [wanted[None, token] for token in range(VOCABULARY)]
    assert table.null.tolist() == pytest.approx(nulls)


def test_a_pair_is_compared_by_the_likelihood_of_its_tokens() -> None:
    sides = _tokens(ENGLISH), _tokens(CHINESE)
    tables = learn(*sides, VOCABULARY)
    found = compare(tables, *sides, np.array([0, 5]), np.array([0, 2]))
    ratios = [_ratio(ENGLISH, CHINESE, [0, 1], [5, 6]), _ratio(CHINESE, ENGLISH, [5, 6], [0, 1])]
    assert found["lower likelihood"][0] == pytest.approx(min(ratios), rel=1e-5)
    assert found["mean likelihood"][0] == pytest.approx(sum(ratios) / 2, rel=1e-5)
    assert found["lower explained"].tolist() == [1, 0]
    turned = compare(tables[::-1], *sides[::-1], np.array([0, 2]), np.array([0, 5]))
    for name, values in found.items():
        assert values == pytest.approx(turned[name])


def _ratio(
    given: list[list[int]], said: list[list[int]], ours: list[int], theirs: list[int]
) -> float:
    """Average the log of how much likelier tokens are beside given ones than anywhere."""
    probs, shares = _model_1(given, said), Counter(itertools.chain(*said))
    likely = [sum(probs[one, token] for one in (None, *ours)) / 3 for token in theirs]
    usual = [shares[token] / shares.total() for token in theirs]
    return float(np.mean([math.log(a / b) for a, b in zip(likely, usual, strict=True)]))


def _small_set() -> CandidateSet:
    """Three lines a side, two candidates each; line 0 is translated by 1, and line 1 by 2."""
    near = Neighbours(
        np.array([[1, 0], [2, 1], [0, 1]]),
        np.array([[0.9, 0.5], [0.8, 0.4], [0.3, 0.2]], dtype=np.float32),
        np.array([[0, 2], [0, 1], [1, 2]]),
        np.array([[0.5, 0.3], [0.9, 0.4], [0.8, 0.1]], dtype=np.float32),
    )
    rows = np.arange(3)
    return CandidateSet("small", 0.6, (rows, rows), np.array([1, 2, -1]), near)


def test_a_cell_is_right_in_both_directions() -> None:
    assert _small_set().right().tolist() == [1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0]


def test_pairs_may_be_chosen_by_one_score_and_ordered_by_another() -> None:
    small = _small_set()
    good = np.where(small.right(), 2.0, 0.0)
    assert small.oracle(good) == 1
    x, y = small.pairs()
    wrong_first = np.where((x == 2) & (y == 0), 9.0, np.where(small.right(), 2.0, -9.0))
    # The wrong pair comes first: two of three pairs are right, of two that there are.
    assert small.oracle(wrong_first) == pytest.approx(2 * 2 / (3 + 2))
    assert small.oracle(good, chosen_by=wrong_first) == 1
    assert small.oracle(good, chosen_by=-good) == 0  # no right pair is chosen


def test_the_best_candidates_of_lines_are_counted() -> None:
    small = _small_set()
    small.gold = np.array([1, 2, 0])
    good = np.where(small.right(), 1.0, 0.0)
    assert small.found(good) == (1, 1)
    x, y = small.pairs()
    good[(x == 0) & (y == 1)] = -1
    assert small.found(good) == pytest.approx((2 / 3, 2 / 3))


def test_figures_are_those_that_xmine_weighs() -> None:
    """A weighted sum of figures, each asked for alone, is the score of xmine."""
    pool = Pool(
        SentenceEncoder.load(),
        ["The cat sleeps on the roof.", "A dog barks at night.", "Rain falls on the hills."],
        ["猫在屋顶上睡觉。", "夜里有狗叫。"],
    )
    pool.add("small", 1.0, (np.arange(3), np.arange(2)), np.array([0, 1, -1]), nearest=3)
    x, y = pool.gather()
    matches = [pool.look(x, y)[each.cells] for each in pool.sets]
    pool.measure("", matches)
    small = pool.sets[0]
    reranker = small.reranker(pool.tokens, matches[0])
    columns = (getattr(reranker.weights, name) * each for name, each in small.figures.items())
    summed = sum(columns, np.full(len(small.cells), reranker.weights.bias))
    x, y = small.pairs()
    alone = match_pairs(pool.tokens[0], pool.tokens[1], x, y)
    assert small.figures["order"] == pytest.approx(alone[:, 1])
    assert small.figures["missing"] == pytest.approx(alone[:, 2])
    cosines = pool.vectors[0].astype(np.float64) @ pool.vectors[1].astype(np.float64).T
    means = (cosines.mean(axis=1)[:, None] + cosines.mean(axis=0)) / 2
    assert np.exp(small.figures["log_margin"]) == pytest.approx((cosines / means)[x, y], rel=1e-3)
    for found, wanted in zip(small.split(summed), _scores(reranker), strict=True):
        assert found == pytest.approx(wanted, abs=1e-4)
    of_pairs = defaultdict(set)
    for *pair, score in zip(*small.pairs(), summed.tolist(), strict=True):
        of_pairs[tuple(pair)].add(round(score, 4))
    assert len(of_pairs) < len(summed)  # pairs that are candidates in both directions
    assert all(len(scores) == 1 for scores in of_pairs.values())
    assert np.ptp(summed) > 1


def _scores(reranker: Reranker) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    scores = reranker.candidates()
    return scores.targets, scores.sources
