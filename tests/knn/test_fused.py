"""The fused product in every instruction set: against sorting the products of rounded rows."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.knn.test_exact import (
    KINDS,
    Half,
    check,
    near_rows,
    parts,
    random_rows,
    slow_search,
    tied_rows,
    unit,
)
from xmine import native
from xmine.knn.approximate import search_approximate
from xmine.knn.duplicates import Distinct
from xmine.knn.exact import search_exact
from xmine.knn.fused import in_tiles
from xmine.knn.topk import EMPTY, Keys, pack

BUILT = native.kernels
SETS = BUILT.sets() if BUILT else []


@pytest.fixture(params=[None, *SETS])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Compute by one set after the other, and by numpy."""
    monkeypatch.setattr(native, "kernels", BUILT if request.param else None)
    monkeypatch.setattr("xmine.knn.blocks._SMALL", 0)
    if request.param:
        BUILT.choose(request.param)
    yield native.kernels
    if request.param:
        BUILT.choose(SETS[0])


def sorted_keys(source: Half, target: Half, keep: int) -> Keys:
    rounded = [np.rint(side.astype(np.float32) * np.float32(32_000)) for side in (source, target)]
    sums = rounded[0].astype(np.float64) @ rounded[1].astype(np.float64).T
    keys = pack(sums.astype(np.float32) * np.float32(1 / 1.024e9), 7 + np.arange(len(target)))
    keys = np.sort(np.hstack([np.full((len(source), keep), EMPTY), keys]), axis=1)
    return keys[:, -keep:]


@pytest.mark.parametrize("kernels", SETS, indirect=True)
@pytest.mark.parametrize("dim", [1, 2, 3, 7, 31, 33, 64, 320])
def test_the_best_cells_of_both_sides_are_kept(kernels: Any, dim: int) -> None:
    sizes = [(1, 1), (1, 90), (9, 33), (1100, 70)]
    for (rows, others), kind in product(sizes, (random_rows, tied_rows, near_rows)):
        sides = [kind(rows, dim, 1), kind(others, dim, 2)]
        ids = [7 + np.arange(rows), 7 + np.arange(others)]
        for keeps, again in product([(1, 4), (8, 1024)], (False, True)):
            best = [np.full((rows, keeps[0]), EMPTY), np.full((others, keeps[1]), EMPTY)]
            left, right = (
                in_tiles(Distinct(side, apart=True), of - 7, is_left=of is ids[0])
                for side, of in zip(sides, ids, strict=True)
            )
            for _ in range(1 + again):  # cells that are there already are let in once
                kernels.scan(left, ids[0], best[0], right, ids[1], best[1], dim, again)
            for found, (one, other) in zip(best, (sides, sides[::-1]), strict=True):
                expected = sorted_keys(one, other, found.shape[1])
                np.testing.assert_array_equal(np.sort(found, axis=1), expected)


@pytest.mark.parametrize("workers", [1, 2])
def test_all_sets_and_numpy_find_the_same(
    kernels: Any, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("xmine.knn.blocks.blas_threads", lambda: workers)
    monkeypatch.setattr("xmine.knn.ivf_search.blas_threads", lambda: workers)
    for kind, (rows, dim) in product(KINDS, [(1200, 3), (300, 33)]):
        sides = kind(rows, dim, 1), kind(500, dim, 2)
        for k, memory in ((1, 2**29), (4, 1), (1024, 2**29)):
            check(search_exact(*sides, k, memory=memory), slow_search(*sides, k))
    # Rows that whole numbers cannot tell apart are compared again, but with no more of the others.
    random = np.random.default_rng(1).standard_normal((2, 500, 33))
    left, right = (unit(random_rows(1, 33, 5) + 0.01 * each) for each in random)
    found = search_approximate(left, right, 4, index="IVF9,Flat", recall=0.5)
    exact = search_exact(left, right, 4)
    assert (found.target_cosines < exact.target_cosines).any(axis=1).mean() > 0.3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "kernels", None)
        check(search_approximate(left, right, 4, index="IVF9,Flat", recall=0.5), parts(found))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1.5])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_rows_that_are_not_units_are_refused(kernels: Any, wrong: float, dtype: Any) -> None:
    sides = [random_rows(50, 33, 1).astype(dtype), random_rows(60, 33, 2).astype(dtype)]
    for side in sides:
        spoiled = [each.copy() for each in sides]
        spoiled[side is sides[1]][41, 32] = wrong
        with pytest.raises(ValueError, match="unit vectors"):
            search_exact(spoiled[0], spoiled[1], 4)


@pytest.mark.parametrize("kernels", SETS, indirect=True)
def test_sizes_that_differ_and_rows_that_are_not_there_are_refused(kernels: Any) -> None:
    rows, ids, best = np.zeros((32, 4), np.int16), np.arange(32), np.full((32, 2), EMPTY)
    vectors = np.zeros((5, 4), np.float16)
    fine: tuple[Any, ...] = (rows, ids, best, rows, ids, best.copy(), 4, False)
    kernels.scan(*fine)
    for place, wrong in (
        *((0, rows[:31]), (3, rows[:1]), (1, ids[:0]), (2, best[:31]), (6, 5), (6, 0)),
    ):
        with pytest.raises(ValueError, match="scan: sizes differ"):
            kernels.scan(*fine[:place], wrong, *fine[place + 1 :])
    for bad in (np.array([5]), np.array([-1])):
        with pytest.raises(ValueError, match="not there"):
            kernels.quantise(vectors, 4, True, bad, False, rows)
        with pytest.raises(ValueError, match="not there"):
            kernels.merge(best, 2, bad + 32 * (bad > 0), np.zeros((1, 2), np.int64))
        with pytest.raises(ValueError, match="not there"):
            kernels.cosines(vectors[:1], vectors, bad - (bad < 0), 4, np.zeros(1, np.float32))


def test_any_type_and_order_in_memory_is_searched(kernels: Any) -> None:
    left, right = (random_rows(90, 33, seed).astype(np.float32) for seed in (1, 2))
    plain = search_exact(left, right, 4)
    for kind in (np.float64, ">f4"):
        one: Any = np.asfortranarray(left.astype(kind))
        other: Any = np.repeat(right.astype(kind), 2, axis=0)[::2]
        found = search_exact(one, other, 4)
        assert np.array_equal(found.targets, plain.targets), kind
