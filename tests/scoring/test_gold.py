"""Agreement with gold pairs, and the best cut by its golden value and by trying every one."""

import numpy as np
import pytest

from xmine.scoring.gold import agreement, best_threshold


def test_golden_g18_best_threshold() -> None:
    scores = [1.30, 1.20, 1.10, 1.05, 0.95]
    pairs = ["a", "b", "wrong", "c", "also wrong"]
    gold = ["a", "b", "c", "never found"]
    f1 = [agreement(pairs[:size], gold).f1 for size in range(1, 6)]
    assert f1 == pytest.approx([0.4, 2 / 3, 4 / 7, 0.75, 2 / 3], abs=1e-6)
    assert best_threshold(scores, pairs, gold) == pytest.approx(1.00, abs=1e-6)


def test_the_best_cut_may_keep_everything_or_nothing() -> None:
    assert best_threshold([1.2, 1.1], ["a", "b"], ["a", "b"]) == 1.1
    assert best_threshold([1.2], ["a"], ["b"]) == float("inf")
    assert best_threshold([], [], []) == best_threshold([], [], ["a"]) == float("inf")


def slow_f1(kept: list[int], gold: list[int]) -> float:
    """The harmonic mean of precision and recall; 0 without a right pair."""
    right = sum(pair in gold for pair in kept)
    if not right:
        return 0.0
    precision, recall = right / len(kept), right / len(gold)
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("size", [5, 20])
def test_the_best_cut_is_that_of_trying_every_one(size: int) -> None:
    random = np.random.default_rng(1)
    for _ in range(200):
        scores = (np.sort(random.integers(0, 12, size) / 4)[::-1]).tolist()
        pairs = random.permutation(size + 10)[:size].tolist()
        gold = random.permutation(size + 10)[: size // 2].tolist()
        tried = {
            cut: slow_f1([p for p, s in zip(pairs, scores, strict=True) if s >= cut], gold)
            for cut in sorted(set(scores))
        }
        best = best_threshold(scores, pairs, gold)
        kept = [p for p, s in zip(pairs, scores, strict=True) if s >= best]
        assert agreement(kept, gold).f1 == pytest.approx(max(tried.values()))
        if not any(tried.values()):
            assert not kept
            continue
        highest = max(cut for cut, f1 in tried.items() if f1 == pytest.approx(max(tried.values())))
        below = [score for score in scores if score < highest] or [highest]
        assert best == (highest + max(below)) / 2


def test_agreement_without_pairs_or_gold_is_zero() -> None:
    assert agreement([], ["a"]).precision == 0
    assert agreement(["a"], []).recall == 0
