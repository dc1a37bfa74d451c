"""Agreement with gold pairs, and the best cut by its golden value and by trying every one."""

from pathlib import Path

import numpy as np
import pytest

from xmine.agreement import agreement, best_threshold, read_id_pairs
from xmine.errors import FileError


def test_golden_g18_best_threshold() -> None:
    scores = [1.30, 1.20, 1.10, 1.05, 0.95]
    pairs = ["a", "b", "wrong", "c", "also wrong"]
    gold = ["a", "b", "c", "never found"]
    f1 = [agreement(pairs[:size], gold).f1 for size in range(1, 6)]
    assert f1 == pytest.approx([0.4, 2 / 3, 4 / 7, 0.75, 2 / 3], abs=1e-6)
    best = best_threshold(scores, pairs, gold)
    assert best.agreement.f1 == 0.75
    assert best.threshold == pytest.approx(1.00, abs=1e-6)


def test_the_best_cut_may_keep_everything_or_nothing() -> None:
    everything = best_threshold([1.2, 1.1], ["a", "b"], ["a", "b"])
    assert everything.threshold == 1.1
    assert everything.agreement.f1 == 1
    nothing = best_threshold([1.2], ["a"], ["b"])
    assert nothing.threshold == float("inf")
    assert nothing.agreement.mined == 0
    assert best_threshold([], [], []).agreement.f1 == 0
    assert best_threshold([], [], ["a"]).threshold == float("inf")


def test_equal_scores_are_kept_or_dropped_together() -> None:
    best = best_threshold([1.0, 1.0, 0.5], ["a", "wrong", "also wrong"], ["a"])
    assert (best.threshold, best.agreement.mined) == (0.75, 2)
    assert best.agreement.f1 == pytest.approx(2 / 3)


def test_the_best_cut_is_that_of_trying_every_one() -> None:
    random = np.random.default_rng(1)
    for _ in range(50):
        scores = np.sort(random.integers(0, 12, 20) / 4)[::-1]
        pairs = random.permutation(30)[:20].tolist()
        gold = random.permutation(30)[:10].tolist()
        tried = [
            agreement([p for p, s in zip(pairs, scores, strict=True) if s >= cut], gold).f1
            for cut in scores
        ]
        best = best_threshold(scores.tolist(), pairs, gold)
        assert best.agreement.f1 == pytest.approx(max(tried))
        kept = [p for p, s in zip(pairs, scores, strict=True) if s >= best.threshold]
        assert agreement(kept, gold) == best.agreement


def test_agreement_without_pairs_or_gold_is_zero() -> None:
    assert agreement([], ["a"]).precision == 0
    assert agreement(["a"], []).recall == 0


def test_a_line_without_tab_is_named(tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("1\t2\n3 4\n")
    with pytest.raises(FileError, match="gold:2: expected two columns"):
        read_id_pairs(tmp_path / "gold")
