"""Two sentences -> the rank of their relation, from 1, a paraphrase, to N, irrelevant.

Emma-X (Guo et al., 2023), sections 3.1 to 3.4. Ranks count from 1 here as in the paper; 0 marks a
pair that is left out. Everything is a function of unit vectors, in their type (float32).
"""

import numpy as np
import torch
from torch import Tensor, nn

_LOG_VARIANCES = (-14.0, 2.0)


class RankClassifier(nn.Module):
    """G, the posterior P(c = r | x, y) of each rank r (eq. 5, 19).

    A Gaussian for each rank over gamma(x) - gamma(y), with a prior. The prior counts once, not
    again inside the Gaussian, and variances are logarithms (A-13).
    """

    def __init__(self, ranks: int, dim: int) -> None:
        """Begin without a difference between ranks."""
        super().__init__()
        self.logit_pi = nn.Parameter(torch.zeros(ranks))
        self.mu = nn.Parameter(torch.zeros(ranks, dim))
        self.log_var = nn.Parameter(torch.zeros(ranks, dim) - float(np.log(dim)))

    def of_grid(self, x: Tensor, y: Tensor) -> Tensor:
        """Judge every row of x [rows, dim] with every one of y [others, dim].

        Returns:
            log P [rows, others, ranks], eq. 5.
        """
        prior = self.logit_pi.log_softmax(dim=0)
        return (self.log_density_of_grid(x, y) + prior).log_softmax(dim=-1)

    def log_density_of_grid(self, x: Tensor, y: Tensor) -> Tensor:
        """log N_r(x_i - y_k), eq. 19: [rows, others, ranks].

        Nothing of [rows, others, dim] is ever there: with a = x - mu_r and w = 1 / variance,
        (a - y)^2 w is a^2 w + y^2 w - 2 (a w) y.
        """
        log_vars = self.log_var.clamp(*_LOG_VARIANCES)
        found = []
        for mu, log_var in zip(self.mu, log_vars, strict=True):
            a, w = x - mu, torch.exp(-log_var)  # [rows, dim], [dim]
            squared = (a**2 @ w)[:, None] + y**2 @ w - 2 * (a * w) @ y.T  # [rows, others]
            constant = len(w) * np.log(2 * np.pi) + log_var.sum()
            found.append(-(constant + squared) / 2)
        return torch.stack(found, dim=2)

    @torch.no_grad()
    def fit(self, differences: Tensor, ranks: Tensor) -> None:
        """Take mean, variance and frequency of each rank (A-14); a rank without pairs stays.

        Differences are [pairs, dim], their ranks [pairs].
        """
        member = nn.functional.one_hot(ranks - 1, len(self.mu)).to(differences)  # [pairs, ranks]
        count, there = member.sum(dim=0).clamp(min=1), member.sum(dim=0) >= 2
        mean = member.T @ differences / count[:, None]  # [ranks, dim]
        variance = member.T @ differences**2 / count[:, None] - mean**2
        log_var = variance.clamp(*np.exp(_LOG_VARIANCES).tolist()).log()
        self.mu.copy_(torch.where(there[:, None], mean, self.mu))
        self.log_var.copy_(torch.where(there[:, None], log_var, self.log_var))
        self.logit_pi.copy_((count / len(ranks)).log())


def first_similarities(ranks: int) -> Tensor:
    """Give s_r = (N - r + 1) / N: [ranks]; the paper's r / N is upside down (A-18)."""
    return torch.arange(ranks, 0, -1) / ranks


def mean_similarities(x: Tensor, y: Tensor, ranks: Tensor, count: int) -> Tensor:
    """Give s_r, the mean cosine of pairs x and y [pairs, dim] of each rank (A-18): [ranks]."""
    cosines = nn.functional.cosine_similarity(x, y)
    return followed(first_similarities(count).to(x), *sums_by_rank(cosines, ranks, count), 0.0)


def similarity_ranks(cosines: Tensor, similarities: Tensor) -> Tensor:
    """c_M = argmin_r |cosine - s_r| (eq. 10): int64, of the shape of the cosines."""
    return (cosines[..., None] - similarities).abs().argmin(dim=-1) + 1


def sums_by_rank(values: Tensor, ranks: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Count the members of each rank, and add up their values: float64 [ranks] each."""
    members = [ranks == rank for rank in range(1, count + 1)]
    counts = torch.stack([each.sum() for each in members]).double()
    sums = [(values * each).sum(dtype=torch.float64) for each in members]
    return counts, torch.stack(sums)


def followed(similarities: Tensor, counts: Tensor, sums: Tensor, epsilon: float) -> Tensor:
    """Move each s_r towards the mean cosine of the rank's members, once a step (eq. 11, A-18)."""
    mean = sums / counts.clamp(min=1)
    moved = epsilon * similarities + (1 - epsilon) * mean
    return torch.where(counts > 0, moved, similarities).to(similarities.dtype)
