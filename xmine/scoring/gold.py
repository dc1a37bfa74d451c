"""Mined pairs against gold pairs: precision, recall, F1, and the best cut in hindsight."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Agreement:
    """How mined pairs agree with gold pairs; the three shares lie between 0 and 1."""

    precision: float
    recall: float
    f1: float
    mined: int
    gold: int
    right: int


def agreement(mined: Collection[Hashable], gold: Collection[Hashable]) -> Agreement:
    """Compare mined pairs with gold pairs."""
    return agreement_of(len(mined), len(gold), len(set(mined) & set(gold)))


def agreement_of(mined: int, gold: int, right: int) -> Agreement:
    """Compare numbers of pairs; 0 where a share has no denominator."""
    precision = right / mined if mined else 0.0
    recall = right / gold if gold else 0.0
    f1 = 2 * right / (mined + gold) if mined or gold else 0.0
    return Agreement(precision, recall, f1, mined, gold, right)


def best_threshold(
    scores: Sequence[float], pairs: Sequence[Hashable], gold: Collection[Hashable]
) -> float:
    """Find the cut with the highest F1: midway between the last score kept and the next.

    Of equally good cuts it is the highest. The last score of all is its own cut. Where no pair is
    right the cut is infinite: best is to keep none.

    Args:
        scores: falling.
        pairs: one per score.
        gold: the true pairs, found or not.
    """
    truth, right, best, cut = set(gold), 0, 0.0, float("inf")
    for rank, (score, pair) in enumerate(zip(scores, pairs, strict=True), start=1):
        right += pair in truth
        is_last, f1 = rank == len(scores), 2 * right / (rank + len(truth))
        following = score if is_last else scores[rank]
        # No threshold can keep one of two equal scores.
        if f1 > best and (is_last or following != score):
            best, cut = f1, (score + following) / 2
    return cut
