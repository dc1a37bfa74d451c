"""Paths of beads through a band of cells: the best path, and the probability of each of its beads.

Cell (i, j) stands behind i source and j target lines. A path leads from (0, 0) to the last cell by
beads of n and m lines, deletions (1, 0) and insertions (0, 1).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmine import native

Floats = NDArray[np.floating]
# Beads: int64 [beads, 4], the source lines from one to before another, then the target lines.
Path = NDArray[np.int64]
Corners = NDArray[np.int64]  # cells [corners, 2] on a path, its first and its last among them
Kinds = Sequence[tuple[int, int]]  # numbers of source and target lines of beads
# Gives the scores of beads that end in the rows from one to before another: for each row
# [kinds, columns of the band].
Scores = Callable[[int, int], list[Floats]]
_ROWS = 32, 128  # whose scores are made at once: as many as are wide
_NEVER = -1e9
_OPENED, _BEGINS = 64, 128  # bits: a gap of source lines, or of target lines, begins here


class Skips(NamedTuple):
    """Scores of lines without counterpart: of each, or of a gap with any number of lines."""

    line: float
    gap: float


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """The cells that a path may pass.

    Attributes:
        starts, stops: int64 [rows + 1], the columns of each row; both never fall.
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]

    @classmethod
    def whole(cls, rows: int, columns: int) -> "Band":
        """Take all cells."""
        return cls(np.zeros(rows + 1, np.int64), np.full(rows + 1, columns + 1))

    @classmethod
    def around(cls, corners: Corners, radius: int) -> "Band":
        """Take the cells within `radius` rows and columns of a path.

        `corners` are the cells where its beads begin and end.
        """
        rows, columns = corners[-1].tolist()
        every = np.arange(rows + 1)
        # A row within a bead has the columns of the whole bead.
        low = np.searchsorted(corners[:, 0], every, "left")
        low = corners[np.where(corners[low, 0] == every, low, low - 1), 1]
        high = np.searchsorted(corners[:, 0], every, "right") - 1
        high = corners[np.where(corners[high, 0] == every, high, high + 1), 1]
        starts = low[np.maximum(every - radius, 0)] - radius
        stops = high[np.minimum(every + radius, rows)] + radius + 1
        return cls(starts.clip(0), stops.clip(max=columns + 1))

    def within(self, other: "Band") -> "Band":
        """Leave out the cells that another band with a path in common has not."""
        return Band(np.maximum(self.starts, other.starts), np.minimum(self.stops, other.stops))

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.starts)

    def blocks(self) -> list[range]:
        """Cut the rows into blocks."""
        some = int((self.stops - self.starts).mean().clip(*_ROWS))
        return [range(at, min(at + some, len(self))) for at in range(0, len(self), some)]

    def turned(self) -> "Band":
        """Count rows and columns from the end."""
        columns = self.stops[-1]
        return Band(columns - self.stops[::-1], columns - self.starts[::-1])


def are_matched(path: Path) -> NDArray[np.bool_]:
    """Tell beads from lines without counterpart."""
    return np.asarray((path[:, 1] > path[:, 0]) & (path[:, 3] > path[:, 2]))


def matched(path: Path) -> Path:
    """Leave out the lines without counterpart."""
    return path[are_matched(path)]


def crossed(scores: Scores, band: Band, kinds: Kinds, corners: Corners, price: float) -> Scores:
    """Take a price from beads that do not lie between two corners, one next to the other."""
    if len(corners) == 2:  # the first and the last
        return scores
    (n, m), every = np.array(kinds).T[:, :, None], np.arange(len(band))
    firsts, lasts = (np.searchsorted(corners[:, 0], every, side) for side in ("left", "right"))

    def lessened(start: int, stop: int) -> list[Floats]:
        found = list[Floats]()
        for row, given in zip(range(start, stop), scores(start, stop), strict=True):
            columns = np.arange(band.starts[row], band.stops[row])
            ends = np.maximum(firsts[row], np.searchsorted(corners[:, 1], columns))
            begins = np.searchsorted(corners[:, 1], columns - m, "right")
            is_crossing = ends > np.minimum(begins, lasts[(row - n).clip(0)])
            found.append(given - is_crossing * given.dtype.type(price))
        return found

    return lessened


class _Rows:
    """Values of the last rows of a band, with columns from 0; _NEVER outside of the band."""

    def __init__(self, band: Band, kinds: Kinds) -> None:
        self.band, self.kinds = band, np.array([*kinds, (1, 0)], np.int64)
        n, m = self.kinds.T
        self._n, self._pad, self.size = n[:, None], int(m.max()), int(n.max()) + 1
        self._columns = np.arange(int(band.stops[-1])) + self._pad - m[:, None]
        self.values = np.full((self.size, self._columns.shape[1] + self._pad), _NEVER)
        self.down = np.full(self._columns.shape[1], _NEVER)  # of paths that end in a gap downwards

    def before(self, row: int) -> NDArray[np.float64]:
        """Give the values where beads of all kinds, and deletions, begin that end in a row."""
        cells = self._columns[:, self.band.starts[row] : self.band.stops[row]]
        rows = (row - self._n) % self.size * self.values.shape[1]
        return np.asarray(self.values.ravel().take(cells + rows), np.float64)

    def put(self, row: int, values: NDArray[np.float64]) -> None:
        """Take the values of a row in place of those of an earlier one: starts never fall."""
        here, starts = self.values[row % self.size, self._pad :], self.band.starts
        here[starts[max(row - self.size, 0)] : starts[row]] = _NEVER
        here[starts[row] : self.band.stops[row]] = values


def best_path(band: Band, kinds: Kinds, scores: Scores, skips: Skips) -> Path:
    """Find the path with the highest sum of scores, which are finite float32 or float16."""
    last = _Rows(band, kinds)
    begins = np.cumsum([0, *(band.stops - band.starts)])
    back = np.empty(begins[-1], np.uint8)
    deletion = len(kinds)
    gap, _, gap_right = range(deletion + 1, deletion + 4)
    for rows in band.blocks():
        given, codes = scores(rows.start, rows.stop), back[begins[rows.start] : begins[rows.stop]]
        if native.kernels:
            flat = np.concatenate([each.ravel() for each in given], dtype=np.float32)
            places = band.starts, band.stops, last.kinds, last.values, last.down, codes
            native.kernels.path(flat, *places, rows.start, rows.stop, last.size, *skips)
        else:
            every = zip(rows, given, strict=True)
            codes[:] = np.concatenate([_codes(last, *row, skips) for row in every])
    row, column, beads = len(band) - 1, int(band.stops[-1]) - 1, []
    going = 0  # in a gap
    while row or column or going:
        code = int(back[begins[row] + column - band.starts[row]])
        if going == gap_right and code & _BEGINS:
            going = 0
            continue
        kind = going or code % _OPENED
        n, m = kinds[kind] if kind < deletion else (1, 0) if kind <= gap else (0, 1)
        going = kind if kind == gap_right or (kind == gap and not code & _OPENED) else 0
        beads.append((row - n, row, column - m, column))
        row, column = row - n, column - m
    return np.array(beads[::-1], np.int64).reshape(-1, 4)


def _codes(last: _Rows, row: int, given: Floats, skips: Skips) -> NDArray[np.uint8]:
    """Say how the best path reaches the cells of a row: native/path.c does the same."""
    deletion, sums = len(last.kinds) - 1, last.before(row)
    gap, insertion, gap_right = range(deletion + 1, deletion + 4)
    opened = sums[deletion] + skips.gap
    sums[:deletion] += given
    sums[deletion] += skips.line
    kind_of: NDArray[np.uint8] = sums.argmax(axis=0).astype(np.uint8)
    ended = sums.max(axis=0)
    here = last.down[last.band.starts[row] : last.band.stops[row]]
    is_new = opened >= here
    np.maximum(opened, here, out=here)
    kind_of[here > ended] = gap
    ended = np.maximum(here, ended)
    if row == 0:
        ended[0] = 0
    slope = np.arange(len(ended)) * skips.line
    single = np.maximum.accumulate(ended - slope) + slope
    highest = np.maximum.accumulate(ended)
    kind_of[single > ended + 1e-4] = insertion
    best = np.maximum(single, highest + skips.gap)
    kind_of[best > single + 1e-4] = gap_right
    last.put(row, best)
    kind_of |= is_new * np.uint8(_OPENED) | (ended >= highest) * np.uint8(_BEGINS)
    return kind_of


def probabilities(
    band: Band, kinds: Kinds, given: Sequence[Floats], skips: Skips, path: Path, temperature: float
) -> NDArray[np.float64]:
    """Give the probability of each bead of a path among all paths in a band; lines alone have 1.

    A path is as probable as the exponential of its sum of scores by the temperature: forward and
    backward sums, as in a hidden Markov model. `given` has the scores of all rows, see Scores.
    """
    skips = Skips(*(each / temperature for each in skips))
    last, end = len(band) - 1, int(band.stops[-1]) - 1
    number = np.arange(len(kinds))[:, None]
    n, m = np.array(kinds).T[:, :, None]
    flat, widths = np.concatenate([each.ravel() for each in given]), band.stops - band.starts
    firsts = (np.cumsum(widths) - widths) * len(kinds)

    def ahead(row: int) -> NDArray[np.float64]:
        return np.asarray(given[row], np.float64) / temperature

    def behind(turned: int) -> NDArray[np.float64]:
        row = last - turned
        rows = np.minimum(row + n, last)
        columns = np.arange(band.stops[row] - 1, band.starts[row] - 1, -1) + m - band.starts[rows]
        cells = firsts[rows] + number * widths[rows] + columns.clip(0, widths[rows] - 1)
        return np.asarray(flat.take(cells), np.float64) / temperature

    found, sums = np.zeros(len(path)), are_matched(path)
    begins = {bead[0]: (at, bead[2]) for at, bead in enumerate(path.tolist()) if sums[at]}
    ends = {
        last - bead[1]: (at, end - bead[3]) for at, bead in enumerate(path.tolist()) if sums[at]
    }
    total = 0.0
    for some, scores, wanted in ((band, ahead, begins), (band.turned(), behind, ends)):
        for row, values in enumerate(sums_of_paths(some, kinds, scores, skips)):
            if row in wanted:
                at, column = wanted[row]
                found[at] += values[column - some.starts[row]]
        total = float(values[-1])
    for at, (top, bottom, left, right) in enumerate(path.tolist()):
        if sums[at]:
            kind = kinds.index((bottom - top, right - left))
            here = float(given[bottom][kind, right - band.starts[bottom]])
            found[at] += here / temperature - total
    return np.exp(np.minimum(found, 0))


def sums_of_paths(
    band: Band, kinds: Kinds, given: Callable[[int], Floats], skips: Skips
) -> Iterator[NDArray[np.float64]]:
    """Give for each row the logarithms of the sums over the paths that lead to its cells."""
    last = _Rows(band, kinds)
    for row in range(len(band)):
        terms = last.before(row)
        here = last.down[band.starts[row] : band.stops[row]]
        np.logaddexp(here, terms[-1] + skips.gap, out=here)
        terms[:-1] += given(row)
        terms[-1] += skips.line
        highest = np.maximum(terms.max(axis=0), here)
        ended = highest + np.log(np.exp(terms - highest).sum(axis=0) + np.exp(here - highest))
        if row == 0:
            ended[0] = 0
        slope = np.arange(len(ended)) * skips.line
        values = np.logaddexp.accumulate(ended - slope) + slope
        gaps = np.logaddexp.accumulate(ended[:-1]) + skips.gap
        values[1:] = np.logaddexp(values[1:], gaps)
        last.put(row, values)
        yield values
