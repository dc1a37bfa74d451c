"""The neighbours of two matrices that have grown at their ends -> those of the new rows as well.

The new rows of each side are compared with all rows of the other, exactly; what the earlier search
found is kept. So an exact search stays one, and an approximate search finds at least as much.
"""

from functools import partial

import numpy as np

from xmine.files import scratch
from xmine.files.digests import digest
from xmine.knn.approximate import multiply_adds
from xmine.knn.cosines import Floats, Rows, Vectors, ordered
from xmine.knn.exact import MEMORY, search_exact
from xmine.knn.neighbours import Neighbours
from xmine.progress import Report, silent

# A search anew has to take so many times as long.
_WORTH = 2


def rows_mark(source: Vectors, target: Vectors, *settings: object) -> str:
    """Name the rows and the settings of a search."""
    rows = (np.ascontiguousarray(each).data.cast("B") for each in (source, target))
    return digest(*rows, *map(str, settings))


def has_grown(known: Neighbours, source: Vectors, target: Vectors, k: int, index: str) -> bool:
    """Tell whether to keep what a search of the first rows found: if it is much of the work."""
    n, m = len(known.targets), len(known.sources)
    if (
        n > len(source)
        or m > len(target)
        or {known.targets.shape[1], known.sources.shape[1]} != {k}
    ):
        return False
    new = (len(source) - n) * len(target) + n * (len(target) - m)
    sizes = len(source), len(target), source.shape[1]
    return bool(new * source.shape[1] * _WORTH <= multiply_adds(*sizes, index))


def search_grown(
    known: Neighbours,
    source: Vectors,
    target: Vectors,
    *,
    memory: int = MEMORY,
    device: str = "cpu",
    report: Report = silent,
) -> Neighbours:
    """Find the k nearest rows in both directions, where those of the first rows are known.

    Args:
        known: neighbours among the first rows of both sides, k each.
        source, target, memory, device, report: see `search_exact`.

    Returns:
        The neighbours; `recall` is that of the earlier search, and so a lower bound.
    """
    n, m, k = len(known.targets), len(known.sources), known.targets.shape[1]
    targets, sources = _empty(len(source), k), _empty(len(target), k)
    targets[0][:n], targets[1][:n] = known.targets, known.target_cosines
    sources[0][:m], sources[1][:m] = known.sources, known.source_cosines
    search = partial(search_exact, k=k, memory=memory, device=device, report=report)
    # First the rows of both sides that are new on one; then the new ones of the other.
    for rows, columns in ((slice(0, n), slice(m, None)), (slice(n, None), slice(0, None))):
        left, right = source[rows], target[columns]
        if len(left) and len(right):
            found = search(left, right)
            _merge(targets, rows.start, found.targets + columns.start, found.target_cosines)
            _merge(sources, columns.start, found.sources + rows.start, found.source_cosines)
    return Neighbours(*targets, *sources, known.index, known.recall)


def _empty(rows: int, k: int) -> tuple[Rows, Floats]:
    """Make room for neighbours; none is there."""
    ids, cosines = scratch.empty((rows, k), np.int64), scratch.empty((rows, k), np.float32)
    cosines[:] = -np.inf
    return ids, cosines


def _merge(best: tuple[Rows, Floats], start: int, ids: Rows, cosines: Floats) -> None:
    """Let neighbours of the rows from `start` in, where they are nearer."""
    for some in scratch.slices(len(ids)):
        here = slice(start + some.start, start + some.stop)
        # Of equal ones those that are there stay: their rows are lower.
        near = np.flatnonzero(cosines[some, 0] > best[1][here, -1])
        at, more = near + here.start, near + some.start
        every = np.hstack([best[0][at], ids[more]]), np.hstack([best[1][at], cosines[more]])
        best[0][at], best[1][at] = ordered(*every, best[0].shape[1])
