"""The fit of the weights of reranking, against scikit-learn, known weights and slow twins."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.encoders.reranking import RerankingWeights
from xmine.knn.exact import search_exact
from xmine.scoring.margin import margin_scores
from xmine.scoring.reranking import TokenMatches
from xmine.scoring.reranking_fit import (
    KnownCandidates,
    fit_weights,
    learn_weights,
    logistic_regression,
)
from xmine.scoring.retrieval import choose_pairs

TRUE = np.array([2.0, -1.0, 0.5])
BIAS = -1.5


def examples(
    count: int, bias: float = BIAS
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Figures of three very different scales, labels drawn by true weights, and these weights."""
    random = np.random.default_rng(4)
    scales = np.array([1.0, 50.0, 0.01])
    figures = random.standard_normal((count, 3)) * scales + [3.0, -100.0, 0.2]
    weights = TRUE / scales
    scores = (figures - [3.0, -100.0, 0.2]) @ weights + bias
    return figures, random.random(count) < 1 / (1 + np.exp(-scores)), weights


@pytest.mark.parametrize("case", ["usual", "rare", "separable", "one column twice", "one constant"])
def test_the_fit_is_that_of_scikit_learn(case: str) -> None:
    from sklearn.linear_model import LogisticRegression

    figures, right, weights = examples(4000, bias=-6.0 if case == "rare" else BIAS)
    if case == "separable":
        right = figures @ weights > np.median(figures @ weights)
    if case == "one column twice":
        figures = figures[:, [0, 1, 1]]
    if case == "one constant":
        figures[:, 2] = 7.0
    spread = figures.std(axis=0)
    scaled = (figures - figures.mean(axis=0)) / np.where(spread > 1e-9, spread, 1)
    reference = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(scaled, right)
    found, bias = logistic_regression(figures, right)
    np.testing.assert_allclose(
        figures @ found + bias, reference.decision_function(scaled), rtol=1e-4, atol=1e-4
    )


def candidates(count: int, pairs: int, seed: int) -> KnownCandidates:
    """Random sides; the first `pairs` sources have translations, in another order."""
    random = np.random.default_rng(seed)
    source = random.standard_normal((count, 6))
    order = random.permutation(count)
    target = random.standard_normal((count, 6))
    target[order[:pairs]] = source[:pairs] + 0.1 * random.standard_normal((pairs, 6))
    unit = [
        (each / np.linalg.norm(each, axis=1, keepdims=True)).astype(np.float16)
        for each in (source, target)
    ]
    near = search_exact(unit[0], unit[1], 3)
    translations = np.where(np.arange(count) < pairs, order, -1)
    share = random.random((count, count, 5)).astype(np.float32)  # of any pair
    share[np.arange(pairs), order[:pairs], 0] = 0.8 + 0.2 * random.random(pairs)
    share[np.arange(pairs), order[:pairs], 2] = 0.2 * random.random(pairs)
    matches = TokenMatches(
        share[np.arange(count)[:, None], near.targets],
        share[near.sources, np.arange(count)[:, None]],
        random.integers(1, 20, count).astype(np.float32),
        random.integers(1, 20, count).astype(np.float32),
    )
    return KnownCandidates(near, matches, margin_scores(near), translations)


def slow_examples(known: KnownCandidates) -> dict[tuple[int, int], tuple[dict[str, float], bool]]:
    """The definitions of the figures, one candidate at a time."""
    margins: dict[tuple[int, int], float] = {}
    shares: dict[tuple[int, int], NDArray[np.float32]] = {}
    near = known.neighbours
    for x, row in enumerate(near.targets.tolist()):
        for place, y in enumerate(row):
            margins[x, y] = float(known.margins.targets[x, place])
            shares[x, y] = known.matches.targets[x, place]
    for y, row in enumerate(near.sources.tolist()):
        for place, x in enumerate(row):
            margins[x, y] = float(known.margins.sources[y, place])
            shares[x, y] = known.matches.sources[y, place]
    match = {cell: float(each[0]) for cell, each in shares.items()}
    nearest = [(x, int(row[0])) for x, row in enumerate(near.targets)]
    nearest += [(int(row[0]), y) for y, row in enumerate(near.sources)]
    bar = np.quantile([margins[cell] for cell in nearest], 0.95)
    usual = float(np.median([shares[cell][4] for cell in nearest if margins[cell] >= bar]))
    found = {}
    for x, y in margins:
        rivals = [cell for cell in margins if (cell[0] == x) != (cell[1] == y)]
        # A source knows the rivals among its own neighbours, and a target those among its own.
        rivals = [
            (s, t)
            for s, t in rivals
            if (s == x and t in near.targets[x]) or (t == y and s in near.sources[y])
        ]
        figures = {
            "log_margin": float(np.log(margins[x, y])),
            "missing": float(shares[x, y][2]),
            "order": float(shares[x, y][1]),
            "covered": float(shares[x, y][3]),
            "length": abs(float(shares[x, y][4]) - usual),
            "match_lead": match[x, y] - max(match[cell] for cell in rivals),
            "margin_lead": margins[x, y] - max(margins[cell] for cell in rivals),
        }
        found[x, y] = figures, bool(known.translations[x] == y)
    return found


def test_each_candidate_is_an_example_once_with_its_figures() -> None:
    known = candidates(40, 15, seed=1)
    figures, right = known.examples()
    slow = list(slow_examples(known).values())
    assert len(right) == len(slow) and right.sum() == sum(each for _, each in slow)
    rows = np.column_stack([right, *figures.values()])
    expected = np.array([[each, *(named[name] for name in figures)] for named, each in slow])
    order, order_too = np.lexsort(rows.T), np.lexsort(expected.T)
    np.testing.assert_allclose(rows[order], expected[order_too], atol=1e-5)


def test_the_weights_rank_translations_first() -> None:
    mixtures = [candidates(300, pairs, seed) for seed, pairs in enumerate((60, 150, 200))]
    weights = fit_weights(mixtures)
    assert weights
    for each in mixtures:
        chosen = choose_pairs(each.neighbours, each.reranker(weights).candidates())
        right = each.translations[chosen.sources] == chosen.targets
        best = int((each.translations >= 0).sum())
        assert right[:best].mean() > 0.85
    assert weights.missing < -1 and abs(weights.order) < 1  # which was drawn at random


def test_too_few_translations_give_no_weights() -> None:
    enough = [candidates(300, 150, seed) for seed in (1, 2)]
    assert fit_weights(enough)
    nothing = [replace(each, translations=np.full(300, -1)) for each in enough]
    assert fit_weights(enough[:1]) is fit_weights(nothing) is None


def test_what_is_learnt_without_gold_ranks_translations_first() -> None:
    known = candidates(300, 150, seed=3)
    pairs = choose_pairs(known.neighbours, known.margins)
    right = known.translations[pairs.sources] == pairs.targets
    probs = np.where(right, 0.9, 0.1)
    weights = learn_weights(
        known.reranker(RerankingWeights()), pairs, probs, np.full(len(pairs), -1, np.int8)
    )
    assert weights and weights.covered == weights.length == 0 and not weights.trees
    chosen = choose_pairs(known.neighbours, known.reranker(weights).candidates())
    assert (known.translations[chosen.sources] == chosen.targets)[:140].mean() > 0.85
