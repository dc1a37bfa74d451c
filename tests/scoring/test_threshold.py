"""The cut: by a slow walk over all of them, on sets whose truth is known, and where it is weak."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.toys.mined import Floats, Vectors, mined, mixture, sides
from xmine.scoring import probability as confidence
from xmine.scoring.probability import Confidence, estimate
from xmine.scoring.retrieval import ChosenPairs
from xmine.scoring.threshold import CLOSE, FEW, Threshold, choose_threshold, expected

Scores = NDArray[np.float32]


def cut_of(
    source: Vectors, target: Vectors, margin: str = "ratio", retrieval: str = "max"
) -> tuple[ChosenPairs, Threshold]:
    pairs, found = ranked(source, target, margin, retrieval)
    return pairs, choose_threshold(pairs.scores, found)


def ranked(
    source: Vectors, target: Vectors, margin: str = "ratio", retrieval: str = "max"
) -> tuple[ChosenPairs, Confidence | None]:
    """Mine, and put the most probable pairs first."""
    pairs, neighbours = mined(source, target, margin=margin, retrieval=retrieval)
    found = estimate(pairs, neighbours)
    if found is None:
        return pairs, None
    order = np.lexsort((-pairs.scores, -found.probs))
    return pairs.take(order), found.of(order)


def kept(pairs: ChosenPairs, cut: Threshold) -> NDArray[np.bool_]:
    assert cut.kept.cut == cut.value
    return np.arange(len(pairs)) < cut.kept.pairs


def f1(right: int, found: int, gold: int) -> float:
    return 2 * right / (found + gold)


def judged(probs: Floats, translations: float | None = None) -> Confidence:
    """Make an estimate of these probs."""
    return Confidence(probs, float(probs.sum()) if translations is None else translations)


def random_case(seed: int, decimals: int) -> Floats:
    """Falling probs, some of them equal or nearly so."""
    rng = np.random.default_rng(seed)
    drawn = np.clip(rng.random(int(rng.integers(1, 80))) ** 2 * 1.2, 0, 1)
    return np.sort(np.round(drawn, decimals))[::-1]


def scores_of(probs: Floats) -> Scores:
    """Give as many scores, which are of no matter."""
    return np.random.default_rng(1).random(len(probs)).astype(np.float32)


def chosen(probs: Floats, translations: float | None = None, **options: float | None) -> Threshold:
    return choose_threshold(scores_of(probs), judged(probs, translations), **options)


def every_cut(probs: Floats) -> list[tuple[float, int, float]]:
    """Walk over all cuts that differ: value, pairs kept, right ones."""
    found = []
    for cut in sorted(set(probs.tolist())):
        rows = [row for row in range(len(probs)) if float(probs[row]) >= cut]
        found.append((cut, len(rows), sum(float(probs[row]) for row in rows)))
    return found


# Auto.


@pytest.mark.parametrize("decimals", [1, 2, 4])
def test_the_cut_has_the_highest_expected_f1(decimals: int) -> None:
    for seed in range(40):
        probs = random_case(seed, decimals)
        if not probs.any():
            continue
        translations = float(probs.sum()) * (1 + seed % 3 / 4) + 0.1
        cut = chosen(probs, translations)
        least = 0.5 * (1 - translations / (0.08 * len(probs)))  # where hardly any is expected
        curve = {
            value: 2 * right / (pairs + translations)
            for value, pairs, right in every_cut(probs)
            if value >= least
        }
        assert cut.value in curve
        assert curve[cut.value] == pytest.approx(max(curve.values()), rel=1e-12)
        assert cut.kept.pairs == sum(probs >= cut.value)
        assert cut.how in ("auto", "auto: hardly any pair stands out")
        assert cut.translations == translations


@pytest.mark.parametrize("margin", ["ratio", "distance", "absolute"])
@pytest.mark.parametrize("retrieval", ["max", "intersect"])
@pytest.mark.parametrize(
    ("sources", "targets", "shared", "worst"), [(400, 400, 40, 0.12), (200, 500, 100, 0.03)]
)
def test_it_is_close_to_the_best_cut_there_is(
    margin: str, retrieval: str, sources: int, targets: int, shared: int, worst: float
) -> None:
    losses, errors, counts = [], [], []
    for seed in range(10):
        source, target = sides(sources, targets, shared, seed)
        pairs, cut = cut_of(source, target, margin, retrieval)
        right = (pairs.sources == pairs.targets) & (pairs.sources < shared)
        best = max(f1(right[:n].sum(), n, shared) for n in range(1, len(pairs) + 1))
        rows = kept(pairs, cut)
        losses.append(best - f1(right[rows].sum(), rows.sum(), shared))
        assert cut.kept.precision is not None and cut.translations is not None
        errors.append(abs(cut.kept.precision - right[rows].mean()))
        counts.append(cut.translations)
    assert np.mean(losses) < 0.03 and max(losses) < worst
    assert np.mean(errors) < 0.05 and max(errors) < 0.07
    assert np.mean(counts) == pytest.approx(shared, rel=0.08)


@pytest.mark.parametrize("size", [(1, 1), (1, 2)])
def test_with_too_few_lines_to_compare_it_keeps_everything_and_says_so(
    size: tuple[int, int],
) -> None:
    pairs, cut = cut_of(*sides(*size, 0, 1))
    assert kept(pairs, cut).all() and len(pairs) == 1
    assert cut.how == "too few lines to compare, all kept"
    assert (cut.translations, cut.kept.precision, cut.kept.interval) == (None, None, None)
    assert cut.others == () and "too few lines" in cut.weakness


def test_where_all_is_equal_nothing_stands_out() -> None:
    same = np.full((20, 4), 0.5, dtype=np.float32)
    pairs, cut = cut_of(same, same)
    assert not kept(pairs, cut).any() and cut.kept.precision is None
    assert cut.how == "auto: no pair stands out, none kept"
    assert cut.translations == pytest.approx(0, abs=1e-6)


def test_a_hopeless_crowd_is_not_kept_but_doubtful_pairs_among_more_are() -> None:
    kept = {chance: chosen(np.full(80, chance)).kept.pairs for chance in (0.0005, 0.02, 0.08, 0.2)}
    assert kept == {0.0005: 0, 0.02: 0, 0.08: 80, 0.2: 80}


@pytest.mark.parametrize("precision", [None, 0.9])
def test_no_pairs_at_all(precision: float | None) -> None:
    nothing = np.zeros(0, dtype=np.float32)
    for found in (None, Confidence(np.zeros(0), 0.0), Confidence(np.zeros(0), 70.0)):
        cut = choose_threshold(nothing, found, precision=precision)
        assert (cut.value, cut.kept.pairs, cut.others) == (0, 0, ())
        assert (cut.kept.precision, cut.kept.interval) == (None, None)
        assert cut.how == "no pair is left to choose from"
        assert cut.translations == (None if found is None else found.translations)


# A wanted precision.


@pytest.mark.parametrize("decimals", [1, 2, 4])
@pytest.mark.parametrize("wanted", [0.5, 0.8, 0.95, 1.0])
def test_a_wanted_precision_keeps_the_most_pairs_that_are_expected_to_have_it(
    decimals: int, wanted: float
) -> None:
    empty = 0
    for seed in range(40):
        probs = random_case(seed, decimals)
        cut = chosen(probs, precision=wanted)
        doubts = {value: float((probs * (1 - probs))[probs >= value].sum()) for value in probs}
        fitting = [
            (pairs, value)
            for value, pairs, right in every_cut(probs)
            if right - 0.9 * 0.9 * doubts[value] >= wanted * pairs - 1e-12  # with a reserve
        ]
        likely = [each for each in fitting if each[1] >= 0.5]
        if likely:
            assert (cut.kept.pairs, cut.value) == max(likely)
            assert cut.kept.precision is not None and cut.kept.precision >= wanted - 1e-9
            left_out = ", without pairs below 0.5; --min-prob takes them in"
            assert cut.how == f"precision {wanted:g}{left_out * (likely != fitting)}"
        elif fitting:
            assert cut.kept.pairs == 0
        else:
            empty += 1
            assert cut.kept.pairs == 0 and cut.value > probs[0]
            assert cut.how == f"precision {wanted:g} is not to be expected, no pair kept"
    assert empty < 40 and (wanted < 1 or empty)


def test_a_wanted_precision_that_cannot_be_estimated_keeps_nothing_and_says_so() -> None:
    scores = np.array([1.5, 1.25], dtype=np.float32)
    cut = choose_threshold(scores, None, precision=0.9)
    assert cut.kept.pairs == 0
    assert cut.how == "too few lines to estimate a precision, no pair kept"


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3, 0.6, 0.95])
@pytest.mark.parametrize("precision", [0.5, 0.9, 0.95, 0.99])
def test_a_wanted_precision_is_a_floor(share: float, precision: float) -> None:
    """It never gives less than auto does, whatever share of the lines has a translation."""
    true: dict[float | None, list[float]] = {None: [], precision: []}
    for seed in range(5):
        shared = round(400 * share)
        pairs, found = ranked(*sides(400, 400, shared, seed))
        right = (pairs.sources == pairs.targets) & (pairs.sources < shared)
        for wanted, figures in true.items():
            kept = choose_threshold(pairs.scores, found, precision=wanted).kept.pairs
            figures.append(float(right[:kept].mean()) if kept else 1.0)
    assert np.mean(true[precision]) >= np.mean(true[None]) - 0.015


# A given number.


def test_a_number_is_taken_as_it_is() -> None:
    cut = chosen(np.array([1.0, 0.5, 0.0]), lowest=0.5)
    assert (cut.value, cut.how, cut.kept.pairs, cut.kept.precision) == (0.5, "given", 2, 0.75)


def test_without_an_estimate_a_number_is_a_score() -> None:
    scores = np.array([1.5, 1.25, 1.0], dtype=np.float32)
    assert choose_threshold(scores, None, 1.0623).kept.pairs == 2
    assert choose_threshold(scores, None, -math.inf).kept.pairs == 3
    none = choose_threshold(scores, None, math.inf)
    assert (none.kept.pairs, none.kept.precision, none.others) == (0, None, ())


def test_without_an_estimate_the_cut_is_the_lowest_score() -> None:
    cut = choose_threshold(np.array([1.5, 1.25678], dtype=np.float32), None)
    assert (cut.value, cut.kept.pairs) == (1.2567, 2)


# Expected precision and its interval.


def test_the_expectation_is_the_mean_chance() -> None:
    for seed in range(40):
        probs = random_case(seed, 2)
        for cut in (0.0, 0.1, 0.5, 0.9, 1.1):
            rows = probs >= cut
            found = expected(probs, judged(probs), cut)
            assert (found.cut, found.pairs) == (cut, rows.sum())
            if rows.any():
                assert found.precision == pytest.approx(probs[rows].mean())
                assert found.precision is not None and found.interval is not None
                low, high = found.interval
                assert 0 <= low <= found.precision + 1e-12 and found.precision <= high + 1e-12
                assert high <= 1
            else:
                assert (found.precision, found.interval) == (None, None)


@pytest.mark.slow
def test_nine_in_ten_intervals_hold_the_true_precision_of_what_the_estimate_assumes() -> None:
    held = {"auto": 0, "0.9": 0}
    for seed in range(100):
        gaps, spacings, right = mixture(500, 0.2, 0.3, 0.1, seed)
        order = np.argsort(-gaps)
        gaps, spacings, right = gaps[order], spacings[order], right[order]
        heights = np.random.default_rng(seed).normal(0.05 * right, 0.15)
        found = confidence._judged(gaps, spacings, heights, np.full(500, -1, dtype=np.int8))
        order = np.argsort(-found.probs)
        probs, right = found.probs[order], right[order]
        judgement = judged(probs, float((found.probs / found.seen).sum()))
        for name, wanted in (("auto", None), ("0.9", 0.9)):
            cut = choose_threshold(gaps.astype(np.float32), judgement, precision=wanted).kept
            assert cut.interval is not None
            low, high = cut.interval
            held[name] += low <= right[: cut.pairs].mean() <= high
    assert min(held.values()) >= 80


# Other cuts.


@pytest.mark.parametrize("lowest", [None, 0.0, 0.25, 0.5, 0.97, 1.0])
def test_other_cuts_are_two_below_and_two_above_that_make_a_difference(
    lowest: float | None,
) -> None:
    for seed in range(20):
        probs = random_case(seed, 4)
        cut = chosen(probs, lowest=lowest)
        below = [other for other in cut.others if other.cut < cut.value]
        above = [other for other in cut.others if other.cut > cut.value]
        assert [*below, *above] == list(cut.others) and max(len(below), len(above)) <= 2
        sizes = [other.pairs for other in cut.others]
        assert sizes == sorted(sizes, reverse=True) and cut.kept.pairs not in sizes
        for other in cut.others:
            assert other == expected(probs, judged(probs), other.cut)
            assert other.pairs == (probs >= other.cut).sum() > 0


def test_other_cuts_are_the_nearest_that_keep_something() -> None:
    probs = np.linspace(0.94, 0.06, 45)
    cases = {0.5: [0.3, 0.4, 0.6, 0.7], 0.85: [0.7, 0.8, 0.9], 0.1: [0.2, 0.3]}
    for lowest, others in cases.items():
        cut = chosen(probs, lowest=lowest)
        assert [other.cut for other in cut.others if other.cut != 0.05] == others


# What it says of its weakness.


@pytest.mark.parametrize(
    ("translations", "apart", "weakness"),
    [
        (0.4, 9.0, "no pair stands out from the others"),
        (FEW - 1.0, 9.0, f"fewer than {FEW} translations are expected: only labels tell"),
        (FEW - 1.0, 1.0, f"fewer than {FEW} translations are expected: only labels tell"),
        (float(FEW), CLOSE, ""),
        (float(FEW), 2.9, "a weak estimate: translations hardly stand out from other pairs"),
    ],
)
@pytest.mark.parametrize("lowest", [None, 0.3])
def test_it_says_how_weak_it_is_and_what_to_do(
    translations: float, apart: float, weakness: str, lowest: float | None
) -> None:
    scores = np.linspace(2, 1, 100).astype(np.float32)
    found = Confidence(np.full(100, translations / 100), translations, apart)
    said = choose_threshold(scores, found, lowest).weakness
    assert said.startswith(weakness) and bool(said) == bool(weakness)
    assert not said or ("--seed-pairs" in said and "--threshold" in said)
