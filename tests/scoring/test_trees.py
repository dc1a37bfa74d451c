"""Trees read by numpy against scikit-learn's own predictions; monotone; the same in any company."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.encoders import trees
from xmine.encoders.reranking import RerankingWeights
from xmine.encoders.trees import Cut, read_trees, tree_line
from xmine.scoring.reranking_fit import with_trees

NAMES = ("log_margin", "missing", "order")


def examples(count: int = 4000) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.bool_]]:
    """A rule that no line cuts: either figure alone may make a candidate right."""
    random = np.random.default_rng(3)
    figures = {name: random.standard_normal(count) for name in NAMES}
    right = (figures["log_margin"] > 1) | ((figures["missing"] < -1) & (figures["order"] > 0))
    return figures, right ^ (random.random(count) < 0.02)


def test_leaves_add_up_to_what_scikit_learn_predicts(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.ensemble import HistGradientBoostingClassifier

    fitted: list[Any] = []
    fit = HistGradientBoostingClassifier.fit

    def caught(self: Any, *given: Any) -> Any:
        fitted.append(self)
        return fit(self, *given)

    monkeypatch.setattr(HistGradientBoostingClassifier, "fit", caught)
    figures, right = examples()
    weights = with_trees(figures, right, RerankingWeights(log_margin=2.0, bias=1.0))
    predicted = fitted[0].decision_function(np.stack(list(figures.values()), axis=1))
    found = weights.bias - 0.5 + read_trees(weights.trees).add(figures)
    assert found == pytest.approx(predicted / 2, abs=0.0005 * (len(weights.trees) + 1))
    assert weights.log_margin == 1.0
    assert ((found > 0) == right).mean() > 0.97  # the rule


def test_the_first_leaf_that_is_left_counts() -> None:
    line = tree_line([Cut("order", 0.25, 1), Cut("missing", 0.5, 3)], [-20, 10, 7000])
    assert line == "order 0.25 1, missing 0.5 3: -20 10 7000"
    figures = {
        "order": np.array([[0.25, 0.26], [0.25, 0.26]]),
        "missing": np.array([[0.5, 0.5], [0.51, 0.51]]),
        "other": np.zeros((2, 2)),
    }
    assert read_trees((line,)).add(figures).tolist() == [[-0.02, 0.01], [7.0, 7.0]]
    assert read_trees((line, line)).add(figures).tolist() == [[-0.04, 0.02], [14.0, 14.0]]


def test_what_misses_more_is_never_better_and_company_changes_no_bit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    figures, right = examples()
    forest = read_trees(with_trees(figures, right, RerankingWeights()).trees)
    found = forest.add(figures)
    for name, sign in (("log_margin", 1), ("missing", -1), ("order", 1)):
        for step in (0.01, 0.5, 3.0):
            moved = forest.add({**figures, name: figures[name] + sign * step})
            assert (moved >= found).all() and (moved > found).any()
    monkeypatch.setattr(trees, "_CANDIDATES_AT_ONCE", 7)
    assert (forest.add(figures) == found).all()
    one = {name: each[17:18] for name, each in figures.items()}
    assert forest.add(one)[0] == found[17]
