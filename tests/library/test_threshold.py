"""The cut: what it finds on sets whose truth is known, and what it does where nothing can be."""

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine import threshold
from xmine.margin import margin_scores
from xmine.neighbours import Neighbours, nearest
from xmine.pairing import ChosenPairs, choose_pairs
from xmine.threshold import NEIGHBOURS, Threshold, choose_threshold

Vectors = NDArray[np.float32]


def unit(rows: NDArray[np.float64]) -> Vectors:
    lengths: NDArray[np.float64] = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / lengths).astype(np.float32)


def sides(sources: int, targets: int, shared: int, seed: int) -> tuple[Vectors, Vectors]:
    """Random sentences; the first `shared` targets are noisy copies of the first sources."""
    rng = np.random.default_rng(seed)
    source = rng.normal(size=(sources, 48))
    target = rng.normal(size=(targets, 48))
    target[:shared] = source[:shared] + rng.uniform(0.3, 1.2, (shared, 1)) * target[:shared]
    return unit(source), unit(target)


def mined(
    source: Vectors,
    target: Vectors,
    k: int = NEIGHBOURS,
    margin: str = "ratio",
    retrieval: str = "max",
) -> tuple[ChosenPairs, Neighbours]:
    neighbours = nearest(source, target, k)
    return choose_pairs(neighbours, margin_scores(neighbours, margin), retrieval), neighbours


def kept(pairs: ChosenPairs, cut: Threshold) -> NDArray[np.bool_]:
    return pairs.scores.astype(np.float64) >= cut.value


def f1(right: int, found: int, gold: int) -> float:
    return 2 * right / (found + gold)


@pytest.mark.parametrize("margin", ["ratio", "distance", "absolute"])
@pytest.mark.parametrize("retrieval", ["max", "fwd", "bwd", "intersect"])
@pytest.mark.parametrize(("sources", "targets", "shared"), [(400, 400, 40), (200, 500, 100)])
def test_it_is_close_to_the_best_cut_there_is(
    margin: str, retrieval: str, sources: int, targets: int, shared: int
) -> None:
    pairs, neighbours = mined(
        *sides(sources, targets, shared, 3), margin=margin, retrieval=retrieval
    )
    right = (pairs.sources == pairs.targets) & (pairs.sources < shared)
    best = max(f1(right[:n].sum(), n, shared) for n in range(1, len(pairs) + 1))
    cut = choose_threshold(pairs, neighbours)
    rows = kept(pairs, cut)
    assert f1(right[rows].sum(), rows.sum(), shared) > best - 0.03
    assert cut.translations == pytest.approx(shared, rel=0.15)
    assert cut.precision == pytest.approx(right[rows].mean(), abs=0.05)


@pytest.mark.parametrize(("lines", "few"), [(20, 0.06), (100, 0.02), (600, 0.01)])
def test_without_translations_it_keeps_few_or_none(lines: int, few: float) -> None:
    shares = []
    for seed in range(12):
        pairs, neighbours = mined(*sides(lines, lines, 0, seed))
        shares.append(kept(pairs, choose_threshold(pairs, neighbours)).sum() / lines)
    assert np.mean(shares) < few and np.median(shares) < 0.02


@pytest.mark.parametrize("lines", [3, 5, 10, 50, 500])
def test_when_every_line_is_translated_it_keeps_nearly_all(lines: int) -> None:
    pairs, neighbours = mined(*sides(lines, lines, lines, 1))
    assert kept(pairs, choose_threshold(pairs, neighbours)).sum() >= 0.97 * lines


def test_two_translations_among_two_lines_are_kept() -> None:
    pairs, neighbours = mined(*sides(2, 2, 2, 1))
    assert kept(pairs, choose_threshold(pairs, neighbours)).all()


def test_one_translation_among_many_lines_is_kept() -> None:
    source, target = sides(60, 60, 1, 2)
    pairs, neighbours = mined(source[:1], target)
    cut = choose_threshold(pairs, neighbours)
    assert pairs.targets[kept(pairs, cut)].tolist() == [0]


@pytest.mark.parametrize("size", [(1, 1), (1, 2)])
def test_with_too_few_lines_to_compare_it_keeps_everything_and_says_so(
    size: tuple[int, int],
) -> None:
    pairs, neighbours = mined(*sides(*size, 0, 1))
    cut = choose_threshold(pairs, neighbours)
    assert kept(pairs, cut).all() and len(pairs) == 1
    assert "too few" in cut.how and cut.translations is None


def test_one_neighbour_shows_no_competitor() -> None:
    pairs, neighbours = mined(*sides(30, 30, 10, 1), k=1)
    cut = choose_threshold(pairs, neighbours)
    assert kept(pairs, cut).all() and "too few" in cut.how


@pytest.mark.parametrize("shared", [0, 100])
def test_a_margin_of_one_neighbour_is_judged_by_four(shared: int) -> None:
    source, target = sides(100, 100, shared, 1)
    pairs, _ = mined(source, target, k=1)
    cut = choose_threshold(pairs, nearest(source, target, NEIGHBOURS))
    assert cut.translations == pytest.approx(shared, abs=2)
    assert not shared or kept(pairs, cut).sum() >= 97


def test_where_all_is_equal_nothing_stands_out() -> None:
    same = np.full((20, 4), 0.5, dtype=np.float32)
    pairs, neighbours = mined(same, same)
    cut = choose_threshold(pairs, neighbours)
    assert not kept(pairs, cut).any() and cut.precision is None
    assert cut.translations == pytest.approx(0, abs=1e-6)


def test_lines_without_a_known_piece_do_no_harm() -> None:
    source, target = sides(60, 60, 30, 1)
    source[40:], target[35:50] = 0, 0
    pairs, neighbours = mined(source, target)
    found = set(pairs.sources[kept(pairs, choose_threshold(pairs, neighbours))].tolist())
    assert found >= set(range(30)) and len(found) <= 33


def test_no_pairs_at_all() -> None:
    pairs, neighbours = mined(*sides(5, 5, 0, 1))
    cut = choose_threshold(pairs.take(slice(0, 0)), neighbours)
    assert np.isfinite(cut.value) and cut.translations is None


def test_a_number_is_taken_as_it_is() -> None:
    pairs, neighbours = mined(*sides(5, 5, 2, 1))
    assert choose_threshold(pairs, neighbours, 1.0623) == Threshold(1.0623, "given")
    with pytest.raises(ValueError, match="often"):
        choose_threshold(pairs, neighbours, "often")


@pytest.mark.parametrize("margin", ["ratio", "distance", "absolute"])
@pytest.mark.parametrize("shared", [0, 20, 200])
def test_its_value_given_as_a_number_is_the_same_cut(margin: str, shared: int) -> None:
    pairs, neighbours = mined(*sides(200, 200, shared, 5), margin=margin)
    cut = choose_threshold(pairs, neighbours)
    given = choose_threshold(pairs, neighbours, float(f"{cut.value:.4f}"))
    assert given.value == cut.value
    assert kept(pairs, cut).sum() == (0 if cut.precision is None else kept(pairs, given).sum())


def test_the_order_of_the_lines_is_no_matter() -> None:
    pairs, neighbours = mined(*sides(150, 200, 30, 4))
    rng = np.random.default_rng(0)
    new_source, new_target = rng.permutation(150), rng.permutation(200)  # new row of each old row
    old_source, old_target = np.argsort(new_source), np.argsort(new_target)
    shuffled = Neighbours(
        new_target[neighbours.targets][old_source],
        neighbours.target_cosines[old_source],
        new_source[neighbours.sources][old_target],
        neighbours.source_cosines[old_target],
    )
    again = choose_pairs(shuffled, margin_scores(shuffled))
    assert again.sources.tolist() != pairs.sources.tolist()
    assert choose_threshold(again, shuffled) == choose_threshold(pairs, neighbours)


def test_which_file_comes_first_is_no_matter() -> None:
    """To the last bit: with equal lines gaps are zero, and rounding would decide their sign."""
    for seed in range(10):
        source, target = sides(12, 9, 3, seed)
        target[3:6] = target[6:9]
        one, other = mined(source, target), mined(target, source)
        assert choose_threshold(*one).value == choose_threshold(*other).value
        for gaps, turned in zip(threshold._gaps(*one), threshold._gaps(*other), strict=True):
            assert np.array_equal(np.sort(gaps), np.sort(turned))


def test_more_neighbours_than_it_reads_change_nothing() -> None:
    source, target = sides(100, 100, 30, 6)
    pairs, neighbours = mined(source, target)
    wide = nearest(source, target, 20)
    assert choose_threshold(pairs, wide) == choose_threshold(pairs, neighbours)


def test_gaps_agree_with_a_walk_over_every_cell() -> None:
    source, target = sides(12, 15, 6, 7)
    pairs, neighbours = mined(source, target)
    gaps, spacings = threshold._gaps(pairs, neighbours)
    cosines = (source @ target.T).astype(float)
    seen = [set(np.argsort(-row)[:NEIGHBOURS].tolist()) for row in cosines]
    turned = [set(np.argsort(-column)[:NEIGHBOURS].tolist()) for column in cosines.T]
    rows = [np.sort(row)[::-1][1:NEIGHBOURS].mean() / 2 for row in cosines]
    columns = [np.sort(column)[::-1][1:NEIGHBOURS].mean() / 2 for column in cosines.T]
    for pair, (i, j) in enumerate(zip(pairs.sources, pairs.targets, strict=True)):
        rivals = []
        for x in range(12):
            for y in range(15):
                cross = (x == i and y in seen[x]) or (y == j and x in turned[y])
                if cross and (x, y) != (i, j):
                    rivals.append(cosines[x, y] - rows[x] - columns[y])
        rivals.sort(reverse=True)
        own = cosines[i, j] - rows[i] - columns[j]
        assert gaps[pair] == pytest.approx(own - rivals[0], abs=1e-6)
        assert spacings[pair] == pytest.approx(rivals[0] - rivals[1], abs=1e-6)


def test_the_cut_has_the_highest_expected_f1(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    pairs, neighbours = mined(*sides(60, 60, 20, 8))
    pairs = dataclasses.replace(pairs, scores=np.round(pairs.scores, 1))  # with many ties
    monkeypatch.setattr(threshold, "_chances", lambda gaps, spacings: rng.random(len(gaps)) ** 3)
    cut = choose_threshold(pairs, neighbours)
    rng = np.random.default_rng(8)  # the same chances, in the order they were asked for
    gaps, _ = threshold._gaps(pairs, neighbours)
    mutual = [row for row in range(len(pairs)) if gaps[row] >= 0]
    chance = dict(zip(mutual, rng.random(len(mutual)) ** 3, strict=True))
    expected = {}
    for value in np.unique(pairs.scores):
        above = [row for row in range(len(pairs)) if pairs.scores[row] >= value]
        right = sum(chance.get(row, 0.0) for row in above)
        expected[value] = 2 * right / (len(above) + sum(chance.values()))
    best = max(expected, key=lambda value: expected[value])
    assert kept(pairs, cut).sum() == (pairs.scores >= best).sum()


@pytest.mark.parametrize(("rows", "share"), [(2_000, 0.1), (2_000, 0.6), (20_000, 0.02)])
def test_the_fit_finds_the_mixture_it_assumes(rows: int, share: float) -> None:
    rng = np.random.default_rng(9)
    right = np.arange(rows) < share * rows
    gaps = np.where(right, rng.gamma(4, 0.4 / 4, rows), rng.exponential(0.05, rows))
    spacings = rng.exponential(np.where(right, 0.05, 0.025))
    found, scale, mean, gain = threshold._fit(gaps, spacings)
    assert (found, scale, mean) == pytest.approx((share, 0.05, 0.4), rel=0.1) and gain > 20
    chances = threshold._chances(gaps, spacings)
    assert chances.sum() == pytest.approx(right.sum(), rel=0.1)
    sure = chances > 0.5
    assert right[sure].mean() == pytest.approx(chances[sure].mean(), abs=0.03)


def test_a_wider_gap_is_never_less_likely() -> None:
    rng = np.random.default_rng(10)
    right = np.arange(1000) < 500  # so narrow and near that its tail is shorter than the wrong one
    gaps = np.where(right, rng.gamma(30, 0.15 / 30, 1000), rng.exponential(0.05, 1000))
    gaps[0] = 1.5  # a name or a number, alone in both files
    chances = threshold._chances(gaps, rng.exponential(np.where(right, 0.05, 0.025)))
    assert 0.3 < chances.mean() < 0.7
    assert (np.diff(chances[np.argsort(gaps, kind="stable")]) >= 0).all()


def test_a_few_doubtful_pairs_are_kept_but_a_hopeless_crowd_is_not() -> None:
    pairs, neighbours = mined(*sides(80, 80, 0, 1))
    crowd = dataclasses.replace(pairs, scores=np.ones(len(pairs), dtype=np.float32))
    doubts = {}
    for chance in (0.002, 0.0005):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(threshold, "_chances", lambda gaps, _, p=chance: np.full(len(gaps), p))
            doubts[chance] = kept(crowd, choose_threshold(crowd, neighbours)).sum()
    assert doubts == {0.002: len(pairs), 0.0005: 0}


def test_doubt_whether_there_is_any_translation_counts() -> None:
    doubts = []
    for seed in range(30):
        pairs, neighbours = mined(*sides(60, 60, 0, seed))
        doubts.append(choose_threshold(pairs, neighbours).translations)
    assert np.mean(np.array(doubts, dtype=float)) < 0.3


def test_when_all_wrong_explains_the_files_as_well_no_pair_has_a_chance() -> None:
    none = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        chances = threshold._chances(rng.exponential(0.05, 10), rng.exponential(0.025, 10))
        none += not chances.any()
    assert none >= 5
