import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from xmine.trainer.losses.contrastive import ranking_info_nce
from xmine.trainer.ranking.ranks import (
    RankClassifier,
    first_similarities,
    followed,
    similarity_ranks,
    sums_by_rank,
)
from xmine.trainer.ranking.virtual import ranked_pairs, virtual_ranks

# G-13 and G-14 of the methods specification.
COSINES = torch.tensor([[0.9, 0.7, 0.4, 0.1, -0.2], [0.8, 0.5, 0.3, 0.2, 0.0]]).double()
RANKS = torch.tensor([[1, 2, 3, 4, 4], [2, 2, 4, 4, 4]])
TEMPERATURES = [0.05, 0.075, 0.1]


def mixture(mu: Tensor, variances: Tensor, pi: Tensor) -> RankClassifier:
    """Make a classifier with given parameters, in their type."""
    made = RankClassifier(*mu.shape).to(mu.dtype)
    state = {"logit_pi": pi.log(), "mu": mu, "log_var": variances.log()}
    made.load_state_dict(state)
    return made


def random_mixture(ranks: int = 3, dim: int = 6, seed: int = 1) -> RankClassifier:
    random = np.random.default_rng(seed)
    mu, variances = random.standard_normal((ranks, dim)), random.random((ranks, dim)) + 0.2
    pi = random.dirichlet(np.ones(ranks))
    return mixture(*(torch.from_numpy(each) for each in (mu, variances, pi)))


def unit(rows: int, dim: int, seed: int) -> Tensor:
    random = np.random.default_rng(seed)
    return torch.nn.functional.normalize(torch.from_numpy(random.standard_normal((rows, dim))))


def test_golden_g11a_counts_the_prior_once() -> None:
    deviations = torch.tensor([[0.1, 0.2], [0.5, 0.5]]).double()
    pi = torch.tensor([0.25, 0.75]).double()
    classifier = mixture(torch.zeros(2, 2).double(), deviations**2, pi)
    d = torch.tensor([[0.1, -0.2], [0.6, 0.3]]).double()
    with torch.no_grad():
        density, posterior = (
            each[:, 0]
            for each in (
                classifier.log_density_of_grid(d, 0 * d[:1]),
                classifier.of_grid(d, 0 * d[:1]),
            )
        )
    expected = [[1.07414594, -0.55158271], [-17.05085406, -1.35158271]]
    np.testing.assert_allclose(density, expected, atol=1e-6)
    expected = [[-0.46392566, -0.99104202], [-16.79788370, -5e-8]]
    np.testing.assert_allclose(posterior, expected, atol=1e-6)
    loss = torch.nn.functional.nll_loss(posterior, torch.tensor([0, 1]))
    assert loss.item() == pytest.approx(0.23196286, abs=1e-6)


@pytest.mark.parametrize(("kind", "tolerance"), [(torch.float32, 0.02), (torch.float64, 1e-5)])
def test_golden_g11b_where_an_exponential_would_overflow(
    kind: torch.dtype, tolerance: float
) -> None:
    variances = torch.tensor([0.2, 0.4, 1.0, 1.9], dtype=kind)[:, None].expand(4, 1024) / 1024
    classifier = mixture(
        torch.zeros(4, 1024, dtype=kind), variances, torch.full((4,), 0.25).to(kind)
    )
    x, y = torch.full((1, 1024), 0.05, dtype=kind), torch.full((1, 1024), 0.02, dtype=kind)
    expected = [1072.656718, 1897.413361, 2136.061306, 2030.944369]
    with torch.no_grad():
        density, posterior = (
            each[0, 0] for each in (classifier.log_density_of_grid(x, y), classifier.of_grid(x, y))
        )
    np.testing.assert_allclose(density, expected, atol=tolerance)
    expected = [-1063.404589, -238.647945, 0, -105.116937]
    np.testing.assert_allclose(posterior, expected, atol=tolerance)


def test_golden_g11c_ranks_are_thresholds_of_the_cosine() -> None:
    variances = torch.tensor([0.2, 0.4, 1.0, 1.9]).double()[:, None].expand(4, 1024) / 1024
    pi = torch.full((4,), 0.25).double()
    classifier = mixture(torch.zeros(4, 1024).double(), variances, pi)
    limits = [(0.27725887, 0.86137), (0.61086049, 0.69457), (1.35502487, 0.32249)]
    slopes = [25.6, 15.4, 4.9]
    for rank, ((limit, cosine), slope) in enumerate(zip(limits, slopes, strict=True), start=1):
        assert 1 - limit / 2 == pytest.approx(cosine, abs=1e-5)
        near = [
            torch.full((1, 1024), math.sqrt(limit * by / 1024)).double() for by in (0.999, 1.001)
        ]
        with torch.no_grad():
            ranks = [int(classifier.of_grid(d, d * 0).argmax()) + 1 for d in near]
            ends = [
                classifier.of_grid(torch.full((1, 1024), math.sqrt(x / 1024)).double(), d * 0)[0]
                for x, d in ((limit - 0.01, near[0]), (limit + 0.01, near[0]))
            ]
        assert ranks == [rank, rank + 1]
        odds = [float(end[0, rank - 1] - end[0, rank]) for end in ends]
        assert odds[0] - odds[1] == pytest.approx(slope, abs=0.05)  # over 0.01 of the cosine


def test_a_classifier_has_the_moments_of_each_rank() -> None:
    random = np.random.default_rng(1)
    ranks = torch.from_numpy(random.integers(1, 4, 300))
    ranks[ranks == 2] = 1  # of rank 2 there is none: it stays
    d = torch.from_numpy(random.standard_normal((300, 64))) * ranks[:, None] / 2
    classifier = RankClassifier(3, 64).double()
    classifier.fit(d, ranks)
    for rank in (1, 3):
        own = d[ranks == rank]
        torch.testing.assert_close(classifier.mu.data[rank - 1], own.mean(dim=0))
        torch.testing.assert_close(classifier.log_var.data[rank - 1], own.var(0, False).log())
        share = classifier.logit_pi.data.softmax(dim=0)[rank - 1].item()
        assert share == pytest.approx(len(own) / 300, abs=0.01)
    assert not classifier.mu.data[1].any()


SHARES = [0, 0.01, 0.25, 1 / 3, 0.34, 0.5, 2 / 3, 0.67, 0.75, 1]


def test_golden_g12_ranks_of_virtual_examples() -> None:
    assert virtual_ranks(np.array(SHARES), 4).tolist() == [1, 1, 2, 2, 2, 3, 3, 3, 4, 4]


def test_golden_g12b_a_mixture_is_not_scaled() -> None:
    y = torch.tensor([[0.8, 0.6], [-0.6, 0.8]]).double()
    x, texts = unit(2, 2, 1), torch.tensor([[0, 2], [1, 3]])
    draws: Any = SimpleNamespace(  # the other sentence of two, and 0.25 of it
        integers=lambda *_, size: np.ones(size, np.int64), random=lambda size: np.full(size, 0.25)
    )
    left, right, ranks = ranked_pairs(torch.cat([x, x]), torch.cat([y, y]), texts, 2, draws)
    np.testing.assert_allclose(right[2], [0.45, 0.65], atol=1e-12)
    assert right[2].norm().item() == pytest.approx(0.7905694, abs=1e-6)
    assert ranks[:3].tolist() == [1, 2, 1]
    assert torch.equal(right[0], y[0]) and torch.equal(right[1], y[1])
    assert torch.equal(left[:3], x[[0, 0, 0]])


def test_a_stranger_that_shares_a_text_is_left_out() -> None:
    x, y = unit(8, 6, 1), unit(8, 6, 2)
    texts = torch.tensor([[0, 4], [0, 5], [0, 6], [0, 7]])
    _, right, ranks = ranked_pairs(x, y, texts, 3, np.random.default_rng(1))
    assert ranks.tolist() == [1] * 8
    assert torch.equal(right, torch.cat(y.chunk(2)[::-1]))


def test_golden_g13_ranking_info_nce() -> None:
    cosines = COSINES.clone().requires_grad_()
    loss = ranking_info_nce(cosines, RANKS, TEMPERATURES)
    rows = [
        ranking_info_nce(COSINES[row : row + 1], RANKS[row : row + 1], TEMPERATURES).item()
        for row in range(2)
    ]
    assert rows == pytest.approx([0.08762572, 0.00160078], abs=1e-6)
    assert loss.item() == pytest.approx(0.04461325, abs=1e-6)
    torch.autograd.backward(loss)
    expected = [
        [-0.18030098, 0.05775054, -0.12803527, 0.23876734, 0.01181838],
        [-0.01047154, -0.00019179, 0.00831830, 0.00219268, 0.00015235],
    ]
    assert cosines.grad is not None
    np.testing.assert_allclose(cosines.grad, expected, atol=1e-6)
    for rank, value in enumerate([0.01819462, 0.01848533, 0.05094576], start=1):
        only = torch.where(RANKS[:1] >= rank, RANKS[:1], 0)
        only = torch.where(only > rank, 4, only)
        term = ranking_info_nce(COSINES[:1], only, TEMPERATURES).item()
        assert term == pytest.approx(value, abs=1e-6)


def test_ranking_is_finite_where_ranks_are_empty() -> None:
    queries = unit(8, 1024, 1).float().requires_grad_()
    ranks = torch.from_numpy(np.random.default_rng(1).choice([0, 2, 4], (8, 300)))
    ranks[0], ranks[1] = 4, 0
    loss = ranking_info_nce(queries @ unit(300, 1024, 2).float().T, ranks, TEMPERATURES)
    torch.autograd.backward(loss)
    assert torch.isfinite(loss) and queries.grad is not None and torch.isfinite(queries.grad).all()


def test_golden_g14_similarities_follow_and_rank() -> None:
    first = first_similarities(4).double()
    assert first.tolist() == [1, 0.75, 0.5, 0.25]
    moved = followed(first, *sums_by_rank(COSINES, RANKS, 4), epsilon=0.9)
    np.testing.assert_allclose(moved, [0.99, 0.74166667, 0.49, 0.233], atol=1e-6)
    assert similarity_ranks(COSINES, first).tolist() == [[1, 2, 3, 4, 4], [2, 3, 4, 4, 4]]
    upside_down = first.flip(0)  # the paper's r / N
    assert similarity_ranks(COSINES, upside_down).tolist() == [[4, 3, 2, 1, 1], [3, 2, 1, 1, 1]]
    empty = followed(first, *sums_by_rank(COSINES, torch.zeros_like(RANKS), 4), epsilon=0.9)
    assert torch.equal(empty, first)
