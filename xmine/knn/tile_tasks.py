"""What a task of a search in tiles does: files of two shards -> the best cells of their rows.

Called on any machine, with paths and numbers; each call writes the files that its task makes.
"""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from xmine.files.npy import opened
from xmine.files.sealed_arrays import open_sealed, opened_sealed, write_sealed
from xmine.hardware import blas_threads
from xmine.knn.blocks import SourceBlock, multipliers_for, plan_blocks
from xmine.knn.cosines import Rows
from xmine.knn.duplicates import Distinct
from xmine.knn.exact import MEMORY, SPARE
from xmine.knn.inverted_lists import assign_lists, number_type
from xmine.knn.ivf_products import Listed, compare_again, multiply_lists
from xmine.knn.ivf_search import settle
from xmine.knn.rescoring import Direction, rescore
from xmine.knn.topk import EMPTY, Keys, columns_of
from xmine.knn.workers import WorkerPool, lent
from xmine.progress import silent

_COLUMN = 2**32 - 1  # the bits of a key that tell the column; none are set in a bar
_EARLIER = 3  # tiles whose best cells a tile begins with

# Rows of a side, from one to before another.
Shard = tuple[int, int]
# The files that have the best cells of a shard.
Found = tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Tiled:
    """Where a search in tiles finds and keeps its matrices; a task has one as its argument.

    Attributes:
        vectors: the .npy files of sources and targets, float16 [rows, dim].
        folder: of the search.
        mark: begins the names of its files.
        k: neighbours per row.
        folded: for each side, whether equal rows are searched once; a file then lists the first.
        device: `cpu`, or a device of torch.
        memory: bytes for blocks.
    """

    vectors: tuple[Path, Path]
    folder: Path
    mark: str
    k: int
    folded: tuple[bool, bool]
    device: str = "cpu"
    memory: int = MEMORY

    def path(self, *name: object) -> Path:
        """Name a file."""
        return self.folder / f"tile-{self.mark[:12]}-{'-'.join(map(str, name))}.npy"

    def side(self, number: int) -> Distinct:
        """Open a side."""
        first = opened_sealed(self.path("first", number), np.int64) if self.folded[number] else None
        return Distinct.of(opened(self.vectors[number]), first)

    def direction(self, number: int, shard: Shard) -> Direction:
        """Open a shard that looks for its neighbours, and make room for these."""
        queries, others = self.side(number).part(*shard), self.side(1 - number)
        shape = len(queries), min(self.k, len(others))
        ids, cosines = np.empty(shape, np.int64), np.empty(shape, np.float32)
        return Direction(queries, others, ids, cosines, is_mixed=True)

    def count(self) -> int:
        """Count the lists."""
        return len(opened_sealed(self.path("centroids"), np.float32))

    def listed(self, side: int, at: int, shard: Shard, best: Keys) -> Listed:
        """Open a shard and its lists."""
        lists = opened_sealed(self.path("lists", side, at), number_type(self.count()))
        return Listed(self.side(side).part(*shard), lists, best)


def exact_tile(given: Tiled, i: int, j: int, rows: Shard, columns: Shard) -> None:
    """Multiply two shards; keep the best cells of the rows of both.

    Cells are left out that are worse than enough cells of earlier tiles with the same rows: which
    cells are the best of all tiles does not change, and fewer cells are looked into.
    """
    left, right = given.side(0), given.side(1)
    keep = min(given.k + SPARE, len(right)), min(given.k + SPARE, len(left))
    ours = _earlier(given, 0, i, j, (rows[1] - rows[0], keep[0]))
    theirs = _earlier(given, 1, j, i, (columns[1] - columns[0], keep[1]))
    dim = right.vectors.shape[1]
    plan = plan_blocks(len(ours), len(theirs), dim, keep[0], given.memory, given.device)
    multipliers = multipliers_for(right, plan, given.device)
    cuts = list(pairwise([*range(*columns, plan.columns), columns[1]]))
    with WorkerPool(plan.workers) as pool:
        for start in range(*rows, plan.sources):
            block = SourceBlock(
                left, start, min(start + plan.sources, rows[1]), keep[0], given.device
            )
            own = ours[start - rows[0] : block.stop - rows[0]]
            block.best[:] = own

            def multiply(cut: Shard, block: SourceBlock = block) -> None:
                best = theirs[cut[0] - columns[0] : cut[1] - columns[0]]
                with lent(multipliers) as multiplier:
                    multiplier.multiply(block, *cut, best, pool)

            pool.run(multiply, cuts, silent)
            own[:] = block.best
    write_sealed(given.path("best", 0, i, j), _within(ours, columns))
    write_sealed(given.path("best", 1, j, i), _within(theirs, rows))


def _earlier(given: Tiled, side: int, at: int, before: int, shape: tuple[int, int]) -> Keys:
    """Take the best cells of a shard's rows out of some tiles before one, as far as they are done.

    Returns:
        keys [rows, kept], where cells lack `EMPTY`.
    """
    paths = [given.path("best", side, at, other) for other in range(before)][-_EARLIER:]
    found = [keys for path in paths if (keys := open_sealed(path, np.int64)) is not None]
    return _merged([np.full(shape, EMPTY, dtype=np.int64), *found])


def _within(best: Keys, columns: Shard) -> Keys:
    """Leave out the cells of other tiles."""
    of = columns_of(best)
    best[(of < columns[0]) | (of >= columns[1])] = EMPTY
    best.sort(axis=1)
    return best


def assign(given: Tiled, side: int, at: int, shard: Shard, reach: float, most: int) -> None:
    """Find the lists that the rows of a shard probe."""
    centroids = opened_sealed(given.path("centroids"), np.float32)
    lists = np.empty((shard[1] - shard[0], most), dtype=number_type(len(centroids)))
    with WorkerPool(blas_threads()) as pool:
        assign_lists(centroids, given.side(side).part(*shard), 0, reach, lists, pool, silent)
    write_sealed(given.path("lists", side, at), lists)


def listed_tile(given: Tiled, i: int, j: int, rows: Shard, columns: Shard) -> None:
    """Multiply the lists of two shards that meet; keep the best cells of the rows of both."""
    listed = []
    for side, at, before, shard in ((0, i, j, rows), (1, j, i, columns)):
        best = _earlier(given, side, at, before, (shard[1] - shard[0], given.k + SPARE))
        best[best != EMPTY] &= ~_COLUMN  # cosines alone: what is worse is not let in
        listed.append(given.listed(side, at, shard, best))
    with WorkerPool(blas_threads()) as pool:
        ours, theirs = listed
        multiply_lists(ours, theirs, given.count(), pool, silent)
    for side, names, start in ((0, (i, j), columns[0]), (1, (j, i), rows[0])):
        best = listed[side].best
        best[(best & _COLUMN) == 0] = EMPTY
        best.sort(axis=1)
        # Columns were counted from the start of the shard; a key falls as the column rises.
        write_sealed(given.path("best", side, *names), best - start * (best != EMPTY))


def fold(found: Found, out: Path) -> None:
    """Keep the best cells of several files."""
    write_sealed(out, _best(found))


def settle_shard(
    given: Tiled, side: int, at: int, shard: Shard, found: Found, listed: list[Shard]
) -> None:
    """Find the k nearest of the rows of a shard out of the best cells of its tiles.

    Where tiles were multiplied by lists, those of the `listed` shards of the other side, rows with
    fewer than k look at all.
    """
    way, best = given.direction(side, shard), _best(found)
    with WorkerPool(blas_threads()) as pool:

        def again(rows: Rows) -> Keys:
            ours, parts = given.listed(side, at, shard, best), []
            for number, other in enumerate(listed):
                theirs = given.listed(1 - side, number, other, best)
                keys = compare_again(ours, rows, theirs, given.count(), pool)
                parts.append(keys - other[0] * (keys != EMPTY))
            return _merged(parts)

        if listed:
            settle(way, best, again, given.memory, pool, silent)
        else:
            rescore(way, best, 0, pool, silent)
    write_sealed(given.path("ids", side, at), way.ids)
    write_sealed(given.path("cosines", side, at), way.cosines)


def _best(found: Found) -> Keys:
    """Keep the best cells of each row in several files: keys [rows, kept]."""
    return _merged([opened_sealed(path, np.int64) for path in found])


def _merged(parts: list[Keys]) -> Keys:
    """Keep the best cells of each row in several arrays of the same shape."""
    best: Keys = np.array(parts[0])
    for part in parts[1:]:
        both = np.concatenate([best, part], axis=1)
        both.sort(axis=1)
        best = np.ascontiguousarray(both[:, -best.shape[1] :])
    return best
