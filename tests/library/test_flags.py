"""Each flag has pairs that it must hit and pairs that it must not hit."""

import numpy as np

from xmine.flags import hubs


def test_a_hub_is_neighbour_to_very_many_lines_and_the_highest_comes_first() -> None:
    rng = np.random.default_rng(1)
    ids = np.stack([rng.permutation(1000)[:4] for _ in range(1000)])
    assert len(hubs(ids, 1000)[0]) == 0
    ids[:200, 0], ids[200:500, 1] = 7, 3
    rows, counts = hubs(ids, 1000)
    assert rows.tolist() == [3, 7]
    assert counts.tolist() == [(ids == 3).sum(), (ids == 7).sum()]


def test_small_files_have_no_hubs() -> None:
    ids = np.zeros((19, 1), dtype=np.int64)  # one line is nearest to all nineteen
    assert len(hubs(ids, 300)[0]) == 0
    assert hubs(np.zeros((20, 1), dtype=np.int64), 300)[0].tolist() == [0]


def test_rows_of_a_group_share_their_lists_and_a_list_counts_once() -> None:
    rng = np.random.default_rng(1)
    ids = np.stack([rng.permutation(np.arange(100, 1000))[:4] for _ in range(1000)])
    ids[:100] = np.arange(400).reshape(100, 4) % 100  # variants of one line, 0 to 99
    assert len(hubs(ids, 1000)[0]) == 0
    groups = np.arange(1000)
    groups[:100] = 0
    rows, counts = hubs(ids, 1000, groups)
    assert rows.tolist() == list(range(100))
    assert counts.tolist() == [100] * 100
