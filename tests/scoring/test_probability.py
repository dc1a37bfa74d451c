"""The estimate: sets made as it assumes them, and what must not matter."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.toys.mined import Floats, mined, mixture, sides
from xmine.knn.neighbours import Neighbours
from xmine.scoring import probability as confidence
from xmine.scoring.margin import margin_scores
from xmine.scoring.probability import Confidence, estimate
from xmine.scoring.retrieval import ChosenPairs, choose_pairs


def estimated(
    pairs: ChosenPairs, neighbours: Neighbours, known: list[int] | None = None
) -> Confidence:
    labels = None if known is None else np.array(known, dtype=np.int8)
    found = estimate(pairs, neighbours, labels)
    assert found is not None
    assert found.probs.shape == (len(pairs),) and found.probs.dtype == np.float64
    assert ((found.probs >= 0) & (found.probs <= 1)).all()
    assert found.translations >= found.probs.sum() - 1e-9
    return found


def heights_for(rows: int, right: NDArray[np.bool_] | None = None) -> Floats:
    """Draw how high rivals stand: of translations higher by the mean gap of wrong pairs, 0.05."""
    shift = 0.0 if right is None else 0.05 * right
    return np.random.default_rng(8).normal(0.5, 0.15, rows) + shift


def judged(gaps: Floats, spacings: Floats, known: NDArray[np.int8]) -> tuple[Floats, float, float]:
    found = confidence._judged(gaps, spacings, heights_for(len(gaps)), known)
    return found.probs, float(found.seen.mean()), found.any_at_all


def unknown(rows: int) -> NDArray[np.int8]:
    return np.full(rows, -1, dtype=np.int8)


def test_the_order_of_the_lines_is_no_matter() -> None:
    pairs, neighbours = mined(*sides(150, 200, 30, 4))
    rng = np.random.default_rng(0)
    new_source, new_target = rng.permutation(150), rng.permutation(200)  # new row of each old row
    old_source, old_target = np.argsort(new_source), np.argsort(new_target)
    shuffled = Neighbours(
        new_target[neighbours.targets][old_source],
        neighbours.target_cosines[old_source],
        new_source[neighbours.sources][old_target],
        neighbours.source_cosines[old_target],
    )
    again = choose_pairs(shuffled, margin_scores(shuffled))
    assert again.sources.tolist() != pairs.sources.tolist()
    one, other = estimated(pairs, neighbours), estimated(again, shuffled)
    assert (one.probs == other.probs).all()
    assert one.translations == other.translations


def test_one_neighbour_shows_no_rival_and_two_do() -> None:
    source, target = sides(100, 100, 40, 1)
    assert estimate(*mined(source, target, k=1)) is None
    assert estimated(*mined(source, target, k=2)).translations == pytest.approx(40, rel=0.2)


@pytest.mark.parametrize(
    ("rows", "share", "mean", "spread"),
    [
        *((2_000, 0.1, 0.4, 0.13), (2_000, 0.6, 0.4, 0.13), (20_000, 0.02, 0.4, 0.13)),
        *((5_000, 0.5, 0.8, 0.2), (5_000, 0.3, 0.25, 0.2)),
    ],
)
def test_the_fit_finds_the_mixture_it_assumes(
    rows: int, share: float, mean: float, spread: float
) -> None:
    gaps, spacings, right = mixture(rows, share, mean, spread, 9)
    fit = confidence._fit(gaps, spacings, heights_for(rows) - 0.5, np.zeros(rows, dtype=bool), 0.4)
    near = 0.1 if spread < mean / 2 else 0.15  # what is believed beforehand draws it to a third
    assert (fit.share, fit.scale, fit.mean) == pytest.approx((share, 0.05, mean), rel=near)
    assert fit.spread == pytest.approx(spread, rel=0.15) and fit.gain > 20
    probs, _, any_at_all = judged(gaps, spacings, unknown(rows))
    assert probs.sum() == pytest.approx(right.sum(), rel=0.1) and any_at_all > 0.999
    edges = [0.05, 0.3, 0.7, 0.95, 1.01]
    for low, high in pairwise(edges):  # a probability is a frequency
        some = (probs >= low) & (probs < high)
        if some.sum() > 20:
            assert right[some].mean() == pytest.approx(probs[some].mean(), abs=0.12)


@pytest.mark.parametrize("outlier", [0.2, 1.5, 2.5])
def test_a_wider_gap_is_never_less_likely(outlier: float) -> None:
    # So narrow and near that its tail is shorter than the wrong one.
    gaps, spacings, _ = mixture(1000, 0.5, 0.2, 0.04, 10)
    gaps[0] = outlier  # a name or a number, alone in both files
    probs = confidence._judged(gaps, spacings, np.full(1000, 0.3), unknown(1000)).probs
    assert 0.4 < probs.mean() < 0.6
    assert (np.diff(probs[np.argsort(gaps, kind="stable")]) >= 0).all()


def with_heights(
    rows: int, share: float, mean: float, slope: float, seed: int
) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
    """Draw gaps, spacings and heights as the estimate assumes them; see `mixture`."""
    rng = np.random.default_rng(seed)
    right = np.arange(rows) < share * rows
    heights = rng.normal(np.where(right, 0.05, 0), 0.12)
    gaps = np.where(right, mean - slope * heights + rng.normal(0, 0.05, rows), 0)
    gaps = np.where(right, gaps, rng.exponential(0.05, rows))
    spacings = rng.exponential(np.where(right, 0.05, 0.025))
    seen = gaps > 0
    return gaps[seen], spacings[seen], heights[seen], right[seen]


@pytest.mark.parametrize("slope", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_the_fit_finds_how_gaps_fall_where_rivals_are_close(slope: float, share: float) -> None:
    gaps, spacings, heights, right = with_heights(4_000, share, 0.25, slope, 3)
    middle = heights - heights.mean()
    fit = confidence._fit(gaps, spacings, middle, np.zeros(len(gaps), dtype=bool), 0.4)
    assert fit.share == pytest.approx(right.mean(), rel=0.1)
    assert fit.slope == pytest.approx(slope, abs=0.12)
    assert fit.mean == pytest.approx(0.25 - slope * heights.mean(), rel=0.1)
    assert fit.spread == pytest.approx(0.05, rel=0.35)  # what is believed beforehand widens it
    found = confidence._judged(gaps, spacings, heights, unknown(len(gaps)))
    for low, high in pairwise([0.05, 0.3, 0.7, 0.95, 1.01]):  # a probability is a frequency
        some = (found.probs >= low) & (found.probs < high)
        if some.sum() > 40:
            assert right[some].mean() == pytest.approx(found.probs[some].mean(), abs=0.12)


def test_doubt_whether_there_is_any_translation_counts() -> None:
    none = [estimated(*mined(*sides(60, 60, 0, seed))) for seed in range(30)]
    some = [estimated(*mined(*sides(60, 60, 20, seed))) for seed in range(30)]
    assert np.mean([each.translations for each in none]) < 0.3
    assert min(each.translations for each in some) > 10
    doubtful = [each for each in none if 0.02 < each.probs.max() < 0.98]
    assert doubtful


def test_lines_without_a_known_piece_do_no_harm() -> None:
    right = wrong = 0
    for seed in range(10):
        source, target = sides(60, 60, 30, seed)
        source[40:], target[35:50] = 0, 0
        pairs, neighbours = mined(source, target)
        sure = set(pairs.sources[estimated(pairs, neighbours).probs > 0.5].tolist())
        right += len(sure & set(range(30)))
        wrong += len(sure - set(range(30)))
    assert right >= 298 and wrong <= 5  # of 300 and 300
