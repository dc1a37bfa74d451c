"""Purity of clusters: labelled lines -> how well k-means finds the labels again.

mSimCSE (Wang et al., 2022) measures it on the news titles of TNEWS, from CLUE (Xu et al., 2020).
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.pair import Encoders
from xmine.errors import EncoderError, FileError
from xmine.evaluation.data import DataFolder, read_tab_separated
from xmine.evaluation.options import ClusterOptions
from xmine.evaluation.readers.json_rows import filled_text, json_rows
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
        lines = []
        for where, (label, *rest) in read_tab_separated(path, 2):
            if not label.strip():
                raise FileError(f"{where}: no label before the tab")
            lines.append((label, "\t".join(rest)))
    else:
        path = data.holding("dev.json", ("tnews", "tnews_public"), _WHAT) / "dev.json"
        lines = _read_tnews(path)
    labels = [label for label, _ in lines]
    kinds = len(set(labels))
    if kinds < 2:
        raise FileError(
            f"{path}: all lines have the label {labels[0]!r}", "two at least are needed"
        )
    texts = [text for _, text in lines]
    if len(set(texts)) < kinds:
        raise FileError(
            f"{path}: {len(set(texts))} different texts; its {kinds} labels need as many clusters"
        )
    reader = encoder.reading("" if options.lines else "zh")  # the language of TNEWS
    vectors = reader.encode(texts, report, options.prompt)
    different = len(np.unique(vectors, axis=0))
    if different < kinds:
        raise EncoderError(
            f"{path}: the encoder gives {different} different vectors; the {kinds} labels need as "
            "many clusters",
            "it tells no texts apart, or knows none of their words",
        )
    clusters = k_means(vectors, kinds)
    shuffled = np.random.default_rng(SEED).permutation(clusters).tolist()
    rows = [
        Row(name, len(labels), purity(assigned, labels))
        for name, assigned in (("the same sizes at random", shuffled), ("k-means", clusters))
    ]
    return Result(
        benchmark="cluster",
        protocol=f"k-means of unit vectors, k = {kinds} labels, best of {RESTARTS} restarts from "
        f"seed {SEED}; purity",
        split=f"lines of {path}" if options.lines else "TNEWS dev",
        metrics=(
            Metric("micro", "micro", "share of lines that have their cluster's commonest label"),
            Metric("macro", "macro", "the same share within a cluster, averaged over clusters"),
        ),
        rows=rows,
        headline=("k-means", "micro"),
        settings={"clusters": kinds, "restarts": RESTARTS, "seed": SEED},
        unit="lines",
        notes=[
            "The first row is the floor: clusters of the sizes that k-means found, lines drawn "
            "into them at random. It depends on how many lines each label has."
        ],
    )


def _read_tnews(path: Path) -> list[tuple[str, str]]:
    """Read CLUE's file: a JSON object with `label` and `sentence` in each line."""
    names = path.with_name("labels.json")
    known: set[str] = set()
    if names.exists():
        known = {_label(row, where) for where, row in json_rows(names, ["label"])}
    lines = []
    for where, row in json_rows(path, ["label", "sentence"]):
        label = _label(row, where)
        if names.exists() and label not in known:
            raise FileError(f"{where}: {label!r} is no label of {names.name}")
        lines.append((label, filled_text(row, "sentence", where)))
    if not lines:
        raise FileError(f"{path}: no lines but blank ones")
    return lines


def _label(row: dict[str, Any], where: str) -> str:
    """Take a label: a text or a whole number."""
    label = row["label"]
    return str(label) if type(label) is int else filled_text(row, "label", where)
