"""Two sentence tables and their vectors -> scored candidates, the pairs that one may keep."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair, as_pair
from xmine.errors import FileError
from xmine.knn.exact import nearest
from xmine.knn.neighbours import Neighbours
from xmine.mining.options import MiningOptions
from xmine.pairs.known import KnownPair
from xmine.progress import Report, silent
from xmine.scoring.margin import MarginScores, margin_scores, pair_scores
from xmine.scoring.probability import NEIGHBOURS
from xmine.scoring.retrieval import ChosenPairs, choose_pairs
from xmine.text.packed import PickedTexts
from xmine.text.sentences import Sentences
from xmine.vectors.vector_files import unit_rows

# Sentences and their vectors [rows, dim], none of them zeros.
Encoded = tuple[Sentences, NDArray[np.float16]]


@dataclass(frozen=True, slots=True)
class Scored:
    """All pairs that the retrieval mode chooses, before the cut.

    Attributes:
        chosen: pairs of rows of `source` and `target`, best first.
        neighbours: the nearest rows both ways, as many as margin and threshold need.
        scores: of the first k of them, k being `--neighborhood`.
        source, target: the sentences that were searched, without those unknown to the encoder.
    """

    chosen: ChosenPairs
    neighbours: Neighbours
    scores: MarginScores
    source: Sentences
    target: Sentences

    def texts(self) -> tuple[PickedTexts, PickedTexts]:
        """Give the texts of the chosen pairs."""
        return (
            PickedTexts(self.source.texts, self.chosen.sources),
            PickedTexts(self.target.texts, self.chosen.targets),
        )

    def lines(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give the 1-based lines of the chosen pairs, int64 [pairs] twice."""
        return self.source.lines[self.chosen.sources], self.target.lines[self.chosen.targets]


def score_pairs(
    source: Sentences,
    target: Sentences,
    encoder: SentenceEncoder | EncoderPair,
    options: MiningOptions,
    report: Report = silent,
) -> Scored:
    """Encode both sides, search both ways, and choose pairs; nothing is cut yet.

    Raises:
        FileError: none of a side's lines can be encoded.
    """
    read = as_pair(encoder)
    left = without_zeros(source, read.source.encode_half(source.texts, report, options.src_prompt))
    right = without_zeros(target, read.target.encode_half(target.texts, report, options.tgt_prompt))
    return score_vectors(left, right, options, report)


def score_vectors(
    source: Encoded, target: Encoded, options: MiningOptions, report: Report = silent
) -> Scored:
    """Search both ways with the vectors of both sides, and choose pairs; nothing is cut yet."""
    k = max(options.neighborhood, NEIGHBOURS)
    neighbours = nearest(source[1], target[1], k, report=report)
    return score_neighbours(source[0], target[0], neighbours, options)


def score_neighbours(
    source: Sentences, target: Sentences, neighbours: Neighbours, options: MiningOptions
) -> Scored:
    """Choose pairs among the neighbours of both sides; nothing is cut yet."""
    few = neighbours.first(options.neighborhood)
    scores = margin_scores(few, options.margin)
    return Scored(choose_pairs(few, scores, options.retrieval), neighbours, scores, source, target)


def with_known(
    scored: Scored,
    known: Sequence[KnownPair],
    vectors: tuple[NDArray[np.float16], NDArray[np.float16]],
    options: MiningOptions,
) -> Scored:
    """Add the pairs that are known to be right and are not among the candidates.

    Args:
        scored: the candidates.
        known: pairs of lines.
        vectors: of `scored.source` and `scored.target`.
        options: `neighborhood` and `margin`.
    """
    chosen, sides = scored.chosen, (scored.source, scored.target)
    right = np.array(sorted({each[:2] for each in known if each.right}), dtype=np.int64)
    rows = []
    for lines, side in zip(right.reshape(-1, 2).T, sides, strict=True):
        at = np.minimum(np.searchsorted(side.lines, lines), len(side) - 1)
        rows.append(np.where(side.lines[at] == lines, at, -1))
    x, y = rows
    there = set(zip(chosen.sources.tolist(), chosen.targets.tolist(), strict=True))
    missing = [pair not in there for pair in zip(x.tolist(), y.tolist(), strict=True)]
    # A line may be blank, or unknown to the encoder.
    more = np.array(missing, dtype=bool) & (x >= 0) & (y >= 0)
    if not more.any():
        return scored
    x, y = x[more], y[more]
    products = np.einsum("ij,ij->i", vectors[0][x], vectors[1][y], dtype=np.float64)
    cosines = np.minimum(products, 1).astype(np.float32)
    few = scored.neighbours.first(options.neighborhood)
    scores = pair_scores(x, y, cosines, few, options.margin)[0]
    return replace(scored, chosen=chosen.joined(ChosenPairs(x, y, scores, cosines)))


def check_vectors(
    source: Sentences, target: Sentences, vectors: tuple[NDArray[Any], NDArray[Any]]
) -> None:
    """Refuse vectors of lines that are not as many as the lines, or not as wide as the others."""
    for side, rows in zip((source, target), vectors, strict=True):
        if len(rows) != side.total:
            raise FileError(
                f"{side.name} has {side.total:,} lines, its vectors have {len(rows):,} rows",
                "give a row for every line, blank and repeated ones too, as xmine encode does",
            )
    widths = [rows.shape[1] for rows in vectors]
    if widths[0] != widths[1]:
        raise FileError(
            f"vectors of {source.name} are {widths[0]:,} wide, those of {target.name} "
            f"{widths[1]:,}",
            "make both with the same encoder",
        )


def rows_of(
    source: Sentences, target: Sentences, vectors: tuple[NDArray[Any], NDArray[Any]]
) -> tuple[Encoded, Encoded]:
    """Take the vectors of the sentences out of those of all lines."""
    check_vectors(source, target, vectors)
    sides = []
    for side, rows in zip((source, target), vectors, strict=True):
        units = unit_rows(rows, side.lines - 1, side.name)
        if not units.any():
            raise FileError(f"all vectors of {side.name} are zeros")
        sides.append(without_zeros(side, units))
    return sides[0], sides[1]


def without_zeros(sentences: Sentences, vectors: NDArray[np.float16]) -> Encoded:
    """Leave out rows of zeros: sentences that the encoder knows no piece of."""
    known = np.flatnonzero(vectors.any(axis=1))
    if len(known) == len(sentences):
        return sentences, vectors
    if len(known) == 0:
        raise nothing_known(sentences)
    return sentences.known(known), vectors[known]


def nothing_known(sentences: Sentences) -> FileError:
    """Make the error that no line has a vector."""
    return FileError(
        f"{sentences.name}: the encoder knows no piece of any line",
        "is it in another script? give an encoder for it with --model",
    )
