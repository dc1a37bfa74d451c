"""Vectors some of which are translations, mined; what tests of estimate and threshold share."""

import numpy as np
from numpy.typing import NDArray

import xmine
from xmine.knn.exact import search_exact
from xmine.knn.neighbours import Neighbours
from xmine.mining.candidates import Candidates, estimate_probabilities, flag, read_candidates
from xmine.mining.mined import Mined
from xmine.mining.options import MiningOptions
from xmine.mining.selection import select
from xmine.scoring.margin import margin_scores
from xmine.scoring.probability import NEIGHBOURS
from xmine.scoring.retrieval import ChosenPairs, choose_pairs

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]


def unit(rows: Floats) -> Vectors:
    lengths: Floats = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / lengths).astype(np.float32)


def sides(sources: int, targets: int, shared: int, seed: int) -> tuple[Vectors, Vectors]:
    """Random sentences; the first `shared` targets are noisy copies of the first sources."""
    rng = np.random.default_rng(seed)
    source = rng.normal(size=(sources, 48))
    target = rng.normal(size=(targets, 48))
    target[:shared] = source[:shared] + rng.uniform(0.3, 1.2, (shared, 1)) * target[:shared]
    return unit(source), unit(target)


def mined(
    source: Vectors,
    target: Vectors,
    k: int = NEIGHBOURS,
    margin: str = "ratio",
    retrieval: str = "max",
) -> tuple[ChosenPairs, Neighbours]:
    neighbours = search_exact(source, target, k)
    return choose_pairs(neighbours, margin_scores(neighbours, margin), retrieval), neighbours


def above_zero(mean: float, spread: float, rows: int, seed: int) -> Floats:
    """Draw from a normal distribution, again and again where the value is below zero."""
    rng = np.random.default_rng(seed)
    values = rng.normal(mean, spread, rows)
    while (below := values < 0).any():
        values[below] = rng.normal(mean, spread, int(below.sum()))
    return values


def mixture(
    rows: int, share: float, mean: float, spread: float, seed: int
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Draw gaps and spacings as the estimate assumes them, and which pairs are translations.

    The gaps of wrong pairs have the mean 0.05, those of translations `mean` and `spread` before
    what is below zero is cut off; spacings are those of the best of a pool, or of the next.
    """
    rng = np.random.default_rng(seed)
    right = np.arange(rows) < share * rows
    gaps = np.where(right, above_zero(mean, spread, rows, seed + 1000), rng.exponential(0.05, rows))
    return gaps, rng.exponential(np.where(right, 0.05, 0.025)), right


def lines(mined: xmine.Mined) -> set[tuple[int, int]]:
    pairs = mined.pairs
    return set(zip(pairs.source_lines.tolist(), pairs.target_lines.tolist(), strict=True))


def selected(candidates: Candidates, options: MiningOptions, known: tuple[str, ...] = ()) -> Mined:
    """Do what mining does with candidates: texts, probabilities, flags, selection."""
    read = read_candidates(candidates, options, known)
    estimated = estimate_probabilities(read, keep_copies=options.keep_copies)
    return select(estimated, flag(estimated, options), options)
