"""Two sentences -> the rank of their relation, from 1, a paraphrase, to N, irrelevant.

Emma-X (Guo et al., 2023), sections 3.1 to 3.4. Ranks count from 1 here as in the paper; 0 marks a
pair that is left out. Everything is a function of unit vectors, in their type (float32).
"""

import copy
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

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

    def of_pairs(self, x: Tensor, y: Tensor) -> Tensor:
        """Judge row i of x [pairs, dim] with row i of y: log P [pairs, ranks]."""
        return self._posterior(self.log_density(x - y))

    def of_grid(self, x: Tensor, y: Tensor) -> Tensor:
        """Judge every row of x [rows, dim] with every one of y [others, dim].

        Returns:
            log P [rows, others, ranks].
        """
        return self._posterior(self.log_density_of_grid(x, y))

    def log_density(self, differences: Tensor) -> Tensor:
        """log N_r(d), eq. 19, of d [pairs, dim]: [pairs, ranks].

        As products of matrices: (d - mu)^2 w = d^2 w - 2 d (mu w) + mu^2 w, w = 1 / variance.
        """
        weight, constant = self._weights()  # [ranks, dim], [ranks]
        squared = differences**2 @ weight.T - 2 * differences @ (self.mu * weight).T
        squared = squared + (self.mu**2 * weight).sum(dim=1)  # [pairs, ranks]
        return constant - squared / 2

    def log_density_of_grid(self, x: Tensor, y: Tensor) -> Tensor:
        """log N_r(x_i - y_k): [rows, others, ranks].

        Nothing of [rows, others, dim] is ever there: with a = x - mu_r, (a - y)^2 w is
        a^2 w + y^2 w - 2 (a w) y.
        """
        weight, constant = self._weights()
        found = []
        for mu, w, c in zip(self.mu, weight, constant, strict=True):
            a = x - mu  # [rows, dim]
            squared = (a**2 @ w)[:, None] + y**2 @ w - 2 * (a * w) @ y.T  # [rows, others]
            found.append(c - squared / 2)
        return torch.stack(found, dim=2)

    def distances(self) -> list[float]:
        """E ||d||^2 of each rank."""
        with torch.no_grad():
            expected: list[float] = (self._log_var().exp() + self.mu**2).sum(dim=1).tolist()
        return expected

    @torch.no_grad()
    def reorder(self, order: Tensor, optimizer: Optimizer | None = None) -> None:
        """Give rank r what rank order[r] had, the optimiser's memory of it included."""
        for parameter in self.parameters():
            parameter.copy_(parameter[order])
            memory = optimizer.state.get(parameter, {}) if optimizer else {}
            for each in memory.values():
                if isinstance(each, Tensor) and each.shape == parameter.shape:
                    each.copy_(each[order])

    @torch.no_grad()
    def fit(self, moments: "Moments") -> None:
        """Take mean, variance and frequency of each rank (A-14); a rank without pairs stays."""
        seen = moments.members >= 2
        count = moments.members.clamp(min=1)[:, None]
        mean = moments.total / count  # [ranks, dim]
        variance = moments.squares / count - mean**2
        low, high = (float(np.exp(limit)) for limit in _LOG_VARIANCES)
        log_var = variance.clamp(low, high).log()
        self.mu.copy_(torch.where(seen[:, None], mean, self.mu))
        self.log_var.copy_(torch.where(seen[:, None], log_var, self.log_var))
        self.logit_pi.copy_(
            (moments.members.clamp(min=1) / moments.members.sum().clamp(min=1)).log()
        )

    def _log_var(self) -> Tensor:
        return self.log_var.clamp(*_LOG_VARIANCES)

    def _weights(self) -> tuple[Tensor, Tensor]:
        """Give 1 / variance [ranks, dim], and what does not depend on d [ranks]."""
        log_var = self._log_var()
        constant = -(log_var.shape[1] * np.log(2 * np.pi) + log_var.sum(dim=1)) / 2
        return torch.exp(-log_var), constant

    def _posterior(self, log_density: Tensor) -> Tensor:
        """Eq. 5."""
        return (log_density + self.logit_pi.log_softmax(dim=0)).log_softmax(dim=-1)


class Moments(NamedTuple):
    """Sums over the differences d of pairs of each rank.

    Attributes:
        members: [ranks], how many there are.
        total: of d, [ranks, dim].
        squares: of d^2, [ranks, dim].
    """

    members: Tensor
    total: Tensor
    squares: Tensor


def better_of(
    classifier: RankClassifier, examples: Sequence[tuple[Tensor, Tensor, Tensor]]
) -> bool:
    """Estimate a classifier anew, unless what it has learned ranks other examples better.

    Better is more often right: a rank that is wrong costs a mixture so many nats that one which
    knows nothing would cost less.

    Args:
        classifier: changed in place.
        examples: x, y and ranks by batch; every second batch is what is ranked.

    Returns:
        Whether it was estimated.
    """
    anew = copy.deepcopy(classifier)
    ranks = len(anew.mu)
    moments = [moments_of(x - y, rank, ranks) for x, y, rank in examples[::2]]
    anew.fit(Moments(*(torch.stack(each).sum(dim=0) for each in zip(*moments, strict=True))))
    judged = examples[1::2] or examples
    right = [
        sum(int((each.of_pairs(x, y).argmax(dim=1) + 1 == rank).sum()) for x, y, rank in judged)
        for each in (anew, classifier)
    ]
    if right[0] > right[1]:
        classifier.load_state_dict(anew.state_dict())
    return right[0] > right[1]


def moments_of(differences: Tensor, ranks: Tensor, count: int) -> Moments:
    """Sum up differences [pairs, dim] by their ranks [pairs]."""
    member = nn.functional.one_hot(ranks.long(), count + 1)[:, 1:].to(differences.dtype)
    return Moments(member.sum(dim=0), member.T @ differences, member.T @ differences**2)


def moments_of_grid(x: Tensor, y: Tensor, ranks: Tensor, count: int) -> Moments:
    """Sum up the differences of every row of x and every one of y by their ranks [rows, others]."""
    sums = []
    for rank in range(1, count + 1):
        member = (ranks == rank).to(x.dtype)  # [rows, others]
        of_x, of_y = member.sum(dim=1), member.sum(dim=0)
        squares = of_x @ x**2 + of_y @ y**2 - 2 * (x * (member @ y)).sum(dim=0)  # [dim]
        sums.append((member.sum(), of_x @ x - of_y @ y, squares))
    return Moments(*(torch.stack(each) for each in zip(*sums, strict=True)))


def first_similarities(ranks: int) -> Tensor:
    """Give s_r = (N - r + 1) / N: [ranks]; the paper's r / N is upside down (A-18)."""
    return torch.arange(ranks, 0, -1) / ranks


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
