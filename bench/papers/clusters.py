"""Purity of clusters: labelled lines -> how well k-means finds the labels again.

mSimCSE (Wang et al., 2022) measures it on the news titles of TNEWS, from CLUE (Xu et al., 2020).
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from papers.benchmarks import ClusterOptions
from papers.json_rows import filled_text, json_rows
from xmine.encoders.pair import Encoders
from xmine.errors import EncoderError, FileError
from xmine.evaluation.data import DataFolder, read_tab_separated
from xmine.evaluation.result import Metric, Result, Row
from xmine.progress import Report, silent

SEED = 1
RESTARTS = 10
_WHAT = "TNEWS as CLUE distributes it, tnews/dev.json"


def purity(clusters: Sequence[int], labels: Sequence[str]) -> dict[str, float]:
    """Compare clusters with labels; item i is in `clusters[i]` and has `labels[i]`.

    `micro`: the share of all items that have the most frequent label of their cluster; `macro`: the
    same share within a cluster, averaged over clusters.
    """
    inside: dict[int, Counter[str]] = {}
    for cluster, label in zip(clusters, labels, strict=True):
        inside.setdefault(cluster, Counter())[label] += 1
    most = [max(counts.values()) for counts in inside.values()]
    shares = [top / counts.total() for top, counts in zip(most, inside.values(), strict=True)]
    return {"micro": sum(most) / len(labels), "macro": sum(shares) / len(shares)}


def k_means(vectors: NDArray[np.float32], clusters: int) -> list[int]:
    """Cluster rows: the best of `RESTARTS` runs of k-means++, from `SEED`."""
    from sklearn.cluster import KMeans

    found = KMeans(clusters, n_init=RESTARTS, random_state=SEED).fit(vectors)
    assigned: list[int] = found.labels_.tolist()
    return assigned


def evaluate_clusters(
    encoder: Encoders, data: DataFolder, options: ClusterOptions, report: Report = silent
) -> Result:
    """Measure the purity of as many clusters as there are labels."""
    if options.lines:
        path = Path(options.lines)
        lines = [(label, "\t".join(rest)) for _, (label, *rest) in read_tab_separated(path, 2)]
    else:  # CLUE's file: a JSON object with `label` and `sentence` in each line
        path = data.holding("dev.json", ("tnews", "tnews_public"), _WHAT) / "dev.json"
        lines = [
            (str(row["label"]), filled_text(row, "sentence", where))
            for where, row in json_rows(path, ("label", "sentence"))
        ]
    labels, texts = [label for label, _ in lines], [text for _, text in lines]
    kinds = len(set(labels))
    if not 2 <= kinds <= len(set(texts)):
        raise FileError(
            f"{path}: {len(set(texts))} different texts with {kinds} labels",
            "there have to be two labels at least, and as many texts",
        )
    reader = encoder.reading("" if options.lines else "zh")  # the language of TNEWS
    vectors = reader.encode(texts, report, options.prompt)
    if (different := len(np.unique(vectors, axis=0))) < kinds:
        raise EncoderError(
            f"{path}: the encoder gives {different} different vectors for {kinds} labels",
            "it tells no texts apart, or knows none of their words",
        )
    clusters = k_means(vectors, kinds)
    shuffled = np.random.default_rng(SEED).permutation(clusters).tolist()
    return Result(
        benchmark="cluster",
        protocol=f"k-means of unit vectors, k = {kinds} labels, best of {RESTARTS} restarts from "
        f"seed {SEED}; purity",
        split=f"lines of {path}" if options.lines else "TNEWS dev",
        metrics=(
            Metric("micro", "micro", "share of lines that have their cluster's commonest label"),
            Metric("macro", "macro", "the same share within a cluster, averaged over clusters"),
        ),
        rows=[
            Row(name, len(labels), purity(assigned, labels))
            for name, assigned in (("the same sizes at random", shuffled), ("k-means", clusters))
        ],
        headline=("k-means", "micro"),
        settings={"clusters": kinds, "restarts": RESTARTS, "seed": SEED},
        unit="lines",
        notes=["The first row is the floor: clusters of the same sizes, lines drawn at random."],
    )
