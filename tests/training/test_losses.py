import numpy as np
import pytest
import torch

from xmine.trainer.losses import in_batch_logits, info_nce

# G-08 of the methods specification.
H = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
POSITIVES = torch.tensor([[0.8, 0.6], [0.6, 0.8]], dtype=torch.float64)
HARD = torch.tensor([[0.6, 0.8], [0.0, -1.0]], dtype=torch.float64)


def test_golden_g08_in_batch() -> None:
    logits = in_batch_logits(H, POSITIVES, 20.0)
    for row in range(2):
        loss = info_nce(logits[row : row + 1], torch.tensor([row]))
        assert loss.item() == pytest.approx(0.01814993, abs=1e-6)


def test_golden_g08_with_hard_negatives() -> None:
    logits = torch.cat([in_batch_logits(H, POSITIVES, 20.0), in_batch_logits(H, HARD, 20.0)], dim=1)
    assert torch.allclose(logits, torch.tensor([[16.0, 12, 12, 0], [12, 16, 16, -20]]), atol=1e-5)
    assert info_nce(logits, torch.arange(2)).item() == pytest.approx(0.36911986, abs=1e-6)


def test_info_nce_agrees_with_its_definition() -> None:
    random = np.random.default_rng(1)
    logits = random.standard_normal((5, 9)) * 20
    positives = random.integers(0, 9, 5)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    slow = -np.log(shares[np.arange(5), positives]).mean()
    loss = info_nce(torch.from_numpy(logits), torch.from_numpy(positives))
    assert loss.item() == pytest.approx(slow, rel=1e-9)


def test_pairs_that_share_a_sentence_are_no_negatives() -> None:
    same = torch.tensor([[True, True], [True, True]])
    logits = in_batch_logits(H, POSITIVES, 20.0, same)
    assert info_nce(logits, torch.arange(2)).item() == 0
    assert torch.isfinite(logits.diagonal()).all()
