"""Retrieval accuracy on line-aligned text: is each sentence's nearest one its translation?

The protocol of Tatoeba's similarity search (Artetxe & Schwenk, 2019, "Massively multilingual
sentence embeddings"): nearest by cosine among all lines of the other side, ties to the lowest line.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import BitextOptions
from xmine.evaluation.result import (
    NO_GROUPS,
    Groups,
    Metric,
    Result,
    Row,
    check_groups,
    group_rows,
    mean_of_all,
    read_groups,
)
from xmine.evaluation.retrieval.parallel import AlignedSet, aligned_sets
from xmine.evaluation.retrieval.reranked import line_reranker, ours, reranked_note
from xmine.knn.cosines import Rows, Vectors
from xmine.knn.exact import search_exact
from xmine.progress import Report, silent

PROTOCOL = "top-1 by cosine among all lines of the other side, accuracy"
TEXTUAL = "; a line with the text of the translation counts as found"
BOTH_WAYS = (
    Metric(
        "forward", "→", "share of lines of the first language whose nearest in the second is right"
    ),
    Metric("backward", "←", "the same from the second language to the first"),
    Metric("mean", "mean", "the mean of both directions"),
)
_WORST = 8  # languages that a note names


@dataclass(frozen=True, slots=True)
class BothWays:
    """Shares of the lines of aligned text, from source to target and back; `pairs` lines a side."""

    forward: float
    backward: float
    pairs: int

    @property
    def mean(self) -> float:
        """The mean of both directions."""
        return (self.forward + self.backward) / 2

    def row(self, name: str, forward: str = "forward", backward: str = "backward") -> Row:
        """Make a row of figures, by the names of their metrics."""
        figures = {forward: self.forward, backward: self.backward, "mean": self.mean}
        return Row(name, self.pairs, figures)


def retrieval_accuracy(
    source: Vectors, target: Vectors, texts: tuple[Sequence[str], Sequence[str]] | None = None
) -> BothWays:
    """Compare unit rows [pairs, dim] of both sides; row i belongs to row i."""
    return accuracy_of(retrieval_hits(source, target, texts))


def retrieval_hits(
    source: Vectors, target: Vectors, texts: tuple[Sequence[str], Sequence[str]] | None = None
) -> NDArray[np.bool_]:
    """Tell of each pair whether it is found: bool [pairs, 2], from its source, from its target.

    Arguments as of `retrieval_accuracy`.
    """
    found = search_exact(source, target, k=1)
    return hits_of((found.targets[:, 0], found.sources[:, 0]), texts)


def hits_of(
    chosen: tuple[Rows, Rows], texts: tuple[Sequence[str], Sequence[str]] | None = None
) -> NDArray[np.bool_]:
    """Tell the same of lines that were chosen otherwise.

    Args:
        chosen: int64 [pairs] twice, a row of the target for each source, and the reverse.
        texts: of both sides, where a line with the text of the right one counts as found.
    """
    sides = texts or (range(len(chosen[1])), range(len(chosen[0])))
    forward, backward = _found(chosen[0], sides[1]), _found(chosen[1], sides[0])
    return np.array([forward, backward], dtype=np.bool_).T


def accuracy_of(hits: NDArray[np.bool_]) -> BothWays:
    """Average what `retrieval_hits` or `hits_of` gave."""
    forward, backward = hits.mean(axis=0).tolist()
    return BothWays(forward, backward, len(hits))


def _found(nearest_rows: NDArray[np.int64], keys: Sequence[object]) -> list[bool]:
    return [keys[row] == keys[at] for at, row in enumerate(nearest_rows.tolist())]


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of a set of aligned files: a row for each pair of languages."""

    rows: list[Row]
    reranked: list[Row]  # the same after reranking; empty where candidates are not reranked
    notes: list[str]


def aligned_result(
    benchmark: str,
    sets: Sequence[AlignedSet],
    measure: Callable[[AlignedSet], Measured],
    protocol: str,
    metrics: Sequence[Metric],
    settings: Mapping[str, object],
    groups: Groups = NO_GROUPS,
) -> Result:
    """Measure aligned sets, and average over the languages of each set and over their groups."""
    rows, averages, reranked, reranked_averages, notes = [], [], [], [], []
    for aligned in sets:
        measured = measure(aligned)
        means, lacking = _averages(groups, aligned, measured.rows)
        rows += measured.rows
        averages += means
        if measured.reranked:
            reranked += measured.reranked
            reranked_averages += _averages(groups, aligned, measured.reranked)[0]
        notes += [f"{aligned.name}: {note}" for note in [*lacking, *measured.notes]]
    check_groups(groups, [source for aligned in sets for source, _ in aligned.pairs])
    return Result(
        benchmark=benchmark,
        protocol=protocol + (TEXTUAL if settings["textual"] else ""),
        split=", ".join(each.name for each in sets),
        metrics=metrics,
        rows=[*rows, *averages, *ours([*reranked, *reranked_averages])],
        headline=(averages[-1].name if len(sets) == 1 and averages else rows[0].name, "mean"),
        settings=settings,
        unit="pairs",
        notes=[*notes, *reranked_note(reranked)],
    )


def _averages(
    groups: Groups, aligned: AlignedSet, rows: Sequence[Row]
) -> tuple[list[Row], list[str]]:
    """Average over the groups of languages and all languages of a set; and say who is lacking."""
    by_language = [
        replace(row, name=source) for row, (source, _) in zip(rows, aligned.pairs, strict=True)
    ]
    means, lacking = group_rows(groups, by_language)
    means += mean_of_all("mean of {}", rows)
    return [replace(each, name=aligned.titled(each.name, ", ")) for each in means], lacking


def evaluate_bitext(
    encoder: SentenceEncoder, data: DataFolder, options: BitextOptions, report: Report = silent
) -> Result:
    """Measure retrieval between each language of aligned files and their pivot."""

    def measure(aligned: AlignedSet) -> Measured:
        vectors = {
            language: encoder.encode_half(texts, report, options.prompt)
            for language, texts in aligned.texts.items()
        }
        check_known(aligned.name, vectors.values())
        rows, reranked = [], []
        for source, target in aligned.pairs:
            name = aligned.titled(f"{source}-{target}")
            texts = aligned.texts[source], aligned.texts[target]
            same = texts if options.textual else None
            sides = vectors[source], vectors[target]
            rows.append(retrieval_accuracy(*sides, same).row(name))
            if reranker:
                hits = hits_of(reranker.best_lines(texts, sides, report), same)
                reranked.append(accuracy_of(hits).row(name))
        unknown = {name: unknown_rows(each) for name, each in vectors.items()}
        return Measured(rows, reranked, unknown_note(unknown))

    groups = read_groups(options.groups)
    reranker = line_reranker(encoder, options.rerank)
    sets, settings = aligned_sets(data, options), {"textual": options.textual}
    return aligned_result("bitext", sets, measure, PROTOCOL, BOTH_WAYS, settings, groups)


def check_known(name: str, sides: Iterable[Vectors]) -> None:
    """Refuse sides among which there is nothing to find."""
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
