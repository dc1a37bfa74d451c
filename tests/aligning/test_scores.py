"""Scores of beads: a literal twin, and vectors of lines together."""

import numpy as np
import pytest

from xmine.aligning.band import Band
from xmine.aligning.evidence import MOST, windows_of_sums
from xmine.aligning.scores import BEADS, PAIRED, bead_scores, first_scores, lengths_of


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def test_windows_are_unit_sums_of_the_lines_before_a_place() -> None:
    sums = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float16)
    found = windows_of_sums(sums)(2, 10)
    assert found.shape == (MOST, 8, 4)
    for n in range(1, MOST + 1):
        for place in range(2, 10):
            lines = sums[place - n : place]
            wanted = unit(lines.sum(axis=0, dtype=np.float32)) if place >= n else np.zeros(4)
            assert found[n - 1, place - 2] == pytest.approx(wanted, abs=1e-5), (n, place)


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


def test_the_first_pass_goes_by_lengths_and_cosines() -> None:
    vectors = np.eye(3, dtype=np.float16), np.eye(4, dtype=np.float16)[:, :3]
    lengths = np.array([20.0, 40, 20]), np.array([20.0, 19, 21, 20])
    found = first_scores(Band.whole(3, 4), lengths, vectors, 6.0)(0, 4)
    assert found[1][0, 1] == pytest.approx(1 + 4)  # 20 and 20, cosine 1
    two = PAIRED.index((1, 2))
    assert found[2][two, 3] == pytest.approx(-1.5 + 4 * 0.6)  # 40 and 19 + 21, one cosine of 1
    assert found[2][0, 2] == pytest.approx(1 + 4 - 21**2 / (1.5 * 59 + 1) / 2)


def test_lengths_are_in_characters_of_the_longer_side() -> None:
    x, y = lengths_of(["你好", "再见了朋友"], ["hello there,", "goodbye, friend"])
    assert y.tolist() == [12, 15] and x == pytest.approx(np.array([2, 5]) * 27 / 7)
