"""Two matrices -> most of the nearest rows both ways, from indexes of FAISS (Douze et al., 2024).

An index over the targets is searched by the sources, then one over the sources by the targets, and
what one direction found serves both. How far it looks is chosen on a sample of queries for a wanted
recall; the recall that was reached is measured on others.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.errors import OptionError
from xmine.files import replacing
from xmine.knn.direction import Direction
from xmine.knn.exchange import Found, exchanged
from xmine.knn.indexes import SearchedIndex, lists_of, opened, trained, write
from xmine.knn.lists import Tick
from xmine.knn.searchfiles import SearchFiles
from xmine.neighbours import FILES, Neighbours, Vectors, found_in
from xmine.progress import Progress, Report, silent

# Multiply-adds of an exact search up to which `--index auto` stays exact. Two cores do 9e10 in a
# second: six minutes of them. A GPU is taken to do a hundred times as many; that is not measured.
EXACT_UP_TO = {"cpu": 2**45, "cuda": 2**52}
# Lists that are shorter than this are not worth their centroids; with fewer lists than that,
# searching everything is as good.
_FEWEST_PER_LIST = 40
_FEWEST_LISTS = 64

_MEMORY = 512 * 2**20
# Rows kept beyond k, for the other direction.
_SPARE = 4
_EXCHANGED_AT_ONCE = 2**17

_STATE = "approximate.json"
_TRAINED = "trained.faiss"
_FILLED = "filled.faiss"


def choose_index(sources: int, targets: int, dim: int, wanted: str, device: str = "cpu") -> str:
    """Tell how to search: `exact`, or a factory string of FAISS; from sizes and device alone.

    `auto` is exact up to `EXACT_UP_TO` multiply-adds (sources x targets x dim), or where a side has
    fewer than 2,560 rows; beyond, IVF with lists of fp16 vectors: 4 sqrt(n) of them, n being the
    geometric mean of the sides, as a power of two, and at least 40 rows in each on average.

    Args:
        sources, targets: rows of each side.
        dim: width of the vectors.
        wanted: `auto`, `exact` or a factory string.
        device: `cpu`, or a device of torch such as `cuda`.

    Raises:
        OptionError: FAISS does not know the factory string, or cannot use it here.
    """
    if wanted not in ("auto", "exact"):
        if (lists := lists_of(wanted, dim)) > (fewest := min(sources, targets)):
            raise OptionError(
                f"--index {wanted}: {lists:,} lists for {fewest:,} rows",
                "--index auto, or fewer lists",
            )
        return wanted
    most = EXACT_UP_TO["cpu" if device == "cpu" else "cuda"]
    if wanted == "exact" or sources * targets * dim <= most:
        return "exact"
    lists = 2 ** round(math.log2(4 * (sources * targets) ** 0.25))
    while lists * _FEWEST_PER_LIST > min(sources, targets):
        lists //= 2
    return f"IVF{lists},SQfp16" if lists >= _FEWEST_LISTS else "exact"


def search_approximate(
    source: Vectors,
    target: Vectors,
    k: int,
    *,
    factory: str,
    recall: float = 0.98,
    folder: Path | None = None,
    memory: int = _MEMORY,
    report: Report = silent,
) -> Neighbours:
    """Find most of the k nearest rows in both directions by cosine.

    Cosines are those of an exact search; a row's neighbours are the best that were found. Lists of
    fp16 or fp32 vectors give the same result on any number of threads; FAISS does not promise that
    of HNSW, whose graph depends on the order of threads, nor of OPQ and PCA.

    Anonymous memory is the index (`xmine.knn.indexes.index_bytes`; with `folder`, only until it is
    filled and written, if it has lists), the training sample before it
    (`xmine.knn.indexes.training_bytes`), and `memory`; while directions are joined, about 60 bytes
    for each row and k in place of them. Without `folder`, the result comes on top, twice.

    Args:
        source: float16 [sources, dim], unit rows, at least one; perhaps memory-mapped.
        target: float16 [targets, dim], unit rows, at least one; perhaps memory-mapped.
        k: neighbours per row; cut to the number of rows on the other side.
        factory: what FAISS's index factory takes, such as `IVF4096,SQfp16`.
        recall: share of the k nearest that is to be found, in each direction.
        folder: where the result is kept, and while the search runs its index and its state; a
            search that was killed continues when it is called with the same arguments.
        memory: bytes for chunks of queries and blocks.
        report: called with the number of finished queries of both directions.

    Returns:
        The neighbours; their `recall` is the lower one of both directions, as measured on queries
        that did not choose the setting. It may be below what was wanted where codes lose much.

    Raises:
        OptionError: the factory string cannot be used for these sizes.
        FileError: the folder cannot be written.
    """
    if folder and (complete := found_in(folder)):
        _State(folder, fresh=True).remove()
        return complete
    files = SearchFiles(folder)
    ways = ((source, target, FILES[:2]), (target, source, FILES[2:]))
    arrays: list[NDArray[Any]] = []
    found: list[Found] = []
    for queries, others, (ids, cosines) in ways:
        shape = (len(queries), min(k, len(others)))
        arrays += [files.array(ids, shape, np.int64), files.array(cosines, shape, np.float32)]
        wide = (len(queries), min(k + _SPARE, len(others)))
        wide_ids = files.array(f"wide_{ids}", wide, np.int64)
        found.append((wide_ids, files.array(f"wide_{cosines}", wide, np.float32)))
    state = _State(folder, fresh=files.fresh)
    total = len(source) + len(target)
    searches = []
    for way, (queries, others, _) in enumerate(ways):
        before = way * len(source)

        def tick(done: int, before: int = before) -> None:
            report(Progress("searching", before + done, total))

        search = Direction(queries, others, found[way], min(k, len(others)), memory, tick)
        searches.append(search)
        if state.of(way).get("done") != len(queries):
            index = _index(factory, (source, target), way, folder, memory, lambda: tick(0))
            search.run(index, state.of(way), state.save, recall)
            del index
    for way, search in enumerate(searches):
        search.done = total - way * len(source)
        best, best_cosines = arrays[2 * way : 2 * way + 2]
        for start in range(0, len(best), _EXCHANGED_AT_ONCE):
            stop = min(start + _EXCHANGED_AT_ONCE, len(best))
            some = exchanged(found[way], found[1 - way], start, stop, search.k)
            best[start:stop], best_cosines[start:stop] = some
        if "recall" not in state.of(way):
            state.of(way)["recall"] = search.measure(best_cosines)
            state.save()
    searches[1].tick()
    settings = [state.of(way)["setting"] for way in (0, 1)]
    knob = state.of(0)["knob"]
    name = f"{factory}, {settings[0]} and {settings[1]} {knob}" if knob else factory
    reached = min(state.of(way)["recall"] for way in (0, 1))
    neighbours = files.finish(arrays, k, name, reached)
    state.remove()
    return neighbours


def _index(
    factory: str,
    sides: tuple[Vectors, Vectors],
    way: int,
    folder: Path | None,
    memory: int,
    tick: Tick,
) -> SearchedIndex:
    """Open the index that a direction searches; train and fill it unless that was done."""
    tick()
    if folder is None:
        made = SearchedIndex(trained(factory, sides), factory, memory)
        made.fill(sides[1 - way], tick)
        return made
    start, full = folder / _TRAINED, folder / f"{way}-{_FILLED}"
    (folder / f"{1 - way}-{_FILLED}").unlink(missing_ok=True)
    if not full.exists():
        if not start.exists():
            write(trained(factory, sides), start)
        tick()
        made = SearchedIndex(opened(start, mapped=False), factory, memory)
        made.fill(sides[1 - way], tick)
        write(made.index, full)
        del made
    return SearchedIndex(opened(full, mapped=True), factory, memory)


class _State:
    """What is known of both directions: the setting, the queries that are done, the recall."""

    def __init__(self, folder: Path | None, *, fresh: bool) -> None:
        self.folder = folder
        self.path = None if folder is None else folder / _STATE
        self.ways: list[dict[str, Any]] = [{}, {}]
        if self.path and self.path.exists():
            if fresh:
                self.path.unlink()
            else:
                self.ways = json.loads(self.path.read_text(encoding="utf-8"))

    def of(self, way: int) -> dict[str, Any]:
        """Give what is known of a direction: 0 the sources' search, 1 the targets'."""
        return self.ways[way]

    def save(self) -> None:
        """Write it down."""
        if self.path:
            with replacing(self.path) as partial:
                partial.write_text(json.dumps(self.ways), encoding="utf-8")

    def remove(self) -> None:
        """Remove what a complete search does not need."""
        if self.folder:
            for name in (_STATE, _TRAINED, f"0-{_FILLED}", f"1-{_FILLED}"):
                (self.folder / name).unlink(missing_ok=True)
