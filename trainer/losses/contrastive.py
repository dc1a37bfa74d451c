"""Contrastive losses: pure functions of embeddings or logits, in float32.

None of them takes an exponential outside `logsumexp`: at a temperature of 0.04 that of a logit
overflows float16.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def scaled_cosines(
    rows: Tensor, others: Tensor, scale: float | Tensor, masked: Tensor | None = None
) -> Tensor:
    """Compare unit rows [rows, dim] with others [others, dim]: [rows, others], -inf if masked.

    Masked after scaling, or the gradient of a scale that is learned would be 0 * inf.
    """
    logits = (rows.float() * scale) @ others.float().T  # [rows, others]
    return logits if masked is None else logits.masked_fill(masked, float("-inf"))


def distillation(learned: Tensor, taught: Tensor) -> Tensor:
    """Mean of the squared differences over all elements (TransAug, section 3.2; A-08).

    Args:
        learned, taught: [rows, dim], vectors of any length, not scaled to one.
    """
    return torch.nn.functional.mse_loss(learned.float(), taught.float())


def ranking_info_nce(cosines: Tensor, ranks: Tensor, temperatures: Sequence[float]) -> Tensor:
    """Ranking InfoNCE, the sum inside the logarithm (Emma-X, eq. 20), mean over rows.

    For r = 1 ... N-1: the candidates of rank r against those of rank r and worse; better ones are
    left out. A row has no term for a rank of which it has no candidate (A-17).

    Args:
        cosines: [rows, candidates].
        ranks: [rows, candidates], from 1 to N; 0 leaves a candidate out.
        temperatures: tau_1 ... tau_{N-1}.
    """
    total = cosines.new_zeros(len(cosines))
    for rank, temperature in enumerate(temperatures, start=1):
        logits = cosines / temperature
        there = (ranks == rank).any(dim=1)  # [rows]
        # A row without positives is a difference of equals here, so that no gradient is NaN.
        aside = ~there[:, None]
        positive = logits.masked_fill((ranks != rank) & ~aside, float("-inf")).logsumexp(dim=1)
        every = logits.masked_fill((ranks < rank) & ~aside, float("-inf")).logsumexp(dim=1)
        total = total + torch.where(there, every - positive, 0.0)
    return total.mean()
