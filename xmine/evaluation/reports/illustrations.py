"""The pictures of a report: which sentences they show, and of which files."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.pair import Encoders
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.options import AlignedOptions, EvaluationOptions
from xmine.evaluation.retrieval.parallel import AlignedSet, aligned_sets
from xmine.plots.figures import JOINED, draw_distributions, draw_map
from xmine.progress import Progress, Report, silent

_IN_HISTOGRAM = 2000
_MAPS = (
    (
        "tsne",
        "t-SNE",
        "Where translations lie on each other, the encoder sees the meaning; where languages lie "
        "apart, it sees the language. Who is near whom counts; distances, and the sizes of groups, "
        "mean nothing.",
    ),
    (
        "pca",
        "PCA",
        "The two directions in which the sentences differ most, a small part of all: languages "
        "that lie apart here differ above all in language. Translations need not meet.",
    ),
)


def draw_pictures(
    encoder: Encoders,
    data: DataFolder,
    options: EvaluationOptions,
    folder: Path,
    report: Report = silent,
) -> dict[str, str]:
    """Draw maps of parallel sentences, and histograms of cosines: file name -> what it shows.

    The maps are of the first aligned files with two languages and of those with the most.
    """
    try:
        sets = aligned_sets(data, AlignedOptions(**asdict(options)), encoder.facts)
    except MissingData:
        return {}
    most = max(range(len(sets)), key=lambda at: len(sets[at].texts))
    shown: dict[str, str] = {}
    for chosen in dict.fromkeys([0, most]):
        shown |= _draw_set(sets[chosen], encoder, options, folder, report)
    return shown


def _draw_set(
    aligned: AlignedSet,
    encoder: Encoders,
    options: EvaluationOptions,
    folder: Path,
    report: Report,
) -> dict[str, str]:
    vectors = {
        language: encoder.reading(language).encode(lines[:_IN_HISTOGRAM], report, options.prompt)
        for language, lines in aligned.texts.items()
    }
    stem = aligned.name.lower().replace(" ", "-")
    shown = {}
    pivot = aligned.pairs[0][1]  # lines start at the first language
    first = {each: vectors[each][:JOINED] for each in dict.fromkeys([pivot, *vectors])}
    for done, (method, title, words) in enumerate(_MAPS):
        report(Progress("pictures", done, len(_MAPS)))
        name = f"{stem}-{method}.png"
        draw_map(first, f"{aligned.name}, {title}", folder / name, method)
        count = len(next(iter(first.values())))
        shown[name] = f"{title} of the first {count} sentences of {aligned.name}. {words}"
    report(Progress("pictures", len(_MAPS), len(_MAPS)))
    name = f"{stem}-cosines.png"
    cosines = _cosines(aligned, vectors)
    draw_distributions(cosines, f"{aligned.name}, cosines", folder / name)
    shown[name] = (
        f"Cosines of {next(iter(cosines))}, in {aligned.name}, and of each sentence with the "
        "nearest that is not its translation; of more languages, those two that the encoder knows "
        "best. The less the two overlap, the easier is mining."
    )
    return shown


def _cosines(
    aligned: AlignedSet, vectors: dict[str, NDArray[np.float32]]
) -> dict[str, NDArray[np.float64]]:
    """Take the two languages that the encoder knows best: their translations, and other pairs."""
    own = {(x, y): np.einsum("ij,ij->i", vectors[x], vectors[y]) for x, y in aligned.pairs}
    best = max(own, key=lambda pair: float(own[pair].mean()))
    cosines = vectors[best[0]] @ vectors[best[1]].T
    np.fill_diagonal(cosines, -1)
    return {
        f"translations, {best[0]}-{best[1]}": own[best].astype(np.float64),
        "nearest other sentence": cosines.max(axis=1).astype(np.float64),
    }
