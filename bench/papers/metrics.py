"""Scores that a learner gives examples, and their answers -> accuracy, F1, R-precision, error."""

import numpy as np
from numpy.typing import NDArray

from papers.tasks import Kind
from xmine.evaluation.result import Metric

Floats = NDArray[np.float64]

METRICS = (
    Metric("accuracy", "acc", "share of examples whose highest score is the right answer's"),
    Metric("f1", "F1", "F1 of the class `paraphrase`"),
    Metric("mrp", "mRP", "mean share of right ones among the R best labels of a text that has R"),
    Metric("micro_f1", "micro-F1", "F1 of all labels of all texts, those with a score above 0"),
    Metric("top1", "top-1", "share of texts whose highest label is one of theirs"),
    Metric("mae", "MAE", "mean distance of the predicted number; lower is better", better="lower"),
)


def task_figures(kind: Kind, scores: Floats, answers: Floats) -> dict[str, float]:
    """Measure everything that a kind of task is measured with, by the names of METRICS."""
    if kind == "number":
        return {"mae": float(np.mean(np.abs(scores - answers)))}
    best = scores.argmax(axis=1)  # the first of equals
    if kind == "document":
        return {
            "mrp": mean_r_precision(scores, answers),
            "micro_f1": micro_f1(scores, answers),
            "top1": float(np.mean(answers[np.arange(len(answers)), best])),
        }
    return {"accuracy": float(np.mean(best == answers))}


def goodness(kind: Kind, scores: Floats, answers: Floats) -> float:
    """Give the figure that settings are chosen by: higher is better."""
    measured = task_figures(kind, scores, answers)
    if kind == "number":
        return -measured["mae"]
    return measured["mrp" if kind == "document" else "accuracy"]


def f1(scores: Floats, answers: Floats) -> float:
    """F1 of class 1 of two; 0 if it is never given and never right."""
    from sklearn.metrics import f1_score

    return float(f1_score(answers, scores.argmax(axis=1), zero_division=0))


def mean_r_precision(scores: Floats, answers: Floats) -> float:
    """Mean over texts of the share of right ones among the R highest labels, [texts, labels].

    R is how many labels the text has; texts without any are left out; of equal scores the first
    counts as higher. Chalkidis et al., 2021, "MultiEURLEX"; scikit-learn has no such figure.
    """
    ranking = np.argsort(-scores, axis=1, kind="stable")
    right = np.take_along_axis(answers, ranking, axis=1).cumsum(axis=1)
    has = answers.sum(axis=1).astype(int)
    rows = np.flatnonzero(has)
    return float(np.mean(right[rows, has[rows] - 1] / has[rows]))


def micro_f1(scores: Floats, answers: Floats) -> float:
    """F1 of all labels of all texts together; a label is given where its score is above 0."""
    from sklearn.metrics import f1_score

    return float(f1_score(answers, scores > 0, average="micro", zero_division=0))
