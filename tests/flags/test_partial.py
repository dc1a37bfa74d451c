"""`partial`: a long stretch of one side has no counterpart, and that side is the longer one."""

import numpy as np

from xmine.flags.partial import is_partial
from xmine.scoring.alignment import Looseness


def pairs(*rows: tuple[float, float, float, float]) -> Looseness:
    figures = np.array(rows, dtype=np.float32).T
    return Looseness(figures[:2], figures[2:])


NOT_SURE = np.zeros(1, dtype=bool)
# What confident pairs have: short stretches, and sources twice as heavy.
USUAL = [(0.05 + 0.001 * row, 0.05, 2000, 1000) for row in range(40)]


def test_a_stretch_counts_more_on_the_side_that_is_too_long() -> None:
    assert is_partial(pairs((0.6, 0, 1000, 1000)), NOT_SURE)
    assert not is_partial(pairs((0.4, 0, 1000, 1000)), NOT_SURE)
    assert is_partial(pairs((0.4, 0, 2000, 1000)), NOT_SURE)
    assert not is_partial(pairs((0.6, 0, 1000, 2000)), NOT_SURE)
    assert is_partial(pairs((0, 0.4, 1000, 2000)), NOT_SURE)


def test_a_length_alone_is_not_enough() -> None:
    assert not is_partial(pairs((0, 0, 100_000, 100)), NOT_SURE)


def test_what_is_too_long_is_seen_from_confident_pairs() -> None:
    more = [(0.4, 0, 2000, 1000), (0.4, 0, 4000, 1000), (0, 0.4, 1000, 1000)]
    sure = np.arange(43) < 40
    assert is_partial(pairs(*USUAL, *more), sure)[40:].tolist() == [False, True, True]


def test_where_confident_pairs_have_long_stretches_only_longer_ones_count() -> None:
    loose = [(0.3 + 0.01 * row, 0.05, 1000, 1000) for row in range(40)]
    sure = np.arange(42) < 40
    found = is_partial(pairs(*loose, (0.7, 0, 1000, 1000), (1.2, 0, 1000, 1000)), sure)
    assert found[40:].tolist() == [False, True]


def test_where_clauses_are_moved_to_lines_beside_a_stretch_says_less() -> None:
    for evidence, partial in ((1.1, False), (1.3, True)):
        given = pairs((evidence, 0, 1000, 1000))
        assert is_partial(given, NOT_SURE)
        assert is_partial(given, NOT_SURE, cut_otherwise=True) == partial
