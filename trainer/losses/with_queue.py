"""A row told apart from others: of its batch, hard negatives (mSimCSE, eq. 1), a queue (MoCo)."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..distributed import all_gather, all_gather_with_gradient, rank_here
from ..models.queue import KeyQueue, same_texts
from ..models.towers import unit_rows
from ..options.contrast import QueueOptions
from .contrastive import scaled_cosines

LOGITS_AT_ONCE = 2**24  # of rows and keys of a queue: 64 MB


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

    def shortened(self, dim: int) -> "Member":
        """Keep the first numbers of the vectors, scaled to length one."""
        if dim >= self.vectors.shape[1]:
            return self
        return Member(unit_rows(self.vectors[:, :dim]), self.texts)

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
) -> Tensor:
    """Eq. 1: x with its y, against the y of all other rows and the hard negatives of all.

    What shares a sentence with a row is no negative of it (A-07: mask rather than resample).

    Args:
        x, y, negatives: of this process.
        scale: 1 / temperature.
        hard_negative_weight: added to the logit of a row's own hard negative.
    """
    first = rank_here() * len(x.texts)
    own = torch.arange(first, first + len(x.texts), device=x.texts.device)
    every_x, every_y = all_gather(x.texts), y.of_all()
    hard = negatives.of_all() if negatives else None

    same = same_texts(x.texts, every_x) | same_texts(y.texts, every_y.texts)
    same |= same_texts(x.texts, every_y.texts)
    at = torch.arange(len(own), device=own.device), own
    same[at] = False
    logits = scaled_cosines(x.vectors, every_y.vectors, scale, same)  # [rows, batch]
    if hard:
        same = same_texts(x.texts, hard.texts) | same_texts(y.texts, hard.texts)
        others = scaled_cosines(x.vectors, hard.vectors, scale, same)  # [rows, batch]
        others[at] += hard_negative_weight
        logits = torch.cat([logits, others], dim=1)  # [rows, 2 * batch]
    return torch.nn.functional.cross_entropy(logits, own)


def contrast_with_queue(
    query: Tensor,
    key: Tensor,
    texts: Tensor,
    queue: KeyQueue,
    scale: float | Tensor,
    options: QueueOptions,
    hard: Member | None = None,
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
        hard: more negatives of all rows, of this process; texts as those of a row.
    """
    hard = hard.of_all() if hard else None
    if options.in_batch_negatives:
        every_key = all_gather_with_gradient(key)  # [batch, dim]
        every_text = all_gather(texts)  # [batch, ids]
        rows = torch.arange(len(query), device=query.device)
        at = rows, rows + rank_here() * len(query)
        same = same_texts(texts, every_text, across=queue.across)  # [rows, batch]
        same[at] = False
        logits = scaled_cosines(query, every_key, scale, same)  # [rows, batch]
        positive, near = logits[at], logits.logsumexp(dim=1)
    else:
        positive = near = (query.float() * key.float()).sum(dim=1) * scale  # [rows]
    if len(queue):
        far: Tensor = _OfQueue.apply(query.float() * scale, texts, queue)  # type: ignore[no-untyped-call]
        near = torch.logaddexp(near, far)
    if hard:
        same = same_texts(texts, hard.texts, across=queue.across)
        others = scaled_cosines(query, hard.vectors, scale, same)  # [rows, hard]
        near = torch.cat([near[:, None], others], dim=1).logsumexp(dim=1)
    return (near - positive).mean()


class _OfQueue(torch.autograd.Function):
    """Logarithm of the sum of exp(row . key) over the keys of a queue, block by block: [rows].

    As FlashAttention (Dao et al., 2022): a row's gradient, the mean of the keys by their softmax,
    grows beside the sum. Memory holds the logits of a block, and there are two products.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, texts: Tensor, queue: KeyQueue) -> Tensor:  # noqa: ANN401
        masked = torch.finfo(rows.dtype).min  # whose exponential beside a positive's is zero
        highest = rows.new_full((len(rows), 1), masked)
        total, mean = torch.zeros_like(highest), torch.zeros_like(rows)
        at_once = max(1, LOGITS_AT_ONCE // len(rows))
        for at in range(0, len(queue), at_once):
            part = slice(at, min(at + at_once, len(queue)))
            keys, of_keys = queue.rows[part].to(rows.dtype), queue.texts[part]
            logits = _product(rows, keys.T)  # [rows, block]
            logits.masked_fill_(same_texts(texts, of_keys, across=queue.across), masked)
            before, highest = highest, torch.maximum(highest, logits.amax(dim=1, keepdim=True))
            shares, kept = logits.sub_(highest).exp_(), (before - highest).exp()
            total = total * kept + shares.sum(dim=1, keepdim=True)
            mean = mean * kept + _product(shares, keys)  # [rows, dim]
        ctx.save_for_backward(mean / total)
        return (highest + total.log())[:, 0]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:  # noqa: ANN401
        (mean,) = ctx.saved_tensors
        return gradients[0][:, None] * mean, None, None


def _product(one: Tensor, other: Tensor) -> Tensor:
    """Multiply matrices; on a GPU in bfloat16 with sums in float32, for its tensor cores."""
    if one.is_cuda:
        return torch.mm(one.bfloat16(), other.bfloat16(), out_dtype=torch.float32)
    return one @ other
