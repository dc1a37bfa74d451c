"""How training goes, measured on what it does not see: retrieval, collapse, people's judgements."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from xmine.errors import EncoderError, TrainingError
from xmine.evaluation.readers.scored_pairs import ScoredPairs, read_score_first, read_stsb
from xmine.evaluation.retrieval.aligned import retrieval_accuracy
from xmine.evaluation.similarity.correlation import check_varies, spearman

from ..data.rows import TokenizedSide
from ..models.towers import Tower

OF_LANGUAGE = "accuracy_"  # begins the name of what was measured of one pair of languages
# What the encoder that training began with measured -> the measure.
BEFORE = {"before": "accuracy", **{f"before_{of}": of for of in ("halves", "spearman", "triplets")}}
_LEFT_OUT, _SEED = 0.5, 11  # of the tokens of a source, which leaves retrieval far from perfect


class Diverged(TrainingError):
    """Training has led to what is no number."""


def measure(source: NDArray[np.float32], target: NDArray[np.float32]) -> dict[str, float]:
    """Measure unit rows [pairs, dim] of held-out pairs.

    `accuracy` is the mean of `forward` and `backward`; `likeness` the mean cosine of sentences that
    do not belong together, near 1 in an encoder that has collapsed.

    Raises:
        Diverged: a vector is no longer one of numbers.
    """
    if not (np.isfinite(source).all() and np.isfinite(target).all()):
        raise Diverged("the vectors of held-out sentences are no longer numbers")
    forward, backward = retrieval_accuracy(source, target)
    count = len(source)
    every = float(source.sum(axis=0, dtype=np.float64) @ target.sum(axis=0, dtype=np.float64))
    own = float((source.astype(np.float64) * target).sum())
    return {
        "accuracy": (forward + backward) / 2,
        "forward": forward,
        "backward": backward,
        "likeness": (every - own) / (count * (count - 1)),
    }


def halved(sources: TokenizedSide) -> TokenizedSide:
    """Leave half of the tokens of the sources out, always the same ones."""
    return sources.without_some(_LEFT_OUT, np.random.default_rng(_SEED))


def fell(measures: Mapping[str, float], pairs: int) -> bool:
    """Tell whether so many held-out pairs retrieve less than at the start, by more than noise.

    Noise is two standard errors of the difference, as if the pairs were others each time.
    """
    after = measures.get("accuracy", 0.0)
    before = measures.get("before", after)
    variance = (after * (1 - after) + before * (1 - before)) / pairs
    return before - after > 2 * math.sqrt(variance)


def worst_language(measures: Mapping[str, float]) -> dict[str, float]:
    """Give the accuracy of the pair of languages that retrieves least; nothing if there is one."""
    found = {
        name.removeprefix(OF_LANGUAGE): value
        for name, value in measures.items()
        if name.startswith(OF_LANGUAGE)
    }
    worst = min(found, key=found.__getitem__, default="")
    return {worst: found[worst]} if found else {}


def read_scored(path: str) -> ScoredPairs:
    """Read pairs with people's scores: score, text, text with tabs; .csv: text,text,score.

    Raises:
        FileError: the file cannot be read, or all scores are the same.
    """
    found = (read_stsb if path.endswith(".csv") else read_score_first)(Path(path))
    check_varies(found.gold, found.name)
    return found


class DevSet:
    """Pairs of texts of one language, cut, with the scores that people gave them."""

    def __init__(self, path: str, tower: Tower) -> None:
        """Read a file, see `read_scored`, and cut the texts."""
        self._pairs = read_scored(path)
        self._sides = tower.cut(self._pairs.first), tower.cut(self._pairs.second)

    @torch.no_grad()
    def spearman(self, tower: Tower) -> float:
        """Correlate the ranks of cosines and scores; 0 if all cosines are the same."""
        was_training = tower.training
        first, second = tower.eval().embed(*self._sides).double().chunk(2)  # [pairs, dim] each
        tower.train(was_training)
        cosines = (first * second).sum(dim=1).cpu().numpy()  # [pairs]
        try:
            return spearman(cosines, self._pairs.gold, self._pairs.name)
        except EncoderError:
            return 0.0
