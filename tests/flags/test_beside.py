"""`partial`: the line beside has what a pair lacks."""

from itertools import product

import numpy as np
import pytest

from xmine.encoders.encoder import normalised
from xmine.flags.beside import completed_beside, fits_beside
from xmine.scoring.retrieval import ChosenPairs

PAIRS = 500


def chosen(x: np.ndarray, y: np.ndarray) -> ChosenPairs:
    none = np.zeros(len(x), np.float32)
    return ChosenPairs(x, y, none, none)


def slowly(
    pairs: ChosenPairs, probs: np.ndarray, vectors: list[np.ndarray], lengths: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Put each line beside to its line, one by one, and compare."""
    x, y = pairs.sources, pairs.targets
    ratios = np.log(lengths[0][x] / lengths[1][y])
    usual = np.median(ratios[probs >= 0.5])
    found, which = np.full(len(x), -np.inf), np.zeros(len(x), int)
    for row, side, by in product(np.flatnonzero(probs >= 0.01), (0, 1), (-1, 1)):
        ours, theirs = vectors[side].astype(float), vectors[1 - side].astype(float)
        at, across = ((x, y), (y, x))[side]
        line, other, beside = at[row], across[row], at[row] + by
        if not 0 <= beside < len(ours):
            continue
        size, more = lengths[side][line], lengths[side][beside]
        together = ours[line] * size + ours[beside] * more
        merged = together @ theirs[other] / np.linalg.norm(together)
        rival = other + by
        nearer = ours[beside] @ theirs[other]
        nearer -= ours[beside] @ theirs[rival] if 0 <= rival < len(theirs) else 0
        odd = np.log(size / lengths[1 - side][other]) - (usual if side == 0 else -usual)
        usual_again = abs(odd) - abs(odd + np.log((size + more) / size))
        taken = max(probs[at == beside], default=0)
        gain = merged - ours[line] @ theirs[other]
        fits = 2 * gain + nearer + 0.5 * usual_again - 0.4 * taken
        if fits > found[row]:
            found[row], which[row] = fits, 2 * side + (by > 0)
    return found, which


@pytest.mark.parametrize(("strength", "least"), [(0.2, 0.08), (0.65, 0.25)])
def test_pairs_are_completed_that_loops_find(strength: float, least: float) -> None:
    rng = np.random.default_rng(3)
    source = rng.standard_normal((PAIRS + 1, 24))
    target = strength * source + (1 - strength) * rng.standard_normal(source.shape)
    target[::40] += 0.8 * source[np.arange(0, PAIRS + 1, 40) - 1]
    vectors = [normalised(each.astype(np.float32)).astype(np.float16) for each in (source, target)]
    lengths = [rng.integers(20, 40, PAIRS + 1) for _ in range(2)]
    x = rng.permutation(PAIRS + 1)[:PAIRS]
    pairs, probs = chosen(x, x.copy()), rng.choice([0, 0.3, 0.7, 0.95], PAIRS)
    given = [each.astype(np.int32) for each in lengths]
    found, otherwise = completed_beside(pairs, probs, vectors, given)
    expected, which = slowly(pairs, probs, vectors, lengths)
    fits = fits_beside(pairs, probs, vectors, given)
    np.testing.assert_allclose(fits[0], expected, atol=2e-3)
    np.testing.assert_array_equal(fits[1][expected > 0], which[expected > 0])
    assert otherwise == (np.mean(expected[probs >= 0.5] > 0.25) >= 0.03) == (least < 0.25)
    np.testing.assert_array_equal(found, expected > least)
    assert 2 < found.sum() < PAIRS / 2


def test_without_likely_pairs_none_is_completed() -> None:
    vectors = [np.eye(3, dtype=np.float16)] * 2
    x, lengths = np.arange(3), [np.full(3, 9, np.int32)] * 2
    found, otherwise = completed_beside(chosen(x, x), np.full(3, 0.4), vectors, lengths)
    assert found.tolist() == [False] * 3
    assert not otherwise
