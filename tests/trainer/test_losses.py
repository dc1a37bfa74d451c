"""Contrastive losses: G-02 and G-08, and losses in chunks."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from tests.toys.twin_training import in_float64
from xmine.trainer.losses import with_queue
from xmine.trainer.losses.contrastive import scaled_cosines
from xmine.trainer.losses.with_queue import Member, contrast_in_batch, contrast_with_queue
from xmine.trainer.methods.moco import InferenceHead
from xmine.trainer.models.queue import KeyQueue
from xmine.trainer.options.contrast import MocoOptions

# G-08 of the methods specification.
H = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
POSITIVES = torch.tensor([[0.8, 0.6], [0.6, 0.8]], dtype=torch.float64)
HARD = torch.tensor([[0.6, 0.8], [0.0, -1.0]], dtype=torch.float64)


def members(*columns: Tensor) -> list[Member]:
    """Rows of texts that are all different."""
    numbers = torch.arange(2 * len(columns)).reshape(len(columns), 2, 1)
    return [Member(rows, texts) for rows, texts in zip(columns, numbers, strict=True)]


def test_golden_g08_in_batch() -> None:
    logits = scaled_cosines(H, POSITIVES, 20.0)
    assert rows_of_loss(logits, [0, 1]) == pytest.approx([0.01814993, 0.01814993], abs=1e-6)
    x, y = members(H, POSITIVES)
    loss = contrast_in_batch(x, y, None, 20.0)
    assert loss.item() == pytest.approx(0.01814993, abs=1e-6)


def test_golden_g08_with_hard_negatives() -> None:
    logits = torch.cat([scaled_cosines(H, each, 20.0) for each in (POSITIVES, HARD)], dim=1)
    assert torch.allclose(logits, torch.tensor([[16.0, 12, 12, 0], [12, 16, 16, -20]]), atol=1e-5)
    assert rows_of_loss(logits, [0, 1]) == pytest.approx([0.03597641, 0.70226332], abs=1e-6)
    for weight, expected in ((0.0, 0.36911986), (np.log(2), 0.37787694)):
        x, y, negatives = members(H, POSITIVES, HARD)
        loss = contrast_in_batch(x, y, negatives, 20.0, hard_negative_weight=weight)
        assert loss.item() == pytest.approx(expected, abs=1e-6)


# G-02 of the methods specification.
H_X = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
K_Y = torch.tensor([[0.8, 0.6], [0.0, 1.0]])
Q_Y = torch.tensor([[0.6, 0.8], [-1.0, 0.0], [0.0, -1.0]])
H_Y = torch.tensor([[0.8, 0.6], [0.6, 0.8]])
K_X = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
Q_X = torch.tensor([[0.8, -0.6], [-0.6, 0.8], [1.0, 0.0]])


def rows_of_loss(logits: Tensor, positives: list[int]) -> list[float]:
    rows = zip(logits, positives, strict=True)
    return [float(-row.log_softmax(dim=0)[own]) for row, own in rows]


def queue_of(keys: Tensor, size: int = 4) -> KeyQueue:
    """A queue with some keys of the texts 100, 101 and so on."""
    queue = KeyQueue(size, keys.shape[1]).to(keys.dtype)
    queue.put(keys, torch.arange(100, 100 + len(keys))[:, None])
    return queue


def in_queue(
    query: Tensor, key: Tensor, keys: Tensor, scale: float | Tensor, texts: int = 0, **how: Any
) -> Tensor:
    """The loss of rows that have the texts `texts`, `texts` + 1 and so on."""
    numbers = torch.arange(texts, texts + len(query))[:, None]
    return contrast_with_queue(query, key, numbers, queue_of(keys), scale, MocoOptions(**how))


def each_row(query: Tensor, key: Tensor, keys: Tensor, scale: float, texts: int = 0) -> list[float]:
    rows = zip(query, key, strict=True)
    return [
        in_queue(x[None], y[None], keys, scale, texts + at).item() for at, (x, y) in enumerate(rows)
    ]


def test_golden_g02_a_to_d_both_directions_and_their_sum() -> None:
    xy, yx = (H_X, K_Y, Q_Y), (H_Y, K_X, Q_X)
    assert each_row(*xy, 10.0) == pytest.approx([0.12722346, 0.12696800], abs=1e-6)
    assert each_row(*yx, 10.0) == pytest.approx([0.69606892, 0.13206922], abs=1e-6)
    both = in_queue(*xy, 10.0) + in_queue(*yx, 10.0)
    assert both.item() == pytest.approx(0.54116480, abs=1e-6)
    at_4 = [in_queue(*each, 25.0).item() for each in (xy, yx)]
    assert at_4 == pytest.approx([0.00671535, 0.34993295], abs=1e-6)


def test_golden_g02_e_and_f_an_empty_and_a_half_full_queue() -> None:
    query = H_X.clone().requires_grad_()
    loss = in_queue(query, K_Y, Q_Y[:0], 10.0)
    torch.autograd.backward(loss)
    assert loss.item() == 0 and query.grad is not None and not query.grad.any()
    half = each_row(H_X, K_Y, Q_Y[:2], 10.0)
    assert half == pytest.approx([0.12692802, 0.12696800], abs=1e-6)


def test_golden_g02_g_negatives_of_the_batch() -> None:
    loss = in_queue(H_X, K_Y, Q_Y, 10.0, in_batch_negatives=True)
    assert loss.item() == pytest.approx((0.12751880 + 0.14297098) / 2, abs=1e-6)


def test_golden_g02_h_a_row_does_not_meet_its_own_translation() -> None:
    found = each_row(H_X, K_Y, Q_Y, 10.0, texts=100)[0], each_row(H_X, K_Y, Q_Y, 10.0)[1]
    assert found == pytest.approx([0.00033542, 0.12696800], abs=1e-6)


def test_golden_g02_i_the_gradient() -> None:
    query = H_X.clone().requires_grad_()
    torch.autograd.backward(in_queue(query, K_Y, Q_Y, 10.0))
    expected = torch.tensor([[-0.12034938, 0.11680457], [0.35739453, -0.11939811]])
    torch.testing.assert_close(query.grad, expected, atol=1e-6, rtol=0)


def test_a_scale_that_is_learned_has_a_gradient_beside_masked_keys() -> None:
    scale = torch.tensor(10.0, requires_grad=True)
    torch.autograd.backward(in_queue(H_X[:1], K_Y[:1], Q_Y[:1], scale, texts=100))
    assert scale.grad is not None and scale.grad == 0  # the one key is a text of the row
    torch.autograd.backward(in_queue(H_X, K_Y, Q_Y, scale, texts=100))
    assert scale.grad.isfinite() and scale.grad != 0


@pytest.mark.parametrize("at_once", [7 * 6, 7 * 5, 7])
@pytest.mark.parametrize("in_batch", [True, False])
def test_a_queue_in_blocks_is_the_loop_over_its_keys(
    in_batch: bool, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loss and gradients, also where a row meets none of a block; no tensor is large."""
    monkeypatch.setattr(with_queue, "LOGITS_AT_ONCE", at_once)
    generator = torch.Generator().manual_seed(1)
    query, key, keys = (
        nn.functional.normalize(torch.randn(count, 3, generator=generator).double(), dim=1)
        for count in (7, 7, 40)
    )
    queue = KeyQueue(40, 3).double()
    of_keys = torch.arange(40) % 9  # row 6 meets none of its own text in a block of six
    of_keys[:6] = 0
    queue.put(keys, of_keys[:, None])
    found = []
    for way in range(2):
        q, k, scale = (
            x.clone().requires_grad_() for x in (query, key, torch.tensor(20.0).double())
        )
        if way:
            total = torch.zeros(())
            for row in range(7):
                others = [keys[at] for at in range(40) if of_keys[at] != row]
                others += [k[at] for at in range(7) if in_batch and at != row]
                terms = torch.stack([q[row] @ each for each in [k[row], *others]]) * scale
                total = total - (terms[0] - terms.logsumexp(dim=0)) / 7
        else:
            options = MocoOptions(in_batch_negatives=in_batch)
            mode: Any = Largest
            with in_float64(), mode() as largest:
                texts = torch.arange(7)[:, None]
                total = with_queue.contrast_with_queue(q, k, texts, queue, scale, options)
            assert largest.numbers <= max(at_once, 7 * 7)
        torch.autograd.backward(total)
        found.append([total.detach(), q.grad, k.grad, scale.grad])
    for blocks, loop in zip(*found, strict=True):
        torch.testing.assert_close(blocks, loop, atol=1e-12, rtol=1e-10)


class Largest(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Watches how many numbers the largest tensor has that torch makes."""

    numbers = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if isinstance(made, Tensor) and not made._is_view():
            self.numbers = max(self.numbers, made.numel())
        return made


def test_golden_g05_the_inference_head_reads_u_v_and_their_distance() -> None:
    head, read = InferenceHead(2), list[Tensor]()
    head.layers.register_forward_pre_hook(lambda _, given: read.extend(given))
    u, v = torch.tensor([[0.6, 0.8]]), torch.tensor([[1.0, 0.0]])
    head(u, v)
    assert read[0].tolist()[0] == pytest.approx([0.6, 0.8, 1, 0, 0.4, 0.8])


def test_the_inference_head_is_two_layers_of_256_and_3() -> None:
    head = InferenceHead(5)
    shapes = [tuple(each.shape) for each in head.parameters()]
    assert shapes == [(256, 15), (256,), (3, 256), (3,)]
    kinds = [type(each).__name__ for each in head.layers]
    assert kinds == ["Linear", "ReLU", "Dropout", "Linear"]
    assert head.layers[2].p == 0.1
    assert head(torch.zeros(4, 5), torch.ones(4, 5)).shape == (4, 3)
