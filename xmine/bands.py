"""Two matrices -> the best cells of each row, kept as keys, band of sources by band of sources."""

from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from xmine.crew import blas_threads
from xmine.topk import EMPTY, GROUP, BlockMaxima, Keys
from xmine.twins import Side

# Sources and targets of a block: 8 MB of cosines, two of which lie in a level 3 cache of 32 MB.
_ROWS, _COLUMNS = 1024, 2048
# Multiply-adds of a band, after which state may be saved: 1 to 2 s on two cores. A shorter band
# converts all targets to float32 for fewer sources: 2,048 of them cost 1 % of the product.
_BAND = 2**37
_SHORTEST_BAND = 2048
# Below this many multiply-adds, less than 0.05 s, threads cost more than they bring.
_SMALL = 2**32
# Anonymous memory of a worker beyond its blocks, for the cells that it looks into.
_LOOKED_INTO = 24 * 2**20


@dataclass(frozen=True, slots=True)
class Plan:
    """How the product is cut: bands of sources, then blocks of `rows` x `columns` of cosines."""

    band: int
    rows: int
    columns: int
    workers: int

    def memory(self, dim: int, keep: int) -> int:
        """Give the bytes of anonymous memory that the product takes, inputs and results aside."""
        block = 4 * (self.columns * dim + self.rows * self.columns * (1 + 1 / GROUP + 1 / 4))
        return int(
            self.band * (4 * dim + 8 * keep) + self.workers * (block + _LOOKED_INTO)
        )


def planned(sources: int, targets: int, dim: int, keep: int, memory: int) -> Plan:
    """Cut the product of two sizes so that it takes at most `memory` bytes, or as few as it can."""
    small = sources * targets * dim < _SMALL
    workers = 1 if small else blas_threads()
    band = max(_SHORTEST_BAND, _BAND // (targets * dim))
    rows, columns = _ROWS, _COLUMNS
    while True:
        plan = Plan(*_even(sources, band, rows), _evenly(targets, columns, workers), workers)
        if plan.memory(dim, keep) <= memory or band <= 64:
            return plan
        if band > rows:
            band //= 2
        else:
            band, rows, columns = band // 2, rows // 2, columns // 2


def _even(rows: int, band: int, block: int) -> tuple[int, int]:
    band = _evenly(rows, band, 1)
    return band, _evenly(band, block, 1)


def _evenly(length: int, most: int, workers: int) -> int:
    """Cut a length into equal pieces, as many for each worker, in multiples of a group."""
    pieces = workers * -(-length // (workers * most))
    return -(-length // (pieces * GROUP)) * GROUP


class Band:
    """Some sources and the best targets that they have found so far."""

    def __init__(self, left: Side, start: int, stop: int, keep: int) -> None:
        self.start, self.stop = start, stop
        rows = -(-(stop - start) // GROUP) * GROUP
        out = np.empty((rows, left.vectors.shape[1]), dtype=np.float32)
        self.vectors = left.wide(start, stop, out)
        self.best: Keys = np.full((stop - start, keep), EMPTY, dtype=np.int64)
        self.lock = Lock()


class Multiplier:
    """What one worker multiplies with: room for a block, made once."""

    def __init__(self, right: Side, plan: Plan) -> None:
        self.side, self.rows = right, plan.rows
        self.right = np.empty((plan.columns, right.vectors.shape[1]), dtype=np.float32)
        self.cells = np.empty(plan.rows * plan.columns, dtype=np.float32)
        self.maxima = BlockMaxima(plan.rows * plan.columns)

    def multiply(self, band: Band, start: int, stop: int, best: Keys, crew: Any) -> None:
        """Let the cells of a band and of targets from `start` to `stop` into the best of both.

        Args:
            band: the sources.
            start, stop: the targets, which no other worker has now.
            best: of those targets.
            crew: tells when to stop.
        """
        columns = -(-(stop - start) // GROUP) * GROUP
        right = self.side.wide(start, stop, self.right[:columns])
        for row in range(0, len(band.vectors), self.rows):
            if crew.stopped:
                return
            left = band.vectors[row : row + self.rows]
            block = self.cells[: len(left) * columns].reshape(len(left), columns)
            np.matmul(left, right.T, out=block)
            real = band.stop - band.start - row
            block[real:] = -np.inf
            block[:, stop - start :] = -np.inf
            self.maxima.reduce(block)
            self.maxima.offer_columns(best, band.start + row)
            with band.lock:
                self.maxima.offer_rows(band.best[row : row + len(left)], start)


class TorchMultiplier:
    """The same on a device of torch, which has the blocks and finds the best of each."""

    def __init__(self, right: Side, device: str) -> None:
        import torch

        self.torch, self.device, self.side = torch, device, right

    def multiply(self, band: Band, start: int, stop: int, best: Keys, crew: Any) -> None:
        """See `Multiplier.multiply`."""
        torch = self.torch
        out = np.empty((stop - start, band.vectors.shape[1]), dtype=np.float32)
        right = torch.from_numpy(self.side.wide(start, stop, out)).to(self.device)
        left = torch.from_numpy(band.vectors[: band.stop - band.start]).to(self.device)
        block = left @ right.T  # in float32: torch uses TF32 only where it is asked to
        self._offer(block, band.best, start)
        self._offer(block.T, best, band.start)

    def _offer(self, block: Any, best: Keys, column: int) -> None:
        """Let cells [rows, columns] into the best [rows, k]; keys are made as `topk.pack` does."""
        torch = self.torch
        values, columns = block.topk(min(best.shape[1], block.shape[1]), dim=1)
        bits = values.contiguous().view(torch.int32)
        ordered = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).long()
        keys = (ordered << 32) | (0xFFFFFFFF - (columns + column))
        both = torch.cat([torch.from_numpy(best).to(self.device), keys], dim=1)
        best[:] = both.sort(dim=1).values[:, -best.shape[1] :].cpu().numpy()
