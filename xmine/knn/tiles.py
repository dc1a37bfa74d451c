"""Two matrices on disk -> the nearest rows both ways, by tasks that any machine may run.

Both sides are cut into shards. A tile is the product of a shard of each side, whole or of lists
that meet, and leaves the best cells of the rows of both; a shard then takes the best of its tiles,
and settles them exactly. Of large sides, tiles are made stripe by stripe, and what a stripe found
is folded into one file for each shard. The neighbours are those of `search_exact` and
`search_approximate`.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from xmine.files.atomic import remove
from xmine.files.npy import opened
from xmine.files.sealed_arrays import open_sealed, opened_sealed, write_sealed
from xmine.knn.approximate import list_bytes
from xmine.knn.blocks import plan_blocks
from xmine.knn.centroids import train_centroids, training_sample
from xmine.knn.duplicates import Distinct
from xmine.knn.exact import MEMORY, SPARE
from xmine.knn.index_name import count_lists
from xmine.knn.inverted_lists import number_type
from xmine.knn.ivf_search import choose_reach
from xmine.knn.neighbours import Neighbours
from xmine.knn.recall import RECALL, measure_recall
from xmine.knn.rescoring import Direction, directions
from xmine.knn.tile_tasks import (
    Found,
    Shard,
    Tiled,
    assign,
    exact_tile,
    fold,
    listed_tile,
    settle_shard,
)
from xmine.progress import Progress, Report, silent
from xmine.run.task import Engine, Task

# Rows of a shard: a share of a side, within limits. Smaller shards spread better, larger ones
# multiply faster.
_EXACT_SHARE, _EXACT_ROWS = 4, (8192, 65_536)
_LISTED_SHARE, _LISTED_ROWS = 4, (16_384, 2**20)
# Tiles of a stripe: 140 GB of keys where shards are largest, and work for some hundred cores.
_TILES_OF_A_STRIPE = 1024
# Bytes of a worker besides what a tile takes: libraries, and the encoder of an earlier task; and
# bytes for blocks where lists meet.
_OF_A_WORKER, _MEETING = 600 * 2**20, 270 * 2**20
# The share of the work after which shards are settled, for the progress.
_MULTIPLIED = 0.9

# The types of the numbers in files of other numbers than int64, by the kind of the file.
_TYPES: dict[str, list[type[np.generic]]] = {
    "cosines": [np.float32],
    "centroids": [np.float32],
    "reach": [np.float64],
    "lists": [np.uint16, np.uint32],
}

# The shards of both sides.
Cuts = tuple[list[Shard], list[Shard]]


def search_in_tiles(
    vectors: tuple[Path, Path],
    k: int,
    engine: Engine,
    *,
    folder: Path,
    mark: str,
    index: str = "exact",
    recall: float = RECALL,
    memory: int = MEMORY,
    device: str = "cpu",
    report: Report = silent,
) -> Neighbours:
    """Find the k nearest rows in both directions by cosine, as the engine runs the tasks.

    Other arguments are those of `search_exact` and `search_approximate`; a killed search continues
    with any engine.

    Args:
        vectors: the .npy files of sources and targets, float16 [rows, dim], unit rows.
        k: neighbours per row; cut to the number of rows on the other side.
        engine: runs the tasks.
        folder: keeps what tasks have found.
        mark: names vectors and settings; files of another search are not used.
        index: `exact`, or lists, such as `IVF4096,SQfp16`.

    Raises:
        FileError: the folder cannot be written.
        XmineError: a task failed.
    """
    left, right = Distinct(opened(vectors[0])), Distinct(opened(vectors[1]))
    ways = directions(left, right, k)
    folded = left.first is not None, right.first is not None
    given = Tiled(vectors, folder, mark, k, folded, device, memory)
    _drop_changed(given)
    for number, each in enumerate((left, right)):
        if each.first is not None:
            write_sealed(given.path("first", number), each.first)
    total = len(left.vectors) + len(right.vectors)

    def tick(share: float, low: float = 0.0, high: float = 1.0) -> None:
        report(Progress("searching", int(total * (low + (high - low) * share)), total))

    cuts = _cut(len(ways[0].queries), index), _cut(len(ways[1].queries), index)
    name, multiply = index, exact_tile
    if index != "exact":
        probes = _assign(given, cuts, ways, index, recall, engine)
        name, multiply = f"{index}, {probes:.0f} probes", listed_tile
    found = _multiply(given, cuts, multiply, engine, partial(tick, high=_MULTIPLIED))
    settled = [
        Task(
            settle_shard,
            (given, side, at, shard, found[side][at], cuts[1 - side] if index != "exact" else []),
            (given.path("ids", side, at), given.path("cosines", side, at)),
        )
        for side, at, shard in _each(cuts)
    ]
    engine.run(settled, partial(tick, low=_MULTIPLIED))
    for side, at, (start, stop) in _each(cuts):
        ways[side].ids[start:stop] = opened_sealed(given.path("ids", side, at), np.int64)
        ways[side].cosines[start:stop] = opened_sealed(given.path("cosines", side, at), np.float32)
    reached = None
    if index != "exact":
        reached = min(measure_recall(way, memory, silent) for way in ways)
    tick(1.0)
    return Neighbours(*ways[0].result(), *ways[1].result(), name, reached)


def is_one_tile(sources: int, targets: int, index: str) -> bool:
    """Tell whether a search is too small to be cut: one process is as good, and leaves no files."""
    return len(_cut(sources, index)) == len(_cut(targets, index)) == 1


def _drop_changed(given: Tiled) -> None:
    """Delete files that were changed since a stopped search wrote them."""
    for path in given.folder.glob(given.path("*").name):
        kinds = _TYPES.get(path.stem.split("-")[2], [np.int64])
        if all(open_sealed(path, kind) is None for kind in kinds):
            remove(path)


def searching_bytes(sources: int, targets: int, dim: int, k: int, index: str) -> int:
    """Estimate the bytes that a search in tiles keeps on disk at most, the result aside.

    These are the centroids, the lists that rows probe, and the best cells of each row in each tile
    of a stripe.
    """
    down, across = len(_cut(sources, index)), len(_cut(targets, index))
    stripe = min(down, max(1, _TILES_OF_A_STRIPE // across))
    cells = sources * across * stripe // down + targets * stripe
    if stripe < down:
        cells += sources + targets  # folds of earlier stripes
    lists = 4 * dim * count_lists(index) + list_bytes(sources, targets, index)
    return lists + 8 * (k + SPARE) * cells


def _assign(
    given: Tiled,
    cuts: Cuts,
    ways: tuple[Direction, Direction],
    index: str,
    recall: float,
    engine: Engine,
) -> float:
    """Train centroids, and find the lists that all rows probe; give the mean number of lists."""
    sides = ways[0].queries.vectors, ways[1].queries.vectors
    path, chosen = given.path("centroids"), given.path("reach")
    if (centroids := open_sealed(path, np.float32)) is None:
        lists = count_lists(index)
        centroids = train_centroids(training_sample(*sides, lists), lists, silent)
        write_sealed(path, centroids)
    if (reach := open_sealed(chosen, np.float64)) is None:
        reach = np.array(choose_reach(*ways, centroids, recall, given.memory, silent))
        write_sealed(chosen, reach)
    known = float(reach[0]), int(reach[1])
    tasks = [
        Task(assign, (given, side, at, shard, *known), (given.path("lists", side, at),))
        for side, at, shard in _each(cuts)
    ]
    engine.run(tasks, silent)
    count = len(centroids)
    found = (opened_sealed(task.makes[0], number_type(count)) for task in tasks)
    probes = sum(int(np.count_nonzero(lists < count)) for lists in found)
    return probes / sum(len(way.queries) for way in ways)


def _cut(count: int, index: str) -> list[Shard]:
    """Cut a side into shards, by its rows alone: runs go on with another engine."""
    exact = index == "exact"
    least, most = _EXACT_ROWS if exact else _LISTED_ROWS
    size = min(max(-(-count // (_EXACT_SHARE if exact else _LISTED_SHARE)), least), most)
    return list(pairwise([*range(0, count, size), count]))


def _each(cuts: Cuts) -> Iterator[tuple[int, int, Shard]]:
    """Give each shard: its side, its number, and its rows."""
    for side, shards in enumerate(cuts):
        for at, shard in enumerate(shards):
            yield side, at, shard


def _multiply(
    given: Tiled,
    cuts: Cuts,
    work: Callable[..., None],
    engine: Engine,
    tick: Callable[[float], None],
) -> tuple[list[Found], list[Found]]:
    """Run all tiles; tell which files have the best cells of each shard of both sides."""
    across, down = len(cuts[1]), len(cuts[0])
    step = max(1, _TILES_OF_A_STRIPE // across)
    stripes = [range(i, min(i + step, down)) for i in range(0, down, step)]
    ours: list[Found] = [(given.path("fold", 0, i),) for i in range(down)]
    theirs: list[list[Found]] = [[()] * across]  # before each stripe
    theirs += [
        [(given.path("fold", 1, j, stripe[-1]),) for j in range(across)] for stripe in stripes
    ]

    def folds(number: int) -> list[Task]:
        """Name the tasks that leave one file of each shard, when a stripe is done."""
        stripe = stripes[number]
        return [
            Task(fold, (_tiles_of(given, 0, i, range(across)), *ours[i]), ours[i]) for i in stripe
        ] + [
            Task(fold, (theirs[number][j] + _tiles_of(given, 1, j, stripe), *path), path)
            for j, path in enumerate(theirs[number + 1])
        ]

    def is_done(number: int) -> bool:
        """Tell whether a stripe is done, and all before: else all are made again."""
        kept = [*ours[: stripes[number].stop], *theirs[number + 1]]
        return all(path.exists() for found in kept for path in found)

    start = max((n + 1 for n in range(len(stripes) - 1) if is_done(n)), default=0)
    for number in range(start, len(stripes)):

        def told(share: float, before: int = number) -> None:
            tick((before + share) / len(stripes))

        engine.run(_tiles(given, cuts, stripes[number], work), told)
        if number + 1 < len(stripes):
            tasks = folds(number)
            engine.run(tasks, silent)
            for path in {path for task in tasks for path in task.arguments[0]}:
                path.unlink(missing_ok=True)
    for i in stripes[-1]:
        ours[i] = _tiles_of(given, 0, i, range(across))
    last = [theirs[-2][j] + _tiles_of(given, 1, j, stripes[-1]) for j in range(across)]
    return ours, last


def _tiles_of(given: Tiled, side: int, at: int, others: Iterable[int]) -> Found:
    """Name the files that tiles with some shards of the other side leave for a shard."""
    return tuple(given.path("best", side, at, other) for other in others)


def _tiles(
    given: Tiled, cuts: Cuts, stripe: Iterable[int], work: Callable[..., None]
) -> list[Task]:
    """Name a task for some shards of the sources and each shard of the targets."""
    gpus = 0.0 if given.device == "cpu" or work is listed_tile else 1.0
    return [
        Task(
            work,
            (given, i, j, cuts[0][i], columns),
            (given.path("best", 0, i, j), given.path("best", 1, j, i)),
            float((cuts[0][i][1] - cuts[0][i][0]) * (columns[1] - columns[0])),
            gpus,
            _memory(given, cuts[0][i], columns, is_listed=work is listed_tile),
        )
        for i in stripe
        for j, columns in enumerate(cuts[1])
    ]


def _memory(given: Tiled, rows: Shard, columns: Shard, *, is_listed: bool) -> int:
    """Estimate the bytes of a worker that multiplies a tile: two copies of its keys, and blocks."""
    sizes, keep = (rows[1] - rows[0], columns[1] - columns[0]), given.k + SPARE
    dim = opened(given.vectors[0]).shape[1]
    blocks = plan_blocks(*sizes, dim, keep, given.memory, given.device).memory(dim, keep)
    return _OF_A_WORKER + 16 * keep * sum(sizes) + (_MEETING if is_listed else blocks)
