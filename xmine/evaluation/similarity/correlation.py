"""Cosines of text pairs against people's judgements of them -> Spearman's correlation.

Spearman's has average ranks for ties. Where every value is the same there is no correlation, and
that is an error, never a zero.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.pair import Encoders
from xmine.errors import EncoderError, FileError
from xmine.evaluation.readers.scored_pairs import ScoredPairs
from xmine.progress import Report

Values = NDArray[np.float64]
UNTRAINED = {"similarity": "cosine", "trained": False}  # settings of all results


def rate(encoder: Encoders, pairs: ScoredPairs, report: Report, prompt: str) -> tuple[Values, int]:
    """Encode pairs and take their cosines; a text without a vector has cosine 0 with any other.

    They have six digits: that of a text with itself is 1 give or take a rounding, which is no rank.

    Returns:
        float64 [pairs], and how many have a text without a vector.
    """
    one, other = (
        encoder.reading(language).encode(texts, report, prompt)
        for language, texts in zip(pairs.languages, (pairs.first, pairs.second), strict=True)
    )
    blank = ~one.any(axis=1) | ~other.any(axis=1)
    cosines: Values = np.einsum("ij,ij->i", one, other, dtype=np.float64)
    return cosines.round(6), int(blank.sum())


def spearman(system: Values, gold: Values, what: str) -> float:
    """Correlate the ranks of two lists, float64 [pairs] each; `what` is for messages."""
    from scipy.stats import spearmanr

    return correlate(spearmanr, system, gold, what)


def check_varies(gold: Values, what: str) -> None:
    """Refuse judgements that nothing correlates with: fewer than two, or all the same."""
    if len(gold) < 2:
        raise FileError(f"{what}: {len(gold)} judged pairs", "a correlation needs two at least")
    if np.ptp(gold) == 0:
        raise FileError(f"{what}: all judgements are {gold[0]:g}: nothing correlates with them")


def correlate(measure: Callable[..., Any], system: Values, gold: Values, what: str) -> float:
    """Correlate two lists by a function of scipy; arguments as of `spearman`."""
    check_varies(gold, what)
    if np.ptp(system) == 0:
        raise EncoderError(
            f"{what}: the encoder gives every pair the cosine {system[0]:.4f}",
            "it tells no texts apart, or knows none of their words",
        )
    return float(measure(system, gold).statistic)


def blank_note(blank: int) -> list[str]:
    """Say how many pairs have a text without a vector."""
    return [f"{blank:,} pairs have a text without a vector: cosine 0."] if blank else []
