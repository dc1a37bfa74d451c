"""The longest rising chain against a slow twin, and blocks of wrong rows against all segments."""

import math

import numpy as np
import pytest

from xmine.scoring.order import in_one_order, rising_share, wrong_blocks


def longest_chain(sources: list[int], targets: list[int]) -> int:
    """Try every pair as the end of a chain."""
    pairs, longest = sorted(zip(sources, targets, strict=True)), [0]
    for at, (source, target) in enumerate(pairs):
        before = [
            longest[i + 1] for i, (x, y) in enumerate(pairs[:at]) if x < source and y < target
        ]
        longest.append(1 + max(before, default=0))
    return max(longest)


def test_the_rising_share_is_that_of_the_longest_chain() -> None:
    random = np.random.default_rng(1)
    for size, many in [(0, 1), (1, 1), (30, 12), (30, 30), (40, 400)]:
        for _ in range(20):
            x, y = random.integers(0, many, (2, size))
            chain = longest_chain(x.tolist(), y.tolist())
            assert rising_share(x, y) == chain / max(size, 1)
    hundred = np.arange(100)
    assert rising_share(hundred, hundred[::-1]) == 0.01
    assert rising_share(random.permutation(hundred), np.zeros(100, int)) == 0.01


def test_lengths_tell_whether_two_texts_are_in_one_order() -> None:
    random = np.random.default_rng(3)
    for size in (60, 2000):
        lengths = np.exp(random.normal(4, 0.6, size))
        other = lengths * np.exp(random.normal(0.2, 0.1, size))
        first, second = (["x" * int(length) for length in each] for each in (lengths, other))
        kept = [np.flatnonzero(random.random(size) > 0.2) for _ in range(2)]
        assert in_one_order(first, second)
        some = [first[at] for at in kept[0]], [second[at] for at in kept[1]]
        assert size < 100 or in_one_order(*some)
        for left, right in ((first, sorted(second)), (first[::2], second[1::2]), (first, ["x"])):
            assert not in_one_order(left, right)
            assert not in_one_order(sorted(left), sorted(right))


def rows(size: int, *blocks: tuple[int, int]) -> np.ndarray:
    wrong = np.zeros(size, bool)
    for start, stop in blocks:
        wrong[start:stop] = True
    return wrong


def test_blocks_of_wrong_rows() -> None:
    three = [(461, 735), (739, 749), (1106, 1121)]
    assert wrong_blocks(rows(3071, *three)) == three
    assert wrong_blocks(rows(0)) == wrong_blocks(rows(50)) == []
    assert wrong_blocks(rows(200, (100, 104))) == []
    assert wrong_blocks(rows(200, (0, 5), (195, 200))) == [(0, 5), (195, 200)]
    assert wrong_blocks(rows(2000, (0, 2000))) == [(0, 2000)]
    # One right row is bridged, and three among ten are too many.
    assert wrong_blocks(rows(1000, (100, 110), (111, 120))) == [(100, 120)]
    gaps = rows(1000, (100, 113))
    gaps[[103, 106, 109]] = False
    assert wrong_blocks(gaps) == []


def test_blocks_are_the_longest_of_all_segments_that_could_be_one() -> None:
    """Beginnings and ends add something; nowhere does the sum fall as far as it must rise."""
    random, seen = np.random.default_rng(1), 0
    for _ in range(30):
        wrong = random.random(60) < random.choice([0.2, 0.5])
        wrong[(at := random.integers(0, 45)) : at + 15] = random.random(15) < 0.9
        rate, needed = wrong.mean(), math.log(20 * 60)
        steps = np.where(wrong, math.log(0.999 / rate), math.log(0.001 / (1 - rate)))
        sums = np.concatenate([[0], steps.cumsum()])

        def could(start: int, stop: int, sums: np.ndarray = sums, needed: float = needed) -> bool:
            inside = sums[start : stop + 1]
            falls = np.maximum.accumulate(inside) - inside
            rises = inside[-1] - inside[0] >= needed and falls.max() < needed
            return bool(
                rises and (inside[1:] > inside[0]).all() and (inside[:-1] < inside[-1]).all()
            )

        every = [(a, b) for a in range(60) for b in range(a + 5, 61) if could(a, b)]
        longest = [
            (a, b)
            for a, b in every
            if not any(c <= a and b <= d and (a, b) != (c, d) for c, d in every)
        ]
        assert wrong_blocks(wrong) == longest
        seen += len(longest)
    assert seen > 10


@pytest.mark.parametrize("rate", [0.02, 0.2, 0.5, 0.8])
def test_wrong_rows_at_random_make_no_block(rate: float) -> None:
    """In five corpora of a hundred at most."""
    random = np.random.default_rng(1)
    found = sum(bool(wrong_blocks(random.random(2000) < rate)) for _ in range(100))
    assert found <= 5
