"""The survey of no pairs; samples that are drawn evenly."""

from collections import Counter

from xmine.pairs.pair import Pair
from xmine.pairs.statistics import sample, survey


def test_no_pairs_have_no_spread() -> None:
    found = survey([])
    assert (found["pairs"], found["source_length"], found["length_ratio"]) == (0, None, None)


def test_every_pair_is_as_likely_to_be_drawn() -> None:
    pairs = [Pair(str(number), "") for number in range(10)]
    drawn = Counter(pair for seed in range(3000) for pair in sample(iter(pairs), 3, seed))
    # 900 of each are expected; five standard deviations are 125
    assert all(abs(drawn[pair] - 900) < 125 for pair in pairs)
    assert sample(pairs, 20, 1) == pairs
