"""Figures of the estimate that its twin with loops, a pair at a time, gave to six digits.

Whatever changes the fit changes some of them; docs/explanation/sure.md says what is computed.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.toys.mined import Floats, Vectors, mined, sides, unit
from xmine.knn.exact import search_exact
from xmine.knn.neighbours import Neighbours
from xmine.scoring import probability as confidence
from xmine.scoring.probability import Confidence, estimate
from xmine.scoring.retrieval import ChosenPairs
from xmine.scoring.threshold import choose_threshold

# Sets of pairs: vectors that are mined, and labels.

Case = tuple[ChosenPairs, Neighbours, list[int]]


def of_sides(sources: int, targets: int, shared: int, k: int = 4, used: int = 4) -> Case:
    source, target = sides(sources, targets, shared, sources + shared)
    pairs, _ = mined(source, target, k=k, retrieval="fwd" if k == 2 else "max")
    return pairs, search_exact(source, target, used), [-1] * len(pairs)


def near_twins() -> tuple[Vectors, Vectors]:
    """Short lines: families of three lines that hardly differ; one line in three is translated."""
    rng = np.random.default_rng(12)
    stems = rng.normal(size=(70, 1, 48)) + rng.normal(size=48)
    source, target = (
        (stems + 0.45 * rng.normal(size=(70, 3, 48))).reshape(210, 48) for _ in range(2)
    )
    rows = np.arange(0, 210, 3)
    target[rows] = source[rows] + 0.35 * rng.normal(size=(len(rows), 48))
    return unit(source), unit(target)


def of_near_twins() -> Case:
    pairs, near = mined(*near_twins())
    return pairs, near, [-1] * len(pairs)


def weak() -> Case:
    """An encoder so weak that many translations have a better rival."""
    rng = np.random.default_rng(5)
    source, target = rng.normal(size=(220, 48)), rng.normal(size=(200, 48))
    target[:120] = source[:120] + 1.7 * target[:120]
    pairs, near = mined(unit(source), unit(target))
    return pairs, near, [-1] * len(pairs)


def weak_and_known() -> Case:
    """Pairs that are known to be right though they have a better rival."""
    pairs, near, known = weak()
    source, target = pairs.sources, pairs.targets
    fwd = (near.targets[source, 0] == target) & (near.sources[target, 0] == source)
    beaten = np.flatnonzero((source == target) & ~fwd)
    assert len(beaten) > 3
    for place in beaten[:3].tolist():
        known[place] = 1
    return pairs, near, known


def repeated() -> Case:
    """Lines that come twice: a pair with one of them has a gap of zero."""
    source, target = sides(40, 40, 20, 9)
    target[20:28] = target[:8]
    pairs, near = mined(source, target)
    return pairs, near, [-1] * len(pairs)


def given() -> Case:
    """Any pairs, with one neighbour: those that are neighbours have no rival, others two."""
    source, target = sides(30, 30, 12, 2)
    rows = np.arange(30)
    cosines = (source @ target.T)[np.tile(rows, 2), np.append(rows, rows[::-1])]
    pairs = ChosenPairs(np.tile(rows, 2), np.append(rows, rows[::-1]), cosines, cosines)
    return pairs, search_exact(source, target, 1), [-1] * 60


def with_known(case: Case, right: int, wrong: int) -> Case:
    pairs, near, known = case
    for place in np.random.default_rng(1).permutation(len(pairs))[: right + wrong].tolist():
        is_right = right and pairs.sources[place] == pairs.targets[place]
        known[place] = 1 if is_right else 0
    return pairs, near, known


CASES: dict[str, Callable[[], Case]] = {
    "six lines": lambda: of_sides(6, 5, 4),
    "few lines": lambda: of_sides(25, 30, 9),
    "many lines, 2 % parallel": lambda: of_sides(500, 500, 10),
    "60 % parallel": lambda: of_sides(250, 280, 150),
    "all parallel": lambda: of_sides(90, 90, 90),
    "none parallel": lambda: of_sides(60, 60, 0),
    "a margin of one neighbour": lambda: of_sides(120, 130, 50, k=1),
    "two neighbours are known": lambda: of_sides(120, 110, 50, k=2, used=2),
    "more neighbours than are read": lambda: of_sides(80, 70, 30, used=9),
    "judged, right and wrong": lambda: with_known(of_sides(200, 200, 60), 40, 20),
    "judged, wrong alone": lambda: with_known(of_sides(200, 200, 60), 0, 30),
    "short lines": of_near_twins,
    "short lines, judged": lambda: with_known(of_near_twins(), 30, 30),
    "a weak encoder": weak,
    "a weak encoder, judged": weak_and_known,
    "repeated lines": repeated,
    "given pairs and one neighbour": given,
}


# Of each: translations, how far they are apart, and the pairs that three cuts keep.
FIGURES = {
    "six lines": (3.9104, 12.5794, 4, 4, 4),
    "few lines": (9.0851, 10.0646, 9, 9, 9),
    "many lines, 2 % parallel": (10.6035, 9.2684, 10, 10, 10),
    "60 % parallel": (150.6119, 11.4560, 152, 152, 152),
    "all parallel": (90.0993, 13.5183, 90, 90, 90),
    "none parallel": (0.0000, 0.0000, 0, 0, 0),
    "a margin of one neighbour": (51.4008, 11.7953, 51, 51, 51),
    "two neighbours are known": (50.7352, 11.0383, 51, 51, 51),
    "more neighbours than are read": (29.8047, 8.7954, 30, 30, 30),
    "judged, right and wrong": (58.6275, 10.8597, 58, 58, 58),
    "judged, wrong alone": (44.8187, 10.4589, 44, 44, 44),
    "short lines": (69.5113, 5.1752, 69, 69, 69),
    "short lines, judged": (87.2349, 4.7904, 83, 82, 82),
    "a weak encoder": (63.4707, 4.0237, 68, 66, 39),
    "a weak encoder, judged": (84.8668, 4.0673, 85, 84, 71),
    "repeated lines": (0.0000, 0.0000, 0, 0, 0),
    "given pairs and one neighbour": (0.0000, 0.0000, 0, 0, 0),
}


@pytest.mark.parametrize("name", CASES)
def test_estimates_and_cuts_of_mined_pairs(name: str) -> None:
    pairs, near, known = CASES[name]()
    found = estimate(pairs, near, np.array(known, dtype=np.int8))
    assert found is not None
    translations, apart, *kept = FIGURES[name]
    assert (found.translations, found.apart) == pytest.approx((translations, apart), abs=2e-3)
    order = np.lexsort((-pairs.scores, -found.probs))
    ranked = pairs.scores[order], found.of(order)
    assert [choose_threshold(*ranked, precision=x).kept.pairs for x in (None, 0.5, 0.9)] == kept


Drawn = tuple[Floats, Floats, Floats, NDArray[np.int8]]


def drawn(rows: int, share: float, mu: float, slope: float, tau: float, seed: int) -> Drawn:
    """Draw gaps, spacings, heights and labels as the estimate assumes them, the scale being 0.05.

    From the tenth seed on a sixth of the pairs is known.
    """
    rng = np.random.default_rng(seed)
    right = np.arange(rows) < share * rows
    heights = rng.normal(np.where(right, 0.55, 0.5), 0.12)
    gaps = mu - slope * (heights - 0.5) + rng.normal(0, tau, rows)
    gaps = np.where(right, gaps, rng.exponential(0.05, rows))
    spacings = rng.exponential(np.where(right, 0.05, 0.025))
    known = np.where(rng.random(rows) < 1 / 6, right, -1) if seed >= 10 else np.full(rows, -1)
    kept = gaps > 0
    return gaps[kept], spacings[kept], heights[kept], known[kept].astype(np.int8)


# Each brings the fit to another end, or to one of its limits: rows, share, mean, slope, spread,
# seed; then the sum of the probabilities, the mean share that is seen, and how far they are apart.
DRAWN: dict[str, tuple[tuple[int, float, float, float, float, int], tuple[float, float, float]]] = {
    "gaps fall steeply": ((600, 0.3, 0.25, 0.9, 0.05, 0), (179.0057, 0.9865, 4.9314)),
    "hardly a translation is seen where rivals are close": (
        (600, 0.3, 0.12, 0.9, 0.05, 1),
        (114.7963, 0.9663, 3.1432),
    ),
    "gaps do not fall": ((600, 0.3, 0.3, 0.0, 0.15, 0), (165.7001, 0.9927, 6.4315)),
    "gaps fall by more than rivals gain": (
        (600, 0.3, 0.3, 1.5, 0.1, 0),
        (146.3821, 0.9749, 5.9892),
    ),
    "gaps rise": ((600, 0.3, 0.3, -0.5, 0.1, 2), (171.1058, 0.9984, 6.4372)),
    "gaps of one width": ((900, 0.5, 0.3, 0.5, 0.002, 0), (452.2922, 1.0000, 5.6236)),
    "gaps of any width": ((600, 0.6, 0.1, 0.5, 0.5, 2), (176.7670, 0.8417, 6.8156)),
    "near, of which two guesses end at nothing": (
        (600, 0.5, 0.08, 0.5, 0.03, 1),
        (206.5381, 0.9794, 2.1381),
    ),
    "as near as may be": ((600, 0.5, 0.08, 0.5, 0.03, 2), (222.7574, 0.9732, 2.1552)),
    "few and far": ((300, 0.01, 1.2, 0.5, 0.1, 2), (3.1427, 0.9889, 13.4015)),
    "far and scattered": ((300, 0.02, 0.9, 0.5, 0.3, 0), (6.3867, 0.9916, 12.8577)),
    "the second guess": ((300, 0.02, 0.9, 0.5, 0.3, 2), (6.1531, 0.9951, 14.8345)),
    "nearly all": ((150, 0.9, 0.3, 0.5, 0.1, 0), (133.2266, 0.9788, 5.5796)),
    "all": ((100, 0.98, 0.2, 0.9, 0.06, 3), (91.9998, 0.9651, 4.3875)),
    "perhaps none": ((60, 0.3, 0.18, 0.5, 0.08, 2), (0.0130, 0.9965, 4.9431)),
    "perhaps some": ((30, 0.1, 0.2, 0.5, 0.08, 2), (2.4229, 0.9964, 5.5213)),
    "nothing but noise": ((60, 0.3, 0.18, 0.5, 0.08, 0), (0.0000, 1.0000, 0.0000)),
    "some are known": ((600, 0.3, 0.2, 0.7, 0.05, 10), (173.2542, 0.9799, 3.8549)),
    "few, some are known": ((60, 0.3, 0.18, 0.5, 0.08, 11), (12.0750, 0.9979, 3.8882)),
    "near, some are known": ((400, 0.4, 0.1, 0.5, 0.04, 12), (117.9739, 0.9700, 2.2422)),
}


@pytest.mark.parametrize("name", DRAWN)
def test_estimates_of_drawn_pairs(name: str) -> None:
    how, expected = DRAWN[name]
    found = confidence._judged(*drawn(*how))
    figures = found.probs.sum(), found.seen.mean(), found.apart
    assert figures == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_of_many_pairs_some_give_the_first_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = drawn(460, 0.4, 0.25, 0.6, 0.06, 14)
    whole = confidence._judged(*pairs).probs
    monkeypatch.setattr(confidence, "_ENOUGH", 50)
    np.testing.assert_allclose(confidence._judged(*pairs).probs, whole, rtol=0, atol=5e-3)


def test_equal_gaps_and_heights_are_no_matter() -> None:
    """Nothing varies: the limits of scale and variance hold; what is known stays."""
    for gap, spacing, label, prob in ((0.0, 0.0, -1, 0), (0.2, 0.01, 0, 0), (0.2, 0.01, 1, 1)):
        same = np.full(8, gap), np.full(8, spacing), np.full(8, 0.5), np.full(8, label, np.int8)
        assert confidence._judged(*same).probs.tolist() == [prob] * 8


def test_pairs_that_are_taken_for_right_count_as_such() -> None:
    found = Confidence(np.array([0.9, 0.25, 0.5, 0.0]), 3.0, 4.0)
    after = found.where_known(np.array([1.0, np.nan, np.nan, 1.0]))
    assert after.probs.tolist() == [1.0, 0.25, 0.5, 1.0]
    assert (after.translations, after.apart) == (3.0 + 0.1 + 1.0, 4.0)
    assert found.of(np.array([2, 0])).probs.tolist() == [0.5, 0.9]


def test_the_normal_distribution_is_looked_up_closely() -> None:
    found = np.interp(np.linspace(-7, 7, 9_999), confidence._POINTS, confidence._BELOW)
    exact = [math.erfc(-each / math.sqrt(2)) / 2 for each in np.linspace(-7, 7, 9_999).tolist()]
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-6)
