"""Neighbours of matrices that grow are those of a search of all rows."""

import numpy as np
import pytest

from xmine.knn.exact import search_exact
from xmine.knn.growing import has_grown, rows_mark, search_grown
from xmine.knn.neighbours import FILES


@pytest.mark.parametrize(("n", "m"), [(300, 280), (300, 200), (210, 280), (295, 270), (4, 4)])
def test_grown_neighbours_are_those_of_all_rows(n: int, m: int) -> None:
    dice = np.random.default_rng(n + m)
    # Few directions: many rows are equal, on both sides of where the matrices end first.
    pool = dice.integers(-2, 3, (90, 8)) + 0.01
    pool = (pool / np.linalg.norm(pool, axis=1, keepdims=True)).astype(np.float16)
    source, target = pool[dice.integers(0, 90, 300)], pool[dice.integers(0, 90, 280)]
    found = search_grown(search_exact(source[:n], target[:m], 4), source, target)
    for name in FILES:
        expected = getattr(search_exact(source, target, 4), name)
        np.testing.assert_array_equal(getattr(found, name), expected)


def test_a_search_goes_on_where_little_is_new() -> None:
    rows = np.eye(16, dtype=np.float16)[np.arange(400) % 16]
    known = search_exact(rows[:390], rows[:400], 4)
    assert has_grown(known, rows, rows, 4, "exact")
    assert not has_grown(known, rows, rows, 5, "exact")
    assert not has_grown(known, rows[:389], rows, 4, "exact")
    assert not has_grown(search_exact(rows[:100], rows, 4), rows, rows, 4, "exact")
    assert (
        len({rows_mark(rows[:i], rows[:j], k) for i, j, k in [(9, 9, 4), (8, 9, 4), (9, 9, 5)]})
        == 3
    )
