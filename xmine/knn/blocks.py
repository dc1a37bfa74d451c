"""Two matrices -> the best cells of each row, as keys, one block of sources after another."""

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from xmine import native
from xmine.hardware import blas_threads
from xmine.knn import fused, plain
from xmine.knn.duplicates import Distinct
from xmine.knn.fused import barred
from xmine.knn.topk import EMPTY, Keys
from xmine.knn.workers import WorkerPool

if TYPE_CHECKING:
    import torch

# Sources and targets of a block: 8 MB of cosines, so that those of two workers lie in a level 3
# cache of 32 MB.
_ROWS, _COLUMNS = 1024, 2048
_NARROWEST = 256
# Multiply-adds of a block of sources, after which state may be saved: 0.7 s on two cores. Fewer
# sources would convert all targets to float32 more often: at 2,048 that is 1 % of the product.
_MULTIPLY_ADDS = 2**36
_FEWEST_SOURCES = 2048
# Numbers of a block of sources, 64 MB: one worker reports once in 0.7 s, however few the targets.
_MOST_NUMBERS = 2**24
# Below this many multiply-adds, less than 0.05 s, threads cost more than they bring.
_SMALL = 2**32
# Anonymous memory of a worker beside its right rows.
_OF_A_WORKER = 16 * 2**20
# Pieces of a side are multiples of so many rows, which the kernels read at once.
_GROUP = 8
# On a device of torch: 1 GiB of cosines.
_DEVICE_SOURCES, _DEVICE_COLUMNS = 8192, 32768


@dataclass(frozen=True, slots=True)
class Cutting:
    """How the product is cut: blocks of sources, then blocks of `rows` x `columns` of cosines.

    Attributes:
        sources: sources that all targets are multiplied with before the next ones.
        rows: sources of a block of cosines.
        columns: targets of a block of cosines.
        workers: blocks of cosines at once.
    """

    sources: int
    rows: int
    columns: int
    workers: int

    def memory(self, dim: int, keep: int) -> int:
        """Estimate the bytes that the search takes for `keep` cells of each row."""
        blocks = 4 * self.columns * dim + 5 * self.rows * self.columns
        return self.sources * (4 * dim + 8 * keep) + self.workers * (blocks + _OF_A_WORKER)


def plan_blocks(
    sources: int, targets: int, dim: int, keep: int, memory: int, device: str = "cpu"
) -> Cutting:
    """Cut the product so that it takes at most `memory` bytes, or as few as it can."""
    if device != "cpu":
        return Cutting(
            min(sources, _DEVICE_SOURCES), _DEVICE_SOURCES, min(targets, _DEVICE_COLUMNS), 1
        )
    workers = 1 if sources * targets * dim < _SMALL else blas_threads()
    most = min(
        max(_FEWEST_SOURCES, _MULTIPLY_ADDS // (targets * dim)), max(_ROWS, _MOST_NUMBERS // dim)
    )
    rows, columns = _ROWS, _COLUMNS
    while True:
        each = _evenly(sources, most, 1)
        plan = Cutting(each, _evenly(each, rows, 1), _evenly(targets, columns, workers), workers)
        if plan.memory(dim, keep) <= memory or columns <= _NARROWEST:
            return plan
        if most > rows:
            most = max(rows, most // 2)
        else:
            rows, columns = rows // 2, columns // 2


def _evenly(length: int, most: int, workers: int) -> int:
    """Cut a length into equal pieces, as many for each worker, in multiples of a group."""
    pieces = workers * -(-length // (workers * most))
    return -(-length // (pieces * _GROUP)) * _GROUP


def product() -> Any:  # noqa: ANN401 - a module
    """Give what multiplies on the processor: functions `in_tiles`, `scan` and `merge`."""
    return plain if native.kernels is None else fused


class SourceBlock:
    """Some sources and the best targets that they have found so far.

    Attributes:
        start, stop: which sources.
        vectors: [some, dim], as the product reads them; float32 for a device of torch.
        best: keys [stop - start, kept].
        finished: how many targets they have seen.
        lock: held while `best` or `finished` change.
    """

    def __init__(
        self, left: Distinct, start: int, stop: int, keep: int, device: str = "cpu"
    ) -> None:
        self.start, self.stop = start, stop
        of_numbers = product() if device == "cpu" else plain
        self.vectors = of_numbers.in_tiles(left, np.arange(start, stop), is_left=True)
        self.best: Keys = np.full((stop - start, keep), EMPTY, dtype=np.int64)
        self.finished = 0
        self.lock = Lock()


class Multiplier:
    """One worker on the processor."""

    def __init__(self, right: Distinct, plan: Cutting) -> None:
        self.side, self.rows, self.product = right, plan.rows, product()

    def multiply(
        self, sources: SourceBlock, start: int, stop: int, best: Keys, pool: WorkerPool
    ) -> None:
        """Let the cells of some sources and targets into the best of both.

        `best` are the keys of the targets from `start` to `stop`; no other worker has these now.
        """
        columns, dim = np.arange(start, stop), self.side.vectors.shape[1]
        right = self.product.in_tiles(self.side, columns, is_left=False)
        for row in range(0, len(sources.best), self.rows):
            if pool.stopped:
                return
            ours = sources.best[row : row + self.rows]
            rows, left = np.arange(len(ours)), sources.vectors[row : row + self.rows]
            with sources.lock:
                found = barred(ours, rows)
            ids = sources.start + row + rows
            self.product.scan(left, ids, found, right, columns, best, dim, False)
            with sources.lock:
                self.product.merge(ours, rows, found)
        with sources.lock:
            sources.finished += stop - start


class TorchMultiplier:
    """The same on a device of torch, which has the blocks and finds the best cells of each."""

    def __init__(self, right: Distinct, device: str) -> None:
        """Have products computed in float32 proper: TF32 errs far more than is allowed for."""
        import torch

        torch.set_float32_matmul_precision("highest")
        self.torch, self.device, self.side = torch, device, right
        self.sources: SourceBlock | None = None

    def multiply(
        self, sources: SourceBlock, start: int, stop: int, best: Keys, pool: WorkerPool
    ) -> None:
        """See `Multiplier.multiply`."""
        torch = self.torch
        if sources is not self.sources:
            self.sources = sources
            self.left = torch.from_numpy(sources.vectors).to(self.device)
        rows = torch.from_numpy(np.array(self.side.rows(start, stop)))  # it wants to own them
        block = self.left @ rows.to(self.device).float().T
        self._offer(block, sources.best, start)
        self._offer(block.T, best, sources.start)
        sources.finished += stop - start

    def _offer(self, block: "torch.Tensor", best: Keys, column: int) -> None:
        """Let cells [rows, columns] into the best [rows, kept]; keys are made as by `topk.pack`."""
        torch = self.torch
        values, columns = block.topk(min(best.shape[1], block.shape[1]), dim=1)
        bits = values.contiguous().view(torch.int32)
        numbers = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).long()
        keys = (numbers << 32) | (0xFFFFFFFF - (columns + column))
        both = torch.cat([torch.from_numpy(best).to(self.device), keys], dim=1)
        best[:] = both.sort(dim=1).values[:, -best.shape[1] :].cpu().numpy()


def multipliers_for(
    right: Distinct, plan: Cutting, device: str
) -> list[Multiplier | TorchMultiplier]:
    """Make every worker of a plan, see `WorkerPool`."""
    if device == "cpu":
        return [Multiplier(right, plan) for _ in range(plan.workers)]
    return [TorchMultiplier(right, device) for _ in range(plan.workers)]
