"""One process, or several that torchrun or accelerate started: each has a part of every batch.

A rank's loss is the mean over its own rows; the mean of the ranks' gradients is that of the whole
batch. With one process everything here gives back what it is given. Of accelerate, which takes half
a second to load, nothing is needed here, nor of transformers.
"""

import atexit
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, distributed, nn
from torch.distributed.distributed_c10d import _get_default_store

from xmine.errors import TrainingError, XmineError
from xmine.hardware import choose_device

_PATIENCE = 60.0  # seconds in which all nodes see what one writes; NFS remembers folders so long
_WAITING = timedelta(days=1)  # while the first evaluates; one that died is noticed at once
_LOST = (
    "another process stopped",
    "its message, or that of torchrun, says why; --resume auto goes on from the last checkpoint",
)


class PeerLost(TrainingError):
    """Another process of those that train together is gone."""


def join_processes(wanted: str) -> None:
    """Join the processes that were started together, if there are, once; `wanted` is `--device`.

    Over gloo, which waits for a long evaluation of the first process, and NCCL besides on GPUs:
    with both, tensors travel from wherever they are.

    Raises:
        TrainingError: there are more processes than GPUs, or there is no such device.
    """
    device = torch.device(choose_device(wanted))
    if distributed.is_initialized() or int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return
    is_gpu = device.type == "cuda"
    if is_gpu and device.index is None:
        own, count = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
        if own >= count:
            raise TrainingError(
                f"more processes than GPUs, of which there are {count}",
                f"torchrun --nproc_per_node {count}, or --device cpu",
            )
        torch.cuda.set_device(own)
    # If an optimiser imported it later, its functions would keep the group, and abort the end.
    import_module("torch.distributed.nn.functional")
    with among_peers():
        distributed.init_process_group("cpu:gloo,cuda:nccl" if is_gpu else "gloo", timeout=_WAITING)
    atexit.register(distributed.destroy_process_group)


def processes() -> int:
    """Count the processes that train together."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def rank_here() -> int:
    """Tell which of them this one is, from 0."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def leads() -> bool:
    """Tell whether this is the first process, which alone writes files and reports."""
    return rank_here() == 0


def wait_for_all() -> None:
    """Go on when every process has come here."""
    if processes() > 1:
        distributed.barrier()


def part_of(count: int) -> slice:
    """Tell which of `count` rows of a batch are this process's: as many as every other's."""
    size, rank = processes(), rank_here()
    if count % size:
        raise TrainingError(
            f"--batch-size {count} cannot be shared by {size} processes",
            f"give a multiple of {size}",
        )
    return slice(count // size * rank, count // size * (rank + 1))


@contextmanager
def among_peers() -> Iterator[None]:
    """Say in our words that a process which a call of all processes needs is gone."""
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, distributed.DistError) or "gloo" in str(error):
            raise PeerLost(*_LOST) from error
        raise


def to_tell(error: XmineError) -> XmineError | None:
    """Choose what this process tells of an error that ends all: the first one tells its own.

    One on each other node tells that another stopped. Before they met, one on each node tells.
    """
    is_first_here = os.environ.get("LOCAL_RANK", "0") == "0"
    if not distributed.is_initialized():
        return error if is_first_here else None
    try:
        if _get_default_store().add("xmine: told", 1) == 1:
            return error
    except RuntimeError:  # the process with the store is gone
        return error
    is_alone = os.environ.get("LOCAL_WORLD_SIZE") == os.environ["WORLD_SIZE"]  # this node
    return PeerLost(*_LOST) if is_first_here and not is_alone else None


def restarted() -> bool:
    """Whether `torchrun --max-restarts` has started this process again."""
    return os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") != "0"


def may_restart() -> bool:
    """Whether torchrun starts processes again: perhaps it has, though not this one."""
    return int(os.environ.get("TORCHELASTIC_MAX_RESTARTS", "0")) > 0


def check_shared(folder: Path) -> None:
    """Refuse a folder that only the first process sees.

    Raises:
        TrainingError: in all processes; the message names a node that does not see it.
    """
    if processes() == 1:
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
    if processes() == 1:
        return rows
    parts = [torch.empty_like(rows) for _ in range(processes())]
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
        distributed.all_reduce(gradient)
        return gradient[part_of(len(gradient))]


def all_gather_with_gradient(rows: Tensor) -> Tensor:
    """Put the rows of all ranks one behind the other; a row's gradient is the sum of all ranks'."""
    if processes() == 1:
        return rows
    everything: Tensor = _Gathered.apply(rows)  # type: ignore[no-untyped-call]
    return everything


class Gradients:
    """What gives every rank the mean of all ranks' gradients; what no rank has, none gets.

    Those of transformers meet in the buckets of torch's DistributedDataParallel while the backward
    pass goes on. Sparse ones, and those of encoders on two devices, meet after it.
    """

    def __init__(self, module: nn.Module, *, is_sparse: bool) -> None:
        """Look at a module with all parameters that are trained; of some gradients are sparse."""
        self._parameters = [each for each in module.parameters() if each.requires_grad]
        self._ddp: Any = None
        if processes() == 1 or not self._parameters:
            return
        is_one = len({each.device for each in self._parameters}) == 1
        if is_one and not is_sparse:
            met = nn.ModuleList([module])  # torch warns where no parameter is ever left unused
            met.unused = nn.Parameter(torch.zeros((), device=self._parameters[0].device))
            self._ddp = nn.parallel.DistributedDataParallel(
                met,
                process_group=distributed.new_group(timeout=_WAITING),
                find_unused_parameters=True,
                gradient_as_bucket_view=True,
            )

    def backward(self, loss: Tensor, *, is_last: bool = True) -> None:
        """Go back from a loss; after the last one of a step the gradients of all ranks meet."""
        if loss.requires_grad:  # a first step without negatives has nothing to learn from
            if self._ddp and is_last:
                self._ddp.reducer.prepare_for_backward([loss])
            torch.autograd.backward(loss)
        met = self._ddp and loss.requires_grad
        if is_last and not met and processes() > 1:
            self._average()

    def _average(self) -> None:
        """Average one by one; a parameter that all left out of their losses stays without."""
        # 0: no gradient, 1: a dense one, 2: a sparse one
        told = torch.tensor(
            [0 if x.grad is None else 1 + x.grad.is_sparse for x in self._parameters]
        )
        distributed.all_reduce(told, distributed.ReduceOp.MAX)
        for each, kind in zip(self._parameters, told.tolist(), strict=True):
            if kind:
                found = torch.zeros_like(each) if each.grad is None else each.grad
                if kind == 2:
                    found = (found if found.is_sparse else found.to_sparse(1)).coalesce()
                distributed.all_reduce(found)
                each.grad = found / processes()


def broadcast(value: Any) -> Any:  # noqa: ANN401 - whatever pickles
    """Give every rank what the first one has."""
    found = [value]
    if processes() > 1:
        distributed.broadcast_object_list(found, src=0)
    return found[0]


def gather_objects(value: Any) -> list[Any]:  # noqa: ANN401 - whatever pickles
    """Give every rank what each has, by rank."""
    found = [value] * processes()
    if len(found) > 1:
        distributed.all_gather_object(found, value)
    return found


def on_first_rank(act: Callable[[], None]) -> None:
    """Let the first process act when all have come here, while the others wait."""
    wait_for_all()
    error = None
    if leads():
        try:
            act()
        except XmineError as raised:
            error = raised
    error = broadcast(error)
    if error:
        raise error


def random_of_rank(random: np.random.Generator) -> np.random.Generator:
    """Give each process numbers of its own; the generator that all share stays the same in all."""
    size = processes()
    return random if size == 1 else random.spawn(size)[rank_here()]
