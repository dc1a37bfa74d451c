"""Vectors of both sides -> what their search takes: the kernels, numpy alone, two `faiss.knn`.

    OMP_NUM_THREADS=1 python bench/searching.py [--texts EN OTHER] [--rows 18000] [--json OUT]

Also part `knn` of bench/scale.py. Contenders take turns in one process and times are CPU seconds,
so that their ratio says something on a machine that does other work as well.
"""

import argparse
import statistics
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from drawn_lines import Corpus
from memory import megabytes, watched
from numpy.typing import NDArray

from xmine import native
from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.reports.record import record, write_record
from xmine.hardware import blas_threads
from xmine.knn.centroids import train_centroids, training_sample
from xmine.knn.duplicates import Distinct
from xmine.knn.exact import MEMORY, SPARE, search_exact
from xmine.knn.inverted_lists import assign_lists, number_type
from xmine.knn.ivf_products import Listed, multiply_lists
from xmine.knn.ivf_search import choose_reach
from xmine.knn.neighbours import Neighbours
from xmine.knn.recall import RECALL
from xmine.knn.rescoring import directions
from xmine.knn.topk import EMPTY
from xmine.knn.workers import WorkerPool

Halves = NDArray[np.float16]
Floats = NDArray[np.float32]
Row = dict[str, object]
Result = TypeVar("Result")


class Found(NamedTuple):
    """The k nearest both ways: cosines and rows, [sources, k] and [targets, k]."""

    target_cosines: Floats
    targets: NDArray[np.int64]
    source_cosines: Floats
    sources: NDArray[np.int64]


SAME = 1e-6  # scores that differ by less are equal


def knn(arguments: Namespace) -> Iterator[Row]:
    """Race exact search both ways against two `faiss.knn` calls, and against numpy alone."""
    for source, target, about in _vector_sets(arguments):
        left, right = source.astype(np.float32), target.astype(np.float32)
        times, results = race(
            {
                "xmine": partial(search, source, target, arguments),
                "faiss": partial(faiss_both, left, right, arguments.k),
                "numpy": partial(by_numpy, partial(search, source, target, arguments)),
            },
            arguments.repeats,
        )
        yield {
            **about,
            **_shown(times, ("xmine", "faiss", "numpy")),
            "faster_than_faiss": _ratio(times, "faiss", "xmine"),
            "faster_than_numpy": _ratio(times, "numpy", "xmine"),
            **differences(results["xmine"], results["faiss"], source, target),
        }


def faiss_both(source: Floats, target: Floats, k: int) -> Found:
    """Search both ways with `faiss.knn`, inner product."""
    import faiss

    return Found(
        *faiss.knn(source, target, k, metric=faiss.METRIC_INNER_PRODUCT),
        *faiss.knn(target, source, k, metric=faiss.METRIC_INNER_PRODUCT),
    )


def search(source: Halves, target: Halves, arguments: Namespace) -> Neighbours:
    """Search as xmine does."""
    return search_exact(source, target, arguments.k, device=arguments.device)


def by_numpy(call: Callable[[], Result]) -> Result:
    """Call without the kernels."""
    kernels, native.kernels = native.kernels, None
    try:
        return call()
    finally:
        native.kernels = kernels


def lists(source: Halves, target: Halves, k: int, repeats: int) -> Row:
    """Race the products of lists by the kernels against those by numpy, with the same probes."""
    ways, count = directions(Distinct(source), Distinct(target), k), 512
    centroids = train_centroids(training_sample(source, target, count), count, lambda: None)
    reach, most = choose_reach(*ways, centroids, RECALL, MEMORY, lambda: None)
    shapes = [(len(way.queries), most) for way in ways]
    one, other = (np.empty(shape, number_type(count)) for shape in shapes)
    with WorkerPool(1) as pool:
        for way, probed in zip(ways, (one, other), strict=True):
            assign_lists(centroids, way.queries, 0, reach, probed, pool, lambda: None)

        def multiply() -> None:
            left, right = (np.full((shape[0], k + SPARE), EMPTY) for shape in shapes)
            sides = Listed(ways[0].queries, one, left), Listed(ways[1].queries, other, right)
            multiply_lists(sides[0], sides[1], count, pool, lambda _: None)

        times, _ = race({"xmine": multiply, "numpy": partial(by_numpy, multiply)}, repeats)
    ratio = _ratio(times, "numpy", "xmine")
    probes = round(float(np.count_nonzero(one < count) / len(one)))
    about = {"rows": len(source), "k": k, "lists": count, "probes": probes}
    return {**about, **_shown(times, ("xmine", "numpy")), "faster_than_numpy": ratio}


def race(
    contenders: Mapping[str, Callable[[], Any]], repeats: int
) -> tuple[dict[str, dict[str, float]], dict[str, Any]]:
    """Let contenders take turns, each first in turn.

    Returns:
        Of each the median and the least of its CPU seconds, and by how many megabytes anonymous
        memory grew; and of each its result.
    """
    names = list(contenders)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    grown = dict.fromkeys(names, 0)
    results: dict[str, Any] = {}
    for turn in range(repeats):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            results.pop(name, None)
            with watched() as peak:
                started = time.process_time()
                results[name] = contenders[name]()
                seconds[name].append(time.process_time() - started)
            grown[name] = max(grown[name], peak.anonymous - peak.before)
    times = {
        name: {
            "seconds": statistics.median(seconds[name]),
            "best": min(seconds[name]),
            "megabytes": megabytes(grown[name]),
        }
        for name in names
    }
    return times, results


def differences(ours: Neighbours, theirs: Found, source: Halves, target: Halves) -> Row:
    """Count the cells with another row, and those of them whose cosine is another one, too."""
    other = unequal = 0
    for queries, corpus, mine, yours in (
        (source, target, ours.targets, theirs.targets),
        (target, source, ours.sources, theirs.sources),
    ):
        rows, ranks = np.nonzero(mine != yours)
        other += len(rows)
        exact = [
            np.einsum(
                "ij,ij->i", *(each.astype(np.float64) for each in (queries[rows], corpus[ids]))
            )
            for ids in (mine[rows, ranks], yours[rows, ranks])
        ]
        unequal += int((np.abs(exact[0] - exact[1]) >= SAME).sum())
    return {"other_ids": other, "other_ids_and_scores": unequal}


def clustered(rows: int, dim: int, seed: int) -> tuple[Halves, Halves]:
    """Draw unit rows around centres, twelve to each, and near each a translation in any order."""
    random = np.random.default_rng(seed)

    def drawn(count: int) -> Floats:
        return random.standard_normal((count, dim), dtype=np.float32) / np.float32(dim**0.5)

    source = drawn(-(-rows // 12))[random.integers(-(-rows // 12), size=rows)] + drawn(rows)
    source /= np.linalg.norm(source, axis=1, keepdims=True)
    target = source + 0.7 * drawn(rows)
    target /= np.linalg.norm(target, axis=1, keepdims=True)
    return source.astype(np.float16), target[random.permutation(rows)].astype(np.float16)


def of_texts(texts: list[Path], rows: int) -> tuple[Halves, Halves]:
    """Encode the first lines of two files with the embedded encoder."""
    encoder = SentenceEncoder.load()
    lines = [path.read_text("utf-8").split("\n")[:rows] for path in texts]
    return encoder.encode_half(lines[0]), encoder.encode_half(lines[1])


def of_corpora(rows: int, seed: int) -> tuple[Halves, Halves]:
    """Encode generated lines, and their translations in any order, with the embedded encoder."""
    encoder = SentenceEncoder.load()
    corpus = Corpus(rows, seed)
    numbers = np.arange(rows)
    order = np.random.default_rng(seed).permutation(numbers)
    sides = [encoder.encode(corpus.english(numbers)), encoder.encode(corpus.chinese(order))]
    return sides[0].astype(np.float16), sides[1].astype(np.float16)


def _vector_sets(arguments: Namespace) -> Iterator[tuple[Halves, Halves, Row]]:
    """Make the vectors of each size and width that was asked for."""
    for rows in arguments.rows:
        for dim in arguments.dims if arguments.vectors == "clustered" else [0]:
            if dim:
                source, target = clustered(rows, dim, arguments.seed)
            elif getattr(arguments, "texts", None):
                source, target = of_texts(arguments.texts, rows)
            else:
                source, target = of_corpora(rows, arguments.seed)
            yield (
                source,
                target,
                {
                    "vectors": arguments.vectors,
                    "rows": rows,
                    "dim": source.shape[1],
                    "k": arguments.k,
                    "device": arguments.device,
                    "repeats": arguments.repeats,
                },
            )


def _shown(times: Mapping[str, Mapping[str, float]], names: tuple[str, ...]) -> Row:
    seconds: Row = {f"{name}_seconds": round(times[name]["seconds"], 3) for name in names}
    return seconds | {f"{name}_megabytes": round(times[name]["megabytes"]) for name in names}


def _ratio(
    times: Mapping[str, Mapping[str, float]], slow: str, fast: str, which: str = "seconds"
) -> float:
    return round(times[slow][which] / times[fast][which], 3)


def main() -> None:
    """Race exact searches of lines and of wider vectors, and searches by lists."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=Path, nargs=2, help="a line each sentence; or generated")
    parser.add_argument("--rows", type=int, nargs=2, default=[18_000, 60_000], help="exact, listed")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    shared = {"texts": given.texts, "dims": [448], "seed": 1, "device": "cpu", "repeats": 3}
    facts: dict[str, list[Row]] = {"exact": [], "lists": []}
    for k in (4, 16):
        for vectors in ("corpora", "clustered"):
            asked = Namespace(rows=given.rows[:1], vectors=vectors, k=k, **shared)
            facts["exact"] += knn(asked)
        for source, target, _ in _vector_sets(
            Namespace(rows=given.rows[1:], vectors="corpora", k=k, **shared)
        ):
            facts["lists"].append(lists(source, target, k, asked.repeats))
        print(*facts["exact"][-2:], facts["lists"][-1], sep="\n", flush=True)
    if given.json:
        write_record(given.json, record({"threads": blas_threads(), "by": native.used, **facts}))


if __name__ == "__main__":
    main()
