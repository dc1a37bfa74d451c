"""Contrastive losses: G-02 and G-08, and losses in chunks."""

import numpy as np
import pytest
import torch
from torch import Tensor

from xmine.trainer.losses.contrastive import in_chunks, info_nce, queue_logits, scaled_cosines
from xmine.trainer.losses.with_queue import Member, contrast_in_batch
from xmine.trainer.methods.moco import InferenceHead, features_of

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
    return [info_nce(row[None], torch.tensor([own])).item() for row, own in rows]


def test_golden_g02_a_to_d_both_directions_and_their_sum() -> None:
    xy = queue_logits(H_X, K_Y, Q_Y, 10.0)
    yx = queue_logits(H_Y, K_X, Q_X, 10.0)
    assert rows_of_loss(xy, [0, 0]) == pytest.approx([0.12722346, 0.12696800], abs=1e-6)
    assert rows_of_loss(yx, [0, 0]) == pytest.approx([0.69606892, 0.13206922], abs=1e-6)
    own = torch.zeros(2, dtype=torch.int64)
    assert (info_nce(xy, own) + info_nce(yx, own)).item() == pytest.approx(0.54116480, abs=1e-6)
    at_4 = [info_nce(each * 2.5, own).item() for each in (xy, yx)]
    assert at_4 == pytest.approx([0.00671535, 0.34993295], abs=1e-6)


def test_golden_g02_e_and_f_an_empty_and_a_half_full_queue() -> None:
    query = H_X.clone().requires_grad_()
    loss = info_nce(queue_logits(query, K_Y, Q_Y[:0], 10.0), torch.zeros(2, dtype=torch.int64))
    torch.autograd.backward(loss)
    assert loss.item() == 0 and query.grad is not None and not query.grad.any()
    half = queue_logits(H_X, K_Y, Q_Y[:2], 10.0)
    assert rows_of_loss(half, [0, 0]) == pytest.approx([0.12692802, 0.12696800], abs=1e-6)


def test_golden_g02_g_negatives_of_the_batch() -> None:
    logits = torch.cat([scaled_cosines(H_X, K_Y, 10.0), scaled_cosines(H_X, Q_Y, 10.0)], dim=1)
    assert rows_of_loss(logits, [0, 1]) == pytest.approx([0.12751880, 0.14297098], abs=1e-6)


def test_golden_g02_h_a_row_does_not_meet_its_own_translation() -> None:
    same = torch.tensor([[True, False, False], [False, False, False]])
    logits = queue_logits(H_X, K_Y, Q_Y, 10.0, same)
    assert rows_of_loss(logits, [0, 0]) == pytest.approx([0.00033542, 0.12696800], abs=1e-6)


def test_golden_g02_i_the_gradient() -> None:
    query = H_X.clone().requires_grad_()
    logits = queue_logits(query, K_Y, Q_Y, 10.0)
    torch.autograd.backward(info_nce(logits, torch.zeros(2, dtype=torch.int64)))
    expected = torch.tensor([[-0.12034938, 0.11680457], [0.35739453, -0.11939811]])
    torch.testing.assert_close(query.grad, expected, atol=1e-6, rtol=0)


def test_a_scale_that_is_learned_has_a_gradient_beside_masked_keys() -> None:
    scale = torch.tensor(10.0, requires_grad=True)
    same = torch.tensor([[True, False, False], [False, False, False]])
    logits = queue_logits(H_X, K_Y, Q_Y, scale, same)
    torch.autograd.backward(info_nce(logits, torch.zeros(2, dtype=torch.int64)))
    assert scale.grad is not None and scale.grad.isfinite() and scale.grad != 0


def test_golden_g08_with_a_weight_on_the_own_hard_negative() -> None:
    weight = torch.eye(2) * np.log(2)
    logits = torch.cat(
        [scaled_cosines(H, POSITIVES, 20.0), scaled_cosines(H, HARD, 20.0) + weight], dim=1
    )
    assert rows_of_loss(logits, [0, 1]) == pytest.approx([0.05349056, 0.70226332], abs=1e-6)


@pytest.mark.parametrize("rows", [0, 1, 3, 5, 11, 12])
def test_in_chunks_is_the_whole_with_its_gradients(rows: int) -> None:
    generator = torch.Generator().manual_seed(1)
    start = [torch.randn(count, 4, generator=generator) for count in (11, 11, 7)]
    found = []
    for chunk in (0, rows):
        query, key, others = (each.clone().requires_grad_() for each in start)

        def loss(query: Tensor, key: Tensor, others: Tensor = others) -> Tensor:
            logits = queue_logits(query, key, others, 3.0)
            return info_nce(logits, torch.zeros(len(query), dtype=torch.int64))

        value = in_chunks(loss, chunk, query, key)
        torch.autograd.backward(value)
        found.append([value.detach(), query.grad, key.grad, others.grad])  # others by closure
    for whole, chunked in zip(*found, strict=True):
        torch.testing.assert_close(chunked, whole, atol=1e-6, rtol=1e-5)


def test_golden_g05_features_of_two_sentences() -> None:
    u, v = torch.tensor([[0.6, 0.8]]), torch.tensor([[1.0, 0.0]])
    assert features_of(u, v, "uv").tolist()[0] == pytest.approx([0.6, 0.8, 1, 0])
    assert features_of(u, v, "uvd").tolist()[0] == pytest.approx([0.6, 0.8, 1, 0, 0.4, 0.8])
    more = features_of(u, v, "uvdm").tolist()[0]
    assert more == pytest.approx([0.6, 0.8, 1, 0, 0.4, 0.8, 0.6, 0])


@pytest.mark.parametrize("features", ["uv", "uvd", "uvdm"])
def test_the_inference_head_is_two_layers_of_256_and_3(features: str) -> None:
    head = InferenceHead(5, features)
    shapes = [tuple(each.shape) for each in head.parameters()]
    assert shapes == [(256, 5 * len(features)), (256,), (3, 256), (3,)]
    kinds = [type(each).__name__ for each in head.layers]
    assert kinds == ["Linear", "ReLU", "Dropout", "Linear"]
    assert head.layers[2].p == 0.1
    assert head(torch.zeros(4, 5), torch.ones(4, 5)).shape == (4, 3)
