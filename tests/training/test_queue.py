"""The ring of keys: G-03, and that texts follow their keys."""

from collections import deque

import pytest
import torch

from xmine.trainer.queue import KeyQueue


def rows_of(values: list[int]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float32)[:, None]


def put(queue: KeyQueue, values: list[int]) -> None:
    """Put keys that are numbers, each with itself and its negative as texts."""
    texts = torch.tensor([[value, -value - 2] for value in values])
    queue.put(rows_of(values), texts)


def test_golden_g03_the_ring_wraps() -> None:
    queue = KeyQueue(5, 1, ids=2)
    for start in (0, 2, 4):
        put(queue, [start, start + 1])
    assert queue.rows.flatten().tolist() == [5, 1, 2, 3, 4] and queue.next == 1
    put(queue, [6, 7])
    assert queue.rows.flatten().tolist() == [5, 6, 7, 3, 4]
    assert (int(queue.next), len(queue)) == (3, 5)


@pytest.mark.parametrize("size", [1, 5, 8])
def test_it_holds_the_newest_keys_with_their_texts(size: int) -> None:
    queue, slow = KeyQueue(size, 1, ids=2), deque[int](maxlen=size)
    counts = [3, 1, 8, 2, 11, 5, 3]
    start = 0
    for count in counts:
        values = list(range(start, start + count))
        put(queue, values)
        slow.extend(values)
        start += count
        kept = queue.keys().flatten().long()
        assert sorted(kept.tolist()) == list(slow)
        assert queue.texts[: len(queue), 0].tolist() == kept.tolist()
        assert queue.texts[: len(queue), 1].tolist() == (-kept - 2).tolist()
        order = [(int(queue.next) + at) % len(queue) for at in range(len(queue))]
        if len(queue) == size:  # from the next place on, from the oldest to the newest
            assert kept[order].tolist() == list(slow)


def test_before_it_is_full_only_what_was_put_counts() -> None:
    queue = KeyQueue(6, 3)
    assert queue.keys().shape == (0, 3) and queue.same(torch.tensor([[-1]])).shape == (1, 0)
    queue.put(torch.eye(3), torch.tensor([[4], [5], [4]]))
    assert torch.equal(queue.keys(), torch.eye(3))
    assert queue.same(torch.tensor([[4], [6]])).tolist() == [[True, False, True], [False] * 3]


def test_a_key_is_of_a_row_that_has_either_of_its_texts() -> None:
    queue = KeyQueue(4, 1, ids=2)
    queue.put(rows_of([1, 2, 3]), torch.tensor([[10, 20], [11, 20], [10, 11]]))
    same = queue.same(torch.tensor([[10, 21], [12, 20], [20, 10]]))
    assert same.tolist() == [[True, False, True], [True, True, False], [False, False, False]]


def test_random_keys_are_unit_rows_of_no_text() -> None:
    queue = KeyQueue(50, 8, ids=2)
    queue.fill_at_random(torch.Generator().manual_seed(1))
    assert len(queue) == 50
    torch.testing.assert_close(queue.keys().norm(dim=1), torch.ones(50))
    assert not queue.same(torch.tensor([[0, 0], [1, 2]])).any()
    queue.put(torch.zeros(2, 8), torch.tensor([[0, 1], [2, 3]]))
    assert not queue.keys()[:2].any() and queue.keys()[2:].any(dim=1).all()


def test_a_checkpoint_has_all_of_it() -> None:
    queue, other = KeyQueue(5, 1, ids=2), KeyQueue(5, 1, ids=2)
    put(queue, [1, 2, 3, 4, 5, 6, 7])
    other.load_state_dict(queue.state_dict())
    put(queue, [8, 9])
    put(other, [8, 9])
    for name, tensor in queue.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name]), name
    assert set(queue.state_dict()) == {"rows", "texts", "next", "filled"}
