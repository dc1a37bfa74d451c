"""Keys of earlier batches, as negatives: a ring of the newest (He et al., 2020)."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from xmine.trainer.data import Rows
from xmine.trainer.distributed import World, gathered
from xmine.trainer.losses import in_chunks, info_nce, logits_of, queue_logits
from xmine.trainer.options import QueueOptions


class KeyQueue(nn.Module):
    """A ring of unit rows with the texts that they are of.

    Everything in it is a buffer, so that a checkpoint has it.

    Attributes:
        rows: float32 [size, dim].
        texts: int64 [size, ids], numbers of the texts that a slot belongs to: equal numbers, equal
            texts. A row of a batch is no negative of its own translation of an earlier pass.
        next: where the next key goes.
        filled: how many slots hold a key.
    """

    rows: Tensor
    texts: Tensor
    next: Tensor
    filled: Tensor

    def __init__(self, size: int, dim: int, ids: int = 1) -> None:
        """Make an empty queue; slots count from when they are filled."""
        super().__init__()
        self.register_buffer("rows", torch.zeros(size, dim))
        self.register_buffer("texts", torch.full((size, ids), -1, dtype=torch.int64))
        self.register_buffer("next", torch.zeros((), dtype=torch.int64))
        self.register_buffer("filled", torch.zeros((), dtype=torch.int64))

    def __len__(self) -> int:
        """Count the keys."""
        return int(self.filled)

    @torch.no_grad()
    def fill_at_random(self, generator: torch.Generator) -> None:
        """Fill all slots with random directions, as MoCo does: far easier than any sentence."""
        rows = torch.randn(self.rows.shape, generator=generator)
        self.rows.copy_(nn.functional.normalize(rows, dim=1))
        self.filled.fill_(len(self.rows))

    @torch.no_grad()
    def put(self, keys: Tensor, texts: Tensor) -> None:
        """Put keys in the place of the oldest.

        Args:
            keys: unit rows [keys, dim]; of more than the queue holds, the last.
            texts: int64 [keys, ids].
        """
        size = len(self.rows)
        keys, texts = keys[-size:].to(self.rows.dtype), texts[-size:]
        places = (self.next + torch.arange(len(keys), device=self.rows.device)) % size
        self.rows[places] = keys
        self.texts[places] = texts
        self.next.copy_((self.next + len(keys)) % size)
        self.filled.copy_(torch.clamp(self.filled + len(keys), max=size))

    def keys(self) -> Tensor:
        """Give the keys that are there: [keys, dim]."""
        return self.rows[: len(self)]

    def same(self, texts: Tensor) -> Tensor:
        """Tell which keys are of a text that a row has, too: bool [rows, keys].

        Args:
            texts: int64 [rows, ids].
        """
        there = self.texts[: len(self)]  # [keys, ids]
        return (texts[:, None] == there[None]).any(dim=2)


def texts_of(batch: Rows) -> Tensor:
    """Number the texts of a batch: int64 [rows, columns]."""
    return torch.from_numpy(np.stack([column.keys for column in batch.columns], axis=1))


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
        query: unit rows [rows, dim].
        key: unit rows [rows, dim], the positives; with `--in-batch-negatives` those of all
            processes are negatives of the other rows.
        texts: int64 [rows, ids], see `KeyQueue`.
        queue: as it was before this batch.
        scale: 1 / temperature.
        options: of the method.
    """
    first = World.here().rank * len(query)
    every_key, every_text = gathered(key), gathered(texts)  # [batch, dim], [batch, ids]
    own = torch.arange(first, first + len(query), device=query.device)

    def loss(query: Tensor, key: Tensor, texts: Tensor, own: Tensor) -> Tensor:
        if not options.in_batch_negatives:
            logits = queue_logits(query, key, queue.keys(), scale, queue.same(texts))
            return info_nce(logits, torch.zeros_like(own))  # [rows, 1 + keys]
        same = (texts[:, None] == every_text[None]).any(dim=2)  # [rows, batch]
        same[torch.arange(len(own)), own] = False
        near = logits_of(query, every_key, scale, same)  # [rows, batch]
        far = logits_of(query, queue.keys(), scale, queue.same(texts))  # [rows, keys]
        return info_nce(torch.cat([near, far], dim=1), own)

    return in_chunks(loss, options.logit_rows, query, key, texts, own)


def first_batches(rows: Rows, count: int, size: int) -> Iterator[Rows]:
    """Walk through the first `count` rows, `size` at once: to fill a queue, as InfoXLM does."""
    count = min(count, len(rows))
    for start in range(0, count, size):
        yield rows.take(np.arange(start, min(start + size, count)))
