"""The pictures of a report: maps of parallel sentences, and histograms of cosines."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from xmine.encoders.pair import Encoders
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.options import AlignedOptions, EvaluationOptions
from xmine.evaluation.retrieval.parallel import AlignedSet, aligned_sets
from xmine.knn.cosines import Vectors
from xmine.plots.figures import JOINED, draw_distributions, draw_map
from xmine.progress import Report, silent

_IN_HISTOGRAM = 2000
_MAPS = {
    "tsne": "t-SNE of the first {} sentences of {}. Where translations lie on each other, the "
    "encoder sees the meaning. Who is near whom counts; distances and sizes mean nothing.",
    "pca": "PCA of the first {} sentences of {}: the two directions in which they differ most. "
    "Languages that lie apart here differ above all in language.",
}


def draw_pictures(
    encoder: Encoders,
    data: DataFolder,
    options: EvaluationOptions,
    folder: Path,
    report: Report = silent,
) -> dict[str, str]:
    """Draw the first aligned files, and those with the most languages: file -> what it shows."""
    try:
        sets, _ = aligned_sets(data, AlignedOptions(**asdict(options)), encoder.facts)
    except MissingData:
        return {}
    shown: dict[str, str] = {}
    largest = max(sets, key=lambda each: len(each.texts))
    for aligned in [sets[0], *([] if largest is sets[0] else [largest])]:
        vectors = {
            each: encoder.reading(each).encode(lines[:_IN_HISTOGRAM], report, options.prompt)
            for each, lines in aligned.texts.items()
        }
        shown |= _draw_set(aligned, vectors, folder)
    return shown


def _draw_set(aligned: AlignedSet, vectors: Mapping[str, Vectors], folder: Path) -> dict[str, str]:
    stem, shown = aligned.name.lower().replace(" ", "-"), dict[str, str]()
    pivot = aligned.pairs[0][1]  # lines start at the first language
    first = {each: vectors[each][:JOINED] for each in dict.fromkeys([pivot, *vectors])}
    for method, words in _MAPS.items():
        name = f"{stem}-{method}.png"
        draw_map(first, f"{aligned.name}, {method}", folder / name, method)
        shown[name] = words.format(len(first[pivot]), aligned.name)
    own = {(x, y): np.einsum("ij,ij->i", vectors[x], vectors[y]) for x, y in aligned.pairs}
    best = max(own, key=lambda pair: float(own[pair].mean()))  # that the encoder knows best
    cosines = vectors[best[0]] @ vectors[best[1]].T
    np.fill_diagonal(cosines, -1)
    sides = {
        f"translations, {best[0]}-{best[1]}": own[best].astype(np.float64),
        "nearest other sentence": cosines.max(axis=1).astype(np.float64),
    }
    name = f"{stem}-cosines.png"
    draw_distributions(sides, f"{aligned.name}, cosines", folder / name)
    shown[name] = (
        f"Cosines of {next(iter(sides))}, in {aligned.name}, and of each sentence with the nearest "
        "that is not its translation. The less the two overlap, the easier is mining."
    )
    return shown
