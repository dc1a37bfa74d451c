"""How well lines fit together: lengths and cosines -> scores of beads, for paths in a band."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from xmine.aligning.band import Band, Path, Scores, Skips, matched
from xmine.aligning.evidence import MOST, Floats, Halves, Windows

# Beads of the passes: of blocks of lines, the first one of lines, and the last one.
SINGLE = [(1, 1)]
PAIRED = [(1, 1), (1, 2), (2, 1)]
BEADS = [(n, m) for n in range(1, MOST + 1) for m in range(1, MOST + 1) if n + m <= MOST + 1]
BLOCK_SKIPS, SKIPS = Skips(-0.1, -1.0), Skips(-0.4, -4.0)

_CHANCE = 0.15  # cosine of blocks that is none yet
# Of the first pass: the scores of its beads without lengths and cosines, and the weight of cosines.
_PRIORS, _COSINES = (1.0, -1.5, -1.5), 4.0
# Two first passes, of which the clearer one counts: the scores of lines without counterpart, and
# the most that lengths cost. The first is for whole texts, the second for texts that lack parts.
FIRST = ((Skips(-3.0, -1e6), 6.0), (Skips(-1.0, -12.0), 2.0))
_VARIANCE = 1.5  # of the length of a translation, for each character
# Of the last pass: the price of each further line of a bead, and weight and bound of lengths.
_MERGING, _LENGTHS, _FARTHEST = 0.08, 0.03, 20.0
# Logarithm of the odds of single lines, from which on their surplus raises that price.
_USUAL = 1.0
# Scores of the last pass are divided by this: then the probabilities of beads are right on tb-dev,
# mac-dev and lines put together by chance (bench/align.py).
TEMPERATURE = 0.11
_MEDIAN = 0.455  # of the square of a normal variable
_WEIGHT = 10  # beads
_COLUMNS = 1024  # that are scored at once
_LINES = 4000  # of a side that are compared with those of the other

Lengths = NDArray[np.float64]
Places = NDArray[np.int64]


def lengths_of(source: Sequence[str], target: Sequence[str]) -> tuple[Lengths, Lengths]:
    """Count the characters of lines, in characters of the side that has more of them."""
    x, y = (np.array([max(1.0, len(text.strip())) for text in side]) for side in (source, target))
    most = max(x.sum(), y.sum())
    return x * (most / x.sum()), y * (most / y.sum())


def lengths_by_nearest(
    lengths: tuple[Lengths, Lengths], vectors: tuple[Halves, Halves]
) -> tuple[Lengths, Lengths]:
    """Scale lengths by the median ratio of lines that are each other's nearest.

    `vectors` are unit vectors of the lines, centred, float16 [lines, dim].
    """
    some = [np.linspace(0, len(x) - 1, min(len(x), _LINES)).astype(np.int64) for x in lengths]
    x, y = (each[at].astype(np.float32) for each, at in zip(vectors, some, strict=True))
    cosines = x @ y.T
    best, back = cosines.argmax(axis=1), cosines.argmax(axis=0)
    mutual = np.flatnonzero(back[best] == np.arange(len(best)))
    order = np.argsort(-cosines[mutual, best[mutual]], kind="stable")
    near = mutual[order[: max(1, len(order) // 2)]]
    ratio = float(np.median(lengths[1][some[1][best[near]]] / lengths[0][some[0][near]]))
    return lengths[0] * ratio, lengths[1]


def usual_lengths(
    lengths: tuple[Lengths, Lengths], path: Path
) -> tuple[tuple[Lengths, Lengths], float]:
    """Scale lengths by the median ratio of the beads of a path; and measure their variance.

    Returns:
        the lengths; and the variance of a translation's length, for each character. Few beads are
        outweighed by _VARIANCE.
    """
    beads = matched(path)
    if not len(beads):
        return lengths, _VARIANCE
    sums = _sums(lengths)
    x, y = (
        each[beads[:, 2 * side + 1]] - each[beads[:, 2 * side]] for side, each in enumerate(sums)
    )
    ratio = float(np.median(y / x))
    measured = max(float(np.median((ratio * x - y) ** 2 / (ratio * x + y))) / _MEDIAN, 0.05)
    variance = (len(beads) * measured + _WEIGHT * _VARIANCE) / (len(beads) + _WEIGHT)
    return (lengths[0] * ratio, lengths[1]), variance


def merging_of(path: Path) -> float:
    """Give the price of each further line of a bead: it rises as fewer beads of a text have one."""
    beads = matched(path)
    more = int(((beads[:, 1] - beads[:, 0] > 1) | (beads[:, 3] - beads[:, 2] > 1)).sum())
    odds = float(np.log((len(beads) - more + 1) / (more + 1)))
    return _MERGING + TEMPERATURE * max(0.0, odds - _USUAL)


def block_scores(vectors: tuple[Floats, Floats]) -> Scores:
    """Score blocks of lines, all with all, by the cosines of their unit vectors [blocks, dim]."""
    found = np.pad(vectors[0] @ vectors[1].T - _CHANCE, ((1, 0), (1, 0)))[:, None]
    return lambda start, stop: list(found[start:stop])


def first_scores(
    band: Band, lengths: tuple[Lengths, Lengths], vectors: tuple[Halves, Halves], worst: float
) -> Scores:
    """Score PAIRED beads by lengths (Gale & Church, 1993) and by the cosines of single lines.

    `lengths` are those of `lengths_of`, which cost no more than `worst`; `vectors` are centred unit
    vectors of the lines of both sides, float16 [lines, dim].
    """
    sums = _sums(lengths)

    def scores(start: int, stop: int, left: int, right: int) -> Floats:
        ends = (start, stop), (left, right)
        lines = (np.arange(first - 2, last - 1).clip(0) for first, last in ends)
        some = [each[at].astype(np.float32) for each, at in zip(vectors, lines, strict=True)]
        cosines = _COSINES * some[0] @ some[1].T
        own = cosines[1:, 1:]
        rows, columns = (np.arange(*each) for each in ends)
        found = np.empty((len(PAIRED), *own.shape), np.float32)
        for at, (n, m) in enumerate(PAIRED):
            x, y = _before(sums[0], rows, n)[:, None], _before(sums[1], columns, m)
            both = (2 * _VARIANCE * x + 2) + 2 * _VARIANCE * y
            apart = np.minimum((x - y) ** 2 / both, worst)
            beside = cosines[2 - n : len(own) + 2 - n, 2 - m : own.shape[1] + 2 - m]
            np.subtract(own if n == m else 0.6 * (own + beside), apart, out=found[at])
            found[at] += _PRIORS[at]
        return found

    return _in_pieces(band, len(PAIRED), np.float32, scores)


def bead_scores(
    band: Band,
    lengths: tuple[Lengths, Lengths],
    windows: tuple[Windows, Windows],
    variance: float,
    merging: float,
) -> Scores:
    """Score BEADS: the cosine of all lines together, against those with the lines beside.

    So bertalign does in its second pass (Liu & Zhu, 2023, "Bertalign: Improved word
    embedding-based sentence alignment"). Lengths cost as in Gale & Church; every line after the
    first of a side has a price. See `usual_lengths` for `lengths` and `variance`, and `merging_of`.
    """
    last = len(band) - 1, int(band.stops[-1]) - 1
    sums, every = _sums(lengths), np.arange(1, MOST + 1)[:, None]

    def scores(start: int, stop: int, left: int, right: int) -> Floats:
        rows, columns = np.arange(start, stop), np.arange(left, right)
        upper = _padded(windows[0], start - MOST, stop + 1, last[0])
        lower = _padded(windows[1], left - MOST, right + 1, last[1])
        here, there = slice(MOST, MOST + len(rows)), slice(MOST, MOST + len(columns))
        y, number = _before(sums[1], columns, every), _count(columns, every, last[1])
        kinds = []
        whole = upper[0] @ lower.reshape(-1, lower.shape[2]).T
        whole = whole.reshape(len(whole), MOST, -1)  # of one line with some
        for n, side in enumerate(upper[:, here], start=1):  # of n lines with m, for each m
            m = slice(MOST + 1 - n)
            cosines = side @ lower[m].reshape(-1, lower.shape[2]).T
            cosines = cosines.reshape(len(rows), -1, lower.shape[1])
            beside = sliding_window_view(cosines[:, 0], len(columns), axis=1)[:, MOST - 1 :: -1]
            scores = beside[:, m] + cosines[:, :1, _moved(there, 1)]
            scores /= number[m]
            of_sources = whole[_moved(here, -n), m, there] + whole[_moved(here, 1), m, there]
            of_sources /= _count(rows, n, last[0])[:, None, None]
            scores += of_sources
            scores /= -2
            scores += cosines[:, :, there]
            x = _before(sums[0], rows, n)[:, None, None]
            apart = np.minimum((x - y[m]) ** 2 / (variance * (x + y[m]) + 1e-9), _FARTHEST)
            scores -= _LENGTHS * apart + merging * (n - 2 + every[m])
            kinds.append(scores)
        return np.concatenate(kinds, axis=1).transpose(1, 0, 2)

    return _in_pieces(band, len(BEADS), np.float16, scores)


def _sums(lengths: tuple[Lengths, Lengths]) -> list[Lengths]:
    """Add up the lengths of the lines before each place."""
    return [np.concatenate([[0], np.cumsum(each)]) for each in lengths]


def _before(sums: Lengths, places: Places, lines: Places | int) -> Floats:
    """Give the lengths of some lines before places."""
    return np.asarray(sums[places] - sums[(places - lines).clip(0)], np.float32)


def _moved(some: slice, by: int) -> slice:
    return slice(some.start + by, some.stop + by)


def _count(places: Places, lines: Places | int, last: int) -> NDArray[np.float32]:
    """Count the lines beside the beads of some lines that end at places; one at least."""
    found = (places - lines >= 1).astype(np.float32) + (places + 1 <= last)
    return np.maximum(found, 1).astype(np.float32)


def _padded(windows: Windows, start: int, stop: int, last: int) -> Floats:
    """Give zeros outside of the text."""
    inner, out = windows(max(start, 0), min(stop, last + 1)), (max(-start, 0), stop - last - 1)
    return np.pad(inner, ((0, 0), (out[0], max(out[1], 0)), (0, 0))) if max(out) > 0 else inner


def _in_pieces(
    band: Band, kinds: int, dtype: type[np.floating], piece: Callable[[int, int, int, int], Floats]
) -> Scores:
    """Score the rows of a band by pieces of few columns: a gap makes rows as wide as a text.

    `piece` gives the scores [kinds, rows, columns] of the rows from one to before another, and of
    the columns from one to before another.
    """

    def scores(start: int, stop: int) -> list[Floats]:
        starts, stops = band.starts[start:stop], band.stops[start:stop]
        found: list[Floats] = [np.empty((kinds, width), dtype) for width in stops - starts]
        for left in range(int(starts[0]), int(stops[-1]), _COLUMNS):
            right = min(left + _COLUMNS, int(stops[-1]))
            rows = np.flatnonzero((starts < right) & (stops > left))
            if len(rows):
                some = piece(start + int(rows[0]), start + int(rows[-1]) + 1, left, right)
            for at, row in enumerate(rows):
                first, last = max(left, int(starts[row])), min(right, int(stops[row]))
                cells = some[:, at, first - left : last - left]
                found[row][:, first - starts[row] : last - starts[row]] = cells
        return found

    return scores
