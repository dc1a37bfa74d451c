"""Contrastive losses: pure functions of embeddings or logits, in fp32."""

import torch
from torch import Tensor


def info_nce(logits: Tensor, positives: Tensor) -> Tensor:
    """InfoNCE: -log softmax of each row's positive, mean over rows (mSimCSE, eq. 1).

    Args:
        logits: [rows, candidates], similarities divided by the temperature.
        positives: int64 [rows], the candidate that belongs to each row.
    """
    return torch.nn.functional.cross_entropy(logits, positives)


def in_batch_logits(
    source: Tensor, target: Tensor, temperature: float, same: Tensor | None = None
) -> Tensor:
    """Compare every source with every target of a batch.

    Args:
        source: unit rows [pairs, dim].
        target: unit rows [pairs, dim]; row i is the translation of source row i.
        temperature: divides the cosines.
        same: bool [pairs, pairs], cells that are no negatives because the two pairs share a
            sentence (A-07: mask rather than resample); the diagonal is never masked.

    Returns:
        [pairs, pairs] logits, -inf where masked.
    """
    logits = (source.float() / temperature) @ target.float().T  # [pairs, pairs]
    if same is None:
        return logits
    own = torch.eye(len(logits), dtype=torch.bool, device=logits.device)
    return logits.masked_fill(same & ~own, float("-inf"))
