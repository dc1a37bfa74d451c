"""Vectors of both sides -> what search and margin scoring take, xmine's beside what others use.

Part `knn` of bench/scale.py. Contenders take turns in one process, so
that their ratio says something on a machine that does other work as well.
"""

import statistics
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from drawn_lines import Corpus
from memory import megabytes, watched
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.knn.exact import search_exact
from xmine.knn.neighbours import Neighbours

Halves = NDArray[np.float16]
Floats = NDArray[np.float32]
Row = dict[str, object]


class Found(NamedTuple):
    """The k nearest both ways: cosines and rows, [sources, k] and [targets, k]."""

    target_cosines: Floats
    targets: NDArray[np.int64]
    source_cosines: Floats
    sources: NDArray[np.int64]


SAME = 1e-6  # scores that differ by less are equal
_BLOCK = 4096  # rows and columns of a product; larger ones were not faster


def knn(arguments: Namespace) -> Iterator[Row]:
    """Race exact search both ways against two `faiss.knn` calls, and against sgemm."""
    for source, target, about in _vector_sets(arguments):
        left, right = source.astype(np.float32), target.astype(np.float32)
        times, results = race(
            {
                "xmine": partial(search, source, target, arguments),
                "faiss": partial(faiss_both, left, right, arguments.k),
                "sgemm": partial(product, left, right),
            },
            arguments.repeats,
        )
        flops = 2 * len(source) * len(target) * source.shape[1]
        best = times["sgemm"]["best"]
        yield {
            **about,
            **_shown(times, ("xmine", "faiss", "sgemm")),
            "faster_than_faiss": _ratio(times, "faiss", "xmine"),
            "share_of_sgemm": _ratio(times, "sgemm", "xmine"),
            "share_of_sgemm_at_best": _ratio(times, "sgemm", "xmine", "best"),
            "sgemm_gflops": round(flops / best / 1e9, 1),
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


def product(source: Floats, target: Floats) -> None:
    """Multiply all rows by all rows in large blocks, and keep nothing."""
    room = np.empty(_BLOCK * _BLOCK, dtype=np.float32)
    for row in range(0, len(source), _BLOCK):
        left = source[row : row + _BLOCK]
        for column in range(0, len(target), _BLOCK):
            right = target[column : column + _BLOCK]
            out = room[: len(left) * len(right)].reshape(len(left), len(right))
            np.matmul(left, right.T, out=out)


def race(
    contenders: Mapping[str, Callable[[], Any]], repeats: int
) -> tuple[dict[str, dict[str, float]], dict[str, Any]]:
    """Let contenders take turns, each first in turn.

    Returns:
        Of each the median and the least of its seconds, and by how much anonymous memory grew, in
        megabytes; and of each its result.
    """
    names = list(contenders)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    grown = dict.fromkeys(names, 0)
    results: dict[str, Any] = {}
    for turn in range(repeats):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            results.pop(name, None)
            with watched() as peak:
                started = time.perf_counter()
                results[name] = contenders[name]()
                seconds[name].append(time.perf_counter() - started)
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
            source, target = (
                clustered(rows, dim, arguments.seed) if dim else of_corpora(rows, arguments.seed)
            )
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
