"""Two matrices -> the k nearest rows both ways, exact, from one blocked matrix product.

A block of float32 cosines serves both directions. Each row keeps a few cells more than k; those
near the k-th are computed again exactly (`rescored`). If the spare cells lie within the error of
float32 of the k-th, what was not kept might belong to the k: the row is then searched again.
"""

import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.files.digests import NOBODY, HashedRows, Watch
from xmine.knn.blocks import Band, Multiplier, Plan, TorchMultiplier, planned
from xmine.knn.cosines import Vectors
from xmine.knn.duplicates import Side
from xmine.knn.neighbours import Neighbours
from xmine.knn.rescoring import Direction, directions, settle
from xmine.knn.state_files import SearchFiles, finished
from xmine.knn.topk import EMPTY, Keys, pack
from xmine.knn.workers import Crew
from xmine.progress import Progress, Report, silent

# Cells kept beyond k. With fewer, more rows are searched again; with more, more cells are let in.
_SPARE = 4

MEMORY = 512 * 2**20

# State is saved after as many seconds, or later, when saving is a fiftieth of the work since then.
_SAVE_SECONDS = 1.0

_SAVE_SHARE = 0.02

# The key of a column that lets nothing in.
_CLOSED = int(pack(np.array([np.inf], dtype=np.float32), np.array([0]))[0])


def search_exact(
    source: Vectors,
    target: Vectors,
    k: int,
    *,
    folder: Path | None = None,
    memory: int = MEMORY,
    device: str = "cpu",
    report: Report = silent,
    mark: str = "",
    watch: Watch = NOBODY,
) -> Neighbours:
    """Find the k nearest rows in both directions by cosine, all of them.

    Of float16 unit rows these are exactly the k largest inner products, each rounded once to
    float32 and cut at 1, equal ones by rising row: whatever blocks, threads, memory and device.

    Anonymous memory is at most `memory` or, before any block is made, 25 bytes for each row of the
    longer side, to find equal rows. A side that has any takes 40 for each of its rows and keeps 32.
    Without `folder`, the result and 8 (k + 4) bytes for each target come on top.

    Args:
        source: [sources, dim], unit rows, at least one; perhaps memory-mapped.
        target: [targets, dim], unit rows, at least one; perhaps memory-mapped.
        k: neighbours per row; cut to the number of rows on the other side.
        folder: where the result is kept, and while the search runs its state; a search that was
            killed continues when it is called with the same arguments.
        memory: bytes for blocks, which shrink with it. Two workers take 80 MB for a width of
            1,024 and 150 MB for 4,096; they cannot do with less than 50 MB.
        device: `cpu`, or a device of torch such as `cuda`.
        report: called with the number of finished sources.
        mark: what is searched; what is in the folder of another search is not used.
        watch: told of files in the folder that are not what they were; these are made again.

    Raises:
        FileError: the folder cannot be written.
    """
    if max(len(source), len(target)) >= 2**32:
        raise ValueError("a side has 2**32 rows or more")
    files = SearchFiles(folder, mark, watch)
    if folder is not None and (found := finished(folder, mark, watch)) is not None:
        return found
    left, right = Side(source), Side(target)
    plan = planned(len(left), len(right), source.shape[1], k + _SPARE, memory, device)
    return search_sides(left, right, k, plan, files, device, report)


def exact_memory(sources: int, targets: int, dim: int, k: int, memory: int = MEMORY) -> int:
    """Estimate the bytes of anonymous memory that `search_exact` takes with a folder.

    The search for equal rows comes first, and ends before blocks are made; there are taken to be
    none, see `search_exact`.
    """
    plan = planned(sources, targets, dim, k + _SPARE, memory)
    return max(25 * max(sources, targets), plan.memory(dim, k + _SPARE))


def search_few(
    left: Side, rows: NDArray[np.int64], right: Side, k: int, memory: int, tick: Callable[[], None]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Find the k nearest of a few distinct rows of one side, exactly: rows and cosines, [rows, k].

    Args:
        left: where the rows are.
        rows: which, as many as are searched for.
        right: what is searched.
        k: at most the number of its distinct rows.
        memory: bytes for blocks.
        tick: called several times a second.
    """
    shape = len(rows), k
    ids, cosines = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.float32)
    queries = Side(left.at(rows), apart=True)
    way = Direction(queries, right, ids, cosines)
    kept = min(k + _SPARE, len(right))
    plan = planned(len(rows), len(right), right.vectors.shape[1], kept, memory)
    nothing: Keys = np.full((plan.columns, 1), _CLOSED, dtype=np.int64)
    with Crew(plan.workers) as crew:
        for start in range(0, len(rows), plan.band):
            band = Band(queries, start, min(start + plan.band, len(rows)), kept)

            def multiply(first: int, band: Band = band) -> None:
                last = min(first + plan.columns, len(right))
                multiplier = Multiplier(right, plan)
                multiplier.multiply(band, first, last, nothing[: last - first], crew)

            crew.run(multiply, range(0, len(right), plan.columns), tick)
            settle(way, band.best, start, crew, tick)
    return ids, cosines


def search_sides(
    left: Side,
    right: Side,
    k: int,
    plan: Plan,
    files: SearchFiles,
    device: str = "cpu",
    report: Report = silent,
) -> Neighbours:
    """Search with the distinct rows of both sides, then give every row what its like has found."""
    forward, backward = directions(left, right, k, files)
    total = len(left.vectors)

    def tick(share: float) -> None:
        report(Progress("searching", int(total * share), total))

    with Crew(plan.workers) as crew:
        _multiply(forward, backward, plan, files, device, crew, tick)
    return files.finish([*forward.result(), *backward.result()], k)


def _multiply(
    forward: Direction,
    backward: Direction,
    plan: Plan,
    files: SearchFiles,
    device: str,
    crew: Crew,
    tick: Callable[[float], None],
) -> None:
    """Fill both directions, band by band; the forward one is finished with each of them."""
    left, right = forward.queries, forward.others
    kept_forward = min(forward.k + _SPARE, len(right))
    kept_backward = min(backward.k + _SPARE, len(left))
    best: Keys = files.array("best", (len(right), kept_backward), np.int64)
    done = HashedRows(forward.ids, forward.cosines)
    start = files.restore(best, done.digest)
    if not start:
        best[:], done = EMPTY, HashedRows(forward.ids, forward.cosines)
    multipliers: list[Multiplier | TorchMultiplier] = [
        Multiplier(right, plan) if device == "cpu" else TorchMultiplier(right, device)
        for _ in range(plan.workers)
    ]

    def multiply(piece: tuple[Band, int, int]) -> None:
        band, first, last = piece
        multiplier = multipliers.pop()  # there is one for each worker
        try:
            multiplier.multiply(band, first, last, best[first:last], crew)
        finally:
            multipliers.append(multiplier)

    saved, pause = time.monotonic(), _SAVE_SECONDS
    while start < len(left):
        band = Band(left, start, min(start + plan.band, len(left)), kept_forward)

        def share(band: Band = band) -> None:
            done = band.start + (band.stop - band.start) * band.finished / len(right)
            tick(done / len(left))

        cuts = [*range(0, len(right), plan.columns), len(right)]
        crew.run(multiply, [(band, *cut) for cut in pairwise(cuts)], share)
        settle(forward, band.best, start, crew, share)
        start = band.stop
        if files.folder is not None and start < len(left) and time.monotonic() - saved > pause:
            before = time.monotonic()
            files.save(start, best, done.digest(start))
            saved = time.monotonic()
            pause = max(_SAVE_SECONDS, (saved - before) / _SAVE_SHARE)
    settle(backward, best, 0, crew, lambda: tick(1.0))
    tick(1.0)


def nearest(source: Vectors, target: Vectors, k: int, *, report: Report = silent) -> Neighbours:
    """Find the k nearest rows in both directions, exactly and in memory.

    Args:
        source: [sources, dim], unit rows, at least one.
        target: [targets, dim], unit rows, at least one.
        k: neighbours per row; cut to the number of rows on the other side.
        report: called with the number of finished sources.
    """
    return search_exact(source, target, k, report=report)
