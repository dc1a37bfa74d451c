"""Paths in a band, against all paths that there are."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.aligning.band import Band, Scores, best_path, probabilities

KINDS = [(1, 1), (1, 2), (2, 1), (2, 2)]
SKIP = -0.3


def scores_in(band: Band, whole: NDArray[np.float64]) -> Scores:
    """Give [kinds, columns] of the band's rows out of [kinds, rows, columns]."""
    return lambda start, stop: [
        whole[:, row, band.starts[row] : band.stops[row]] for row in range(start, stop)
    ]


def paths(row: int, column: int) -> Iterator[list[tuple[int, int, int, int]]]:
    """List all paths to a cell."""
    if not row and not column:
        yield []
    for n, m in [*KINDS, (1, 0), (0, 1)]:
        if n <= row and m <= column:
            for path in paths(row - n, column - m):
                yield [*path, (row - n, row, column - m, column)]


def score_of(whole: NDArray[np.float64], path: list[tuple[int, int, int, int]]) -> float:
    total = 0.0
    for top, bottom, left, right in path:
        kind = (bottom - top, right - left)
        total += SKIP if 0 in kind else float(whole[KINDS.index(kind), bottom, right])
    return total


def inside(band: Band, path: list[tuple[int, int, int, int]]) -> bool:
    cells = {(0, 0)} | {(bottom, right) for _, bottom, _, right in path}
    return all(band.starts[row] <= column < band.stops[row] for row, column in cells)


@pytest.mark.parametrize("radius", [None, 1])
def test_the_best_path_and_the_probabilities_are_those_of_all_paths(radius: int | None) -> None:
    random = np.random.default_rng(3)
    for rows, columns in ((3, 4), (4, 2), (5, 4), (1, 3)):
        whole = random.normal(0, 0.5, (len(KINDS), rows + 1, columns + 1))
        band = Band.whole(rows, columns)
        if radius is not None:
            steps = np.linspace(0, 1, rows + 1)[:, None]
            band = Band.around(np.rint(steps * (rows, columns)).astype(np.int64), radius)
        every = [path for path in paths(rows, columns) if inside(band, path)]
        totals = np.array([score_of(whole, path) for path in every])
        found = best_path(band, KINDS, scores_in(band, whole), SKIP)
        assert score_of(whole, list(map(tuple, found.tolist()))) == pytest.approx(totals.max())
        weights = np.exp(totals / 0.4)
        right = [
            sum(weight for path, weight in zip(every, weights, strict=True) if bead in path)
            for bead in map(tuple, found.tolist())
        ]
        probs = probabilities(band, KINDS, scores_in(band, whole), SKIP, found, 0.4)
        assert probs == pytest.approx(np.array(right) / weights.sum(), rel=1e-6)


def test_a_band_holds_the_lines_that_a_path_leaves_out() -> None:
    """Ten target lines without counterpart: the row where they stand is wide."""
    corners = np.array(
        [(0, 0), (1, 1), (2, 2), *((2, 2 + at) for at in range(1, 11)), (3, 13), (5, 14)]
    )
    band = Band.around(corners, 0)
    assert list(zip(band.starts.tolist(), band.stops.tolist(), strict=True)) == [
        (0, 1),
        (1, 2),
        (2, 13),
        (13, 14),
        (13, 15),  # within a bead of two lines: where it begins to where it ends
        (14, 15),
    ]
    wide = Band.around(corners, 1)
    assert (wide.starts[1], wide.stops[1]) == (0, 14)
    assert (wide.starts[0], wide.stops[5]) == (0, 15)
