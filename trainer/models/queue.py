"""Momentum contrast (He et al., 2020): an encoder that follows slowly, and a ring of its keys."""

import copy
from collections.abc import Callable
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from xmine.encoders.modules.heads import on_device

from ..data.rows import Rows
from .towers import Tower


class KeyQueue(nn.Module):
    """A ring of unit rows with the texts that they are of.

    Everything in it is a buffer, so that a checkpoint has it. The two counts stay on the processor,
    which would wait for a GPU to know how many keys there are.

    Attributes:
        rows: float32 [size, dim].
        texts: int64 [size, ids], numbers of the texts that a slot belongs to: equal numbers, equal
            texts. A row of a batch is no negative of its own translation of an earlier pass.
        next: where the next key goes.
        filled: how many slots hold a key.
        across: whether a text of one column may be a text of another; else columns are numbered
            each for itself.
    """

    across = False

    def __init__(self, size: int, dim: int, ids: int = 1) -> None:
        """Make an empty queue; slots count from when they are filled."""
        super().__init__()
        self.rows = nn.Buffer(torch.zeros(size, dim))
        self.texts = nn.Buffer(torch.full((size, ids), -1, dtype=torch.int64))
        self.next = nn.Buffer(torch.zeros((), dtype=torch.int64))
        self.filled = nn.Buffer(torch.zeros((), dtype=torch.int64))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        counts = self.next, self.filled
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.next, self.filled = counts
        return self

    def __len__(self) -> int:
        """Count the keys."""
        return int(self.filled)

    @torch.no_grad()
    def put(self, keys: Tensor, texts: Tensor) -> None:
        """Put keys in the place of the oldest.

        Args:
            keys: unit rows [keys, dim], on any device; of more than the queue holds, the last.
            texts: int64 [keys, ids].
        """
        size = len(self.rows)
        keys, texts = keys[-size:].to(self.rows), texts[-size:].to(self.texts)
        places = (int(self.next) + torch.arange(len(keys), device=self.rows.device)) % size
        self.rows[places] = keys
        self.texts[places] = texts
        self.next.copy_((self.next + len(keys)) % size)
        self.filled.copy_(torch.clamp(self.filled + len(keys), max=size))

    def keys(self) -> Tensor:
        """Give the keys that are there: [keys, dim]."""
        return self.rows[: len(self)]


def same_texts(texts: Tensor, others: Tensor, *, across: bool = False) -> Tensor:
    """Tell which rows have a text in common: bool [rows, others].

    Texts are numbers, int64 [rows, ids] and [others, ids]; `across` tells whether a text of one
    column may be a text of another, see `KeyQueue`.
    """
    same = torch.zeros(len(texts), len(others), dtype=torch.bool, device=texts.device)
    for turn in range(others.shape[1] if across else 1):
        for own, other in zip(texts.T.contiguous(), others.roll(turn, dims=1).T, strict=True):
            if texts.device.type != "cpu":  # who looks up how many are equal waits for it
                same |= own[:, None] == other
                continue
            ordered, places = other.sort()
            first, end = (torch.searchsorted(ordered, own, right=right) for right in (False, True))
            counts = end - first
            rows = torch.repeat_interleave(counts)  # [equal]
            cells = torch.arange(len(rows)) + (end - counts.cumsum(0))[rows]
            same[rows, places[cells]] = True
    return same


def text_numbers(batch: Rows, device: torch.device) -> Tensor:
    """Number the texts of a batch: int64 [rows, columns], on a device."""
    return on_device(np.stack([column.keys for column in batch.columns], axis=1), device)


class MomentumTower(nn.Module):
    """The key encoder E' of an encoder E: theta' <- m theta' + (1 - m) theta.

    Attributes:
        tower: the copy; it has no gradients, and is never an optimiser's.
    """

    def __init__(self, query: Tower) -> None:
        """Begin exactly where the encoder stands, its heads included."""
        super().__init__()
        self.tower = copy.deepcopy(query).requires_grad_(False)

    @torch.no_grad()
    def follow(self, query: Tower, momentum: float) -> None:
        """Move towards the encoder, at the beginning of a step; 1 stays, 0 is the encoder itself.

        Weights are float32 whatever type they are multiplied in, or a step of a thousandth would
        vanish.
        """
        own: list[Tensor] = list(self.tower.parameters())
        theirs: list[Tensor] = list(query.parameters())
        torch._foreach_lerp_(own, theirs, 1 - momentum)  # few kernels for all tensors
