"""One process, or several that `torchrun` started: each has a part of every batch.

A rank's loss is the mean over its own rows; the mean of the ranks' gradients is that of the whole
batch. With one process everything here gives back what it is given.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, distributed, nn

from xmine.errors import TrainingError


@dataclass(frozen=True, slots=True)
class World:
    """The processes that train together.

    Attributes:
        rank: of this one, from 0; the first alone writes files and reports.
        size: how many there are.
    """

    rank: int = 0
    size: int = 1

    @classmethod
    def here(cls) -> "World":
        """Tell where this process stands, once `together` has begun."""
        if not distributed.is_initialized():
            return cls()
        return cls(distributed.get_rank(), distributed.get_world_size())

    @property
    def leads(self) -> bool:
        """Whether this is the first process."""
        return self.rank == 0

    def part(self, count: int) -> slice:
        """Tell which of `count` rows of a batch are this process's: as many as every other's.

        Raises:
            TrainingError: they cannot be shared evenly.
        """
        if count % self.size:
            raise TrainingError(
                f"--batch-size {count} cannot be shared by {self.size} processes",
                f"give a multiple of {self.size}",
            )
        share = count // self.size
        return slice(self.rank * share, (self.rank + 1) * share)


@contextmanager
def together(device: torch.device) -> Iterator[World]:
    """Join the processes that `torchrun` started, if it did: NCCL on GPUs, gloo elsewhere."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield World()
        return
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield World.here()
    finally:
        distributed.destroy_process_group()


@torch.no_grad()
def gathered(rows: Tensor) -> Tensor:
    """Put the rows of all ranks one behind the other, without gradients."""
    world = World.here()
    if world.size == 1:
        return rows
    parts = [torch.empty_like(rows) for _ in range(world.size)]
    distributed.all_gather(parts, rows.contiguous())
    return torch.cat(parts)


def summed(value: Tensor) -> Tensor:
    """Add a tensor up over the ranks, without gradients."""
    return gathered(value[None]).sum(dim=0)


class _Gathered(torch.autograd.Function):
    """Gather rows; each rank gets back the gradients that all ranks have for its own."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:  # noqa: ANN401
        return gathered(rows)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:  # noqa: ANN401
        gradient = gradients[0].contiguous()
        distributed.all_reduce(gradient)
        return gradient[World.here().part(len(gradient))]


def gathered_with_gradient(rows: Tensor) -> Tensor:
    """Put the rows of all ranks one behind the other; a row's gradient is the sum of all ranks'."""
    if World.here().size == 1:
        return rows
    everything: Tensor = _Gathered.apply(rows)  # type: ignore[no-untyped-call]
    return everything


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Give every rank the mean of all ranks' gradients.

    Dense ones go in one piece. Of sparse ones each rank adds up the rows of all. A parameter that
    has no gradient on any rank, since all left out its loss, stays without.
    """
    world = World.here()
    if world.size == 1:
        return
    trained = [each for each in parameters if each.requires_grad]
    used = torch.tensor([each.grad is not None for each in trained], device=trained[0].device)
    used = gathered(used[None].int()).any(dim=0)  # [parameters]
    dense = []
    for each, is_used in zip(trained, used.tolist(), strict=True):
        if not is_used:
            continue
        if each.grad is None:
            each.grad = torch.zeros_like(each)
        if each.grad.is_sparse:
            summed = each.grad.coalesce()
            distributed.all_reduce(summed)
            each.grad = summed / world.size
        else:
            dense.append(each.grad)
    if dense:
        flat = torch.cat([gradient.flatten() for gradient in dense])
        distributed.all_reduce(flat)
        flat /= world.size
        start = 0
        for gradient in dense:
            gradient.copy_(flat[start : start + gradient.numel()].view_as(gradient))
            start += gradient.numel()


def mean_of(value: float) -> float:
    """Average a number over the ranks."""
    world = World.here()
    if world.size == 1:
        return value
    total = torch.tensor(value, dtype=torch.float64)
    if distributed.get_backend() == "nccl":
        total = total.cuda()
    distributed.all_reduce(total)
    return total.item() / world.size


def told_by_the_first(value: Any) -> Any:  # noqa: ANN401 - whatever pickles
    """Give every rank what the first one has."""
    if World.here().size == 1:
        return value
    box = [value]
    distributed.broadcast_object_list(box)
    return box[0]
