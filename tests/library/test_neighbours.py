import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.neighbours import Neighbours, nearest
from xmine.progress import Progress


def slow_nearest(
    source: NDArray[np.float32], target: NDArray[np.float32], k: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort every row of the whole matrix: by falling cosine, then by row number."""
    cosines = source.astype(np.float64) @ target.astype(np.float64).T
    forward = [sorted(range(len(target)), key=lambda j: (-row[j], j))[:k] for row in cosines]
    backward = [sorted(range(len(source)), key=lambda i: (-row[i], i))[:k] for row in cosines.T]
    return np.array(forward), np.array(backward)


def unit_rows(rows: int, dim: int, seed: int) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).standard_normal((rows, dim)).astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / lengths, dtype=np.float32)


@pytest.mark.parametrize("rows", [(1, 1), (3, 200), (257, 130)])
@pytest.mark.parametrize("k", [1, 4, 300])
@pytest.mark.parametrize("block", [(1024, 4096), (7, 5), (64, 64)])
def test_agrees_with_sorting_the_whole_matrix(
    rows: tuple[int, int], k: int, block: tuple[int, int]
) -> None:
    source, target = unit_rows(rows[0], 24, 1), unit_rows(rows[1], 24, 2)
    found = nearest(source, target, k, block_rows=block[0], block_columns=block[1])
    forward, backward = slow_nearest(source, target, k)
    assert np.array_equal(found.targets, forward)
    assert np.array_equal(found.sources, backward)
    exact = np.take_along_axis(source @ target.T, forward, axis=1)
    np.testing.assert_allclose(found.target_cosines, exact, atol=1e-6)


@pytest.mark.parametrize("block", [(1024, 4096), (7, 5), (64, 128)])
def test_ties_go_to_the_lower_row(block: tuple[int, int]) -> None:
    """Coordinates of 0 and 1/2 make cosines exact, so that most of them are tied."""
    random = np.random.default_rng(4)
    source = (random.random((90, 8)) < 0.5).astype(np.float32) * np.float32(0.5)
    target = (random.random((70, 8)) < 0.5).astype(np.float32) * np.float32(0.5)
    found = nearest(source, target, 5, block_rows=block[0], block_columns=block[1])
    forward, backward = slow_nearest(source, target, 5)
    assert np.array_equal(found.targets, forward)
    assert np.array_equal(found.sources, backward)


def parts(found: Neighbours) -> list[bytes]:
    return [
        found.targets.tobytes(),
        found.target_cosines.tobytes(),
        found.sources.tobytes(),
        found.source_cosines.tobytes(),
    ]


def test_block_sizes_do_not_change_a_bit() -> None:
    source, target = (
        unit_rows(1000, 100, 1).astype(np.float16),
        unit_rows(801, 100, 2).astype(np.float16),
    )
    whole = parts(nearest(source, target, 4))
    for block in [(1000, 801), (999, 800), (130, 77), (1, 1000), (1000, 1)]:
        assert (
            parts(nearest(source, target, 4, block_rows=block[0], block_columns=block[1])) == whole
        )


def test_the_first_of_more_neighbours_are_those_of_a_smaller_k() -> None:
    source, target = unit_rows(100, 16, 5), unit_rows(90, 16, 6)
    assert parts(nearest(source, target, 7).first(3)) == parts(nearest(source, target, 3))


def test_directions_are_symmetric() -> None:
    source, target = unit_rows(300, 16, 5), unit_rows(200, 16, 6)
    one, other = nearest(source, target, 3), nearest(target, source, 3)
    assert np.array_equal(one.targets, other.sources)
    assert np.array_equal(one.sources, other.targets)


def test_progress_ends_at_the_number_of_sources() -> None:
    seen: list[Progress] = []
    nearest(unit_rows(300, 8, 1), unit_rows(20, 8, 2), 2, block_rows=128, report=seen.append)
    assert [(step.done, step.total) for step in seen] == [(128, 300), (256, 300), (300, 300)]


def test_threads_do_not_change_a_bit_whatever_the_width() -> None:
    """Unpadded, BLAS splits the products of widths 500 and 1000 by the number of threads."""
    script = (
        "import hashlib, numpy as np\n"
        "from xmine.neighbours import nearest\n"
        "digest = hashlib.sha256()\n"
        "for width in (500, 512, 1000):\n"
        "    sides = np.random.default_rng(1).standard_normal((2, 900, width)) / width**0.5\n"
        "    found = nearest(*sides.astype(np.float16), 4)\n"
        "    digest.update(found.target_cosines.tobytes() + found.sources.tobytes())\n"
        "print(digest.hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(digests) == 1
