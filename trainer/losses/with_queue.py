"""A row told apart from others: of its batch, hard negatives (mSimCSE, eq. 1), a queue (MoCo)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ..distributed import all_gather, all_gather_with_gradient, rank_here
from ..models.queue import KeyQueue, same_texts
from ..options.contrast import QueueOptions
from .contrastive import in_chunks, info_nce, queue_logits, scaled_cosines


@dataclass(frozen=True, slots=True)
class Member:
    """All x of a batch, or all x+, or all x-.

    Attributes:
        vectors: unit rows [rows, dim].
        texts: int64 [rows, ids], numbers of the texts; in several columns if a text stands for
            another one, such as a translation for its original.
    """

    vectors: Tensor
    texts: Tensor

    def of_all(self) -> "Member":
        """Put those of all processes one behind the other: [batch, ...]."""
        return Member(all_gather_with_gradient(self.vectors), all_gather(self.texts))


def contrast_in_batch(
    x: Member,
    y: Member,
    negatives: Member | None,
    scale: float,
    *,
    hard_negative_weight: float = 0.0,
    rows: int = 0,
) -> Tensor:
    """Eq. 1: x with its y, against the y of all other rows and the hard negatives of all.

    What shares a sentence with a row is no negative of it (A-07: mask rather than resample).

    Args:
        x, y, negatives: of this process.
        scale: 1 / temperature.
        hard_negative_weight: added to the logit of a row's own hard negative.
        rows: whose logits are in memory together, see `in_chunks`.
    """
    first = rank_here() * len(x.texts)
    own = torch.arange(first, first + len(x.texts), device=x.texts.device)
    every_x, every_y = all_gather(x.texts), y.of_all()
    hard = negatives.of_all() if negatives else None

    def loss(vectors: Tensor, of_x: Tensor, of_y: Tensor, own: Tensor) -> Tensor:
        same = same_texts(of_x, every_x) | same_texts(of_y, every_y.texts)
        same |= same_texts(of_x, every_y.texts)
        at = torch.arange(len(own), device=own.device), own
        same[at] = False
        logits = scaled_cosines(vectors, every_y.vectors, scale, same)  # [rows, batch]
        if hard:
            same = same_texts(of_x, hard.texts) | same_texts(of_y, hard.texts)
            others = scaled_cosines(vectors, hard.vectors, scale, same)  # [rows, batch]
            others[at] += hard_negative_weight
            logits = torch.cat([logits, others], dim=1)  # [rows, 2 * batch]
        return info_nce(logits, own)

    return in_chunks(loss, rows, x.vectors, x.texts, y.texts, own)


def contrast_with_queue(
    query: Tensor,
    key: Tensor,
    texts: Tensor,
    queue: KeyQueue,
    scale: float | Tensor,
    options: QueueOptions,
) -> Tensor:
    """InfoNCE of each row's own key against a queue (dual momentum, eq. 2), mean over rows.

    Args:
        query: unit rows [rows, dim], of this process.
        key: unit rows [rows, dim], the positives, with gradients or without; with
            `--in-batch-negatives` those of all processes are negatives of the other rows.
        texts: int64 [rows, ids], see `KeyQueue`.
        queue: as it was before this batch.
        scale: 1 / temperature.
        options: of the method.
    """
    first = rank_here() * len(query)
    own = torch.arange(first, first + len(query), device=query.device)
    every_key, every_text = key, texts
    if options.in_batch_negatives:
        every_key = all_gather_with_gradient(key)  # [batch, dim]
        every_text = all_gather(texts)  # [batch, ids]

    def loss(query: Tensor, key: Tensor, texts: Tensor, own: Tensor) -> Tensor:
        used = queue.same(texts)  # [rows, slots]
        if not options.in_batch_negatives:
            logits = queue_logits(query, key, queue.keys(), scale, used)
            return info_nce(logits, torch.zeros_like(own))  # [rows, 1 + slots]
        same = same_texts(texts, every_text, across=queue.across)  # [rows, batch]
        same[torch.arange(len(own)), own] = False
        near = scaled_cosines(query, every_key, scale, same)  # [rows, batch]
        far = scaled_cosines(query, queue.keys(), scale, used)  # [rows, slots]
        return info_nce(torch.cat([near, far], dim=1), own)

    return in_chunks(loss, options.logit_rows, query, key, texts, own)
