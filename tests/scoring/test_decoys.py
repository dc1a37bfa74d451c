"""Probabilities by decoys: a literal twin, and what was planted is found without a cliff."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from xmine.knn.neighbours import Neighbours
from xmine.scoring import decoys as module
from xmine.scoring.decoys import USUAL, as_odds, estimate_by_decoys, joined
from xmine.scoring.probability import Confidence
from xmine.scoring.retrieval import ChosenPairs
from xmine.scoring.threshold import choose_threshold

Floats = NDArray[np.float64]
POWER = 0.7


def pairs_of(scores: Floats, start: int = 0) -> ChosenPairs:
    rows, found = np.arange(start, start + len(scores)), scores.astype(np.float32)
    return ChosenPairs(rows, rows, found, found)


def planted(
    share: float, apart: float = 3.5, size: int = 3000, seed: int = 1
) -> tuple[ChosenPairs, ChosenPairs, NDArray[np.bool_]]:
    """Draw candidates whose scores are log-odds less the usual shift, and the decoys of their rows.

    The decoy of a row without a translation is the second best of the wrong ones.
    """
    random = np.random.default_rng(seed)
    right = random.random(size) < share
    values = random.normal(0, 1, size) + apart * right
    beyond = random.random(size)  # the share of decoys above each
    hidden = norm.isf(np.where(right, beyond, beyond**POWER))

    def odds(of: Floats) -> Floats:
        return apart * of - apart**2 / 2 - USUAL

    return pairs_of(odds(values)), pairs_of(odds(hidden)), right


def estimated(
    pairs: ChosenPairs,
    decoys: ChosenPairs,
    labels: NDArray[np.int8] | None = None,
    given: Floats | None = None,
) -> Confidence:
    none = np.full(len(pairs), -1, np.int8) if labels is None else labels
    free = np.full(len(pairs), np.nan) if given is None else given
    return estimate_by_decoys(pairs, np.zeros(len(pairs)), decoys, POWER, none, free)


def twin(pairs: ChosenPairs, decoys: ChosenPairs) -> list[float]:
    """Follow the text of the module pair by pair: every slope and shift, no bins."""
    scores, hidden = pairs.scores.tolist(), decoys.scores.tolist()
    above = {j: (rank + 0.5) / len(hidden) for rank, j in enumerate(np.argsort(-decoys.scores))}
    probs = [0.0] * len(scores)
    for _ in range(3):
        of_row = dict(zip(pairs.sources.tolist(), probs, strict=True))
        translated = (1 - (1 - of_row[row]) ** 2 for row in decoys.sources.tolist())
        mean = sum(translated) / len(hidden)
        power = POWER + (1 - POWER) * mean
        weights = [power * above[j] ** (power - 1) for j in range(len(hidden))]
        weights = [each * len(hidden) / sum(weights) for each in weights]
        logs, curves = [], []
        for slope in module._SLOPES.tolist():
            for shift in module._SHIFTS.tolist():
                chances = [1 / (1 + math.exp(-(slope * s + shift))) for s in scores]
                wrong = sum(1 - each for each in chances)
                share = min(max(1 - wrong / len(scores), 1e-9), 1 - 1e-9)
                ratio = wrong / len(hidden)
                log = 0.0
                for s in scores:  # candidates are told from decoys
                    raised = ratio * (1 + math.exp(slope * s + shift))
                    log += math.log(raised / (1 + raised))
                for s, weight in zip(hidden, weights, strict=True):
                    log -= weight * math.log1p(ratio * (1 + math.exp(slope * s + shift)))
                log *= 0.8
                log -= (shift - math.log(share / (1 - share)) - 2.0) ** 2 / (2 * 1.3**2)
                log -= shift**2 / (2 * 4.0**2) + math.log(slope) ** 2 / (2 * 0.3**2)
                logs.append(log)
                curves.append(chances)
        posterior = [math.exp(each - max(logs)) for each in logs]
        probs = (np.array(posterior) @ np.array(curves) / sum(posterior)).tolist()
    return probs


@pytest.mark.parametrize("share", [0.0, 0.1, 0.7])
def test_it_is_the_mean_over_all_slopes_and_shifts(share: float) -> None:
    pairs, decoys, _ = planted(share, size=40)
    assert estimated(pairs, decoys).probs == pytest.approx(twin(pairs, decoys), abs=0.01)


@pytest.mark.parametrize("apart", [2.0, 3.5, 5.0])  # scripture, and news
@pytest.mark.parametrize("share", [0.03, 0.1, 0.3, 0.6, 0.95])
def test_as_many_translations_are_expected_as_were_planted(share: float, apart: float) -> None:
    errors = []
    for seed in range(4):
        pairs, decoys, right = planted(share, apart, seed=seed)
        found = estimated(pairs, decoys)
        assert (np.diff(found.probs[np.argsort(pairs.scores)]) >= 0).all()
        assert found.probs.min() >= 0 and found.probs.max() <= 1
        errors.append(found.translations / right.sum() - 1)
    most = 0.5 if share < 0.1 else 0.25 if apart < 3 else 0.15
    assert abs(np.median(errors)) < most


@pytest.mark.parametrize("apart", [2.0, 3.5])
def test_where_nothing_is_translated_hardly_a_pair_is_kept(apart: float) -> None:
    kept = []
    for seed in range(7):
        pairs, decoys, _ = planted(0.0, apart, size=1000, seed=seed)
        found = estimated(pairs, decoys)
        order = np.argsort(-found.probs, kind="stable")
        cut = choose_threshold(pairs.scores[order], found.of(order))
        assert cut.weakness
        kept.append(cut.kept.pairs)
    assert np.median(kept) <= 10 and max(kept) < 40, kept


@pytest.mark.parametrize(("share", "apart"), [(0.5, 1.8), (0.5, 3.0), (0.05, 4.0), (0.8, 4.0)])
def test_a_few_pairs_less_change_no_probability_much(share: float, apart: float) -> None:
    """There is no cliff: whichever 15 % of the lines go, the pairs that stay keep their place."""
    pairs, decoys, _ = planted(share, apart, size=1500)
    whole, random = estimated(pairs, decoys), np.random.default_rng(2)
    for _ in range(20):
        rows = np.flatnonzero(random.random(len(pairs)) > 0.15)
        some = estimated(pairs.take(rows), decoys.take(rows))
        assert np.abs(some.probs - whole.probs[rows]).max() < 0.25
        assert some.translations == pytest.approx(0.85 * whole.translations, rel=0.15, abs=10)


def test_the_interval_widens_where_little_is_known() -> None:
    assert 0.4 <= estimated(*planted(0.4)[:2]).doubt < 0.7
    assert 0.7 < estimated(*planted(0.4, size=30)[:2]).doubt < 3


def test_judged_pairs_are_terms_of_the_likelihood() -> None:
    pairs, decoys, _ = planted(0.3, 2.0, size=400)
    before = estimated(pairs, decoys)
    near = np.argsort(np.abs(before.probs - 0.5))[:40]
    labels = np.full(len(pairs), -1, np.int8)
    for label in (0, 1):
        labels[near] = label
        found = estimated(pairs, decoys, labels)
        assert (found.probs[near] == label).all()
        others = labels == -1
        moved = found.probs[others].sum() - before.probs[others].sum()
        assert moved > 10 if label else moved < -10


def test_given_probabilities_stay_and_take_no_part() -> None:
    pairs, decoys, _ = planted(0.3, size=400)
    more = planted(0.9, size=400, seed=9)[0]
    both = pairs.joined(pairs_of(more.scores.astype(np.float64), 400))
    given = np.where(both.sources >= 400, 0.625, np.nan)
    found = estimated(both, decoys, given=given)
    assert (found.probs[both.sources >= 400] == 0.625).all()
    mine = both.sources < 400
    own = found.probs[mine][np.argsort(both.sources[mine])]
    assert own == pytest.approx(estimated(pairs, decoys).probs)


def test_an_estimate_by_gaps_is_joined_with_that_by_decoys() -> None:
    """Margins say the same whatever their unit; the surer estimate counts more."""
    pairs, decoys, right = planted(0.4, size=800)
    found = []
    for scale in (1.0, 0.01):
        one, other = (
            pairs_of(each.scores.astype(np.float64) * scale + 1.1) for each in (pairs, decoys)
        )
        found.append(estimated(as_odds(one, other), as_odds(other, other)))
    assert found[0].probs == pytest.approx(found[1].probs, abs=2e-3)
    both = joined(Confidence(np.where(right, 1.0, 0.0), float(right.sum()) + 5), found[0])
    assert both.translations == pytest.approx(both.probs.sum() + 5, abs=1e-3)
    collapsed = joined(Confidence(np.zeros(800), 0.0), found[0])
    assert collapsed.probs == pytest.approx(found[0].probs / math.sqrt(2), abs=1e-4)


def test_pairs_are_taken_away_from_rows_and_columns() -> None:
    random = np.random.default_rng(3)
    targets, sources = (np.stack([random.permutation(9)[:4] for _ in range(9)]) for _ in range(2))
    cosines = random.random((2, 9, 4)).astype(np.float32)
    near = Neighbours(targets, cosines[0], sources, cosines[1])
    x, y = np.array([0, 3, 5]), np.array([targets[0, 1], 2, targets[5, 3]])
    left, *places = near.without(x, y)
    owns = dict(zip(x, y, strict=True)), dict(zip(y, x, strict=True))
    kept = (left.targets, left.target_cosines), (left.sources, left.source_cosines)
    for side, ids in enumerate((targets, sources)):
        for row in range(9):
            rest = [at for at in range(4) if ids[row, at] != owns[side].get(row, -1)][:3]
            assert places[side][row].tolist() == rest
            assert kept[side][0][row].tolist() == ids[row, rest].tolist()
            assert kept[side][1][row].tolist() == cosines[side, row, rest].tolist()
