"""The frozen learner: linear models on vectors of an encoder that stays as it is.

Conneau & Kiela, 2018, "SentEval": logistic regression, its strength of regularisation chosen on dev
or by cross-validation within train. Numbers are predicted by ridge regression.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from papers import tasks
from papers.metrics import Floats, goodness
from papers.tasks import HeadTask, Places, Predict, folds
from xmine.encoders.pair import Encoders
from xmine.progress import Progress, Report

# Inverse strengths of regularisation that are tried, wider than SentEval's 1/4 to 32: vectors of
# length one have small numbers, for which a large C is no more than a usual one for others; pairs,
# of which most of the three vectors says nothing, want a C far below.
STRENGTHS = (1 / 64, 1 / 16, 1 / 4, 1.0, 4.0, 16.0, 64.0)
INNER_FOLDS = 5

Vectors = NDArray[np.float32]


def pair_features(first: Vectors, second: Vectors) -> Vectors:
    """Join (u, v, |u-v|), as SBERT does (Reimers & Gurevych, 2019): [..., dim] -> [..., 3 dim]."""
    return np.concatenate([first, second, np.abs(first - second)], axis=-1)


def symmetric_features(first: Vectors, second: Vectors) -> Vectors:
    """Join (|u-v|, u*v), which SentEval learns MRPC from: order says nothing there."""
    return np.concatenate([np.abs(first - second), first * second], axis=-1)


class _Features(NamedTuple):
    """Features of examples: float32 [rows, width], and where the rows of each begin and end.

    An example has one row, or one for each of its choices.
    """

    rows: Vectors
    bounds: Places

    def take(self, places: Places) -> "_Features":
        """Take the examples at some places."""
        counts = np.diff(self.bounds)[places]
        rows = [self.rows[self.bounds[at] : self.bounds[at + 1]] for at in places.tolist()]
        return _Features(np.concatenate(rows), np.concatenate([[0], counts.cumsum()]))


_Scorer = Callable[[_Features], Floats]


class FrozenLearner:
    """Learns tasks from frozen vectors.

    Remembers the vectors of the last task for its other folds, and what it learned for another task
    of the same examples.
    """

    protocol = (
        "logistic regression on frozen vectors (ridge regression for numbers), its C chosen on dev "
        f"or, without one, by {INNER_FOLDS}-fold cross-validation on train"
    )

    def __init__(self) -> None:
        self.chosen: dict[str, list[float]] = {}  # task -> the C chosen, one for each fold
        self._known: dict[tuple[Encoders, str], dict[str, Vectors]] = {}
        # What it learned last: from which task, of which encoder and prompt.
        self._last: tuple[HeadTask, tuple[Encoders, str], tuple[_Scorer, float]] | None = None

    def __call__(self, encoder: Encoders, task: HeadTask, prompt: str, report: Report) -> Predict:
        """Learn a task; see `tasks.Learner`. Scores are logarithms of probabilities or odds."""
        tasks.check_learnable(task)
        last = self._last[0] if self._last else task
        same = task.train.same_as(last.train)
        if not same and last.name != task.name:
            self._known = {}

        def features(texts: Sequence[tuple[str, ...]], language: str = "en") -> _Features:
            reader = encoder.reading(language)
            known = self._known.setdefault((reader, prompt), {})  # by text
            flat = dict.fromkeys(text for each in texts for text in each)
            if new := [text for text in flat if text not in known]:
                known.update(zip(new, reader.encode(new, report, prompt), strict=True))
            join = symmetric_features if task.symmetric else pair_features
            rows = []
            for each in texts:  # the rows of an example: 1, or one for each choice
                first, *others = (known[text] for text in each)
                rows.append(np.stack([join(first, other) for other in others] or [first]))
            return _Features(np.concatenate(rows), np.cumsum([0, *map(len, rows)]))

        same &= task.dev.same_as(last.dev) if task.dev else last.dev is None
        same &= (task.kind, task.symmetric) == (last.kind, last.symmetric)
        if self._last and same and self._last[1] == (encoder, prompt):
            learned = self._last[2]
        else:
            learned = _learned(task, features, report)
        self._last = task, (encoder, prompt), learned
        self.chosen.setdefault(task.name, []).append(learned[1])
        return lambda texts, language: learned[0](features(texts, language))

    def settings(self, encoder: Encoders) -> Mapping[str, object]:
        """Give what C is chosen from; what was chosen differs from encoder to encoder."""
        return {"learner": "frozen", "C": list(STRENGTHS), "inner_folds": INNER_FOLDS}


def _learned(
    task: HeadTask, features: Callable[[Sequence[tuple[str, ...]]], _Features], report: Report
) -> tuple[_Scorer, float]:
    """Choose the regularisation, the strongest of equals; then learn from all of train with it."""
    train, answers = features(task.train.texts), task.train.answers
    parts: Iterable[tuple[_Features, Floats, _Features, Floats]]  # to learn from, and held out
    if task.dev is None:
        what, count = f"{task.name}, train", INNER_FOLDS
        grouped = task.kind == "pair" and not task.symmetric
        groups = tasks.sharing_texts(task.train.texts) if grouped else None
        cuts = folds(task.kind, answers, count, what, groups)
        parts = ((train.take(x), answers[x], train.take(y), answers[y]) for x, y in cuts)
    else:
        parts, count = [(train, answers, features(task.dev.texts), task.dev.answers)], 1
    done, total = 0, count * len(STRENGTHS) + 1
    totals = np.zeros(len(STRENGTHS))
    for rows, truth, held_rows, held_truth in parts:
        for at, strength in enumerate(STRENGTHS):
            score = _fit(task, rows, truth, strength)
            totals[at] += goodness(task.kind, score(held_rows), held_truth)
            done += 1
            report(Progress("fitting", done, total))
    best = STRENGTHS[int(totals.argmax())]
    score = _fit(task, train, answers, best)
    report(Progress("fitting", total, total))
    return score, best


def _fit(task: HeadTask, features: _Features, answers: Floats, strength: float) -> _Scorer:
    """Fit one model; its scores are those of `tasks.Predict`."""
    if task.kind == "number":
        from sklearn.linear_model import Ridge

        ridge = Ridge(alpha=1 / strength).fit(features.rows, answers)
        return lambda held: np.asarray(ridge.predict(held.rows), dtype=np.float64)
    if task.kind == "document":  # each label against the rest
        scorers = [_logistic(features.rows, column, 2, strength) for column in answers.T]
        return lambda held: np.stack([_log_odds(score(held.rows)) for score in scorers], axis=1)
    if task.kind != "choice":
        score = _logistic(features.rows, answers, len(task.classes), strength)
        return lambda held: score(held.rows)
    right = np.zeros(len(features.rows))  # whether a (premise, choice) is
    right[features.bounds[:-1] + answers.astype(int)] = 1
    score = _logistic(features.rows, right, 2, strength)

    def scores(held: _Features) -> Floats:
        """Give [examples, most choices]; where there are fewer, -inf."""
        odds, counts = _log_odds(score(held.rows)), np.diff(held.bounds)
        table = np.full((len(counts), int(counts.max())), -np.inf)
        table[np.arange(table.shape[1]) < counts[:, None]] = odds
        return table

    return scores


def _logistic(
    rows: Vectors, answers: Floats, classes: int, strength: float
) -> Callable[[Vectors], Floats]:
    """Fit logistic regression: rows -> logarithms of probabilities [rows, classes].

    A class that the answers lack has probability 0.
    """
    seen = np.unique(answers).astype(int)
    model = logistic_regression(rows, answers, strength) if len(seen) > 1 else None

    def score(held: Vectors) -> Floats:
        table = np.full((len(held), classes), -np.inf)
        table[:, seen] = model.predict_log_proba(held) if model else 0
        return table

    return score


def logistic_regression(
    rows: NDArray[np.floating[Any]], classes: NDArray[np.number[Any]], strength: float
) -> Any:  # noqa: ANN401 - a LogisticRegression of scikit-learn, which is not typed
    """Fit multinomial logistic regression with an intercept, by L-BFGS, on one thread.

    Rows are [examples, width], classes [examples], two kinds at least; the strength is C, the
    inverse of the L2 regularisation. On two threads its many small products took 3.8 times as long,
    and differed in the last bits.
    """
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return LogisticRegression(C=strength, max_iter=2000).fit(rows, classes)


def _log_odds(scores: Floats) -> Floats:
    return np.asarray(scores[:, 1] - scores[:, 0])
