"""The bootstrap of figures beside a slow one, and its golden values."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest

from xmine.evaluation.reports.bootstrap import (
    STATISTICS,
    Statistic,
    Values,
    f1_of_counts,
    figure_of,
    intervals,
    rank_correlation,
)


def slow_mean(rows: Sequence[Sequence[float]]) -> float:
    return sum((forward + backward) / 2 for forward, backward in rows) / len(rows)


def slow_f1(rows: Sequence[Sequence[float]]) -> float:
    kept, right, gold = (sum(row[at] for row in rows) for at in range(3))
    if not right:
        return 0.0
    precision, recall = right / kept, right / gold
    return 2 * precision * recall / (precision + recall)


def slow_spearman(rows: Sequence[Sequence[float]]) -> float:
    """Pearson's correlation of the ranks; that of equal values is the mean of their places."""
    ranks = []
    for column in zip(*rows, strict=True):
        lower = [sum(other < value for other in column) for value in column]
        same = [sum(other == value for other in column) for value in column]
        ranks.append([low + (count + 1) / 2 for low, count in zip(lower, same, strict=True)])
    x, y = ([rank - (len(rows) + 1) / 2 for rank in each] for each in ranks)
    between = sum(a * b for a, b in zip(x, y, strict=True))
    return between / (sum(a * a for a in x) * sum(b * b for b in y)) ** 0.5


def hits(random: np.random.Generator, share: float) -> Values:
    return random.random((40, 2)) < share


def counts(random: np.random.Generator, share: float) -> Values:
    gold = np.arange(40) % 2
    right = gold * (random.random(40) < share)
    return np.stack([right + (random.random(40) < 0.3), right, gold], axis=1)


def judged(random: np.random.Generator, share: float) -> Values:
    scores = np.arange(40) % 6  # ties
    return np.stack([share * scores + random.random(40).round(1), scores], axis=1)


@pytest.mark.parametrize(
    ("statistic", "slow", "make"),
    [
        (STATISTICS["mean"], slow_mean, hits),
        (f1_of_counts, slow_f1, counts),
        (rank_correlation, slow_spearman, judged),
    ],
    ids=["accuracy", "F1", "Spearman"],
)
def test_the_bootstrap_is_that_of_a_slow_loop(
    statistic: Statistic,
    slow: Callable[[Sequence[Sequence[float]]], float],
    make: Callable[[np.random.Generator, float], Values],
) -> None:
    before, after = (make(np.random.default_rng(2), share) for share in (0.4, 0.45))
    draws = np.random.default_rng(9)
    differences = []
    for _ in range(150):
        drawn = draws.integers(40, size=40).tolist()
        first, second = ([each[row].tolist() for row in drawn] for each in (before, after))
        differences.append(slow(second) - slow(first))
    (_, same), (_, gain) = intervals([before, after], statistic, resamples=150, seed=9)
    assert same == (0, 0)
    assert figure_of(statistic, before) == pytest.approx(slow(before.tolist()))
    ordered = sorted(differences)
    for end, share in zip(gain, (0.025, 0.975), strict=True):
        below, part = divmod(share * 149, 1)
        expected = ordered[int(below)] * (1 - part) + ordered[int(below) + 1] * part
        assert end == pytest.approx(expected)


def test_golden_three_items() -> None:
    """Two items gain 1, one gains nothing: 27 resamples, one of them without any gain.

    A share of 0, 1/3, 2/3, 1 of the gains has 1, 6, 12, 8 of them; 1/27 > 2.5 %, so 0 is the lower
    end.
    """
    before = np.array([[0, 0], [0, 0], [1, 1]], dtype=bool)
    after = np.ones((3, 2), dtype=bool)
    shares = [sum(row < 2 for row in drawn) for drawn in product(range(3), repeat=3)]
    assert [shares.count(each) for each in range(4)] == [1, 6, 12, 8]
    (own, _), (best, gain) = intervals([before, after], STATISTICS["mean"], resamples=20_000)
    assert (own, best, gain) == ((0, 1), (1, 1), (0, 1))


def test_a_draw_without_a_figure_is_drawn_again() -> None:
    values = np.array([[0.1, 1.0], [0.4, 2.0], [0.2, 3.0]])
    _, (_, gain) = intervals([values, values[:, ::-1]], rank_correlation, resamples=100)
    assert gain == (0, 0)  # it is the same both ways round
    with pytest.raises(ValueError, match="2, 3 items"):
        intervals([values[:2], values], rank_correlation)
