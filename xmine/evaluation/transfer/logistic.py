"""Logistic regression on vectors, the classifier of every probe and frozen task."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def logistic_regression(
    rows: NDArray[np.floating[Any]], classes: NDArray[np.number[Any]], strength: float
) -> Any:  # noqa: ANN401 - a LogisticRegression of scikit-learn, which is not typed
    """Fit multinomial logistic regression with an intercept, by L-BFGS, on one thread.

    On two threads its many small products took 3.8 times as long, and differed in the last bits.

    Args:
        rows: [examples, width].
        classes: [examples], two kinds at least.
    """
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return LogisticRegression(C=strength, max_iter=2000).fit(rows, classes)
