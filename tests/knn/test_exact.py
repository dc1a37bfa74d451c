"""The exact search against sorting all cosines, however the product is cut, after any kill."""

import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.toys.grids import mostly_long
from xmine.files.scratch import scratch_in
from xmine.knn import exact, rescoring
from xmine.knn.blocks import Cutting, Multiplier, plan_blocks
from xmine.knn.cosines import all_cosines, exact_cosines
from xmine.knn.duplicates import Distinct
from xmine.knn.exact import exact_memory, search_exact
from xmine.knn.neighbours import Neighbours
from xmine.knn.topk import columns_of, pack, values_of
from xmine.knn.workers import WorkerPool
from xmine.text.hashing import first_equal

Half = NDArray[np.float16]


def slow_search(source: Half, target: Half, k: int) -> list[NDArray[Any]]:
    """Sort all cosines of every row, exact ones: float64 adds products of float16 exactly."""
    cosines = source.astype(np.float64) @ target.astype(np.float64).T
    cosines = np.minimum(cosines, 1).astype(np.float32)
    parts = []
    for side in (cosines, cosines.T):
        order = np.argsort(-side, axis=1, kind="stable")[:, :k]
        parts += [order, np.take_along_axis(side, order, axis=1)]
    return parts


def parts(found: Neighbours) -> list[NDArray[Any]]:
    return [found.targets, found.target_cosines, found.sources, found.source_cosines]


def check(found: Neighbours, expected: list[NDArray[Any]]) -> None:
    for one, other in zip(parts(found), expected, strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)


def unit(vectors: NDArray[Any]) -> Half:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float16)


def random_rows(rows: int, dim: int, seed: int) -> Half:
    return unit(np.random.default_rng(seed).standard_normal((rows, dim)))


def tied_rows(rows: int, dim: int, seed: int) -> Half:
    """Coordinates of 0 and 1/16: a cosine has few values, and most of them are tied."""
    vectors = (np.random.default_rng(seed).random((rows, dim)) < 0.5) / 16
    vectors[:, 0] = 1 / 16
    return vectors.astype(np.float16)


def repeated_rows(rows: int, dim: int, seed: int) -> Half:
    return random_rows(9, dim, 5)[np.random.default_rng(seed).integers(0, 9, rows)]


def near_rows(rows: int, dim: int, seed: int) -> Half:
    """Two crowds whose rows differ in the last bits of fp16, too little for float32 sums."""
    random = np.random.default_rng(seed)
    vectors = random_rows(2, dim, 5)[random.integers(0, 2, rows)]
    moved = vectors.view(np.int16) + random.integers(0, 2, vectors.shape, dtype=np.int16)
    return moved.view(np.float16)


def rising_rows(rows: int, dim: int, seed: int) -> Half:
    """Each row nearer to all others than the one before: every cell is the best so far."""
    vectors = random_rows(rows, dim, seed).astype(np.float64)
    return unit(vectors * 0.1 + np.linspace(0, 3, rows)[:, None] * random_rows(1, dim, 5))


def search_planned(
    source: NDArray[Any], target: NDArray[Any], k: int, plan: Cutting, **more: Any
) -> Neighbours:
    """Search in blocks of a plan."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "plan_blocks", lambda *_: plan)
        return search_exact(source, target, k, **more)


KINDS = [random_rows, tied_rows, repeated_rows, near_rows, rising_rows]
PLANS = [
    Cutting(4096, 1024, 2048, 1),
    Cutting(64, 32, 64, 1),
    Cutting(40, 8, 16, 2),
    Cutting(104, 104, 8, 3),
]


@pytest.mark.parametrize("rows", [(1, 1), (1, 90), (3, 200), (257, 130)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("plan", mostly_long(PLANS, usual=PLANS[1:3]))
def test_agrees_with_sorting_all_cosines(
    kind: Callable[[int, int, int], Half], rows: tuple[int, int], plan: Cutting, tmp_path: Path
) -> None:
    dim = 24 + rows[1] % 2
    source, target = kind(rows[0], dim, 1), kind(rows[1], dim, 2)
    for k in (1, 4, 300):
        expected = slow_search(source, target, k)
        with scratch_in(tmp_path):
            check(search_planned(source, target, k, plan), expected)


@pytest.mark.parametrize("seed", range(40))
def test_agrees_whatever_the_sizes_numbers_and_cuts(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, others = random.integers(1, 200, 2).tolist()
    dim, k = int(random.integers(1, 131)), int(random.integers(1, 61))
    band, height, width = (8 * int(random.integers(1, 30)) for _ in range(3))
    plan = Cutting(band, height, width, int(random.integers(1, 4)))
    kinds = [KINDS[at] for at in random.integers(0, len(KINDS), 2)]
    source, target = (
        kind(size, dim, seed) for kind, size in zip(kinds, (rows, others), strict=True)
    )
    source *= random.choice(np.array([1, -1, 0.98, 1.02], dtype=np.float16))
    sides: list[NDArray[Any]] = [source, target]
    if seed % 3 == 0:  # float32, with so few bits that float64 adds products exactly all the same
        sides = [np.round(side.astype(np.float32) * 2**14) / np.float32(2**14) for side in sides]
    found = search_planned(sides[0], sides[1], k, plan)
    check(found, slow_search(sides[0], sides[1], k))


def test_cosines_above_one_are_tied() -> None:
    """Rounding makes rows a little longer than one; the cosines of such rows are cut to 1."""
    source, target = random_rows(90, 24, 1), random_rows(120, 24, 2)
    target[10:70:10] = source[0] * np.linspace(1.002, 1.01, 6, dtype=np.float16)[:, None]
    expected = slow_search(source, target, 4)
    assert expected[0][0].tolist() == [10, 20, 30, 40]
    check(search_exact(source, target, 4), expected)


@pytest.mark.torch
@pytest.mark.parametrize("kind", KINDS)
def test_torch_gives_the_same_bytes(kind: Callable[[int, int, int], Half]) -> None:
    source, target = kind(301, 24, 1), kind(250, 24, 2)
    found = search_planned(source, target, 4, Cutting(100, 100, 77, 1), device="cpu:0")
    check(found, slow_search(source, target, 4))


def test_vectors_on_disk_are_searched_like_those_in_memory(tmp_path: Path) -> None:
    source, target = random_rows(300, 24, 1), repeated_rows(200, 24, 2)
    sides = []
    for name, vectors in (("source", source), ("target", target)):
        np.save(tmp_path / f"{name}.npy", vectors)
        sides.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    check(search_exact(sides[0], sides[1], 4), slow_search(source, target, 4))


def test_many_equal_rows_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that stands there thousands of times costs no more than one."""
    pairs = 0

    def counted(vectors: Half, others: Half, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        nonlocal pairs
        pairs += ids.size
        return exact_cosines(vectors, others, ids)

    monkeypatch.setattr(rescoring, "exact_cosines", counted)
    source, target = random_rows(900, 24, 1), random_rows(800, 24, 2)
    source[100:800] = target[50:700] = target[0]
    check(search_exact(source, target, 4), slow_search(source, target, 4))
    assert pairs < 8 * (201 + 151)


def test_equal_rows_take_few_bytes() -> None:
    rows = 50_000
    vectors = random_rows(rows, 8, 1)
    for repeated, most, most_kept in ((0, 28, 1), (1, 43, 33), (rows // 2, 43, 33)):
        vectors[rows - repeated :] = vectors[:repeated]
        tracemalloc.start()
        try:
            side = Distinct(vectors)
            kept, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert len(side) == len(np.unique(vectors, axis=0))
        assert kept < most_kept * rows and peak < most * rows


def test_the_first_equal_number_is_found() -> None:
    random = np.random.default_rng(1)
    for size, most in ((0, 1), (1, 1), (50, 3), (500, 200), (500, 2**62)):
        numbers = random.integers(-most, most, size)
        first: dict[int, int] = {}
        slow = [first.setdefault(number, at) for at, number in enumerate(numbers.tolist())]
        assert first_equal(numbers).tolist() == slow


def test_only_rows_in_doubt_are_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    again: list[int] = []
    search_again = rescoring._search_again

    def noted(way: rescoring.Direction, rows: NDArray[np.int64], pool: WorkerPool) -> None:
        again.extend(rows.tolist())
        search_again(way, rows, pool)

    monkeypatch.setattr(rescoring, "_search_again", noted)
    source, target = random_rows(300, 64, 1), random_rows(300, 64, 2)
    check(search_exact(source, target, 4), slow_search(source, target, 4))
    assert not again
    target[100:200] = near_rows(100, 64, 3)
    source[7] = target[100]
    check(search_exact(source, target, 4), slow_search(source, target, 4))
    assert 7 in again and len(again) < 150


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("crowds", [1, 2])
def test_rows_of_a_crowd_are_rescored_alike_in_blocks_and_pair_by_pair(
    monkeypatch: pytest.MonkeyPatch, dtype: type[np.floating[Any]], crowds: int
) -> None:
    monkeypatch.setattr(rescoring, "_AGAIN_COLUMNS", 64)
    random = np.random.default_rng(crowds)
    centres = random.standard_normal((crowds, 40))

    def crowd() -> NDArray[Any]:
        rows = centres[random.integers(0, crowds, 200)] + 1e-3 * random.standard_normal((200, 40))
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=dtype)

    source, target, found = crowd(), crowd(), []
    for share in (-1, 2):  # all blocks, none
        monkeypatch.setattr(rescoring, "_MANY", share)
        found.append(search_exact(source, target, 4))
    assert (found[0].target_cosines < 1).any()
    check(found[0], parts(found[1]))
    if dtype is np.float16:
        check(found[0], slow_search(source, target, 4))


def test_all_cosines_are_summed_in_the_order_of_single_ones() -> None:
    """Sums halfway between two numbers of float32: the order of their small parts tells which."""
    random = np.random.default_rng(1)
    left, right = random.standard_normal((2, 100, 64)).astype(np.float32)
    left[:, 20], left[:, 40] = 1, 1
    right *= np.float32(2**-53)
    right[:, 20], right[:, 40] = 0.5, 2**-25
    every = np.tile(np.arange(100), (100, 1))
    single = exact_cosines(left, right, every)
    assert len(np.unique(single)) == 2
    assert np.array_equal(all_cosines(left, right, are_halves=False), single)


def test_the_bound_on_float32_sums_holds() -> None:
    """The worst order of summation, one by one, and the largest products: all of one sign."""
    vectors = unit(np.abs(random_rows(200, 1000, 1).astype(np.float64)))
    exactly = np.einsum("rd,sd->rs", vectors.astype(np.float64), vectors.astype(np.float64))
    total = np.zeros((200, 200), dtype=np.float32)
    for column in vectors.astype(np.float32).T:
        total += column[:, None] * column
    off = np.abs(total - exactly).max()
    assert 0 < off < rescoring.error(1000)


def test_keys_sort_like_numbers_and_come_back() -> None:
    values = np.array([-np.inf, -1, -1e-30, 0, 1e-30, 0.5, 0.5, 1], dtype=np.float32)
    columns = np.array([0, 2**32 - 2, 5, 6, 0, 7, 3, 9])
    keys = pack(values, columns)
    assert (np.diff(keys) > 0).all()
    assert np.array_equal(values_of(keys), values) and np.array_equal(columns_of(keys), columns)


def test_blocks_fit_the_memory_they_are_given() -> None:
    for memory in (2**28, 2**29, 2**30):
        for rows in (1000, 50_000, 1_000_000, 10_000_000):
            for dim in (64, 256, 1024, 4096):
                plan = plan_blocks(rows, rows, dim, 8, memory)
                assert plan.memory(dim, 8) <= memory
                assert plan.columns * plan.workers >= min(rows, 512)
    assert exact_memory(10**6, 10**6, 256, 4) < 1.1 * exact_memory(10**5, 10**5, 256, 4) < 2**27


class StoppedError(Exception):
    """What a test raises in the middle of a search."""


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_what_a_worker_raises_comes_out(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    multiply = Multiplier.multiply

    def failing(self: Any, band: Any, start: int, *rest: Any) -> None:
        if band.start and start:
            raise StoppedError
        multiply(self, band, start, *rest)

    monkeypatch.setattr(Multiplier, "multiply", failing)
    before = threading.active_count()
    sides = random_rows(300, 24, 1), random_rows(300, 24, 2)
    with pytest.raises(StoppedError):
        search_planned(*sides, 4, Cutting(64, 32, 64, workers))
    assert threading.active_count() == before
