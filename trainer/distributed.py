"""One process, or several that `torchrun` started: each has a part of every batch.

A rank's loss is the mean over its own rows; the mean of the ranks' gradients is that of the whole
batch. With one process everything here gives back what it is given.
"""

import atexit
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, distributed, nn

from xmine.errors import TrainingError, XmineError

from .peers import among_peers, meeting_place

# Seconds in which all nodes see what one writes: NFS remembers what a folder has so long.
_PATIENCE = 60.0
# How long the others wait while the first process evaluates or looks for near neighbours. One that
# died is noticed at once, by the connection that it closes.
_WAITING = timedelta(days=1)


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
        """Tell where this process stands, once `join_processes` has begun."""
        if not distributed.is_initialized():
            return cls()
        return cls(distributed.get_rank(), distributed.get_world_size())

    @property
    def leads(self) -> bool:
        """Whether this is the first process."""
        return self.rank == 0

    def part(self, count: int) -> slice:
        """Tell which of `count` rows of a batch are this process's: as many as every other's."""
        if count % self.size:
            raise TrainingError(
                f"--batch-size {count} cannot be shared by {self.size} processes",
                f"give a multiple of {self.size}",
            )
        share = count // self.size
        return slice(self.rank * share, (self.rank + 1) * share)


def join_processes(device: torch.device) -> World:
    """Join the processes that `torchrun` started, if it did: gloo, and NCCL besides on GPUs.

    With both, tensors travel from wherever they are: static encoders stay on the processor on any
    machine, and so does what is told as an object. The processes meet over gloo, which waits for a
    long evaluation of the first process as NCCL does not.

    A group that was joined before is used as it is; processes leave theirs when they end, since
    they cannot meet again at the same place.

    Raises:
        TrainingError: there are more processes than GPUs.
    """
    if distributed.is_initialized() or int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return World.here()
    if device.type == "cuda" and device.index is None:
        own, count = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
        if own >= count:
            raise TrainingError(
                f"more processes than GPUs, of which there are {count}",
                f"torchrun --nproc_per_node {count}, or --device cpu",
            )
        torch.cuda.set_device(own)
    # Its functions have the group of all as a default. If an optimiser imported it, later, they
    # would keep the group, whose threads may abort a process at its end.
    import_module("torch.distributed.nn.functional")
    with among_peers():
        store, rank, size = meeting_place()
        backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
        distributed.init_process_group(
            backend, timeout=_WAITING, store=store, rank=rank, world_size=size
        )
    atexit.register(distributed.destroy_process_group)
    return World.here()


def check_shared(folder: Path) -> None:
    """Refuse a folder that only the first process sees.

    Raises:
        TrainingError: in all processes; the message names a node that does not see it.
    """
    if World.here().size == 1:
        return
    token = folder / broadcast(f".{secrets.token_hex(8)}.shared")
    on_first_rank(token.touch)
    until = time.monotonic() + _PATIENCE
    while not (is_seen := token.exists()) and time.monotonic() < until:
        time.sleep(0.1)
    blind = [name for name, seen in gather_objects((socket.gethostname(), is_seen)) if not seen]
    on_first_rank(lambda: token.unlink(missing_ok=True))
    if blind:
        raise TrainingError(
            f"{folder}: a process on {blind[0]} does not see what the first process writes there",
            "all nodes must share the folder of -o, under the same path",
        )


@torch.no_grad()
def all_gather(rows: Tensor) -> Tensor:
    """Put the rows of all ranks one behind the other, without gradients."""
    world = World.here()
    if world.size == 1:
        return rows
    parts = [torch.empty_like(rows) for _ in range(world.size)]
    with among_peers():
        distributed.all_gather(parts, rows.contiguous())
    return torch.cat(parts)


def all_sum(value: Tensor) -> Tensor:
    """Add a tensor up over the ranks, without gradients."""
    return all_gather(value[None]).sum(dim=0)


class _Gathered(torch.autograd.Function):
    """Gather rows; each rank gets back the gradients that all ranks have for its own."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:  # noqa: ANN401
        return all_gather(rows)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:  # noqa: ANN401
        gradient = gradients[0].contiguous()
        with among_peers():
            distributed.all_reduce(gradient)
        return gradient[World.here().part(len(gradient))]


def all_gather_with_gradient(rows: Tensor) -> Tensor:
    """Put the rows of all ranks one behind the other; a row's gradient is the sum of all ranks'."""
    if World.here().size == 1:
        return rows
    everything: Tensor = _Gathered.apply(rows)  # type: ignore[no-untyped-call]
    return everything


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Give every rank the mean of all ranks' gradients; what no rank has, none gets.

    Dense ones go in one piece. Of sparse ones each rank adds up the rows of all. A parameter that
    has no gradient on any rank, since all left out its loss, stays without.
    """
    world = World.here()
    if world.size == 1:
        return
    trained = [each for each in parameters if each.requires_grad]
    # 0: no gradient, 1: a dense one, 2: a sparse one
    kinds = torch.tensor([0 if each.grad is None else 1 + each.grad.is_sparse for each in trained])
    with among_peers():
        distributed.all_reduce(kinds, distributed.ReduceOp.MAX)
    dense: dict[torch.device, list[Tensor]] = {}  # two encoders may be on two devices
    for each, kind in zip(trained, kinds.tolist(), strict=True):
        if not kind:
            continue
        gradient = torch.zeros_like(each) if each.grad is None else each.grad
        if kind == 2:
            rows = gradient if gradient.is_sparse else gradient.to_sparse(1)
            each.grad = _summed_rows(rows.coalesce()) / world.size
        else:
            each.grad = gradient
            dense.setdefault(each.device, []).append(gradient)
    for gradients in dense.values():
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        with among_peers():
            distributed.all_reduce(flat)
        flat /= world.size
        start = 0
        for gradient in gradients:
            gradient.copy_(flat[start : start + gradient.numel()].view_as(gradient))
            start += gradient.numel()


def _summed_rows(gradient: Tensor) -> Tensor:
    """Add up the rows [pieces, dim] of all ranks; NCCL has no sum of sparse tensors."""
    pieces, rows = gradient.indices()[0], gradient.values()
    counts = all_gather(torch.tensor([len(pieces)], device=pieces.device)).tolist()
    missing = max(counts) - len(pieces)
    every_piece = all_gather(nn.functional.pad(pieces, (0, missing)))
    every_row = all_gather(nn.functional.pad(rows, (0, 0, 0, missing)))
    starts = (rank * max(counts) for rank in range(len(counts)))
    there = [slice(at, at + count) for at, count in zip(starts, counts, strict=True)]
    return torch.sparse_coo_tensor(
        torch.cat([every_piece[some] for some in there])[None],
        torch.cat([every_row[some] for some in there]),
        gradient.shape,
        check_invariants=False,
    ).coalesce()


def all_mean(value: float) -> float:
    """Average a number over the ranks."""
    world = World.here()
    if world.size == 1:
        return value
    total = torch.tensor(value, dtype=torch.float64)
    with among_peers():
        distributed.all_reduce(total)
    return total.item() / world.size


def broadcast(value: Any) -> Any:  # noqa: ANN401 - whatever pickles
    """Give every rank what the first one has."""
    if World.here().size == 1:
        return value
    box = [value]
    with among_peers():
        distributed.broadcast_object_list(box)
    return box[0]


def gather_objects(value: Any) -> list[Any]:  # noqa: ANN401 - whatever pickles
    """Give every rank what each has, by rank."""
    if World.here().size == 1:
        return [value]
    box = [None] * World.here().size
    with among_peers():
        distributed.all_gather_object(box, value)
    return box


def barrier() -> None:
    """Go on when all processes have come here."""
    if World.here().size > 1:
        with among_peers():
            distributed.barrier()


def on_first_rank(act: Callable[[], None]) -> None:
    """Let the first process act when all have come here, while the others wait."""
    barrier()
    error = None
    if World.here().leads:
        try:
            act()
        except XmineError as raised:
            error = raised
    error = broadcast(error)
    if error:
        raise error


def random_of_rank(random: np.random.Generator) -> np.random.Generator:
    """Give each process numbers of its own; the generator that all share stays the same in all."""
    world = World.here()
    return random if world.size == 1 else random.spawn(world.size)[world.rank]
