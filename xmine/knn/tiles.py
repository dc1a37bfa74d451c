"""Two matrices on disk -> the nearest rows both ways, by tasks that any machine may run.

Both sides are cut into shards. A tile is the product of a shard of each side, whole or of lists
that meet, and leaves the best cells of the rows of both; a shard then takes the best of its tiles,
and settles them exactly. The neighbours are those of `search_exact` and `search_approximate`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from xmine.engines.task import Engine, Task
from xmine.files.digests import NOBODY, Watch
from xmine.files.npy import opened, write_matrix
from xmine.knn.approximate import trained_index
from xmine.knn.blocks import Multiplier, SourceBlock, TorchMultiplier, plan_blocks
from xmine.knn.duplicates import Side
from xmine.knn.exact import MEMORY, SPARE
from xmine.knn.faiss_index import centroids_of
from xmine.knn.inverted_lists import assign_lists, number_type
from xmine.knn.ivf_products import Listed, multiply_lists
from xmine.knn.ivf_search import choose_reach, settle
from xmine.knn.neighbours import Neighbours
from xmine.knn.recall import measure_recall
from xmine.knn.rescoring import Direction, directions, rescore
from xmine.knn.state_files import SearchFiles, SearchState, finished
from xmine.knn.topk import EMPTY, Keys
from xmine.knn.workers import WorkerPool, blas_threads
from xmine.progress import Progress, Report, silent

# Rows of a shard: a share of a side, within limits. Smaller shards spread better, larger ones
# multiply faster.
_EXACT_SHARE, _EXACT_ROWS = 6, (8192, 65_536)
_LISTED_SHARE, _LISTED_ROWS = 4, (16_384, 2**20)
# Bytes of a worker besides what a tile takes: libraries, and the encoder of an earlier task; and
# bytes for blocks where lists meet.
_OF_A_WORKER, _MEETING = 420 * 2**20, 270 * 2**20
# The share of the work after which shards are settled, for the progress.
_MULTIPLIED = 0.9

# Rows of a side, from one to before another; and those of both sides.
Shard = tuple[int, int]
Cuts = tuple[list[Shard], list[Shard]]


def _nothing() -> None:
    """Report nothing."""


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

    def side(self, number: int) -> Side:
        """Open a side."""
        first = opened(self.path("first", number), np.int64)[:, 0] if self.folded[number] else None
        return Side.of(opened(self.vectors[number]), first)

    def direction(self, number: int, shard: Shard) -> Direction:
        """Open a shard that looks for its neighbours, and make room for these."""
        queries, others = self.side(number).part(*shard), self.side(1 - number)
        shape = len(queries), min(self.k, len(others))
        return Direction(queries, others, np.empty(shape, np.int64), np.empty(shape, np.float32))


def search_in_tiles(
    vectors: tuple[Path, Path],
    k: int,
    engine: Engine,
    *,
    folder: Path,
    index: str = "exact",
    recall: float = 0.98,
    memory: int = MEMORY,
    device: str = "cpu",
    report: Report = silent,
    mark: str = "",
    watch: Watch = NOBODY,
) -> Neighbours:
    """Find the k nearest rows in both directions by cosine, as the engine runs the tasks.

    Args:
        vectors: the .npy files of sources and targets, float16 [rows, dim], unit rows.
        k: neighbours per row; cut to the number of rows on the other side.
        engine: runs the tasks.
        folder: keeps what tasks have found, then the result. A killed search continues when it is
            called with the same arguments, and with any engine.
        index: `exact`, or lists of FAISS's index factory, such as `IVF4096,SQfp16`.
        recall: share of the k nearest that lists are to find.
        memory: bytes for blocks.
        device: `cpu`, or a device of torch such as `cuda`, for exact search.
        report: called with the share that is done, as rows of both sides.
        mark: names the vectors; files of another search in the folder are not used.
        watch: told of files in the folder that have changed; they are made again.

    Raises:
        FileError: the folder cannot be written.
        XmineError: a task failed.
    """
    if complete := finished(folder, mark, watch):
        return complete
    files = SearchFiles(folder, mark, watch)
    left, right = Side(opened(vectors[0])), Side(opened(vectors[1]))
    ways = directions(left, right, k, files)
    folded = left.first is not None, right.first is not None
    given = Tiled(vectors, folder, mark, k, folded, device, memory)
    for number, each in enumerate((left, right)):
        if each.first is not None:
            write_matrix(given.path("first", number), each.first[:, None])
    total = len(left.vectors) + len(right.vectors)

    def tick(share: float, low: float = 0.0, high: float = 1.0) -> None:
        report(Progress("searching", int(total * (low + (high - low) * share)), total))

    if index == "exact":
        cuts = _cut(ways, _EXACT_SHARE, _EXACT_ROWS)
        engine.run(_tiles(given, cuts, exact_tile), partial(tick, high=_MULTIPLIED))
        name, settling = "exact", settle_exact
    else:
        cuts = _cut(ways, _LISTED_SHARE, _LISTED_ROWS)
        probes = _assign(given, cuts, ways, index, recall, SearchState(files), engine)
        engine.run(_tiles(given, cuts, listed_tile), partial(tick, high=_MULTIPLIED))
        name, settling = f"{index}, {probes:.0f} probes", settle_listed
    settled = [
        Task(
            settling,
            (given, side, at, shard, len(cuts[1 - side])),
            (given.path("ids", side, at), given.path("cosines", side, at)),
        )
        for side, at, shard in _each(cuts)
    ]
    engine.run(settled, partial(tick, low=_MULTIPLIED))
    for side, at, (start, stop) in _each(cuts):
        ways[side].ids[start:stop] = opened(given.path("ids", side, at), np.int64)
        ways[side].cosines[start:stop] = opened(given.path("cosines", side, at), np.float32)
    reached = None
    if index != "exact":
        reached = min(measure_recall(way, memory, _nothing) for way in ways)
    tick(1.0)
    return files.finish([*ways[0].result(), *ways[1].result()], k, name, reached)


def _assign(
    given: Tiled,
    cuts: Cuts,
    ways: tuple[Direction, Direction],
    index: str,
    recall: float,
    state: SearchState,
    engine: Engine,
) -> float:
    """Train centroids, and find the lists that all rows probe; give the mean number of lists."""
    sides = ways[0].queries.vectors, ways[1].queries.vectors
    centroids = centroids_of(trained_index(index, sides, state, _nothing))
    assert centroids is not None  # or the search is not cut into tiles
    if "reach" not in state.known:
        reach, most = choose_reach(*ways, centroids, recall, given.memory, _nothing)
        state.note(reach=reach, most=most)
    write_matrix(given.path("centroids"), centroids)
    known = float(state.known["reach"]), int(state.known["most"])
    tasks = [
        Task(assign, (given, side, at, shard, *known), (given.path("lists", side, at),))
        for side, at, shard in _each(cuts)
    ]
    engine.run(tasks, lambda share: None)
    probes = sum(_probes(task.makes[0], len(centroids)) for task in tasks)
    return probes / sum(len(way.queries) for way in ways)


def _cut(ways: tuple[Direction, Direction], share: int, limits: tuple[int, int]) -> Cuts:
    """Cut both sides into shards, by their rows alone: runs go on with another engine."""
    cuts = []
    for count in (len(way.queries) for way in ways):
        size = min(max(-(-count // share), limits[0]), limits[1])
        cuts.append(list(pairwise([*range(0, count, size), count])))
    return cuts[0], cuts[1]


def _each(cuts: Cuts) -> Iterator[tuple[int, int, Shard]]:
    """Give each shard: its side, its number, and its rows."""
    for side, shards in enumerate(cuts):
        for at, shard in enumerate(shards):
            yield side, at, shard


def _tiles(given: Tiled, cuts: Cuts, work: Callable[..., None]) -> list[Task]:
    """Name a task for each shard of the sources and each of the targets."""
    gpus = 0.0 if given.device == "cpu" or work is listed_tile else 1.0
    return [
        Task(
            work,
            (given, i, j, rows, columns),
            (given.path("best", 0, i, j), given.path("best", 1, j, i)),
            float((rows[1] - rows[0]) * (columns[1] - columns[0])),
            gpus,
            _memory(given, rows, columns, is_listed=work is listed_tile),
        )
        for i, rows in enumerate(cuts[0])
        for j, columns in enumerate(cuts[1])
    ]


def _memory(given: Tiled, rows: Shard, columns: Shard, *, is_listed: bool) -> int:
    """Estimate the bytes of a worker that multiplies a tile: two copies of its keys, and blocks."""
    sizes, keep = (rows[1] - rows[0], columns[1] - columns[0]), given.k + SPARE
    dim = opened(given.vectors[0]).shape[1]
    blocks = plan_blocks(*sizes, dim, keep, given.memory, given.device).memory(dim, keep)
    return _OF_A_WORKER + 16 * keep * sum(sizes) + (_MEETING if is_listed else blocks)


def exact_tile(given: Tiled, i: int, j: int, rows: Shard, columns: Shard) -> None:
    """Multiply two shards; keep the best cells of the rows of both."""
    left, right = given.side(0), given.side(1)
    keep = min(given.k + SPARE, len(right)), min(given.k + SPARE, len(left))
    ours: Keys = np.full((rows[1] - rows[0], keep[0]), EMPTY, dtype=np.int64)
    theirs: Keys = np.full((columns[1] - columns[0], keep[1]), EMPTY, dtype=np.int64)
    dim = right.vectors.shape[1]
    plan = plan_blocks(len(ours), len(theirs), dim, keep[0], given.memory, given.device)
    multipliers: list[Multiplier | TorchMultiplier] = [
        Multiplier(right, plan) if given.device == "cpu" else TorchMultiplier(right, given.device)
        for _ in range(plan.workers)
    ]
    cuts = list(pairwise([*range(*columns, plan.columns), columns[1]]))
    with WorkerPool(plan.workers) as pool:
        for start in range(*rows, plan.sources):
            block = SourceBlock(left, start, min(start + plan.sources, rows[1]), keep[0])

            def multiply(cut: Shard, block: SourceBlock = block) -> None:
                multiplier = multipliers.pop()
                best = theirs[cut[0] - columns[0] : cut[1] - columns[0]]
                multiplier.multiply(block, *cut, best, pool)
                multipliers.append(multiplier)

            pool.run(multiply, cuts, _nothing)
            ours[start - rows[0] : block.stop - rows[0]] = block.best
    write_matrix(given.path("best", 0, i, j), ours)
    write_matrix(given.path("best", 1, j, i), theirs)


def assign(given: Tiled, side: int, at: int, shard: Shard, reach: float, most: int) -> None:
    """Find the lists that the rows of a shard probe."""
    centroids = opened(given.path("centroids"), np.float32)
    lists = np.empty((shard[1] - shard[0], most), dtype=number_type(len(centroids)))
    with WorkerPool(blas_threads()) as pool:
        assign_lists(centroids, given.side(side).part(*shard), 0, reach, lists, pool, _nothing)
    write_matrix(given.path("lists", side, at), lists)


def listed_tile(given: Tiled, i: int, j: int, rows: Shard, columns: Shard) -> None:
    """Multiply the lists of two shards that meet; keep the best cells of the rows of both."""
    count = len(opened(given.path("centroids"), np.float32))
    listed = []
    for side, at, shard in ((0, i, rows), (1, j, columns)):
        lists = opened(given.path("lists", side, at), number_type(count))
        best: Keys = np.full((len(lists), given.k + SPARE), EMPTY, dtype=np.int64)
        listed.append(Listed(given.side(side).part(*shard), lists, best))
    with WorkerPool(blas_threads()) as pool:
        ours, theirs = listed
        multiply_lists(ours, theirs, count, 0, pool, lambda share: None, lambda step: None)
    for side, names, start in ((0, (i, j), columns[0]), (1, (j, i), rows[0])):
        best = listed[side].best
        # Columns were counted from the start of the shard; a key falls as the column rises.
        write_matrix(given.path("best", side, *names), best - start * (best != EMPTY))


def settle_exact(given: Tiled, side: int, at: int, shard: Shard, tiles: int) -> None:
    """Find the k nearest of the rows of a shard out of the best cells of its tiles."""
    way = given.direction(side, shard)
    with WorkerPool(blas_threads()) as pool:
        rescore(way, _best(given, side, at, tiles), 0, pool, _nothing)
    _write(way, given, side, at)


def settle_listed(given: Tiled, side: int, at: int, shard: Shard, tiles: int) -> None:
    """Do the same where tiles were multiplied by lists; rows with fewer than k look at all."""
    way = given.direction(side, shard)
    with WorkerPool(blas_threads()) as pool:
        settle(way, _best(given, side, at, tiles), given.memory, pool, lambda share: None)
    _write(way, given, side, at)


def _best(given: Tiled, side: int, at: int, tiles: int) -> Keys:
    """Keep the best cells of all tiles of a shard: keys [rows, kept]."""
    best: Keys = np.array(opened(given.path("best", side, at, 0), np.int64))
    for tile in range(1, tiles):
        both = np.concatenate([best, opened(given.path("best", side, at, tile), np.int64)], axis=1)
        both.sort(axis=1)
        best = both[:, -best.shape[1] :]
    return best


def _write(way: Direction, given: Tiled, side: int, at: int) -> None:
    write_matrix(given.path("ids", side, at), way.ids)
    write_matrix(given.path("cosines", side, at), way.cosines)


def _probes(path: Path, count: int) -> int:
    """Count the lists that the rows of a shard probe."""
    return int(np.count_nonzero(opened(path, number_type(count)) < count))
