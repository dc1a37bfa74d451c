"""Paths of beads through a band of cells: the best path, and the probability of each of its beads.

Cell (i, j) stands behind i source and j target lines. A path leads from (0, 0) to the last cell by
beads of n and m lines, deletions (1, 0) and insertions (0, 1).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
# Beads: int64 [beads, 4], the source lines from one to before another, then the target lines.
Path = NDArray[np.int64]
Kinds = Sequence[tuple[int, int]]  # numbers of source and target lines of beads
# Gives the scores of beads that end in the rows from one to before another: for each row
# [kinds, columns of the band].
Scores = Callable[[int, int], list[Floats]]
# For a row and each kind of bead the cells where such beads end, the row where they begin, and the
# cells there; left out where there are none.
_Moves = list[tuple[int, slice, int, slice]]

_ROWS = 64  # whose scores are made at once
_NEVER = -1e9
_DELETION, _INSERTION = -1, -2


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
    def around(cls, corners: NDArray[np.int64], radius: int) -> "Band":
        """Take the cells within `radius` rows and columns of a path.

        Args:
            corners: int64 [corners, 2], the cells where its beads begin and end.
            radius: in lines.
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

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.starts)

    def blocks(self) -> list[range]:
        """Cut the rows into blocks."""
        return [range(at, min(at + _ROWS, len(self))) for at in range(0, len(self), _ROWS)]

    def moves(self, kinds: Kinds, rows: range) -> Iterator[_Moves]:
        """List for each of some rows how beads of all kinds end there."""
        ends = np.arange(rows.start, rows.stop)[:, None]
        n, m = np.array(kinds).T
        begins = ends - n
        before = begins.clip(0)
        first = np.maximum(self.starts[ends], self.starts[before] + m)
        sizes = np.minimum(self.stops[ends], self.stops[before] + m) - first
        sizes[begins < 0] = 0
        to, back = first - self.starts[ends], first - m - self.starts[before]
        for row in range(len(rows)):
            some = np.flatnonzero(sizes[row] > 0)
            columns = (each[row, some].tolist() for each in (to, begins, back, sizes))
            yield [
                (kind, slice(a, a + size), begin, slice(b, b + size))
                for kind, a, begin, b, size in zip(some.tolist(), *columns, strict=True)
            ]


def are_matched(path: Path) -> NDArray[np.bool_]:
    """Tell beads from lines without counterpart."""
    return np.asarray((path[:, 1] > path[:, 0]) & (path[:, 3] > path[:, 2]))


def matched(path: Path) -> Path:
    """Leave out the lines without counterpart."""
    return path[are_matched(path)]


def best_path(band: Band, kinds: Kinds, scores: Scores, skip: float) -> Path:
    """Find the path with the highest sum of scores; a line without counterpart counts `skip`."""
    every, most = [*kinds, (1, 0)], max(n for n, _ in kinds)
    best: dict[int, Floats] = {}  # of the last rows
    back: list[NDArray[np.int8]] = []
    for rows in band.blocks():
        block = scores(rows.start, rows.stop)
        for row, moves, given in zip(rows, band.moves(every, rows), block, strict=True):
            sums = np.full((len(every), band.stops[row] - band.starts[row]), _NEVER)
            for kind, to, begin, cells in moves:
                sums[kind, to] = best[begin][cells]
                sums[kind, to] += given[kind, to] if kind < len(kinds) else skip
            kind_of = sums.argmax(axis=0)
            ended = np.take_along_axis(sums, kind_of[None], 0)[0]
            if row == 0:
                ended[0] = 0
            slope = np.arange(len(ended)) * skip
            best[row] = np.maximum.accumulate(ended - slope) + slope
            kind_of[kind_of == len(kinds)] = _DELETION
            kind_of[best[row] > ended + 1e-4] = _INSERTION
            back.append(kind_of.astype(np.int8))
            best.pop(row - most, None)
    row, column, beads = len(band) - 1, int(band.stops[-1]) - 1, []
    while row or column:
        kind = int(back[row][column - band.starts[row]])
        n, m = {_DELETION: (1, 0), _INSERTION: (0, 1)}.get(kind) or kinds[kind]
        beads.append((row - n, row, column - m, column))
        row, column = row - n, column - m
    return np.array(beads[::-1], np.int64).reshape(-1, 4)


def probabilities(
    band: Band, kinds: Kinds, scores: Scores, skip: float, path: Path, temperature: float
) -> NDArray[np.float64]:
    """Give the probability of each bead of a path among all paths that the band holds.

    A path is as probable as the exponential of its sum of scores by the temperature: forward and
    backward sums, as in a hidden Markov model.
    """
    skip /= temperature
    every, last = [*kinds, (1, 0)], len(band) - 1
    slopes = [skip * np.arange(b - a) for a, b in zip(band.starts, band.stops, strict=True)]
    given: list[Floats] = []
    ahead: list[NDArray[np.float64]] = []  # logarithms of sums over the paths that lead to a cell
    for rows in band.blocks():
        given += [each / temperature for each in scores(rows.start, rows.stop)]
        for row, moves in zip(rows, band.moves(every, rows), strict=True):
            terms = np.full((len(every), len(slopes[row])), _NEVER)
            for kind, to, begin, cells in moves:
                terms[kind, to] = ahead[begin][cells]
                terms[kind, to] += given[row][kind, to] if kind < len(kinds) else skip
            highest = terms.max(axis=0)
            sums = highest + np.log(np.exp(terms - highest).sum(axis=0))
            if row == 0:
                sums[0] = 0
            ahead.append(np.logaddexp.accumulate(sums - slopes[row]) + slopes[row])
    behind = [np.full(len(each), _NEVER) for each in slopes]  # the same of paths that go on there
    behind[last][-1] = 0
    for rows in reversed(band.blocks()):
        for row, moves in reversed([*zip(rows, band.moves(every, rows), strict=True)]):
            sums = np.logaddexp.accumulate((behind[row] + slopes[row])[::-1])[::-1]
            behind[row] = sums - slopes[row]
            for kind, to, begin, cells in moves:
                here = given[row][kind, to] if kind < len(kinds) else skip
                on = behind[row][to] + here
                behind[begin][cells] = np.logaddexp(behind[begin][cells], on)
    found = []
    for top, bottom, left, right in path.tolist():
        size, before = (bottom - top, right - left), ahead[top][left - band.starts[top]]
        at = right - band.starts[bottom]
        here = skip if 0 in size else given[bottom][kinds.index(size), at]
        found.append(before + here + behind[bottom][at] - ahead[last][-1])
    return np.exp(np.minimum(found, 0))
