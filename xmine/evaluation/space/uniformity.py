"""Alignment and uniformity: how close positives are, and how evenly all sentences are spread.

Wang & Isola (2020), as SimCSE measures them on STS-B, where positives are pairs with a score above
4; and on aligned text, where they are translations. Both are distances: lower is better.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, MissingData
from xmine.evaluation.options import UniformityOptions
from xmine.evaluation.readers.scored_pairs import ScoredPairs
from xmine.evaluation.result import Metric, Result, Row
from xmine.evaluation.retrieval.parallel import AlignedSet, aligned_sets
from xmine.evaluation.similarity.sts import read_stsb_split
from xmine.progress import Progress, Report, silent

POSITIVE = 4  # STS-B pairs with a higher score are positives
MOST = 20_000  # sentences whose every pair is looked at; of more, a sample of as many, seed 0
_BLOCK = 256
_WHAT = "stsb/stsb-en-test.csv, or the aligned files that xmine eval bitext reads"

Matrix = NDArray[np.floating[Any]]


def alignment(first: Matrix, second: Matrix) -> float:
    """Average the squared distance of unit rows [pairs, dim] to their positives, row by row.

    Wang & Isola (2020), the loss `align` with exponent 2; from 0 to 4.
    """
    return float(((first - second) ** 2).sum(axis=1, dtype=np.float64).mean())


def uniformity(vectors: Matrix, report: Report = silent) -> float:
    """Take the logarithm of the mean of exp(-2 distance²) over all pairs of unit rows [n, dim].

    Wang & Isola (2020), the loss `uniform` with t = 2; from -8 to 0. Of more than `MOST` rows, a
    fixed sample of `MOST` stands for all. Only a block of distances is in memory.
    """
    if len(vectors) > MOST:
        chosen = np.random.default_rng(0).choice(len(vectors), MOST, replace=False)
        vectors = vectors[np.sort(chosen)]
    rows, total = len(vectors), 0.0
    squares = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    for row in range(0, rows, _BLOCK):
        block = vectors[row : row + _BLOCK]
        products = (block @ vectors[row:].T).astype(np.float64)  # [block, rest]
        exponents = -2 * (squares[row : row + _BLOCK, None] + squares[row:] - 2 * products)
        exponents[:, : len(block)][np.tri(len(block), dtype=bool)] = -np.inf  # each pair once
        total += float(np.exp(exponents).sum())  # e^-8 at least, each
        report(Progress("comparing", min(row + _BLOCK, rows), rows))
    return float(np.log(total / (rows * (rows - 1) / 2)))


@dataclass(frozen=True, slots=True)
class _Sides:
    """Vectors of both sides of pairs [pairs, dim], and which pairs are positives."""

    first: NDArray[np.float32]
    second: NDArray[np.float32]
    positive: NDArray[np.bool_]


def evaluate_align(
    encoder: SentenceEncoder, data: DataFolder, options: UniformityOptions, report: Report = silent
) -> Result:
    """Measure alignment and uniformity on STS-B and on aligned files, or on those named alone."""
    named = bool(options.src or options.files)
    splits = {} if named else {split: read_stsb_split(data, split) for split in ("test", "dev")}
    scored = {f"STS-B {split}": pairs for split, pairs in splits.items() if pairs}
    try:
        aligned = aligned_sets(data, options)
    except MissingData:
        if not scored:
            raise data.missing(_WHAT) from None
        aligned = []
    rows, blank = [], 0
    for name, pairs in scored.items():
        row, blanks = _row(name, _scored_sides(encoder, pairs, options, report), report)
        rows.append(row)
        blank += blanks
    for each in aligned:
        for name, sides in _aligned_sides(encoder, each, options, report):
            row, blanks = _row(name, sides, report)
            rows.append(row)
            blank += blanks
    return Result(
        benchmark="align",
        protocol=f"squared distance of positives (score > {POSITIVE}, or aligned lines), and "
        "log mean exp(-2 distance²) of all pairs of sentences",
        split=", ".join([*scored, *(each.name for each in aligned)]),
        metrics=(
            Metric("align", "align", "mean squared distance of positives", 1, 3, "lower"),
            Metric("uniform", "uniform", "log mean exp(-2 distance²) of pairs", 1, 3, "lower"),
            Metric("sentences", "sentences", "sentences with a vector, both sides", 1, 0, ""),
        ),
        rows=rows,
        headline=(rows[0].name, "align"),
        settings={"positives_above": POSITIVE, "most_sentences": MOST},
        unit="positives",
        notes=[f"Left out, for want of a vector: {blank:,} sentences."] if blank else [],
    )


def _scored_sides(
    encoder: SentenceEncoder, pairs: ScoredPairs, options: UniformityOptions, report: Report
) -> _Sides:
    positive = pairs.gold > POSITIVE
    if not positive.any():
        raise FileError(f"{pairs.name}: no pair has a score above {POSITIVE}")
    first, second = (
        encoder.encode(texts, report, options.prompt) for texts in (pairs.first, pairs.second)
    )
    return _Sides(first, second, positive)


def _aligned_sides(
    encoder: SentenceEncoder, aligned: AlignedSet, options: UniformityOptions, report: Report
) -> list[tuple[str, _Sides]]:
    def encode(language: str) -> NDArray[np.float32]:
        return encoder.encode(aligned.texts[language], report, options.prompt)

    vectors = {language: encode(language) for language in aligned.texts}
    return [
        (
            aligned.titled(f"{source}-{target}"),
            _Sides(vectors[source], vectors[target], np.ones(len(vectors[source]), dtype=bool)),
        )
        for source, target in aligned.pairs
    ]


def _row(name: str, sides: _Sides, report: Report) -> tuple[Row, int]:
    """Measure pairs; a sentence without a vector lies nowhere, so it is left out and counted."""
    known = sides.first.any(axis=1), sides.second.any(axis=1)
    whole = sides.positive & known[0] & known[1]
    everything = np.concatenate([sides.first[known[0]], sides.second[known[1]]])
    if not whole.any():
        raise FileError(f"{name}: no pair of positives has vectors on both sides")
    figures = {
        "align": alignment(sides.first[whole], sides.second[whole]),
        "uniform": uniformity(everything, report),
        "sentences": float(len(everything)),
    }
    return Row(name, int(whole.sum()), figures), 2 * len(whole) - len(everything)
