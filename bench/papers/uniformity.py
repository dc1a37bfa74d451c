"""Alignment and uniformity: how close positives are, and how evenly all sentences are spread.

Wang & Isola (2020). Both are distances: lower is better.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.progress import Progress, Report, silent

MOST = 20_000  # sentences whose every pair is looked at; of more, a sample of as many, seed 0
_BLOCK = 256

Matrix = NDArray[np.floating[Any]]


def alignment(first: Matrix, second: Matrix) -> float:
    """Average the squared distance of unit rows [pairs, dim] to their positives, row by row.

    Wang & Isola (2020), the loss `align` with exponent 2; from 0 to 4.
    """
    return float(((first - second) ** 2).sum(axis=1, dtype=np.float64).mean())


def uniformity(vectors: Matrix, report: Report = silent) -> float:
    """Take the logarithm of the mean of exp(-2 distance²) over all pairs of unit rows [n, dim].

    Wang & Isola (2020), the loss `uniform` with t = 2; from -8 to 0. Of more than `MOST` rows, a
    fixed sample of `MOST` stands for all. Only a block of distances is in memory.
    """
    if len(vectors) > MOST:
        chosen = np.random.default_rng(0).choice(len(vectors), MOST, replace=False)
        vectors = vectors[np.sort(chosen)]
    rows, total = len(vectors), 0.0
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    for row in range(0, rows, _BLOCK):
        block = vectors[row : row + _BLOCK]
        products = (block @ vectors[row:].T).astype(np.float64)  # [block, rest]
        exponents = -2 * (squares[row : row + _BLOCK, None] + squares[row:] - 2 * products)
        exponents[:, : len(block)][np.tri(len(block), dtype=bool)] = -np.inf  # each pair once
        total += float(np.exp(exponents).sum())  # e^-8 at least, each
        report(Progress("comparing", min(row + _BLOCK, rows), rows))
    return float(np.log(total / (rows * (rows - 1) / 2)))
