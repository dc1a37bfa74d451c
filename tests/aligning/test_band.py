"""Paths in a band, against all paths that there are."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine import native
from xmine.aligning.band import (
    Band,
    Kinds,
    Scores,
    Skips,
    _codes,
    _Rows,
    are_matched,
    best_path,
    matched,
    probabilities,
)

KINDS = [(1, 1), (1, 2), (2, 1), (2, 2)]
SKIPS = Skips(-0.3, -0.7)
Move = tuple[int, int, int, int, bool]  # the last one: whether it is a gap


def scores_in(band: Band, whole: NDArray[np.floating]) -> Scores:
    """Give [kinds, columns] of the band's rows out of [kinds, rows, columns]."""
    return lambda start, stop: [
        whole[:, row, band.starts[row] : band.stops[row]] for row in range(start, stop)
    ]


def paths(row: int, column: int, after: str = "") -> Iterator[list[Move]]:
    """List all paths to a cell; in a row there are single insertions, or one gap of them."""
    if not row and not column:
        yield []
    moves = [(n, m, "") for n, m in [*KINDS, (1, 0)]]
    moves += [(n, 0, "gap") for n in range(1, row + 1)]
    moves += [(0, m, "right") for m in range(1, column + 1) if not after]
    moves += [(0, 1, "one")] * (after != "right")
    for n, m, name in moves:
        if n <= row and m <= column:
            for path in paths(row - n, column - m, name if n == 0 else ""):
                yield [*path, (row - n, row, column - m, column, name in ("gap", "right"))]


def score_of(whole: NDArray[np.floating], path: list[Move]) -> float:
    total = 0.0
    for top, bottom, left, right, is_gap in path:
        kind = (bottom - top, right - left)
        skip = SKIPS.gap if is_gap else SKIPS.line
        total += skip if 0 in kind else float(whole[KINDS.index(kind), bottom, right])
    return total


def inside(band: Band, path: list[Move]) -> bool:
    cells = {(0, 0)} | {(bottom, right) for _, bottom, _, right, _ in path}
    cells |= {
        (row, right) for top, bottom, _, right, gap in path if gap for row in range(top, bottom)
    }
    return all(band.starts[row] <= column < band.stops[row] for row, column in cells)


@pytest.mark.parametrize("radius", [None, 1])
def test_the_best_path_and_the_probabilities_are_those_of_all_paths(
    radius: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(3)
    for rows, columns in ((3, 4), (4, 2), (5, 4), (1, 3), (1, 1), (3, 1), (1, 5), (5, 1)):
        whole = random.normal(0, 0.5, (len(KINDS), rows + 1, columns + 1)).astype(np.float32)
        band = Band.whole(rows, columns)
        if radius is not None:
            steps = np.linspace(0, 1, rows + 1)[:, None]
            band = Band.around(np.rint(steps * (rows, columns)).astype(np.int64), radius)
        every = [path for path in paths(rows, columns) if inside(band, path)]
        totals = np.array([score_of(whole, path) for path in every])
        scores = scores_in(band, whole)
        with monkeypatch.context() as twin:
            twin.setattr(native, "kernels", None)
            found = best_path(band, KINDS, scores, SKIPS)
        assert best_path(band, KINDS, scores, SKIPS).tolist() == found.tolist()
        best = every[int(totals.argmax())]
        assert matched(found).tolist() == [
            [*bead] for *bead, _ in best if bead[0] < bead[1] and bead[2] < bead[3]
        ]
        weights = np.exp(totals / 0.4)
        right = [
            sum(weight for path, weight in zip(every, weights, strict=True) if bead in path)
            for bead in ((*bead, False) for bead in matched(found).tolist())
        ]
        probs = probabilities(band, KINDS, scores(0, rows + 1), SKIPS, found, 0.4)
        wanted = np.ones(len(found))
        wanted[are_matched(found)] = np.array(right) / weights.sum()
        assert probs == pytest.approx(wanted, rel=1e-6)


@pytest.mark.skipif(native.kernels is None, reason=native.used)
@pytest.mark.parametrize("kinds", [[(1, 1)], [(1, 1), (1, 2), (2, 1)], [(3, 1), (1, 1), (1, 7)]])
@pytest.mark.parametrize("step", [0.5, 1e-9])  # of scores: with ties, and without
def test_every_instruction_set_reaches_cells_as_numpy_does(kinds: Kinds, step: float) -> None:
    """Bands with cells at both edges, and rows around the 256 columns that C takes at once."""
    random, skips = np.random.default_rng(5), Skips(-0.5, -1.0)
    for rows, columns in ((1, 1), (1, 9), (9, 1), (40, 7), (7, 40), (3, 254), (3, 255), (3, 600)):
        steps = np.rint(np.linspace(0, 1, rows + 1)[:, None] * (rows, columns)).astype(np.int64)
        for band in (Band.whole(rows, columns), Band.around(steps, 1)):
            drawn = [random.normal(0, 0.5, (len(kinds), n)) for n in band.stops - band.starts]
            given = [(np.rint(each / step) * step).astype(np.float32) for each in drawn]
            last = _Rows(band, kinds)
            twin = np.concatenate([_codes(last, row, x, skips) for row, x in enumerate(given)])
            flat, wanted = np.concatenate([each.ravel() for each in given]), last
            for name in native.kernels.sets():
                native.kernels.choose(name)
                last, codes = _Rows(band, kinds), np.empty_like(twin)
                places = band.starts, band.stops, last.kinds, last.values, last.down, codes
                native.kernels.path(flat, *places, 0, rows + 1, last.size, *skips)
                assert codes.tobytes() == twin.tobytes(), (name, rows, columns)
                assert last.values.tobytes() == wanted.values.tobytes(), (name, rows, columns)
    native.kernels.choose(native.kernels.sets()[0])


@pytest.mark.skipif(native.kernels is None, reason=native.used)
def test_what_lies_outside_of_a_band_is_refused() -> None:
    """The first number of each buffer, or a number of the call, is wrong."""
    wrong = [(np.nan, np.inf), (-1, 2, 4), (-1, 0, 5), (-1, 0, 3), (), (), ()]
    wrong += [(-1, 2), (3, -1), (0, 4), (np.nan,), (-np.inf,)]
    for place, value in ((place, value) for place, some in enumerate(wrong) for value in some):
        given = [np.zeros(8, np.float32), np.array([0, 0]), np.array([4, 4])]
        given += [np.array([(1, 1), (1, 0)]), np.zeros((2, 5)), np.zeros(4), np.zeros(8, np.uint8)]
        numbers = [0, 2, 2, -1.0, -2.0]
        native.kernels.path(*given, *numbers)
        if place < len(given):
            given[place].flat[0] = value
        else:
            numbers[place - len(given)] = value
        with pytest.raises(ValueError, match="path"):
            native.kernels.path(*given, *numbers)


def test_a_band_holds_the_lines_that_a_path_leaves_out() -> None:
    """Ten target lines without counterpart: the row where they stand is wide."""
    corners = np.array(
        [(0, 0), (1, 1), (2, 2), *((2, 2 + at) for at in range(1, 11)), (3, 13), (5, 14)]
    )
    band = Band.around(corners, 0)
    assert list(zip(band.starts.tolist(), band.stops.tolist(), strict=True)) == [
        (0, 1),
        (1, 2),
        (2, 13),
        (13, 14),
        (13, 15),  # within a bead of two lines: where it begins to where it ends
        (14, 15),
    ]
    wide = Band.around(corners, 1)
    assert (wide.starts[1], wide.stops[1]) == (0, 14)
    assert (wide.starts[0], wide.stops[5]) == (0, 15)
