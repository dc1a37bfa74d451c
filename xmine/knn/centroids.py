"""Rows of both sides -> the centroids of lists, by spherical k-means (Dhillon & Modha, 2001).

Its every bit follows from the rows: the nearest centroid by exact cosines, sums of float16 numbers
that float64 holds exactly in any order, a length rounded once, and centroids rounded to float16.
One training serves both sides: the encoder puts both languages in one space, and the recall is that
of centroids trained on their own side (0.981 and 0.982 of 200,000 rows with the same probes).
"""

import math

import numpy as np

from xmine.hardware import blas_threads
from xmine.knn.cosines import Floats, Halves, Vectors, exact_cosines
from xmine.knn.duplicates import Distinct
from xmine.knn.inverted_lists import Members, Tick, assign_lists, number_type
from xmine.knn.workers import WorkerPool

ROUNDS = 10
_SEED = 1
# Training rows for each list, k-means on 64 gives no better ones; and training rows at least.
_ROWS_PER_LIST, _FEWEST_ROWS = 40, 20_000


def training_rows(lists: int) -> int:
    """Count the rows of both sides that centroids are trained on, where there are so many."""
    return max(_FEWEST_ROWS, _ROWS_PER_LIST * lists)


def training_sample(source: Vectors, target: Vectors, lists: int) -> Halves:
    """Take rows of both sides, evenly spaced: float16 [rows, dim]."""
    most = training_rows(lists) // 2
    rows = [
        np.linspace(0, len(s) - 1, min(len(s), most)).astype(np.int64) for s in (source, target)
    ]
    sample = np.empty((sum(map(len, rows)), source.shape[1]), dtype=np.float16)
    sample[: len(rows[0])] = source[rows[0]]
    sample[len(rows[0]) :] = target[rows[1]]
    return sample


def train_centroids(sample: Halves, lists: int, tick: Tick) -> Floats:
    """Find centroids of unit rows.

    Args:
        sample: [rows, dim], at least as many rows as lists.
        lists: how many centroids.
        tick: called several times a second.

    Returns:
        Unit rows [lists, dim], numbers of float16.
    """
    homes = np.empty((len(sample), 1), dtype=number_type(lists))
    first = np.random.default_rng(_SEED).permutation(len(sample))[:lists]
    centroids, side = sample[first].astype(np.float32), Distinct(sample, apart=True)
    with WorkerPool(blas_threads()) as pool:
        for _ in range(ROUNDS):
            assign_lists(centroids, side, 0, 0.0, homes, pool, tick)
            members = Members(homes, lists)
            empty = np.flatnonzero(members.sizes == 0)
            if len(empty):  # such a list begins again at a row that is far from its centroid
                cosines = exact_cosines(sample, centroids, homes.astype(np.int64))[:, 0]
                centroids[empty] = sample[np.argsort(cosines, kind="stable")[: len(empty)]]
            for number in np.flatnonzero(members.sizes).tolist():
                total = sample[members.of(number)].sum(axis=0, dtype=np.float64)
                if length := math.sqrt(math.fsum((total * total).tolist())):
                    centroids[number] = (total / length).astype(np.float16)
    return centroids
