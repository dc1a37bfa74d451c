"""Margin scores and pairing against their definitions, on random and tied input, and G-17."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.knn.exact import search_exact
from xmine.knn.neighbours import Neighbours
from xmine.scoring.margin import MarginScores, margin_scores, pair_scores, scores_near
from xmine.scoring.retrieval import ChosenPairs, choose_pairs


def unit(rows: list[tuple[float, ...]]) -> NDArray[np.float32]:
    vectors = np.array(rows)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / lengths, dtype=np.float32)


# G-17 of the methods specification (tolerance 1e-6 there is for float64; vectors here are fp32).
X = unit([(1, 0, 0), (0, 1, 0), (1, 1, 0)])
Y = unit([(1, 0.1, 0), (0.1, 1, 0), (1, 0.9, 0.1), (0, 0, 1)])


def cells(neighbours: Neighbours, scores: NDArray[np.float32]) -> dict[tuple[int, int], float]:
    return {
        (row, int(column)): float(score)
        for row, (columns, values) in enumerate(zip(neighbours.targets, scores, strict=True))
        for column, score in zip(columns, values, strict=True)
    }


def test_golden_g17() -> None:
    neighbours = search_exact(X, Y, 2)
    np.testing.assert_allclose(
        neighbours.target_cosines.mean(axis=1), [0.86814325, 0.83108079, 0.88491395], atol=2e-7
    )
    np.testing.assert_allclose(
        neighbours.source_cosines.mean(axis=1), [0.88449724, 0.88449724, 0.86855996, 0], atol=2e-7
    )
    ratio = cells(neighbours, margin_scores(neighbours, "ratio").targets)
    distance = cells(neighbours, margin_scores(neighbours, "distance").targets)
    for row, (by_ratio, by_distance) in enumerate(
        [(1.13547210, 0.11871694), (1.16000225, 0.13724817), (1.13588300, 0.11913364)]
    ):
        assert ratio[row, row] == pytest.approx(by_ratio, abs=3e-7)
        assert distance[row, row] == pytest.approx(by_distance, abs=3e-7)
    order = {"ratio": [1, 2, 0], "distance": [1, 2, 0], "absolute": [2]}
    for margin, expected in order.items():
        pairs = choose_pairs(neighbours, margin_scores(neighbours, margin), "max")
        assert pairs.sources.tolist()[: len(expected)] == expected
        assert np.array_equal(pairs.sources, pairs.targets)


def slow_scores(
    source: NDArray[np.float32], target: NDArray[np.float32], k: int, margin: str
) -> dict[tuple[int, int], float]:
    """The score of every cell that is among the k nearest of its row or of its column."""
    cosines = source.astype(np.float64) @ target.astype(np.float64).T
    rows, columns = cosines.shape
    by_row = [sorted(range(columns), key=lambda j: (-cosines[i, j], j))[:k] for i in range(rows)]
    by_column = [sorted(range(rows), key=lambda i: (-cosines[i, j], i))[:k] for j in range(columns)]
    row_mean = [np.mean([cosines[i, j] for j in by_row[i]]) for i in range(rows)]
    column_mean = [np.mean([cosines[i, j] for i in by_column[j]]) for j in range(columns)]
    scores = {}
    for i, j in itertools.product(range(rows), range(columns)):
        if j in by_row[i] or i in by_column[j]:
            a, b = cosines[i, j], (row_mean[i] + column_mean[j]) / 2
            scores[i, j] = {"ratio": a / max(b, 1e-6), "distance": a - b, "absolute": a}[margin]
    return scores


def slow_choice(
    scores: dict[tuple[int, int], float], neighbours: Neighbours, retrieval: str
) -> list[tuple[int, int]]:
    """The four modes as their definitions read; ties by source row, then target row."""

    def best(candidates: list[tuple[int, int]]) -> tuple[int, int]:
        return min(candidates, key=lambda cell: (-scores[cell], cell))

    fwd = {best([(i, int(j)) for j in row]) for i, row in enumerate(neighbours.targets)}
    bwd = {best([(int(i), j) for i in row]) for j, row in enumerate(neighbours.sources)}
    chosen = {"fwd": fwd, "bwd": bwd, "intersect": fwd & bwd, "max": fwd | bwd}[retrieval]
    walk = sorted(chosen, key=lambda cell: (-scores[cell], cell))
    if retrieval != "max":
        return walk
    kept: list[tuple[int, int]] = []
    for cell in walk:
        if all(cell[0] != i and cell[1] != j for i, j in kept):
            kept.append(cell)
    return kept


def random_vectors(rows: int, seed: int) -> NDArray[np.float32]:
    return unit(np.random.default_rng(seed).standard_normal((rows, 12)).tolist())


def tied_vectors(rows: int, seed: int) -> NDArray[np.float32]:
    """Few different vectors, with exact cosines: nearly everything is tied."""
    choice = np.random.default_rng(seed).integers(0, 4, rows)
    return np.eye(4, dtype=np.float32)[choice]


@pytest.mark.parametrize("vectors", [random_vectors, tied_vectors])
@pytest.mark.parametrize("retrieval", ["max", "fwd", "bwd", "intersect"])
@pytest.mark.parametrize("margin", ["ratio", "distance", "absolute"])
@pytest.mark.parametrize("shape", [(1, 1, 4), (40, 25, 4), (25, 40, 1), (12, 9, 50)])
def test_agrees_with_the_definitions(
    vectors: Callable[[int, int], NDArray[np.float32]],
    retrieval: str,
    margin: str,
    shape: tuple[int, int, int],
) -> None:
    source, target = vectors(shape[0], 1), vectors(shape[1], 2)
    neighbours = search_exact(source, target, shape[2])
    scores = margin_scores(neighbours, margin)
    slow = slow_scores(source, target, shape[2], margin)
    for cell, score in cells(neighbours, scores.targets).items():
        assert score == pytest.approx(slow[cell], abs=2e-6, rel=2e-6)
    pairs = choose_pairs(neighbours, scores, retrieval)
    exact = {cell: float(np.float32(score)) for cell, score in slow.items()}
    # Ties are told by the scores that the fast code has, which differ from exact ones by rounding.
    exact |= cells(neighbours, scores.targets)
    exact |= {
        (int(i), j): float(score)
        for j, (row, values) in enumerate(zip(neighbours.sources, scores.sources, strict=True))
        for i, score in zip(row, values, strict=True)
    }
    chosen = list(zip(pairs.sources.tolist(), pairs.targets.tolist(), strict=True))
    assert chosen == slow_choice(exact, neighbours, retrieval)
    if retrieval in ("max", "intersect"):
        assert len(set(pairs.sources.tolist())) == len(set(pairs.targets.tolist())) == len(pairs)


def slow_score(cosine: float, source_mean: float, target_mean: float, margin: str) -> float:
    mean = (source_mean + target_mean) / 2
    return {"ratio": cosine / max(mean, 1e-6), "distance": cosine - mean, "absolute": cosine}[
        margin
    ]


@pytest.mark.parametrize("margin", ["ratio", "distance", "absolute"])
def test_any_pairs_are_scored_by_their_definition(margin: str) -> None:
    """Whether they are neighbours or not; one neighbourhood of each side is near zero."""
    source, target = random_vectors(7, 1), random_vectors(9, 2)
    source[3] = 0
    target[4:] = -target[:5]
    target[2] = 0
    near = search_exact(source, target, 3)
    cells = np.array(list(itertools.product(range(7), range(9))))
    cosines = (source @ target.T)[cells[:, 0], cells[:, 1]]
    found, clamped = pair_scores(cells[:, 0], cells[:, 1], cosines, near, margin)
    means = [
        (near.target_cosines[i].astype(float).mean(), near.source_cosines[j].astype(float).mean())
        for i, j in cells.tolist()
    ]
    rows = zip(cosines.tolist(), means, strict=True)
    slow = [slow_score(cosine, *mean, margin) for cosine, mean in rows]
    np.testing.assert_allclose(found, slow, rtol=2e-6, atol=1e-6)
    low = sum(sum(mean) / 2 < 1e-6 for mean in means)
    assert low
    assert clamped == (low if margin == "ratio" else 0)


@pytest.mark.parametrize("of_sources", [True, False])
@pytest.mark.parametrize("margin", ["ratio", "distance", "absolute"])
def test_a_few_rows_are_scored_as_all_are(margin: str, of_sources: bool) -> None:
    """Of six neighbours that are known the means are of the first three."""
    source, target = random_vectors(20, 3), random_vectors(15, 4)
    known, near = search_exact(source, target, 6), search_exact(source, target, 3)
    rows = np.array([11, 2, 2, 14])
    found = scores_near(known if of_sources else known.swapped(), rows, margin, 3)
    assert found.shape == (4, 6)
    for place, row in enumerate(rows.tolist()):
        ids, cosines = (
            (known.targets[row], known.target_cosines[row])
            if of_sources
            else (known.sources[row], known.source_cosines[row])
        )
        for at, (other, cosine) in enumerate(zip(ids.tolist(), cosines.tolist(), strict=True)):
            i, j = (row, other) if of_sources else (other, row)
            means = float(near.target_cosines[i].mean()), float(near.source_cosines[j].mean())
            slow = slow_score(cosine, *means, margin)
            assert found[place, at] == pytest.approx(slow, rel=3e-6, abs=1e-6)


def test_a_neighbourhood_near_zero_is_clamped_and_counted() -> None:
    source, target = unit([(1, 0), (0, 1)]), unit([(0, -1), (-1, 0)])
    scores = margin_scores(search_exact(source, target, 2), "ratio")
    assert scores.clamped == 8  # two neighbours of each of four lines
    assert np.isfinite(scores.targets).all()
    assert margin_scores(search_exact(source, target, 2), "distance").clamped == 0


def walked(pairs: ChosenPairs) -> list[tuple[int, int]]:
    """Walk down the pairs and keep one if neither of its sentences is taken."""
    kept: list[tuple[int, int]] = []
    sources, targets = set[int](), set[int]()
    for source, target in zip(pairs.sources.tolist(), pairs.targets.tolist(), strict=True):
        if source not in sources and target not in targets:
            kept.append((source, target))
            sources.add(source)
            targets.add(target)
    return kept


def chain(length: int) -> tuple[Neighbours, MarginScores]:
    """Source i is best with target i, which is better with source i + 1, and so on."""
    rows = np.arange(length)
    after = np.minimum(rows + 1, length - 1)
    rising = rows[:, None].astype(np.float32)
    near = Neighbours(rows[:, None], rising, after[:, None], rising)
    return near, MarginScores(
        2 * rising, np.where(after > rows, 2 * rows + 1, 2 * rows)[:, None], 0
    )


def random_lists(rows: int, seed: int) -> tuple[Neighbours, MarginScores]:
    """Many sentences are the best of several, and many scores are equal."""
    random = np.random.default_rng(seed)
    ids = [random.integers(0, rows // 3, (rows, 2)) for _ in range(2)]
    table = random.integers(0, 40, (rows, rows)).astype(np.float32)
    scores = table[np.arange(rows)[:, None], ids[0]], table[ids[1], np.arange(rows)[:, None]]
    return Neighbours(ids[0], scores[0], ids[1], scores[1]), MarginScores(*scores, 0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("retrieval", ["max", "fwd", "bwd", "intersect"])
def test_equal_scores_of_neighbours_in_any_order(retrieval: str, seed: int) -> None:
    """Equal scores whose cosines differ: the neighbours are not in the order of their numbers."""
    random = np.random.default_rng(seed)
    targets, sources = (random.integers(0, 17, (60, 2)) for _ in range(2))
    rows = np.arange(60)[:, None]
    cosines = random.random((60, 60)).astype(np.float32)
    near = Neighbours(targets, cosines[rows, targets], sources, cosines[sources, rows])
    table = random.integers(0, 4, (60, 60)).astype(np.float32)
    scores = MarginScores(table[rows, near.targets], table[near.sources, rows], 0)
    exact = {(i, j): float(table[i, j]) for i in range(60) for j in range(60)}
    found = choose_pairs(near, scores, retrieval)
    chosen = list(zip(found.sources.tolist(), found.targets.tolist(), strict=True))
    assert chosen == slow_choice(exact, near, retrieval)
    assert [exact[cell] for cell in chosen] == found.scores.tolist()
    assert [cosines[cell] for cell in chosen] == found.cosines.tolist()


@pytest.mark.parametrize("rounds", [0, 1, 2, 8, 500])
@pytest.mark.parametrize(
    "made",
    [chain(1), chain(2), chain(300), random_lists(3, 0), *(random_lists(400, n) for n in (1, 2))],
)
def test_rounds_keep_what_a_walk_down_the_sorted_pairs_keeps(
    monkeypatch: pytest.MonkeyPatch, made: tuple[Neighbours, MarginScores], rounds: int
) -> None:
    monkeypatch.setattr("xmine.scoring.retrieval._ROUNDS", rounds)
    fwd, bwd = (choose_pairs(*made, retrieval) for retrieval in ("fwd", "bwd"))
    both = sorted(
        {
            (-float(score), int(source), int(target))
            for pairs in (fwd, bwd)
            for source, target, score in zip(
                pairs.sources, pairs.targets, pairs.scores, strict=True
            )
        }
    )
    order = np.array([cell[1:] for cell in both], dtype=np.int64)
    nothing = np.zeros(len(both), dtype=np.float32)
    found = choose_pairs(*made, "max")
    pairs = list(zip(found.sources.tolist(), found.targets.tolist(), strict=True))
    assert pairs == walked(ChosenPairs(order[:, 0], order[:, 1], nothing, nothing))
    assert len(pairs) > len(made[0].targets) // 10


@pytest.mark.parametrize("margin", ["ratio", "distance", "absolute"])
def test_scores_do_not_depend_on_how_many_rows_are_scored_at_a_time(
    monkeypatch: pytest.MonkeyPatch, margin: str
) -> None:
    for k in (1, 4, 11, 40):
        neighbours = search_exact(random_vectors(50, 8), random_vectors(41, 9), k)
        whole = margin_scores(neighbours, margin)
        with monkeypatch.context() as smaller:
            smaller.setattr("xmine.files.scratch.ROWS_AT_ONCE", 7)
            parts = margin_scores(neighbours, margin)
        assert np.array_equal(parts.targets, whole.targets)
        assert np.array_equal(parts.sources, whole.sources)
        assert parts.clamped == whole.clamped
