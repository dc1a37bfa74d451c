"""Vectors -> neighbours and pairs as one would find them without xmine, for bench/scale.py.

`laser_pairs` goes through the candidates row by row, as LASER's mine_bitexts.py and
sentence-transformers' bitext_mining.py do. All of it is our own code.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


class Found(NamedTuple):
    """The k nearest both ways: cosines and rows, [sources, k] and [targets, k]."""

    target_cosines: Floats
    targets: Rows
    source_cosines: Floats
    sources: Rows


class Mined(NamedTuple):
    """One-to-one pairs, best score first, each array [pairs]."""

    sources: Rows
    targets: Rows
    scores: Floats


def faiss_both(source: Floats, target: Floats, k: int) -> Found:
    """Search both ways with `faiss.knn`, inner product."""
    import faiss

    return Found(
        *faiss.knn(source, target, k, metric=faiss.METRIC_INNER_PRODUCT),
        *faiss.knn(target, source, k, metric=faiss.METRIC_INNER_PRODUCT),
    )


def semantic_both(source: Floats, target: Floats, k: int) -> Found:
    """Search both ways with sentence-transformers' `semantic_search`."""
    import torch
    from sentence_transformers.util import dot_score, semantic_search

    def found(queries: Floats, corpus: Floats) -> tuple[Floats, Rows]:
        sides = torch.from_numpy(queries), torch.from_numpy(corpus)
        hits = semantic_search(*sides, top_k=k, score_function=dot_score)
        return (
            np.array([[hit["score"] for hit in row] for row in hits], dtype=np.float32),
            np.array([[hit["corpus_id"] for hit in row] for row in hits], dtype=np.int64),
        )

    return Found(*found(source, target), *found(target, source))


def laser_pairs(source: Floats, target: Floats, found: Found) -> Mined:
    """Score and pair row by row, with the product of the two vectors for each candidate."""
    source_means = found.target_cosines.mean(axis=1)
    target_means = found.source_cosines.mean(axis=1)
    forward = _row_by_row(source, target, found.targets, source_means, target_means)
    backward = _row_by_row(target, source, found.sources, target_means, source_means)
    best_targets = found.targets[np.arange(len(source)), forward.argmax(axis=1)]
    best_sources = found.sources[np.arange(len(target)), backward.argmax(axis=1)]
    sources = np.concatenate([np.arange(len(source)), best_sources])
    targets = np.concatenate([best_targets, np.arange(len(target))])
    scores = np.concatenate([forward.max(axis=1), backward.max(axis=1)])
    seen_sources, seen_targets = set(), set()
    kept = []
    for row in np.argsort(-scores, kind="stable"):
        if sources[row] not in seen_sources and targets[row] not in seen_targets:
            seen_sources.add(sources[row])
            seen_targets.add(targets[row])
            kept.append(row)
    return Mined(sources[kept], targets[kept], scores[kept])


def _row_by_row(
    queries: Floats, corpus: Floats, candidates: Rows, query_means: Floats, corpus_means: Floats
) -> Floats:
    scores: Floats = np.zeros_like(candidates, dtype=np.float32)
    for row in range(len(candidates)):
        for rank in range(candidates.shape[1]):
            other = candidates[row, rank]
            product = queries[row].dot(corpus[other])
            scores[row, rank] = product / ((query_means[row] + corpus_means[other]) / 2)
    return scores
