"""Chains, right rows and blocks of wrong ones against slow twins that try everything."""

import math
from itertools import product

import numpy as np
import pytest

from xmine.scoring.order import (
    along,
    exchanged,
    in_one_order,
    order_support,
    right_rows,
    rising_share,
    wrong_blocks,
)


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


def test_a_chain_is_the_mean_of_all_its_paths() -> None:
    random = np.random.default_rng(4)
    for size in (1, 2, 7):
        odds, steps = random.exponential(1, size), random.dirichlet([1, 1], 2)
        paths = np.array(list(product((0, 1), repeat=size)))
        moves = np.zeros((len(paths), 2, 2))
        for path, seen in zip(paths, moves, strict=True):
            np.add.at(seen, (path[:-1], path[1:]), 1)
        weights = (odds**paths).prod(axis=1) * (steps**moves).prod(axis=(1, 2))
        weights *= steps[1 - paths[:, 0], paths[:, 0]]  # as often as in the long run
        for found, each in zip(along(odds, steps), (paths, moves), strict=True):
            np.testing.assert_allclose(found, np.average(each, 0, weights), atol=1e-12)


@pytest.mark.parametrize(("scale", "wrong"), [(1, "some"), (0.01, "none"), (30, "all")])
def test_right_rows_are_told_from_wrong_ones_on_any_scale(scale: float, wrong: str) -> None:
    """Some are hard; a tenth of the rows and a block are wrong, or none, or all."""
    random = np.random.default_rng(5)
    others, scores = random.normal(-12, 4, 1200), random.normal(-1, 3, 500)
    is_right = random.random(500) > {"some": 0.1, "none": 0, "all": 1}[wrong]
    is_right[100:160] &= wrong != "some"
    scores[~is_right] = random.normal(-12, 4, (~is_right).sum())
    probs = right_rows(scores * scale + 7, others * scale + 7)
    assert probs is not None and right_rows(scores, others[:6]) is None
    assert probs.sum() == pytest.approx(is_right.sum(), abs=15)
    many = right_rows(np.tile(scores, 60) * scale + 7, others * scale + 7)
    assert many is not None and many.mean() == pytest.approx(is_right.mean(), abs=0.03)
    agree = (probs > 0.5) == is_right
    assert agree.mean() > 0.95 and agree[105:155].all()


def test_exchanged_pairs_are_wrong_and_each_is_there_once() -> None:
    for size in (0, 1, 2, 7, 3000):
        x, y = np.arange(size), np.arange(size) // 2
        cells = np.array(exchanged(x, y, size)).T @ (size, 1)
        assert not np.isin(cells, x * size + y).any() and len(set(cells)) == len(cells) <= 1500
        assert size < 3 or len(cells) > 1.5 * min(size, 500)


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


def test_pairs_support_cells_that_they_go_on_to() -> None:
    """As a walk over all pairs finds it, of three rows before a cell and three behind."""
    rng = np.random.default_rng(3)
    sources, targets = rng.integers(0, 30, (2, 60))
    probs, cells = rng.random(60), rng.integers(0, 30, (2, 200))
    expected = []
    for x, y in cells.T.tolist():
        total = 0.0
        for sign in (-1, 1):
            best = [0.0]
            for step in (1, 2, 3):
                pairs = [
                    (prob, target)
                    for source, target, prob in zip(sources, targets, probs, strict=True)
                    if source == x + sign * step
                ]
                if pairs:
                    prob, target = max(pairs)
                    goes_on = abs(sign * (target - y) - step) <= 1 and target != y
                    best.append(prob if goes_on else 0.0)
            total += max(best)
        expected.append(total)
    found = order_support((cells[0], cells[1]), (sources, targets), probs)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
