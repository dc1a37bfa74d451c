from dataclasses import replace

import numpy as np
import pytest

from xmine.encoders.tokenizer import Vocabulary
from xmine.errors import TrainingError
from xmine.pairs.io import ParallelText
from xmine.trainer.data.batches import (
    count_steps,
    cut_batches,
    ends_of_passes,
    grouped_order,
    in_few_dimensions,
    pass_order,
)
from xmine.trainer.data.rows import hold_out, keys_of, weigh_pairs
from xmine.trainer.models.static import StaticTower, new_static
from xmine.trainer.options.contrast import MsimcseOptions
from xmine.trainer.run.prepare import cut_pairs


def test_gathered_sides_hold_the_pieces_of_their_sentences(
    toy_vocabulary: Vocabulary, toy_pairs: ParallelText
) -> None:
    tower = StaticTower(new_static(toy_vocabulary, 8, seed=1))
    data = cut_pairs(toy_pairs, tower, tower)
    rows = np.array([5, 0, 5, 77])
    source, target = data.take(rows).columns
    for at, row in enumerate(rows.tolist()):
        expected, _ = toy_vocabulary.ids([toy_pairs.targets[row]])
        start, stop = target.starts[at], target.starts[at + 1]
        assert target.ids[start:stop].tolist() == expected.tolist()
    assert source.keys[0] == source.keys[2] != source.keys[1]


def test_texts_are_numbered_by_their_first_occurrence() -> None:
    texts = ["b", "a", "b", "", "\ud800", "a\tb", "c", "a", "\ud800"]
    assert keys_of(texts).tolist() == [0, 1, 0, 2, 3, 4, 5, 1, 3]
    assert keys_of([("a", "b"), ("ab", ""), ("a", "b")]).tolist() == [0, 1, 0]
    assert keys_of([]).tolist() == []


def test_dropped_pieces_leave_the_others_in_their_sentences(
    toy_vocabulary: Vocabulary, toy_pairs: ParallelText
) -> None:
    side = StaticTower(new_static(toy_vocabulary, 8, seed=1)).cut(toy_pairs.sources)
    thinned = side.without_some(0.3, np.random.default_rng(1))
    assert 0.65 < len(thinned.ids) / len(side.ids) < 0.75
    for row in range(len(side)):
        left = thinned.ids[thinned.starts[row] : thinned.starts[row + 1]].tolist()
        whole = iter(side.ids[side.starts[row] : side.starts[row + 1]].tolist())
        assert all(piece in whole for piece in left)  # the same order, nothing from elsewhere
    assert np.array_equal(side.without_some(0, np.random.default_rng(1)).ids, side.ids)


def test_weights_go_by_origin_and_unknown_origins_are_refused() -> None:
    pairs = ParallelText(list("abcd"), list("wxyz"), ["book", "web", "", "book"])
    assert weigh_pairs(pairs, {"book": 0.5}, 2.0).tolist() == [0.5, 2, 2, 0.5]
    with pytest.raises(
        TrainingError, match="--source-weight bok: no pair has this origin"
    ) as error:
        weigh_pairs(pairs, {"bok": 1}, 1)
    assert "book, web" in error.value.hint
    with pytest.raises(TrainingError, match="no pair is left"):
        weigh_pairs(ParallelText([], [], []), {}, 1.0)
    with pytest.raises(TrainingError, match="weight 0"):
        weigh_pairs(pairs, {}, 0)


def test_pairs_that_share_a_sentence_share_its_visits() -> None:
    pairs = ParallelText(list("aaab"), list("wxyy"), [""] * 4)
    assert weigh_pairs(pairs, {}, 3.0).tolist() == [1, 1, 1, 1.5]
    pairs = ParallelText(list("aa"), list("wx"), ["good", "bad"])
    assert weigh_pairs(pairs, {"bad": 0}, 1.0).tolist() == [1, 0]  # what is left out takes no share


def test_held_out_pairs_share_no_sentence_with_the_rest() -> None:
    english = [f"s{row % 70}" for row in range(100)]
    chinese = [f"t{row % 90}" for row in range(100)]
    pairs = ParallelText(english, chinese, [""] * 100)
    wanted = np.ones(100)
    wanted[::2] = 0
    train, held = hold_out(pairs, wanted, 10, seed=3)
    assert len(held) == 10
    for side in (english, chinese):
        kept = [side[row] for row in held]
        assert len(set(kept)) == 10
        assert not set(kept) & {side[row] for row in train}
    assert set(held) <= set(range(1, 100, 2))  # pairs of weight 0 are not measured on
    again = hold_out(pairs, wanted, 10, seed=3)
    assert np.array_equal(again[0], train) and np.array_equal(again[1], held)
    assert not np.array_equal(hold_out(pairs, wanted, 10, seed=4)[1], held)
    for count in (26, 60):  # 50 have a weight
        with pytest.raises(TrainingError, match="too few"):
            hold_out(pairs, wanted, count, seed=1)


def test_pairs_are_held_out_as_often_as_they_are_visited() -> None:
    pairs = ParallelText([f"a{row}" for row in range(8)], [f"b{row}" for row in range(8)], [""] * 8)
    wanted = np.array([8.0, 1, 1, 1, 1, 1, 1, 0])
    first = [int(hold_out(pairs, wanted, 1, seed)[1][0]) for seed in range(700)]
    counts = np.bincount(first, minlength=8)
    assert counts[0] == pytest.approx(700 * 8 / 14, abs=60)  # 4.6 standard deviations
    assert counts[1:7] == pytest.approx(700 / 14, abs=35)
    assert counts[7] == 0


def test_visits_of_a_pass_are_whole_numbers_around_the_weight() -> None:
    wanted = np.repeat([0.0, 0.25, 1.0, 2.5], 2000)
    order = pass_order(wanted, seed=1, epoch=0)
    counts = np.bincount(order, minlength=8000).reshape(4, 2000)
    assert counts[0].sum() == 0
    assert (counts[2] == 1).all()
    assert set(counts[1]) == {0, 1} and set(counts[3]) == {2, 3}
    assert abs(counts[1].mean() - 0.25) < 0.05 and abs(counts[3].mean() - 2.5) < 0.05
    assert np.array_equal(order, pass_order(wanted, seed=1, epoch=0))
    assert not np.array_equal(order, pass_order(wanted, seed=1, epoch=1))


def test_fewer_dimensions_tell_what_is_near_as_all_of_them_do() -> None:
    """Among 400 points each of 200 finds its noisy twin; few dimensions stay as they are."""
    random = np.random.default_rng(8)
    points = random.standard_normal((400, 512)).astype(np.float32)
    noisy = points[:200] + 0.5 * random.standard_normal((200, 512)).astype(np.float32)
    few, others = in_few_dimensions(points, 1), in_few_dimensions(noisy, 1)
    assert few.shape == (400, 64)
    units = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (few, others)]
    assert ((units[1] @ units[0].T).argmax(axis=1) == np.arange(200)).all()
    assert in_few_dimensions(few, 1) is few


def test_groups_on_a_line_are_neighbours_on_it() -> None:
    """Any plane between two points of a line halves them in their order."""
    random = np.random.default_rng(4)
    places = random.permutation(512).astype(np.float32)
    order = random.permutation(512)
    found = []
    for epoch in (1, 2):
        grouped = grouped_order(order, lambda rows: places[rows, None], 32, seed=1, epoch=epoch)
        groups = [sorted(places[batch].astype(int).tolist()) for batch in cut_batches(grouped, 32)]
        assert sorted(groups) == [list(range(at, at + 32)) for at in range(0, 512, 32)]
        found.append(groups)
    assert found[0] != found[1]
    # The groups are shuffled: few of those that were parted last are still side by side.
    positions = np.argsort([group[0] for group in found[0]])
    assert (np.abs(positions[::2] - positions[1::2]) == 1).sum() < 6


def test_passes_end_where_their_batches_do() -> None:
    wanted = np.full(40, 0.3)
    for size in (2, 7, 30):
        options = MsimcseOptions(epochs=12, batch_size=size, seed=3)
        passes = [cut_batches(pass_order(wanted, 3, epoch), size) for epoch in range(12)]
        ends = np.cumsum([len(each) for each in passes])
        assert np.array_equal(ends_of_passes(wanted, options), ends)
        assert count_steps(wanted, options) == ends[-1]
        assert count_steps(wanted, replace(options, steps=5)) == 5
        assert count_steps(wanted, replace(options, steps=500)) == ends[-1]
        within = ends_of_passes(wanted, replace(options, steps=int(ends[2]) + 1, epochs=10**12))
        assert np.array_equal(within, ends[:4])  # of the fourth pass one step
        within = ends_of_passes(wanted, replace(options, steps=int(ends[2])))
        assert np.array_equal(within, ends[:3])


def test_batches_are_full_but_for_a_pass_smaller_than_one() -> None:
    assert [batch.tolist() for batch in cut_batches(np.arange(7), 3)] == [[0, 1, 2], [3, 4, 5]]
    assert [batch.tolist() for batch in cut_batches(np.arange(2), 3)] == [[0, 1]]


def test_a_short_pass_gives_each_process_as_many_rows() -> None:
    for rows in range(3, 12):
        (batch,) = cut_batches(np.arange(rows), 12, 3)
        assert batch.tolist() == list(range(rows // 3 * 3))
    with pytest.raises(TrainingError, match="3 processes cannot share the 2 rows of an epoch"):
        cut_batches(np.arange(2), 12, 3)
