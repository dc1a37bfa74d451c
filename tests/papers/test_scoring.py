"""Figures of what was learned, each as counting gives it."""

import numpy as np
import pytest
from papers.metrics import f1, goodness, mean_r_precision, micro_f1, task_figures


def test_accuracy_and_f1_are_what_counting_gives() -> None:
    random = np.random.default_rng(1)
    scores, answers = random.standard_normal((50, 2)), random.integers(0, 2, 50).astype(float)
    given = [int(row[1] > row[0]) for row in scores]
    right = sum(g == a for g, a in zip(given, answers, strict=True))
    assert task_figures("class", scores, answers) == {"accuracy": right / 50}
    both = sum(g == 1 and a == 1 for g, a in zip(given, answers, strict=True))
    assert f1(scores, answers) == pytest.approx(2 * both / (sum(given) + answers.sum()))
    assert task_figures("pair", np.zeros((3, 2)), np.zeros(3)) == {
        "accuracy": 1
    }  # the first of equals


def test_a_number_is_as_good_as_its_error_is_small() -> None:
    found, answers = np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 2.0])
    assert task_figures("number", found, answers)["mae"] == 1
    assert goodness("number", found, answers) == -1


def test_figures_of_labels_are_what_loops_give() -> None:
    random = np.random.default_rng(2)
    scores = random.standard_normal((40, 6)).round(1)
    answers = (random.random((40, 6)) < 0.3).astype(float)
    answers[0] = 0
    shares, hits, given, both = [], 0.0, 0, 0
    for row, truth in zip(scores.tolist(), answers.tolist(), strict=True):
        ranking = sorted(range(6), key=lambda label: (-row[label], label))
        has = int(sum(truth))
        if has:
            shares.append(sum(truth[label] for label in ranking[:has]) / has)
        hits += truth[ranking[0]]
        given += sum(value > 0 for value in row)
        both += sum(value > 0 and right == 1 for value, right in zip(row, truth, strict=True))
    assert mean_r_precision(scores, answers) == pytest.approx(sum(shares) / len(shares))
    assert task_figures("document", scores, answers)["top1"] == pytest.approx(hits / 40)
    assert micro_f1(scores, answers) == pytest.approx(2 * both / (given + answers.sum()))
