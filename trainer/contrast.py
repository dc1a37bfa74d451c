"""A batch and what it is told apart from -> a contrastive loss: of a queue, or of the batch itself.

What methods share; each process has its rows of the batch and sees the others' as candidates.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from xmine.trainer.distributed import World, gathered, gathered_with_gradient
from xmine.trainer.losses import in_batch_logits, in_chunks, info_nce, logits_of, queue_logits
from xmine.trainer.queue import KeyQueue


def contrast_with_queue(
    query: Tensor,
    key: Tensor,
    queue: KeyQueue,
    texts: Tensor,
    scale: float | Tensor,
    *,
    in_batch: bool = False,
    rows: int = 0,
) -> Tensor:
    """Tell the key of the translation from those of a queue (dual momentum contrast, eq. 2).

    Args:
        query, key: unit rows [rows, dim] of this process; gradients go to both that have them.
        queue: as it was before this batch.
        texts: int64 [rows, ids], numbers of the texts of each row: what shares one is no negative.
        scale: 1 / temperature.
        in_batch: take the other keys of the batch as negatives, too.
        rows: see `in_chunks`.
    """
    first = World.here().rank * len(query)
    every_key, every_text = gathered_with_gradient(key), gathered(texts)  # [batch, dim] and ids
    own = torch.arange(first, first + len(query), device=query.device)

    def loss(query: Tensor, key: Tensor, texts: Tensor, own: Tensor) -> Tensor:
        if not in_batch:
            logits = queue_logits(query, key, queue.keys(), scale, queue.same(texts))
            return info_nce(logits, torch.zeros_like(own))  # [rows, 1 + keys]
        same = (texts[:, None] == every_text[None]).any(dim=2)  # [rows, batch]
        same[torch.arange(len(own)), own] = False
        near = logits_of(query, every_key, scale, same)  # [rows, batch]
        far = logits_of(query, queue.keys(), scale, queue.same(texts))  # [rows, keys]
        return info_nce(torch.cat([near, far], dim=1), own)

    return in_chunks(loss, rows, query, key, texts, own)


def contrast_in_batch(
    members: Sequence[Tensor],
    texts: Sequence[Tensor],
    scale: float,
    hard_negative_weight: float = 0.0,
) -> Tensor:
    """Tell each row's positive from those of the batch, and from all hard negatives (SimCSE).

    Args:
        members: unit rows [rows, dim] each: anchors, positives and perhaps hard negatives.
        texts: int64 [rows] each, numbers of the texts of the members. What shares a sentence with
            a row is no negative of it (A-07).
        scale: 1 / temperature.
        hard_negative_weight: added to the logit of a row's own hard negative.
    """
    anchors, positives, *negatives = members
    batch_texts = [gathered(each) for each in texts]  # [batch] each
    first = World.here().rank * len(anchors)
    own = torch.arange(first, first + len(anchors), device=anchors.device)
    same = _equal(texts[0], batch_texts[0]) | _equal(texts[1], batch_texts[1])  # [rows, batch]
    candidates = gathered_with_gradient(positives)  # [batch, dim]
    logits = in_batch_logits(anchors, candidates, scale, same, first)  # [rows, batch]
    if negatives:
        same_hard = _equal(texts[0], batch_texts[2]) | _equal(texts[1], batch_texts[2])
        hard = gathered_with_gradient(negatives[0])  # [batch, dim]
        hard_logits = logits_of(anchors, hard, scale, same_hard)  # [rows, batch]
        weight = torch.zeros_like(hard_logits)
        weight[torch.arange(len(own)), own] = hard_negative_weight
        logits = torch.cat([logits, hard_logits + weight], dim=1)  # [rows, 2 * batch]
    return info_nce(logits, own)


def _equal(texts: Tensor, others: Tensor) -> Tensor:
    """Tell which texts are the same: bool [texts, others]."""
    return texts[:, None] == others[None, :]
