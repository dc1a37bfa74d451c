"""Held-out pairs -> how training goes: retrieval both ways, and a watch for collapse."""

import numpy as np
from numpy.typing import NDArray

from xmine.evaluation.aligned import retrieval_accuracy


def measure(source: NDArray[np.float32], target: NDArray[np.float32]) -> dict[str, float]:
    """Measure retrieval accuracy among held-out pairs, and how alike random sentences are.

    Args:
        source, target: unit rows [pairs, dim]; row i translates row i.

    Returns:
        `forward` and `backward` accuracy, their mean `accuracy`, and `likeness`, the mean cosine
        of sentences that do not belong together: near 0 in a healthy encoder, near 1 in one that
        has collapsed.
    """
    found = retrieval_accuracy(source, target)
    count = len(source)
    every = float(source.sum(axis=0, dtype=np.float64) @ target.sum(axis=0, dtype=np.float64))
    own = float((source.astype(np.float64) * target).sum())
    return {
        "accuracy": found.mean,
        "forward": found.forward,
        "backward": found.backward,
        "likeness": (every - own) / (count * (count - 1)),
    }
