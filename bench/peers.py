"""Two text files -> pairs as one would mine them without xmine, for bench/scale.py.

    python bench/peers.py en.txt zh.txt -o pairs.tsv [-k 4] [--threshold 1.0]

Lines and vectors of both sides are in memory as fp32; sentence-transformers encodes, two calls of
`faiss.knn` search, and the margin is the ratio of Artetxe & Schwenk (2019). `laser_pairs` goes
through the candidates row by row, as LASER's mine_bitexts.py and sentence-transformers'
bitext_mining.py do; `numpy_pairs` computes the same with arrays. All of it is our own code.
"""

import argparse
import json
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import EMBEDDED

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


def numpy_pairs(found: Found) -> Mined:
    """Score all candidates at once, and pair them in a loop over the sorted ones."""
    source_means = found.target_cosines.mean(axis=1)
    target_means = found.source_cosines.mean(axis=1)
    forward = found.target_cosines / ((source_means[:, None] + target_means[found.targets]) / 2)
    backward = found.source_cosines / ((target_means[:, None] + source_means[found.sources]) / 2)
    rows, columns = np.arange(len(forward)), np.arange(len(backward))
    best_targets = found.targets[rows, forward.argmax(axis=1)]
    best_sources = found.sources[columns, backward.argmax(axis=1)]
    sources = np.concatenate([rows, best_sources])
    targets = np.concatenate([best_targets, columns])
    scores = np.concatenate([forward.max(axis=1), backward.max(axis=1)])
    free_sources, free_targets = np.ones(len(rows), dtype=bool), np.ones(len(columns), dtype=bool)
    kept = []
    for row in np.argsort(-scores, kind="stable").tolist():
        if free_sources[sources[row]] and free_targets[targets[row]]:
            free_sources[sources[row]] = free_targets[targets[row]] = False
            kept.append(row)
    return Mined(sources[kept], targets[kept], scores[kept])


def main() -> None:
    """Mine two files and write the pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("-k", type=int, default=4)
    parser.add_argument("--threshold", type=float, default=1.0)
    parser.add_argument("--model", default=str(EMBEDDED), help="folder of the encoder")
    arguments = parser.parse_args()
    started = time.perf_counter()
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(arguments.model, device="cpu")
    loaded = time.perf_counter()
    sides = [
        path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        for path in (arguments.source, arguments.target)
    ]
    vectors = [encoder.encode(lines, normalize_embeddings=True) for lines in sides]
    encoded = time.perf_counter()
    found = faiss_both(vectors[0], vectors[1], arguments.k)
    searched = time.perf_counter()
    mined = numpy_pairs(found)
    with arguments.output.open("w", encoding="utf-8") as file:
        file.write("score\tsource\ttarget\tsource_line\ttarget_line\n")
        for source, target, score in zip(*(each.tolist() for each in mined), strict=True):
            if score >= arguments.threshold:
                texts = sides[0][source], sides[1][target]
                row = f"{score:.4f}", *texts, f"{source + 1}", f"{target + 1}"
                file.write("\t".join(row) + "\n")
    seconds = {
        "loading_seconds": loaded - started,
        "encoding_seconds": encoded - loaded,
        "searching_seconds": searched - encoded,
        "pairing_seconds": time.perf_counter() - searched,
    }
    print(json.dumps({name: round(each, 2) for name, each in seconds.items()}))


if __name__ == "__main__":
    main()
