"""Scores of beads: a literal twin, and vectors of lines together."""

import numpy as np
import pytest

from xmine.aligning.band import Band
from xmine.aligning.evidence import windows_of_sums
from xmine.aligning.scores import BEADS, bead_scores


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def test_a_bead_counts_by_its_cosine_against_those_with_the_lines_beside() -> None:
    """The formula, written out for each bead of each cell."""
    random = np.random.default_rng(1)
    sides = [random.normal(size=(lines, 6)).astype(np.float16) for lines in (70, 9)]
    lengths = random.uniform(5, 90, 70), random.uniform(5, 90, 9)
    band = Band.whole(70, 9)
    windows = windows_of_sums(sides[0]), windows_of_sums(sides[1])
    scores = bead_scores(band, lengths, windows, 1.3, 0.08)
    for row, given in zip(range(64, 71), scores(64, 71), strict=True):
        for kind, (n, m) in enumerate(BEADS):
            for column in range(m, 10):
                x = unit(sides[0][row - n : row].sum(axis=0, dtype=np.float32))
                y = unit(sides[1][column - m : column].sum(axis=0, dtype=np.float32))
                near_y = [at for at in (column - m - 1, column) if 0 <= at < 9]
                near_x = [at for at in (row - n - 1, row) if 0 <= at < 70]
                beside = np.mean([x @ unit(sides[1][at]) for at in near_y]) if near_y else 0
                beside += np.mean([y @ unit(sides[0][at]) for at in near_x]) if near_x else 0
                a, b = lengths[0][row - n : row].sum(), lengths[1][column - m : column].sum()
                apart = min((a - b) ** 2 / (1.3 * (a + b)), 20)
                wanted = x @ y - beside / 2 - 0.03 * apart - 0.08 * (n + m - 2)
                assert given[kind, column] == pytest.approx(wanted, abs=3e-3), (row, column, n, m)
