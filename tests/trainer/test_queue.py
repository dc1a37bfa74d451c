"""The ring of keys: G-03, which texts a key is of, and that a checkpoint has all of them."""

import torch

from xmine.trainer.models.queue import KeyQueue, same_texts


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


def test_of_more_keys_than_it_holds_the_last_stay_with_their_texts() -> None:
    queue = KeyQueue(5, 1, ids=2)
    put(queue, list(range(8)))
    kept = queue.keys().flatten().long()
    assert sorted(kept.tolist()) == [3, 4, 5, 6, 7]
    assert torch.equal(queue.texts, torch.stack([kept, -kept - 2], dim=1))


def test_a_key_is_of_a_row_that_has_either_of_its_texts() -> None:
    queue = KeyQueue(4, 1, ids=2)
    queue.put(rows_of([1, 2, 3]), torch.tensor([[10, 20], [11, 20], [10, 11]]))
    same = same_texts(torch.tensor([[10, 21], [12, 20], [20, 10]]), queue.texts[:3])
    assert same.tolist() == [[True, False, True], [True, True, False], [False, False, False]]


def test_a_checkpoint_has_all_of_it() -> None:
    queue, other = KeyQueue(5, 1, ids=2), KeyQueue(5, 1, ids=2)
    put(queue, [1, 2, 3, 4, 5, 6, 7])
    other.load_state_dict(queue.state_dict())
    put(queue, [8, 9])
    put(other, [8, 9])
    for name, tensor in queue.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name]), name
    assert set(queue.state_dict()) == {"rows", "texts", "next", "filled"}
