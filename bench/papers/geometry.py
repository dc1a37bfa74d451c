"""Geometry of a multilingual space: aligned texts -> invariance, canonical form and isotropy.

Emma-X (Guo et al., 2023), appendix B: are the languages one distribution (eq. 16), do translations
form clusters (eq. 17), are all directions used (eq. 18)?
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from papers.benchmarks import GeometryOptions
from papers.groups import in_groups, read_groups
from xmine.encoders.pair import Encoders
from xmine.errors import EncoderError, FileError
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import AlignedOptions
from xmine.evaluation.result import Metric, Result, Row
from xmine.evaluation.retrieval.parallel import aligned_sets
from xmine.progress import Report, silent

FLOOR = 1e-8  # of variances: a direction that a language does not use has none
_SAME = 1e-9  # mean squared distance of vectors that float32 does not tell apart
_METRICS = (
    Metric("kl_diag_mean", "KL", "of diagonal Gaussians, mean of dimensions", 1, 4, "lower"),
    Metric("kl_diag_sum", "KL sum", "the same, summed over dimensions", 1, 2, "lower"),
    Metric("kl_full", "KL full", "with Ledoit-Wolf's full covariances", 1, 2, better="lower"),
    Metric("calinski_harabasz", "CH", "Calinski-Harabasz index of translations", 1, 2),
    Metric("between_within", "B/W", "the same without its factor for the numbers", 1, 4),
    Metric("principal_ratio", "PR", "isotropy: 1, or 0.3679 if one direction stands out", 1, 4),
)
_COMPARE = (
    "KL orders encoders measured on the same files; CH grows with the number of languages, so "
    "compare it across groups of one size alone."
)
_FEW = "Fewer lines ({}) than dimensions ({}): covariances are mostly noise, KL full above all."


def diagonal_divergence(
    means: NDArray[np.float64], variances: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Divergence between Gaussians with diagonal covariances, in nats, summed over dimensions.

    Means and variances are [languages, dim], no variance 0. Gives [languages, languages]; row i,
    column j is KL(i || j).
    """
    logs = np.log(variances).sum(axis=1)
    columns = [
        ((variances + (means - mean) ** 2) / variance - 1).sum(axis=1)
        for mean, variance in zip(means, variances, strict=True)
    ]
    doubled: NDArray[np.float64] = np.stack(columns, axis=1) + logs[None, :] - logs[:, None]
    return doubled / 2


def full_divergence(
    means: NDArray[np.float64], covariances: Iterable[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Divergence between Gaussians, in nats; variances below `FLOOR` along an axis count as that.

    Means are [languages, dim], each covariance [dim, dim], taken one by one. Gives
    [languages, languages]; row i, column j is KL(i || j).
    """
    count, dim = means.shape
    upper = np.triu_indices(dim)  # the other half is the same: 204 languages in 0.9 GB, not 1.7
    twice = np.where(upper[0] == upper[1], 1.0, 2.0)
    packed, logs = np.empty((count, len(twice))), np.empty(count)
    for at, covariance in enumerate(covariances):
        values, axes = np.linalg.eigh(covariance)
        values = np.maximum(values, FLOOR)
        packed[at] = ((axes * values) @ axes.T)[upper]
        logs[at] = np.log(values).sum()
    columns = []
    for at, mean in enumerate(means):
        whole = np.zeros((dim, dim))
        whole[upper] = packed[at]
        precision = np.linalg.inv(np.triu(whole, 1).T + whole)
        traces = packed @ (precision[upper] * twice)  # tr(P S) of symmetric P and S
        away = means - mean
        columns.append(traces + ((away @ precision) * away).sum(axis=1) - dim)
    return (np.stack(columns, axis=1) + logs[None, :] - logs[:, None]) / 2


def between_languages(divergence: NDArray[np.float64]) -> float:
    """Average KL(i || j) over ordered pairs of languages, i and j differing (Emma-X, eq. 16)."""
    count = len(divergence)
    return float((divergence.sum() - np.trace(divergence)) / (count * (count - 1)))


def canonical_form(vectors: Sequence[NDArray[np.floating]]) -> dict[str, float]:
    """Compare distances between sentences with those between translations (Emma-X, eq. 17).

    Vectors are [sentences, dim] for each language; row N is the same sentence in all. Nothing where
    all translations have the same vector. In closed form: scikit-learn's calinski_harabasz_score
    goes through all rows once for every sentence, and wants them in one array.
    """
    languages, sentences = len(vectors), len(vectors[0])
    centroids = np.zeros(vectors[0].shape)
    for each in vectors:
        centroids += each
    centroids /= languages
    between = languages * float(((centroids - centroids.mean(axis=0)) ** 2).sum())
    within = sum(float(((each - centroids) ** 2).sum()) for each in vectors)
    if within <= _SAME * languages * sentences:
        return {}
    freedom = (languages - 1) * sentences / (sentences - 1)
    ratio = between / within
    return {"calinski_harabasz": ratio * freedom, "between_within": ratio}


def principal_ratio(vectors: Sequence[NDArray[np.floating]]) -> float:
    """Compare the direction with the least partition function to that with the most (eq. 18).

    Vectors are unit rows [sentences, dim] for each language, not centred. An eigenvector has no
    sign of its own and the figure depends on it: each is turned to the side where most of the rows'
    sum lies, so that a space of one direction gives 1/e.
    """
    dim = vectors[0].shape[1]
    gram, total = np.zeros((dim, dim)), np.zeros(dim)
    for each in vectors:
        block = each.astype(np.float64)
        gram += block.T @ block
        total += block.sum(axis=0)
    _, axes = np.linalg.eigh(gram)
    axes *= np.where(total @ axes < 0, -1.0, 1.0)
    sums = sum(np.exp(each.astype(np.float64) @ axes).sum(axis=0) for each in vectors)
    return float(np.min(sums) / np.max(sums))


def measure_geometry(vectors: Sequence[NDArray[np.floating]]) -> dict[str, float]:
    """Measure all three, on unit rows [sentences, dim] of two languages or more.

    Canonical form is left out where all translations have the same vector: it has no value there.
    """
    from sklearn.covariance import ledoit_wolf

    means = np.stack([each.mean(axis=0, dtype=np.float64) for each in vectors])
    variances = np.stack([each.var(axis=0, dtype=np.float64) for each in vectors])
    diagonal = between_languages(diagonal_divergence(means, np.maximum(variances, FLOOR)))
    shrunk = (ledoit_wolf(each.astype(np.float64))[0] for each in vectors)
    figures = {
        "kl_diag_mean": diagonal / means.shape[1],
        "kl_diag_sum": diagonal,
        "kl_full": between_languages(full_divergence(means, shrunk)),
    }
    principal = {"principal_ratio": principal_ratio(vectors)}
    return figures | canonical_form(vectors) | principal


def evaluate_geometry(
    encoder: Encoders, data: DataFolder, options: GeometryOptions, report: Report = silent
) -> Result:
    """Measure the space of the aligned set with the most languages."""
    given = {name: getattr(options, name) for name in ("src", "tgt", "files")}
    sets, _ = aligned_sets(data, AlignedOptions(**given), encoder.facts)
    aligned = max(sets, key=lambda each: len(each.texts))
    found = {
        language: aligned.reader(encoder, language).encode(texts, report, options.prompt)
        for language, texts in aligned.texts.items()
    }
    kept = np.all([each.any(axis=1) for each in found.values()], axis=0)
    if kept.sum() < 2:
        raise FileError(
            f"{aligned.name}: {kept.sum()} lines have a vector in every language; two at least are "
            "needed"
        )
    vectors = {each: rows if kept.all() else rows[kept] for each, rows in found.items()}
    centres = np.stack([each.mean(axis=0) for each in vectors.values()])
    if max(np.ptp(each, axis=0).max() for each in (centres, *vectors.values())) < _SAME:
        raise EncoderError(f"{aligned.name}: the encoder gives all sentences the same vector")
    lines, dim = next(iter(vectors.values())).shape
    rows = []
    groups = in_groups(read_groups(options.groups), vectors)
    for name, languages in {"all": [*vectors], **groups}.items():
        members = [vectors[each] for each in languages]
        if len(members) > 1:
            figures = measure_geometry(members)
            rows.append(Row(f"{name} ({len(members)})", lines * len(members), figures))
    notes = [_COMPARE]
    if lines < dim:
        notes.append(_FEW.format(lines, dim))
    if blank := int((~kept).sum()):
        notes.append(f"{blank} lines left out: without a vector in some language.")
    if any("calinski_harabasz" not in row.figures for row in rows):
        notes.append("No CH where all translations of a sentence have the same vector.")
    return Result(
        benchmark="geometry",
        protocol="KL between Gaussians of languages, Calinski-Harabasz of translations, principal "
        "ratio of all vectors; a group on its own languages alone",
        split=f"{aligned.name}, {len(aligned.texts)} languages, {lines:,} lines each",
        metrics=_METRICS,
        rows=rows,
        headline=(rows[0].name, "kl_diag_mean"),
        settings={"languages": list(aligned.texts), "lines": lines, "variance_floor": FLOOR},
        unit="lines",
        notes=notes,
    )
