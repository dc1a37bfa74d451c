"""What the figure of a second model adds to the log-odds of candidates."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.toys.mined import sides
from xmine.knn.exact import search_exact
from xmine.scoring.margin import margin_scores
from xmine.scoring.rescoring import Cells, best_cells, weigh, with_leads
from xmine.scoring.retrieval import choose_pairs

Floats = NDArray[np.float64]
ROWS = 4000


def test_the_two_best_of_each_row_and_column_are_judged_once() -> None:
    near = search_exact(*sides(60, 50, 20, seed=1), 4)
    scores = margin_scores(near)
    some = choose_pairs(near, scores).take(np.arange(3))
    some.sources[0], some.targets[0] = 59, 49  # no candidate, but known
    found: dict[tuple[int, int], float] = {}
    for x, (ids, values) in enumerate(zip(near.targets, scores.targets, strict=True)):
        best = sorted(zip(-values, ids, strict=True))[:2]
        found |= {(x, int(y)): -float(value) for value, y in best}
    for y, (ids, values) in enumerate(zip(near.sources, scores.sources, strict=True)):
        best = sorted(zip(-values, ids, strict=True))[:2]
        found |= {(int(x), y): -float(value) for value, x in best}
    extra = {(59, 49)} - set(found)
    cells = best_cells(near, scores, some)
    pairs = list(zip(cells.sources.tolist(), cells.targets.tolist(), strict=True))
    assert pairs == sorted(set(found) | extra)
    values = dict(zip(pairs, cells.scores.tolist(), strict=True))
    assert all(values[pair] == found[pair] for pair in found)
    assert cells.places(cells.sources, cells.targets).tolist() == list(range(len(pairs)))
    absent = [(x, y) for x in range(60) for y in range(50) if (x, y) not in values]
    x, y = np.array(absent).T
    assert (cells.places(x, y) == -1).all()


def test_a_figure_leads_the_best_other_one_of_its_row_and_column() -> None:
    random = np.random.default_rng(2)
    places = sorted({(int(x), int(y)) for x, y in random.integers(0, 12, (60, 2))} | {(12, 12)})
    x, y = np.array(places).T
    figures = np.round(random.normal(size=len(places)), 1).astype(np.float32)  # some are equal
    found = with_leads(Cells(x, y, np.zeros(len(x)), 13), figures)
    usual = float(np.median(figures))
    for at in range(len(places)):
        alike = [[i for i in range(len(x)) if i != at and ids[i] == ids[at]] for ids in (x, y)]
        row_best, column_best = (max((figures[i] for i in each), default=usual) for each in alike)
        lead = figures[at] - (row_best + column_best) / 2
        assert found[at].tolist() == pytest.approx([figures[at], lead], abs=1e-5)


def mixture(seed: int) -> tuple[Cells, NDArray[np.bool_], Floats]:
    """Pairs, a quarter of them right: scores are log-odds, and a first estimate errs by itself."""
    random = np.random.default_rng(seed)
    right = random.random(ROWS) < 0.25
    scores = np.where(right, 1.5, -1.5) + random.normal(0, 1.5, ROWS)  # a unit is 4/3 of log-odds
    other = np.where(right, 1.5, -1.5) + random.normal(0, 1, ROWS)
    first = 1 / (1 + np.exp(-(3 * other + np.log(1 / 3))))
    return Cells(np.arange(ROWS), np.zeros(ROWS, dtype=np.int64), scores, 1), right, first


def weighed(figures: Floats, seed: int = 0) -> tuple[Floats, Floats]:
    cells, _, first = mixture(seed)
    return weigh(cells, figures.reshape(ROWS, -1).astype(np.float32), np.arange(ROWS), first)


def best_f1(values: Floats, right: NDArray[np.bool_]) -> float:
    hits = np.cumsum(right[np.argsort(-values, kind="stable")])
    return float((2 * hits / (np.arange(1, ROWS + 1) + right.sum())).max())


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_figure_that_knows_the_truth_adds_its_log_odds(seed: int) -> None:
    """The figure of translations is 2 deviations higher: a unit of it is worth 2 / 1."""
    cells, right, _ = mixture(seed)
    figures = 2.0 * right + np.random.default_rng(seed + 9).normal(0, 1, ROWS)
    log_odds, added = weighed(figures, seed)
    columns = np.stack([figures, cells.scores, np.ones(ROWS)], axis=1)
    worth = np.linalg.lstsq(columns, added, rcond=None)[0][0]
    assert 1.2 < worth < 2.2
    assert best_f1(log_odds, right) > best_f1(cells.scores, right) + 0.03
    again, as_much = weighed(7 * figures - 3, seed)  # the unit of the figure is of no matter
    np.testing.assert_allclose(as_much, added, atol=1e-3)
    np.testing.assert_allclose(again, log_odds, atol=1e-3)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_noise_and_a_copy_of_the_score_add_next_to_nothing(seed: int) -> None:
    cells, right, _ = mixture(seed)
    random = np.random.default_rng(seed + 9)
    blurred = 2 * cells.scores + random.normal(0, 0.5, ROWS)
    for figures in (random.normal(0, 5, ROWS), blurred, np.full(ROWS, 3.0)):
        log_odds, added = weighed(figures, seed)
        assert np.abs(added).std() < 0.2
        assert best_f1(log_odds, right) > best_f1(cells.scores, right) - 0.005


def test_a_figure_that_is_higher_for_wrong_pairs_adds_nothing() -> None:
    _, right, _ = mixture(0)
    log_odds, added = weighed(
        np.where(right, -3.0, 0.0) + np.random.default_rng(1).normal(size=ROWS)
    )
    assert not added.any() and np.isfinite(log_odds).all()


def test_a_figure_that_is_told_twice_counts_once_and_none_counts_against_a_pair() -> None:
    _, right, _ = mixture(0)
    noise = np.random.default_rng(4).normal(0, 1, ROWS)
    figure, weaker = 2.0 * right + noise, 1.0 * right + noise  # their difference is the truth
    _, once = weighed(figure)
    _, twice = weighed(np.stack([figure, figure], axis=1))
    _, best = weighed(np.stack([weaker, figure], axis=1))
    assert np.abs(twice - once).max() < 0.02 * np.abs(once).max()
    np.testing.assert_allclose(best, once, atol=1e-6)


def test_the_truth_itself_is_believed_within_bounds() -> None:
    cells, right, _ = mixture(0)
    figures = right[:, None].astype(np.float32)
    _, added = weigh(cells, figures, np.arange(ROWS), right.astype(np.float64))
    assert 100 < added[right].min() and added[right].max() < 1000


def test_few_translations_are_believed_less() -> None:
    """Of 10 translations that the weight is learnt from, half the lead is believed."""
    cells, right, _ = mixture(0)
    figures = 2.0 * right + np.random.default_rng(3).normal(0, 1, ROWS)
    leads = []
    for count in (10, 900):
        rows = np.concatenate([np.flatnonzero(right)[:count], np.flatnonzero(~right)])
        sure = right[rows].astype(np.float64)
        _, added = weigh(cells, figures[:, None].astype(np.float32), rows, sure)
        leads.append(np.polyfit(figures, added, 1)[0])
    assert 0.35 < leads[0] / leads[1] < 0.75
