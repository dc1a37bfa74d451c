"""The benchmark of reranking: its candidates and their figures, against twins."""

import numpy as np
import pytest
from candidates import CandidateSet, Pool
from rerank import LENGTHS, scores_of

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.reranking import RerankingWeights
from xmine.knn.neighbours import Neighbours
from xmine.scoring.late_interaction import match_pairs


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
        ["The cat sleeps on the roof.", "A dog barks at night.", "Rain falls on the 12 hills."],
        ["猫在屋顶上睡觉。", "夜里有13条狗叫。"],
    )
    pool.add("small", 1.0, (np.arange(3), np.arange(2)), np.array([0, 1, -1]), nearest=3)
    pool.add_figures()
    (small,) = pool.sets
    x, y = small.pairs()
    alone = match_pairs(pool.tokens[0], pool.tokens[1], x, y)
    assert small.figures["order"] == pytest.approx(alone[:, 1])
    assert small.figures["missing"] == pytest.approx(alone[:, 2])
    assert small.figures["numbers"].tolist() == ((x == 2) | (y == 1)).tolist()
    cosines = pool.vectors[0].astype(np.float64) @ pool.vectors[1].astype(np.float64).T
    means = (cosines.mean(axis=1)[:, None] + cosines.mean(axis=0)) / 2
    assert np.exp(small.figures["log_margin"]) == pytest.approx((cosines / means)[x, y], rel=1e-3)
    reranker = small.reranker(pool.tokens, alone, RerankingWeights(covered=1.0, length=-2.0))
    weights = [getattr(reranker.weights, name) for name in LENGTHS]
    summed = scores_of(LENGTHS, weights, reranker.weights.bias)(small)
    scores = reranker.candidates()
    for found, wanted in zip(small.split(summed), (scores.targets, scores.sources), strict=True):
        assert found == pytest.approx(wanted, abs=1e-4)
    assert np.ptp(summed) > 1
