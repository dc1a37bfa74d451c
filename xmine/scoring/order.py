"""Pairs in the order of their texts -> how many rise together; rows that are right; one order."""

import math
from array import array
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xmine.files.scratch import slices
from xmine.scoring.probability import Floats, sigmoid
from xmine.scoring.reranking_fit import fit_curve

# A source is given the targets of rows so far away, and half the file, to show how wrong pairs
# score; not that of the next row, since rows slip by one. More such pairs change nothing, and more
# rows would outweigh them. Of fewer than the last number, of seven rows, nothing can be told.
_SHIFTS, _ENOUGH, _FEWEST = (2, -2, 3), 1_500, 20
# Before any translations are seen, they are believed to score so many units above half of the wrong
# pairs where the encoder knows the languages, and else; as firmly as so many rows, and so large a
# share of the rows.
_FAR, _NEAR, _ROWS, _SHARE = 4.0, 1.0, 10, 0.15
# Believed in before any are seen: steps from bad stretches to bad and good ones, and from good
# stretches; wrong rows and right ones in bad stretches, and in good ones.
_STEPS, _KINDS = np.array([[0.2, 0.2], [0.2, 1.8]]), np.array([[1.9, 0.1], [0.1, 1.9]])
_TURNS, _MOST_ODDS, _LEAST_UNIT = 60, 50.0, 1e-4

Rows = NDArray[np.int64]

# A block has at least so many rows; so rarely is one of them right by chance.
_SHORTEST, _STRAY = 5, 0.001
# The rates of wrong rows that are believed in: in a clean corpus a block shall be as dense as in
# others, and a file that is shifted as a whole shall be a block, too.
_RATES = 0.1, 0.8
# Of corpora in which rows are wrong at random, at most this share has a block.
_BY_CHANCE = 0.05

# Rows before and behind a pair that may support it; a row that no pair is beside.
_BESIDE, _FAR_OFF = 3, 1 << 40

# Lines of a text that are looked at; correlation of log lengths of translations; chances that are
# compared; what a line must gain beyond them, and all together. Of NTREX in eleven languages, 400
# lines gain 0.4, or 0.2 without a fifth of each side; shuffled, or odd lines with even, below 0.1.
_LOOKED_AT, _ALIKE, _CHANCES, _GAIN, _FEW = 400, 0.95, 16, 0.1, 6.0
_SORTED = 0.5  # surplus of longer lines after shorter ones, or the other way round, in sorted texts


def in_one_order(source: Sequence[str], target: Sequence[str], gain: float = _GAIN) -> bool:
    """Tell whether two texts seem to be versions of one document, by the lengths of their lines.

    A pair gains what lines of such lengths are more probable as translations. The best chain of
    pairs that rises on both sides is compared with those of the target read backwards.
    """
    sides = [np.log([len(text) + 1 for text in each[:_LOOKED_AT]]) for each in (source, target)]
    for steps in (np.sign(np.diff(each)) for each in sides):
        if abs(steps.sum()) >= _SORTED * np.abs(steps).sum():  # or all are alike
            return False
    first, second = ((each - each.mean()) / each.std() for each in sides)
    shifts = np.linspace(0, len(second), _CHANCES, endpoint=False).astype(int)
    chances = [_best_chain(first, np.roll(second[::-1], shift)) for shift in shifts]
    enough = gain * min(len(first), len(second)) + _FEW
    return _best_chain(first, second) - float(np.mean(chances)) > enough


def _best_chain(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Sum up the gains of the best chain of places that rises on both sides."""
    rest = 1 - _ALIKE**2
    best = np.zeros(len(second) + 1)
    for length in first:
        gains = second**2 / 2 - (second - _ALIKE * length) ** 2 / (2 * rest) - math.log(rest) / 2
        best[1:] = np.maximum.accumulate(np.maximum(best[1:], best[:-1] + gains))
    return float(best[-1])


def rising_share(sources: NDArray[np.int64], targets: NDArray[np.int64]) -> float:
    """Give the share of pairs on the longest chain that rises on both sides; equal rows do not.

    Args:
        sources, targets: int64 [pairs], rows in the order of the text.
    """
    ends = array("q")  # of the chains of 1, 2, ... pairs so far, the lowest last target
    order = np.lexsort((-targets, sources))
    for some in slices(len(order)):
        for target in targets[order[some]].tolist():
            at = bisect_left(ends, target)
            ends[at : at + 1] = array("q", (target,))
    return len(ends) / max(len(targets), 1)


def order_support(
    cells: tuple[Rows, Rows], pairs: tuple[Rows, Rows], probs: Floats
) -> NDArray[np.float32]:
    """Tell how probable the pairs just before and behind cells are that go on as these do.

    Args:
        cells: int64 [cells], rows of both sides.
        pairs: int64 [pairs], rows of both sides; a source or target may stand in several.
        probs: float64 [pairs].

    Returns:
        float32 [cells], from 0 to 2: 1 for a sure pair on either side.
    """
    (x, y), (sources, targets) = cells, pairs
    rising = np.argsort(probs, kind="stable")  # so that the most probable pair of a source stays
    size = 2 * _BESIDE + 1 + int(max(x.max(initial=0), sources.max(initial=0)))
    target, prob = np.full(size, -_FAR_OFF), np.zeros(size, np.float32)
    target[sources[rising] + _BESIDE], prob[sources[rising] + _BESIDE] = (
        targets[rising],
        probs[rising],
    )
    found = np.zeros(len(x), np.float32)
    for sign in (-1, 1):
        beside = np.zeros(len(x), np.float32)
        for step in range(1, _BESIDE + 1):
            at = x + _BESIDE + sign * step
            goes_on = np.abs(sign * (target[at] - y) - step) <= 1
            np.maximum(beside, np.where(goes_on & (target[at] != y), prob[at], 0), out=beside)
        found += beside
    return found


def wrong_blocks(wrong: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Find runs of rows that are nearly all wrong, in a corpus in which fewer are.

    A row counts by the log of how much more probable it is in a block, where all but a few are
    wrong, than at the corpus's own rate of wrong rows. A block ends where the sum is highest, and
    the sum must be one that random rows of that rate hardly reach (Karlin and Altschul, 1990,
    "Methods for assessing the statistical significance of molecular sequence features by using
    general scoring schemes"): wrong rows that are scattered make no block.

    Args:
        wrong: bool [rows].

    Returns:
        first row and the one behind the last of each block, in the order of the rows.
    """
    if not wrong.any():
        return []
    rate = float(np.clip(wrong.mean(), *_RATES))
    needed = math.log(len(wrong) / _BY_CHANCE)
    steps = np.where(wrong, math.log((1 - _STRAY) / rate), math.log(_STRAY / (1 - rate)))
    blocks, start, stop, total, highest = [], 0, 0, 0.0, 0.0
    for row, step in enumerate([*steps.tolist(), -math.inf]):
        total += step
        if total > highest:
            stop, highest = row + 1, total
        elif total <= max(0, highest - needed):  # no sum of rows since then is above zero
            if highest >= needed and stop - start >= _SHORTEST:
                blocks.append((start, stop))
            start, total, highest = row + 1, 0.0, 0.0
    return blocks


def exchanged(sources: Rows, targets: Rows, width: int) -> tuple[Rows, Rows]:
    """Give sources of pairs the targets of others: wrong pairs, each once, and none that is given.

    Args:
        sources, targets: int64 [pairs], in the order of their rows.
        width: the number of targets that there are.
    """
    shifts = np.array([*_SHIFTS, len(sources) // 2])
    rows = np.arange(len(sources))[:: 1 + len(shifts) * len(sources) // _ENOUGH, None]
    cells = sources[rows] * width + targets[(rows + shifts) % max(len(sources), 1)]
    x, y = np.divmod(np.setdiff1d(cells, sources * width + targets), width)
    return x, y


def right_rows(scores: Floats, others: Floats, *, known: bool = True) -> Floats | None:
    """Estimate how likely rows are translations, [rows]: rows beside right ones are mostly right.

    Good stretches, with few wrong rows, and bad ones, with few right rows, follow each other as in
    a hidden Markov chain (Rabiner, 1989). Wrong rows score as `others` do; right ones are more
    frequent by a factor that rises exponentially with the score (Anderson, 1979, "Multivariate
    logistic compounds"). Expectation maximisation fits all.

    Args:
        scores: [rows], in the order of the file, on any scale.
        others: [pairs], of wrong pairs.
        known: whether the encoder knows the languages; if so, translations stand out.

    Returns:
        None where there are too few pairs to compare rows with.
    """
    if len(others) < _FEWEST or not len(scores):
        return None
    low, some = float(np.median(others)), slice(None, None, 1 + len(scores) // _ENOUGH)
    unit = max(2 * float(np.maximum(others - low, 0).mean()), _LEAST_UNIT)
    own, wrong = (np.maximum(each - low, 0) / unit for each in (scores, others))
    believed = np.full(_ROWS + int(_SHARE * len(own[some])), _FAR if known else _NEAR)
    values = np.concatenate([own[some], believed, wrong])
    labels = (np.arange(len(values)) < len(values) - len(wrong)).astype(np.float64)
    right = sigmoid(4 * (own - np.quantile(wrong, 0.99)))
    steps, kinds = _STEPS, _KINDS
    for _ in range(_TURNS):
        labels[: len(own[some])], before = right[some], right
        slope, height = fit_curve(values, labels)
        odds = np.exp(np.clip(slope * own + height, -_MOST_ODDS, _MOST_ODDS))
        odds *= (1 - labels).sum() / labels.sum()
        shares = kinds[:, 1:] / kinds.sum(axis=1, keepdims=True)  # of right rows, [2, 1]
        likely = shares * odds + 1 - shares  # [2, rows]
        good, seen = along(likely[1] / likely[0], steps / steps.sum(axis=1, keepdims=True))
        stretches = np.stack([1 - good, good])
        parts = stretches * shares * odds / likely
        right, found = parts.sum(axis=0), parts.sum(axis=1)
        steps, kinds = _STEPS + seen, np.stack([stretches.sum(axis=1) - found, found], axis=1)
        kinds += _KINDS
        if np.abs(right - before).max(initial=0) < 1e-3:
            break
    return np.round(right, 4)


def along(odds: Floats, steps: Floats) -> tuple[Floats, Floats]:
    """Follow a chain of two states: the probability of the second one in each row, and the steps.

    Args:
        odds: [rows], how many times likelier each row is in the second state.
        steps: [2, 2], the probabilities from each state to each.

    Returns:
        float64 [rows], and the expected number of steps of each kind, [2, 2].
    """
    (stay, rise), (fall, keep) = steps.tolist()
    before, after = np.empty((2, len(odds)))  # probability by earlier rows, and odds by later ones
    share, rest = rise / (rise + fall), 1.0
    for row, own in enumerate(odds.tolist()):
        before[row] = share
        here = share * own / (share * own + 1 - share)
        share = here * keep + (1 - here) * rise
    for row, own in zip(range(len(odds) - 1, -1, -1), odds[::-1].tolist(), strict=True):
        after[row] = rest
        rest = (keep * own * rest + fall) / (rise * own * rest + stay)
    here = before * odds / (before * odds + 1 - before)
    last, ahead = here[:-1], (odds * after)[1:]
    low = 1 - last
    moves = np.stack([low * stay, low * rise * ahead, last * fall, last * keep * ahead])
    seen = (moves / moves.sum(axis=0)).sum(axis=1).reshape(2, 2)
    return here * after / (here * after + 1 - here), seen
