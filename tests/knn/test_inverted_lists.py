"""The lists that rows probe: against sorting exact cosines, and whatever the product's last bits.

Float64 adds products of float16 exactly, so that sorting such cosines is what is asked for.
"""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.knn import centroids as training
from xmine.knn import inverted_lists
from xmine.knn.approximate import search_approximate
from xmine.knn.centroids import train_centroids
from xmine.knn.cosines import Floats, Halves
from xmine.knn.duplicates import Distinct
from xmine.knn.inverted_lists import Members, assign_lists, distances_of, most_probed
from xmine.knn.rescoring import error
from xmine.knn.workers import WorkerPool

DIM = 24
LISTS = 40


def unit(vectors: NDArray[np.floating]) -> Halves:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)


def random_rows(rows: int, seed: int) -> Halves:
    return unit(np.random.default_rng(seed).standard_normal((rows, DIM)))


def tied_rows(rows: int, seed: int) -> Halves:
    """Coordinates of 0 and 1/4: a cosine has few values, and most of them are tied."""
    drawn = np.random.default_rng(seed).random((rows, DIM)) < 0.5
    return np.where(drawn, 0.25, 0).astype(np.float16)


def near_rows(rows: int, seed: int) -> Halves:
    """Four crowds whose rows differ in the last bits of fp16, too little for float32 sums."""
    random = np.random.default_rng(seed)
    vectors = random_rows(4, 5)[random.integers(0, 4, rows)]
    moved = vectors.view(np.int16) + random.integers(0, 2, vectors.shape, dtype=np.int16)
    return moved.view(np.float16)


KINDS = [random_rows, tied_rows, near_rows]
Kind = Callable[[int, int], Halves]


def exact(rows: Halves, centroids: Floats) -> Floats:
    cosines = rows.astype(np.float64) @ centroids.astype(np.float64).T
    return np.minimum(cosines, 1).astype(np.float32)


def slow_distances(rows: Halves, centroids: Floats) -> Floats:
    """How much nearer the nearest list is, times the root of the rank, for all lists."""
    distances = np.empty((len(rows), len(centroids)), dtype=np.float32)
    for row, cosines in enumerate(exact(rows, centroids)):
        for number, cosine in enumerate(cosines):
            rank = 1 + sum(other > cosine for other in cosines)
            distances[row, number] = (max(cosines) - cosine) * np.sqrt(np.float32(rank))
    return distances


def slow_lists(rows: Halves, centroids: Floats, reach: float, most: int) -> list[list[int]]:
    lists = []
    for distances, cosines in zip(
        slow_distances(rows, centroids), exact(rows, centroids), strict=True
    ):
        home = int(np.argmax(cosines))
        nearest = np.argsort(-cosines, kind="stable").tolist()
        others = [n for n in nearest if n != home and distances[n] <= reach][: most - 1]
        row = [home, *sorted(others)]
        lists.append(row + [len(cosines)] * (most - len(row)))
    return lists


def given_lists(rows: Halves, centroids: Floats, reach: float, most: int) -> NDArray[np.uint16]:
    lists = np.empty((len(rows), most), dtype=np.uint16)
    with WorkerPool(2) as pool:
        assign_lists(centroids, Distinct(rows, apart=True), 0, reach, lists, pool, lambda: None)
    return lists


def disturb(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Let every product err by up to the bound, as on a processor that adds in another order."""

    def compare(rows: Halves, centroids: Floats) -> Floats:
        random = np.random.default_rng((seed, len(rows), len(centroids)))
        cosines = rows.astype(np.float64) @ centroids.astype(np.float64).T
        cosines += 0.99 * error(rows.shape[1]) * random.uniform(-1, 1, cosines.shape)
        return np.minimum(cosines, 1).astype(np.float32)

    monkeypatch.setattr(inverted_lists, "_compare", compare)


@pytest.mark.parametrize("kind", KINDS)
def test_lists_within_reach_are_probed(kind: Kind) -> None:
    rows, wanted = kind(300, 1), kind(300, 2)
    centroids = kind(LISTS, 3).astype(np.float32)
    slow = slow_distances(rows, centroids)
    homes = exact(wanted, centroids).argmax(axis=1)
    distances = distances_of(centroids, rows, wanted)
    np.testing.assert_array_equal(distances, slow[np.arange(300), homes])
    for reach in (0.0, float(np.quantile(distances, 0.3)), float(np.median(distances))):
        most = most_probed(centroids, rows, reach)
        assert most == (slow <= reach).sum(axis=1).max()
        lists = given_lists(rows, centroids, reach, most)
        assert lists.tolist() == slow_lists(rows, centroids, reach, most)
    assert most > 5


def test_a_row_probes_its_nearest_lists_where_more_than_the_most_are_within_reach() -> None:
    rows, centroids = random_rows(300, 1), random_rows(LISTS, 3).astype(np.float32)
    for most in (1, 2, 7):
        lists = given_lists(rows, centroids, 1.0, most)
        assert lists.tolist() == slow_lists(rows, centroids, 1.0, most)


def test_a_row_has_room_for_no_more_than_the_most_lists_where_all_are_tied() -> None:
    rows, centroids = tied_rows(9, 1), np.repeat(tied_rows(1, 2), LISTS, axis=0)
    lists = given_lists(rows, centroids.astype(np.float32), 1.0, 3)
    assert lists.tolist() == [[0, 1, 2]] * 9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_summation_changes_no_list(
    kind: Kind, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, wanted = kind(2000, 1), kind(2000, 2)
    centroids = kind(LISTS, 3).astype(np.float32)
    distances = distances_of(centroids, rows, wanted)
    reaches = [0.0, *np.quantile(distances, (0.1, 0.3, 0.5, 0.7)).tolist()]
    most = [most_probed(centroids, rows, reach) for reach in reaches]
    lists = [given_lists(rows, centroids, reach, 9) for reach in reaches]
    disturb(monkeypatch, seed)
    np.testing.assert_array_equal(distances_of(centroids, rows, wanted), distances)
    assert [most_probed(centroids, rows, reach) for reach in reaches] == most
    for reach, expected in zip(reaches, lists, strict=True):
        np.testing.assert_array_equal(given_lists(rows, centroids, reach, 9), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_longer_than_one_are_tied_at_one(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding lengthens rows: two centroids are both the row's own, and the first one counts."""
    rows = kind(100, 1) * np.float16(1.02)
    centroids = np.concatenate([rows * np.float16(1.001), rows]).astype(np.float32)
    lists = slow_lists(rows, centroids, 0.1, 5)
    assert given_lists(rows, centroids, 0.1, 5).tolist() == lists
    disturb(monkeypatch, 1)
    assert given_lists(rows, centroids, 0.1, 5).tolist() == lists


def slow_centroids(sample: Halves, centroids: Floats, rounds: int) -> Floats:
    for _ in range(rounds):
        cosines = exact(sample, centroids)
        homes = [int(np.argmax(row)) for row in cosines]
        far = iter(np.argsort([max(row) for row in cosines], kind="stable"))
        found = []
        for number in range(len(centroids)):
            rows = [row for row, home in enumerate(homes) if home == number]
            total = np.sum([sample[row].astype(np.float64) for row in rows or [next(far)]], axis=0)
            found.append((total / np.linalg.norm(total)).astype(np.float16) if rows else total)
        centroids = np.array(found, dtype=np.float32)
    return centroids


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rows", "lists"), [(400, 12), (30, 30), (60, 40), (5, 1)])
def test_centroids_are_those_of_k_means(
    kind: Kind, rows: int, lists: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rows are tied or equal, some lists are empty, and begin again at the farthest rows."""
    sample = kind(rows, 1)
    sample[rows // 2 :: 3] = sample[0]
    rounds = training.ROUNDS
    monkeypatch.setattr(training, "ROUNDS", 0)
    first = train_centroids(sample, lists, lambda: None)
    places = [row.tolist() in sample.astype(np.float32).tolist() for row in first]
    assert all(places)
    monkeypatch.setattr(training, "ROUNDS", rounds)
    expected = slow_centroids(sample, first, rounds)
    np.testing.assert_array_equal(train_centroids(sample, lists, lambda: None), expected)
    disturb(monkeypatch, 1)
    np.testing.assert_array_equal(train_centroids(sample, lists, lambda: None), expected)


def test_the_order_of_summation_changes_no_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    source = random_rows(60, 1)[random.integers(0, 60, 3000)] + 0.1 * random_rows(3000, 2)
    source = unit(source.astype(np.float32))
    target = unit(source[:2500] + 0.1 * random.standard_normal((2500, DIM)))

    def found() -> list[object]:
        near = search_approximate(source, target, 4, index="IVF64,SQfp16", recall=0.9)
        arrays = near.targets, near.target_cosines, near.sources, near.source_cosines
        return [near.index, near.recall, *(each.tobytes() for each in arrays)]

    expected = found()
    for seed in range(3):
        disturb(monkeypatch, seed)
        assert found() == expected


def test_the_rows_of_a_list_rise() -> None:
    lists = given_lists(random_rows(200, 1), random_rows(LISTS, 3).astype(np.float32), 0.3, 9)
    members = Members(lists, LISTS, 100)
    for number in range(LISTS):
        rows = 100 + np.flatnonzero((lists == number).any(axis=1))
        assert members.of(number).tolist() == rows.tolist()
        assert members.sizes[number] == len(rows)
