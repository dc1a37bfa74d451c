"""Retrieval accuracy on line-aligned text: is each sentence's nearest one its translation?

The protocol of Tatoeba's similarity search (Artetxe & Schwenk, 2019, "Massively multilingual
sentence embeddings"): nearest by cosine among all lines of the other side, ties to the lowest line.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import BitextOptions
from xmine.evaluation.result import Metric, Result, Row, mean_row
from xmine.evaluation.retrieval.groups import check_groups, group_rows, read_groups
from xmine.evaluation.retrieval.parallel import AlignedSet, aligned_sets
from xmine.knn.cosines import Vectors
from xmine.knn.exact import search_exact
from xmine.progress import Report, silent

PROTOCOL = "top-1 by cosine among all lines of the other side, accuracy"
TEXTUAL = "; a line with the text of the translation counts as found"
MEAN = Metric("mean", "mean", "the mean of both directions")
_WORST = 8  # languages that a note names


@dataclass(frozen=True, slots=True)
class RetrievalAccuracy:
    """Shares of sentences whose nearest line of the other side is their translation.

    Attributes:
        forward: source to target.
        backward: target to source.
        pairs: how many lines a side has.
    """

    forward: float
    backward: float
    pairs: int

    @property
    def mean(self) -> float:
        """The mean of both directions."""
        return (self.forward + self.backward) / 2


def retrieval_accuracy(
    source: Vectors, target: Vectors, texts: tuple[Sequence[str], Sequence[str]] | None = None
) -> RetrievalAccuracy:
    """Compare unit rows [pairs, dim] of both sides; row i belongs to row i.

    Args:
        source: vectors of one side.
        target: vectors of the other.
        texts: of both sides, where a row with the same text as the right one counts as found.
    """
    return accuracy_of(retrieval_hits(source, target, texts))


def retrieval_hits(
    source: Vectors, target: Vectors, texts: tuple[Sequence[str], Sequence[str]] | None = None
) -> NDArray[np.bool_]:
    """Tell of each pair whether it is found: bool [pairs, 2], from its source, from its target.

    Arguments as of `retrieval_accuracy`.
    """
    found = search_exact(source, target, k=1)
    sides = texts or (range(len(source)), range(len(target)))
    forward = _found(found.targets[:, 0], sides[1])
    return np.array([forward, _found(found.sources[:, 0], sides[0])], dtype=np.bool_).T


def accuracy_of(hits: NDArray[np.bool_]) -> RetrievalAccuracy:
    """Average what `retrieval_hits` gave."""
    forward, backward = hits.mean(axis=0).tolist()
    return RetrievalAccuracy(forward, backward, len(hits))


def _found(nearest_rows: NDArray[np.int64], keys: Sequence[object]) -> list[bool]:
    return [keys[row] == keys[at] for at, row in enumerate(nearest_rows.tolist())]


def evaluate_bitext(
    encoder: SentenceEncoder, data: DataFolder, options: BitextOptions, report: Report = silent
) -> Result:
    """Measure retrieval between each language of aligned files and their pivot.

    Raises:
        FileError: a file is missing or cannot be read, or files differ in their number of lines.
    """
    groups = read_groups(options.groups)
    sets = aligned_sets(data, options)
    rows, averages, notes = [], [], []
    for aligned in sets:
        measured, unknown = _rows(encoder, aligned, options, report)
        by_language = [
            replace(row, name=source)
            for row, (source, _) in zip(measured, aligned.pairs, strict=True)
        ]
        means, lacking = group_rows(groups, by_language)
        if len(measured) > 1:
            means.append(mean_row(f"mean of {len(measured)}", measured))
        averages += [replace(each, name=aligned.titled(each.name, ", ")) for each in means]
        rows += measured
        notes += [f"{aligned.name}: {note}" for note in [*lacking, *unknown_note(unknown)]]
    check_groups(groups, [source for aligned in sets for source, _ in aligned.pairs])
    headline = averages[-1].name if len(sets) == 1 and averages else rows[0].name
    return Result(
        benchmark="bitext",
        protocol=PROTOCOL + (TEXTUAL if options.textual else ""),
        split=", ".join(each.name for each in sets),
        metrics=(
            Metric(
                "forward",
                "→",
                "share of lines of the first language whose nearest in the second is right",
            ),
            Metric("backward", "←", "the same from the second language to the first"),
            MEAN,
        ),
        rows=[*rows, *averages],
        headline=(headline, "mean"),
        settings={"textual": options.textual},
        unit="pairs",
        notes=notes,
    )


def _rows(
    encoder: SentenceEncoder, aligned: AlignedSet, options: BitextOptions, report: Report
) -> tuple[list[Row], dict[str, int]]:
    vectors = {
        language: encoder.encode_half(texts, report, options.prompt)
        for language, texts in aligned.texts.items()
    }
    check_known(aligned.name, vectors.values())
    rows = []
    for source, target in aligned.pairs:
        texts = (aligned.texts[source], aligned.texts[target]) if options.textual else None
        accuracy = retrieval_accuracy(vectors[source], vectors[target], texts)
        figures = {
            "forward": accuracy.forward,
            "backward": accuracy.backward,
            "mean": accuracy.mean,
        }
        rows.append(Row(aligned.titled(f"{source}-{target}"), accuracy.pairs, figures))
    return rows, {language: unknown_rows(each) for language, each in vectors.items()}


def check_known(name: str, sides: Iterable[Vectors]) -> None:
    """Refuse sides among which there is nothing to find.

    Raises:
        FileError: there are fewer than two lines, or no line of any side has a vector.
    """
    sides = list(sides)
    if len(sides[0]) < 2:
        raise FileError(f"{name}: {len(sides[0])} line; two at least are needed")
    if not any(side.any() for side in sides):
        raise FileError(f"{name}: no line has a vector", "the encoder knows none of the words")


def unknown_rows(vectors: Vectors) -> int:
    """Count the rows without a vector, of texts that are blank or have no known piece."""
    return int((~vectors.any(axis=1)).sum())


def unknown_note(unknown: Mapping[str, int]) -> list[str]:
    """Say how many lines of each language have no vector."""
    known = {name: count for name, count in unknown.items() if count}
    worst = sorted(known.items(), key=lambda item: -item[1])[:_WORST]
    if not worst:
        return []
    named = ", ".join(f"{name} {count:,}" for name, count in worst)
    more = f" and {len(known) - len(worst)} more languages" if len(known) > len(worst) else ""
    return [f"Lines without a vector, whose nearest means nothing: {named}{more}."]
