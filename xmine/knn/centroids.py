"""A sample of rows -> the centroids of lists, by spherical k-means (Dhillon & Modha, 2001).

Its every bit follows from the rows: the nearest centroid by exact cosines, sums of float16 numbers
that float64 holds exactly in any order, a length rounded once, and centroids rounded to float16.
"""

import math

import numpy as np

from xmine.hardware import blas_threads
from xmine.knn.cosines import Floats, Halves, exact_cosines
from xmine.knn.duplicates import Side
from xmine.knn.inverted_lists import Members, Tick, assign_lists, number_type
from xmine.knn.workers import WorkerPool

ROUNDS = 10
_SEED = 1


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
    centroids, side = sample[first].astype(np.float32), Side(sample, apart=True)
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
