"""Two matrices -> the k nearest rows both ways, exact, from one blocked matrix product.

A block of float32 cosines serves both directions. Each row keeps a few cells more than k; those
near the k-th are computed again exactly (`exact_cosines`). If the spare cells lie within the error
of float32 of the k-th, other cells might belong to the k: the row is then searched again.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from xmine.files import scratch
from xmine.knn.blocks import SourceBlock, multipliers_for, plan_blocks
from xmine.knn.cosines import Floats, Rows, Vectors
from xmine.knn.duplicates import Distinct
from xmine.knn.neighbours import Neighbours
from xmine.knn.rescoring import Direction, directions, rescore
from xmine.knn.topk import CLOSED, EMPTY, Keys
from xmine.knn.workers import WorkerPool, lent
from xmine.progress import Progress, Report, silent

# Cells kept beyond k. With fewer, more rows are searched again; with more, more cells are let in.
SPARE = 4

# Bytes for blocks of cosines, where the caller does not say.
MEMORY = 512 * 2**20


def search_exact(
    source: Vectors,
    target: Vectors,
    k: int,
    *,
    memory: int = MEMORY,
    device: str = "cpu",
    report: Report = silent,
) -> Neighbours:
    """Find the k nearest rows in both directions by cosine, all of them.

    Of float16 unit rows these are exactly the k largest inner products, each rounded once to
    float32 and cut at 1, equal ones by rising row: whatever blocks, threads, memory and device.

    Anonymous memory is at most `memory` or, before any block is made, 25 bytes for each row of the
    longer side, to find equal rows. A side that has any takes 40 for each of its rows and keeps 32.
    The result and 8 (k + 4) bytes for each target come on top; scratch files hold them in a run.

    Args:
        source: [sources, dim], unit rows, at least one; perhaps memory-mapped.
        target: [targets, dim], unit rows, at least one; perhaps memory-mapped.
        k: neighbours per row; cut to the number of rows on the other side.
        memory: bytes for blocks, which shrink with it. Two workers take 80 MB for a width of
            1,024 and 150 MB for 4,096; they cannot do with less than 50 MB.
        device: `cpu`, or a device of torch such as `cuda`.
        report: called with the number of finished sources.
    """
    if max(len(source), len(target)) >= 2**32:
        raise ValueError("a side has 2**32 rows or more")
    left, right = Distinct(source), Distinct(target)
    plan = plan_blocks(len(left), len(right), source.shape[1], k + SPARE, memory, device)
    forward, backward = directions(left, right, k)
    best: Keys = scratch.empty((len(right), min(backward.k + SPARE, len(left))), np.int64)
    best[:] = EMPTY
    multipliers = multipliers_for(right, plan, device)
    cuts = list(pairwise([*range(0, len(right), plan.columns), len(right)]))

    def tick(share: float) -> None:
        report(Progress("searching", int(len(source) * share), len(source)))

    with WorkerPool(plan.workers) as pool:
        for start in range(0, len(left), plan.sources):
            stop = min(start + plan.sources, len(left))
            sources = SourceBlock(left, start, stop, min(forward.k + SPARE, len(right)), device)

            def multiply(cut: tuple[int, int], sources: SourceBlock = sources) -> None:
                with lent(multipliers) as multiplier:
                    multiplier.multiply(sources, *cut, best[slice(*cut)], pool)

            def share(sources: SourceBlock = sources) -> None:
                part = (sources.stop - sources.start) * sources.finished / len(right)
                tick((sources.start + part) / len(left))

            pool.run(multiply, cuts, share)
            rescore(forward, sources.best, start, pool, share)
        rescore(backward, best, 0, pool, lambda: tick(1.0))
        tick(1.0)
    return Neighbours(*forward.result(), *backward.result())


def exact_memory(sources: int, targets: int, dim: int, k: int) -> int:
    """Estimate the bytes of memory that `search_exact` takes, if no rows are equal."""
    plan = plan_blocks(sources, targets, dim, k + SPARE, MEMORY)
    return max(25 * max(sources, targets), plan.memory(dim, k + SPARE))


def search_few(
    left: Distinct, rows: Rows, right: Distinct, k: int, memory: int, tick: Callable[[], None]
) -> tuple[Rows, Floats]:
    """Find the k nearest of a few distinct rows of `left`, exactly: rows and cosines, [rows, k]."""
    shape = len(rows), k
    ids, cosines = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.float32)
    queries = Distinct(left.at(rows), apart=True)
    way = Direction(queries, right, ids, cosines)
    kept = min(k + SPARE, len(right))
    plan = plan_blocks(len(rows), len(right), right.vectors.shape[1], kept, memory)
    multipliers = multipliers_for(right, plan, "cpu")
    nothing: Keys = np.full((plan.columns, 1), CLOSED, dtype=np.int64)
    with WorkerPool(plan.workers) as pool:
        for start in range(0, len(rows), plan.sources):
            sources = SourceBlock(queries, start, min(start + plan.sources, len(rows)), kept)

            def multiply(first: int, sources: SourceBlock = sources) -> None:
                last = min(first + plan.columns, len(right))
                with lent(multipliers) as multiplier:
                    multiplier.multiply(sources, first, last, nothing[: last - first], pool)

            pool.run(multiply, range(0, len(right), plan.columns), tick)
            rescore(way, sources.best, start, pool, tick)
    return ids, cosines
