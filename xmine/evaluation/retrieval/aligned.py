"""Retrieval accuracy on line-aligned text: is each sentence's nearest one its translation?

The protocol of Tatoeba's similarity search (Artetxe & Schwenk, 2019, "Massively multilingual
sentence embeddings"): nearest by cosine among all lines of the other side, ties to the lowest line.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.pair import Encoders
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
    mean_row,
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


def retrieval_accuracy(source: Vectors, target: Vectors) -> BothWays:
    """Compare unit rows [pairs, dim] of both sides; row i belongs to row i."""
    return accuracy_of(hits_of(nearest_lines(source, target)))


def nearest_lines(source: Vectors, target: Vectors) -> tuple[Rows, Rows]:
    """Choose the nearest by cosine: int64, a row of the target for each source, and the reverse."""
    found = search_exact(source, target, k=1)
    return found.targets[:, 0], found.sources[:, 0]


def hits_of(
    chosen: tuple[Rows, Rows],
    texts: tuple[Sequence[str], Sequence[str]] | None = None,
    rows: tuple[Rows, Rows] | None = None,
) -> NDArray[np.bool_]:
    """Tell of each pair whether it is found: bool [pairs, 2], from its source, from its target.

    Args:
        chosen: int64, a row of the target for each source, and the reverse.
        texts: of both sides, where a line with the text of the right one counts as found.
        rows: int64 [pairs] twice, the sources and targets of the pairs; row i and row i if None.
    """
    sides = texts or (range(len(chosen[0])), range(len(chosen[1])))
    pairs = rows or (np.arange(len(chosen[0])), np.arange(len(chosen[0])))
    forward = _found(chosen[0][pairs[0]], pairs[1], sides[1])
    backward = _found(chosen[1][pairs[1]], pairs[0], sides[0])
    return np.array([forward, backward], dtype=np.bool_).T


def accuracy_of(hits: NDArray[np.bool_]) -> BothWays:
    """Average what `hits_of` gave."""
    forward, backward = hits.mean(axis=0).tolist()
    return BothWays(forward, backward, len(hits))


def hits_row(
    name: str, hits: NDArray[np.bool_], forward: str = "forward", backward: str = "backward"
) -> Row:
    """Make a row of what `hits_of` gave, or of its opposite, by the names of its metrics."""
    found = accuracy_of(hits)
    figures = {forward: found.forward, backward: found.backward, "mean": found.mean}
    return Row(name, found.pairs, figures, values=hits)


def _found(chosen: Rows, right: Rows, keys: Sequence[object]) -> list[bool]:
    return [keys[a] == keys[b] for a, b in zip(chosen.tolist(), right.tolist(), strict=True)]


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of a set of aligned files: a row for each pair of languages."""

    rows: list[Row]
    reranked: list[Row]  # the same after reranking; empty where candidates are not reranked
    unknown: Mapping[str, int]  # how many lines of a language have no vector
    notes: Sequence[str] = ()


def aligned_result(
    benchmark: str,
    sets: Sequence[AlignedSet],
    measure: Callable[[AlignedSet], Measured],
    protocol: str,
    metrics: Sequence[Metric],
    settings: Mapping[str, object],
    groups: Groups = NO_GROUPS,
    said: Sequence[str] = (),
) -> Result:
    """Measure aligned sets, and average over the languages of each and over their groups.

    Sets of one name are averaged first: a row for each pair of languages. `said` goes before the
    other notes.
    """
    check_groups(groups, [source for each in sets for source, _ in each.pairs])
    rows, reranked = list[Row](), list[Row]()
    averages, reranked_averages, notes = [], [], []
    most = 0, ""  # pairs of languages of the largest set, and the row that stands for it
    names = list(dict.fromkeys(each.name for each in sets))
    for name in names:
        same = [each for each in sets if each.name == name]
        measured = [measure(each) for each in same]
        found = _merged([each.rows for each in measured], same)
        means, lacking = _averages(groups, same, found)
        rows += found.values()
        averages += means
        most = max([most, (len(found), (means or rows)[-1].name)], key=itemgetter(0))
        if ours_too := _merged([each.reranked for each in measured], same):
            reranked += ours_too.values()
            reranked_averages += _averages(groups, same, ours_too)[0]
        unknown = sum((Counter(each.unknown) for each in measured), Counter())
        others = [note for each in measured for note in each.notes]
        notes += [f"{name}: {note}" for note in [*lacking, *unknown_note(unknown), *others]]
    return Result(
        benchmark=benchmark,
        protocol=protocol + (TEXTUAL if settings["textual"] else ""),
        split=", ".join(names),
        metrics=metrics,
        rows=[*rows, *averages, *ours([*reranked, *reranked_averages])],
        headline=(most[1], "mean"),
        settings=settings,
        unit="pairs",
        notes=[*said, *notes, *reranked_note(reranked)],
    )


def _merged(parts: Iterable[Sequence[Row]], sets: Sequence[AlignedSet]) -> dict[str, Row]:
    """Average the rows of one name: name -> row, those with the pivot first."""
    titles = (each.titled("-".join(pair)) for each in sets for pair in each.pairs)
    rows: dict[str, list[Row]] = {title: [] for title in titles}
    for row in (row for part in parts for row in part):
        rows.setdefault(row.name, []).append(row)
    return {
        name: replace(mean_row(name, each), is_mean=False) if len(each) > 1 else each[0]
        for name, each in rows.items()
        if each
    }


def _averages(
    groups: Groups, sets: Sequence[AlignedSet], rows: Mapping[str, Row]
) -> tuple[list[Row], list[str]]:
    """Average over groups of languages, over pairs without the pivot, and over all languages.

    Also says which languages of a group are lacking.
    """
    titled = sets[0].titled
    by_language = {titled("-".join(pair)): pair[0] for each in sets for pair in each.pairs}
    with_pivot = [rows[name] for name in by_language]
    named = [replace(rows[name], name=source) for name, source in by_language.items()]
    means, lacking = group_rows(groups, named)
    pivot = sets[0].pairs[0][1]
    others = [row for name, row in rows.items() if name not in by_language]
    means += mean_of_all(f"mean of {{}} without {pivot}", others)
    means += mean_of_all("mean of {}", with_pivot)
    return [replace(each, name=titled(each.name, ", ")) for each in means], lacking


def evaluate_bitext(
    encoder: Encoders, data: DataFolder, options: BitextOptions, report: Report = silent
) -> Result:
    """Measure retrieval between each language of aligned files and their pivot, and without it."""

    def measure(aligned: AlignedSet) -> Measured:
        vectors = {
            language: aligned.reader(encoder, language).encode_half(texts, report, options.prompt)
            for language, texts in aligned.texts.items()
        }
        check_known(aligned.name, vectors.values())
        rows, reranked = [], []
        for source, target in [*aligned.pairs, *aligned.others]:
            name = aligned.titled(f"{source}-{target}")
            texts = aligned.texts[source], aligned.texts[target]
            same = texts if options.textual else None
            sides = vectors[source], vectors[target]
            rows.append(hits_row(name, hits_of(nearest_lines(*sides), same)))
            if reranker:
                hits = hits_of(reranker.best_lines(texts, sides, report), same)
                reranked.append(hits_row(name, hits))
        unknown = {name: unknown_rows(each) for name, each in vectors.items()}
        return Measured(rows, reranked, unknown)

    groups = read_groups(options.groups)
    reranker = line_reranker(encoder, options.rerank)
    said: list[str] = []
    sets = aligned_sets(data, options, encoder.facts, said.append, by_pair=True)
    settings = {"textual": options.textual}
    return aligned_result("bitext", sets, measure, PROTOCOL, BOTH_WAYS, settings, groups, said)


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
