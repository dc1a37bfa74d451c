"""Probabilities of reranked scores: they rise with the score, and find what was planted."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from xmine.encoders.reranking import RerankingWeights
from xmine.scoring import calibration
from xmine.scoring.calibration import _on_curve, calibrate, corrected, fit_logistic
from xmine.scoring.probability import Confidence

WEIGHTS = RerankingWeights(right_mean=4.0, right_deviation=2.5)
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


def planted(share: float, pairs: int = 4000, seed: int = 1) -> tuple[Singles, NDArray[np.bool_]]:
    """Draw scores: normal ones of translations; of wrong pairs the highest third is exponential."""
    random = np.random.default_rng(seed)
    right = random.random(pairs) < share
    is_low = random.random(pairs) < 2 / 3
    wrong = -4 + np.where(is_low, -3 * random.random(pairs), random.exponential(1.2, pairs))
    return np.where(right, random.normal(4, 2.2, pairs), wrong).astype(np.float32), right


def first_estimate(right: NDArray[np.bool_], seed: int = 2) -> Confidence:
    """Make a calibrated estimate that sees something else, and is unsure of a fifth."""
    random = np.random.default_rng(seed)
    seen = np.where(right, random.normal(3, 2, len(right)), random.normal(-3, 2, len(right)))
    share = right.mean()
    odds = 6 * seen / 4 + np.log(max(share, 1e-3) / (1 - min(share, 0.999)))
    probs = 1 / (1 + np.exp(-odds))
    return Confidence(np.round(probs, 4), float(probs.sum()), 1.0)


def unknown(scores: Singles) -> NDArray[np.int8]:
    return np.full(len(scores), -1, dtype=np.int8)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.6, 0.95])
def test_probabilities_rise_with_the_score_and_find_what_was_planted(share: float) -> None:
    scores, right = planted(share)
    first = first_estimate(right)
    found = calibrate(scores, first, unknown(scores), WEIGHTS)
    order = np.argsort(scores)
    assert (np.diff(found.probs[order]) >= 0).all()
    assert found.probs.min() >= 0 and found.probs.max() <= 1

    def error(probs: Floats) -> float:
        return float(((probs - right) ** 2).mean())

    assert error(found.probs) < error(first.probs) or share > 0.9  # there the first one is as good


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.6, 0.95])
def test_as_many_translations_are_expected_as_were_planted(share: float) -> None:
    """In the mean of draws: that of one goes astray with its first estimate."""
    beyond = []
    for seed in range(1, 7):
        scores, right = planted(share, seed=seed)
        found = calibrate(scores, first_estimate(right), unknown(scores), WEIGHTS)
        beyond.append([found.translations - right.sum(), found.probs.sum() - right.sum()])
    assert np.abs(np.mean(beyond, axis=0)).max() < max(10, 0.03 * 4000 * share)


def test_of_many_wrong_pairs_a_smaller_share_makes_the_tail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The tail of a normal distribution is exponential far out alone."""
    random = np.random.default_rng(1)
    right = np.arange(20_000) < 600
    scores = np.where(right, random.normal(4, 2.2, 20_000), random.normal(-6, 2.5, 20_000))
    scores = scores.astype(np.float32)
    first = Confidence(np.where(right, 0.9, 0.003), 598.0, 1.0)

    def missed() -> float:
        return 600 - float(calibrate(scores, first, unknown(scores), WEIGHTS).probs.sum())

    few = missed()
    monkeypatch.setattr(calibration, "_IN_TAIL", 100)  # a fifth of them
    assert 0 < 1.5 * few < missed()


def test_the_tail_of_very_many_wrong_pairs_does_not_begin_among_translations() -> None:
    """Translations below the tail would count as wrong pairs, and move the tail up once more."""
    random = np.random.default_rng(1)
    right = np.arange(100_000) < 30_000
    scores = np.where(right, random.normal(4, 2.5, 100_000), random.normal(-4, 2, 100_000))
    scores = scores.astype(np.float32)
    found = calibrate(scores, first_estimate(right), unknown(scores), WEIGHTS)
    assert found.probs.sum() > 0.93 * right.sum()
    assert ((found.probs - right) ** 2).mean() < 0.03  # 0.0235 by the densities themselves


def test_translations_whose_scores_are_lower_than_usual_are_not_the_tail() -> None:
    """So those of long generated lines are: the mixture finds four fifths of these."""
    random = np.random.default_rng(1)
    right = np.arange(60_000) < 30_000
    scores = np.where(right, random.normal(1.9, 2.8, 60_000), random.normal(-7.1, 3, 60_000))
    scores, usual = scores.astype(np.float32), RerankingWeights()
    found = calibrate(scores, first_estimate(right), unknown(scores), usual)
    assert found.probs.sum() == pytest.approx(right.sum(), rel=0.02)


@pytest.mark.parametrize(
    ("share", "pairs", "least"), [(0.3, 4000, 0.3), (0.6, 4000, 0.5), (0.6, 20_000, 0.5)]
)
def test_pairs_are_sure_where_both_estimates_agree(share: float, pairs: int, least: float) -> None:
    """A curve through the mean of both is sure of a twentieth of the translations here."""
    for seed in (1, 5):
        scores, right = planted(share, pairs, seed=seed)
        found = calibrate(scores, first_estimate(right), unknown(scores), WEIGHTS)
        sure = found.probs >= 0.99
        assert right[sure].mean() >= 0.99
        assert right[sure].sum() > least * right.sum()


def test_known_pairs_keep_what_is_known() -> None:
    scores, right = planted(0.3)
    known = unknown(scores)
    known[:50], known[50:100] = 1, 0
    first = first_estimate(right)
    first.probs[:50], first.probs[50:100] = 1, 0
    found = calibrate(scores, first, known, WEIGHTS)
    assert (found.probs[:50] == 1).all() and (found.probs[50:100] == 0).all()


def test_where_nothing_stands_out_nothing_is_made_up() -> None:
    scores, _right = planted(0.0)
    first = Confidence(np.zeros(len(scores)), 0.0, 0.0)
    assert calibrate(scores, first, unknown(scores), WEIGHTS) is first
    hardly = Confidence(np.full(len(scores), 1e-4), 0.4, 0.01)
    assert calibrate(scores, hardly, unknown(scores), WEIGHTS).probs.sum() < 4
    nobody = calibrate(scores[:0], Confidence(np.zeros(0), 0.0, 0.0), unknown(scores[:0]), WEIGHTS)
    assert len(nobody.probs) == 0


@pytest.mark.parametrize("wrong", [0, 1, 20])
def test_where_hardly_a_pair_is_wrong_the_translations_stay(wrong: int) -> None:
    scores, right = planted(1.0, 1000)
    scores[:wrong], right[:wrong] = -4.0, False
    probs = np.where(right, 0.99, 0.02)
    found = calibrate(scores, Confidence(probs, float(probs.sum()), 1.0), unknown(scores), WEIGHTS)
    assert found.translations == pytest.approx(right.sum(), rel=0.03)


@pytest.mark.parametrize("seed", range(3))
def test_the_curve_is_the_one_of_least_loss(seed: int) -> None:
    """Compared with a general minimiser, on labels between 0 and 1."""
    random = np.random.default_rng(seed)
    values = random.normal(3, 5, 300)
    labels = np.clip(1 / (1 + np.exp(-(0.7 * values - 1))) + random.normal(0, 0.2, 300), 0, 1)

    def loss(curve: Floats) -> float:
        heights = curve[0] * values + curve[1]
        losses = np.logaddexp(0, heights) - labels * heights
        return float(losses.sum()) + (float(curve[0]) - 1) ** 2 / 2

    best = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    slope, height = best.x
    expected = 1 / (1 + np.exp(-(slope * values + height)))
    assert _on_curve(values, *fit_logistic(values, labels)) == pytest.approx(expected, abs=1e-5)


def test_a_falling_curve_is_flattened() -> None:
    values = np.linspace(-3, 3, 50)
    curve = fit_logistic(values, (values < 0).astype(np.float64))
    assert np.ptp(_on_curve(values, *curve)) < 0.01


def misjudged(shift: float, pairs: int = 4000) -> tuple[Confidence, NDArray[np.bool_]]:
    """Make an estimate whose log-odds are wrong by one number."""
    random = np.random.default_rng(7)
    odds = random.normal(-2, 3, pairs)
    right = random.random(pairs) < 1 / (1 + np.exp(-odds))
    probs = 1 / (1 + np.exp(-(odds + shift)))
    return Confidence(probs, float(probs.sum()) * 1.1, 1.0), right


def judged_around(confidence: Confidence, right: NDArray[np.bool_], pairs: int) -> NDArray[np.int8]:
    """Label the pairs nearest to even odds."""
    labels = np.full(len(right), -1, dtype=np.int8)
    nearest = np.argsort(np.abs(confidence.probs - 0.5), kind="stable")[:pairs]
    labels[nearest] = right[nearest]
    return labels


@pytest.mark.parametrize("shift", [-1.5, 0.0, 1.5])
def test_judged_pairs_correct_an_estimate_that_is_wrong_by_one_number(shift: float) -> None:
    estimate, right = misjudged(shift)
    found = corrected(estimate, judged_around(estimate, right, 100))
    assert found.probs.sum() == pytest.approx(right.sum(), rel=0.12)
    assert found.translations / found.probs.sum() == pytest.approx(1.1, abs=0.01)
    error = abs(estimate.probs.sum() / right.sum() - 1)
    assert shift == 0 or error > 0.3


def test_the_shift_is_the_most_probable_one() -> None:
    estimate, right = misjudged(1.0, pairs=300)
    labels = judged_around(estimate, right, 12)
    some = labels >= 0
    odds = np.log(estimate.probs / (1 - estimate.probs))

    def loss(shift: Floats) -> float:
        scores = odds[some] + shift[0]
        return float((np.logaddexp(0, scores) - labels[some] * scores).sum() + shift[0] ** 2 / 2)

    best = minimize(loss, np.zeros(1)).x[0]
    expected = 1 / (1 + np.exp(-(odds[~some] + best)))
    assert corrected(estimate, labels).probs[~some] == pytest.approx(expected, abs=2e-4)


def test_judged_pairs_far_from_the_cut_move_nothing_else() -> None:
    estimate, _ = misjudged(0.0)
    labels = np.where(estimate.probs > 0.99, 0, -1).astype(np.int8)  # each of them rejected
    found = corrected(estimate, labels)
    assert (found.probs[labels == 0] == 0).all()
    left = labels == -1
    assert found.probs[left] == pytest.approx(estimate.probs[left], abs=1e-4)


@pytest.mark.parametrize("seed", [21, 25, 83])
def test_where_the_mixture_loses_the_translations_the_first_estimate_counts(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After training, half of the translations stand far out: the mixture takes the rest for tail.

    The seeds are some of those where it did.
    """
    random, pairs = np.random.default_rng(seed), 600
    right = random.random(pairs) < 0.8
    is_low = random.random(pairs) < 2 / 3
    wrong = -4 + np.where(is_low, -3 * random.random(pairs), random.exponential(2.489, pairs))
    is_far = random.random(pairs) < 0.5
    high = np.where(is_far, random.normal(14.47, 1, pairs), random.normal(4.85, 2.62, pairs))
    scores = np.where(right, high, wrong).astype(np.float32)
    seen = np.where(right, 1.89, -1.89) + random.normal(0, 1, pairs)
    probs = 1 / (1 + np.exp(-(2 * 1.89 * seen + np.log(4))))
    first = Confidence(np.round(probs, 4), float(probs.sum()), 1.0)
    found = calibrate(scores, first, unknown(scores), WEIGHTS)
    assert found.translations == pytest.approx(right.sum(), rel=0.03)
    more = replace(first, translations=first.translations + 50)  # that are not among the pairs
    assert calibrate(scores, more, unknown(scores), WEIGHTS).translations == pytest.approx(
        found.translations + 50, abs=0.1
    )
    monkeypatch.setattr(calibration, "_LEAST_FOUND", 0)
    assert calibrate(scores, first, unknown(scores), WEIGHTS).translations < 0.85 * right.sum()
