"""Retrieval accuracy on line-aligned text: is each sentence's nearest one its translation?

The protocol of Tatoeba's similarity search (Artetxe & Schwenk, 2019, "Massively multilingual
sentence embeddings"): nearest by cosine among all lines of the other side, ties to the lowest line.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import Encoders
from xmine.errors import FileError
from xmine.evaluation import result
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import BitextOptions, XsimOptions
from xmine.evaluation.result import Metric, Result, Row
from xmine.evaluation.retrieval.parallel import AlignedSet, aligned_sets
from xmine.evaluation.retrieval.reranked import (
    Chosen,
    LineReranker,
    line_reranker,
    ours,
    reranked_note,
)
from xmine.knn.cosines import Vectors
from xmine.knn.exact import search_exact
from xmine.progress import Report, silent

PROTOCOL = "top-1 by cosine among all lines of the other side, accuracy"
TEXTUAL = "; a line with the text of the translation counts as found"
BOTH_WAYS = (
    Metric("forward", "→", "share of lines whose nearest in the second language is right"),
    Metric("backward", "←", "the same from the second language to the first"),
    Metric("mean", "mean", "the mean of both directions"),
)


def retrieval_accuracy(source: Vectors, target: Vectors) -> tuple[float, float]:
    """Give the shares of unit rows [pairs, dim] whose nearest has their number, both ways."""
    forward, backward = hits_of(nearest_lines(source, target)).mean(axis=0).tolist()
    return forward, backward


def nearest_lines(source: Vectors, target: Vectors) -> Chosen:
    """Choose the nearest by cosine."""
    found = search_exact(source, target, k=1)
    return found.targets[:, 0], found.sources[:, 0]


def hits_of(
    chosen: Chosen, texts: tuple[Sequence[str], Sequence[str]] | None = None
) -> NDArray[np.bool_]:
    """Tell of each line N whether the line N is found: bool [lines, 2], from its source, and back.

    With texts of both sides, a line with the text of the right one counts as found.
    """
    sides = texts or (range(len(chosen[0])), range(len(chosen[1])))
    found = [
        [keys[a] == keys[b] for b, a in enumerate(rows.tolist())]
        for rows, keys in zip(chosen, sides[::-1], strict=True)
    ]
    return np.array(found, dtype=np.bool_).T


def hits_row(
    name: str, hits: NDArray[np.bool_], forward: str = "forward", backward: str = "backward"
) -> Row:
    """Make a row of what `hits_of` gave, or of its opposite, by the names of its metrics."""
    shares = hits.mean(axis=0).tolist()
    figures = {forward: shares[0], backward: shares[1], "mean": (shares[0] + shares[1]) / 2}
    return Row(name, len(hits), figures, values=hits)


def evaluate_bitext(
    encoder: Encoders, data: DataFolder, options: BitextOptions, report: Report = silent
) -> Result:
    """Measure retrieval between each language of aligned files and their pivot, and without it."""
    empty = Result("bitext", PROTOCOL, "", BOTH_WAYS, (), ("", ""), {"textual": options.textual})
    reranker = line_reranker(encoder, options.rerank)

    def choose(source: Vectors, target: Vectors) -> tuple[Chosen, int]:
        return nearest_lines(source, target), 0

    return aligned_result(empty, encoder, data, options, choose, reranker, report)


def aligned_result(
    empty: Result,
    encoder: Encoders,
    data: DataFolder,
    options: BitextOptions | XsimOptions,
    choose: Callable[[Vectors, Vectors], tuple[Chosen, int]],
    reranker: LineReranker | None,
    report: Report,
) -> Result:
    """Measure aligned sets, and average over the languages of each.

    Sets of one name are averaged first: a row for each pair of languages. `BitextOptions` measure
    hits of fp16 vectors, of pairs without the pivot too, `XsimOptions` errors of fp32 vectors.
    `choose` gives the lines that vectors of both sides choose, and how many means of a margin near
    zero were raised; a reranker chooses once more. The rest of the result is that of `empty`.
    """
    by_error = isinstance(options, XsimOptions)
    sets, said = aligned_sets(data, options, encoder.facts, by_pair=True)
    encode = SentenceEncoder.encode if by_error else SentenceEncoder.encode_half

    def measure(aligned: AlignedSet) -> tuple[list[Row], list[Row], Counter[str], int]:
        """Give rows, the same after reranking, lines without a vector by language, means raised."""
        vectors = {
            language: encode(aligned.reader(encoder, language), texts, report, options.prompt)
            for language, texts in aligned.texts.items()
        }
        check_known(aligned.name, vectors.values())
        codes_of = {each: aligned.code(each, encoder.facts.languages) for each in vectors}
        rows, reranked, raised = [], list[Row](), 0
        for source, target in [*aligned.pairs, *([] if by_error else aligned.others)]:
            name, sides = aligned.titled(f"{source}-{target}"), (vectors[source], vectors[target])
            texts = aligned.texts[source], aligned.texts[target]
            same = texts if options.textual else None
            chosen, clamped = choose(*sides)
            raised += clamped
            rows.append(hits_row(name, hits_of(chosen, same) ^ by_error))
            if reranker:
                codes = codes_of[source], codes_of[target]
                chosen = reranker(texts, sides, codes, report)
                reranked.append(hits_row(name, hits_of(chosen, same) ^ by_error))
        unknown = Counter({name: unknown_rows(each) for name, each in vectors.items()})
        return rows, reranked, unknown, raised

    rows, reranked = list[Row](), list[Row]()
    averages, reranked_averages, notes = [], [], []
    most = 0, ""  # pairs of languages of the largest set, and the row that stands for it
    names = list(dict.fromkeys(each.name for each in sets))
    for name in names:
        same = [each for each in sets if each.name == name]
        measured = [measure(each) for each in same]
        found = _merged([each[0] for each in measured], same)
        means = _averages(same, found)
        rows += found.values()
        averages += means
        most = max([most, (len(found), (means or rows)[-1].name)], key=lambda each: each[0])
        if ours_too := _merged([each[1] for each in measured], same):
            reranked += ours_too.values()
            reranked_averages += _averages(same, ours_too)
        unknown = sum((each[2] for each in measured), Counter[str]())
        raised = clamped_note(sum(each[3] for each in measured))
        notes += [f"{name}: {note}" for note in unknown_note(unknown) + raised]
    return replace(
        empty,
        protocol=empty.protocol + (TEXTUAL if options.textual else ""),
        split=", ".join(names),
        rows=[*rows, *averages, *ours([*reranked, *reranked_averages])],
        headline=(most[1], "mean"),
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
        name: replace(result.mean_row(name, each), is_mean=False) if len(each) > 1 else each[0]
        for name, each in rows.items()
        if each
    }


def _averages(sets: Sequence[AlignedSet], rows: Mapping[str, Row]) -> list[Row]:
    """Average over pairs without the pivot, and over all languages."""
    titled = sets[0].titled
    with_pivot = {titled("-".join(pair)) for each in sets for pair in each.pairs}
    pivot = sets[0].pairs[0][1]
    others = [row for name, row in rows.items() if name not in with_pivot]
    means = result.mean_of_all(f"mean of {{}} without {pivot}", others)
    means += result.mean_of_all("mean of {}", [rows[name] for name in rows if name in with_pivot])
    return [replace(each, name=titled(each.name, ", ")) for each in means]


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
    named = ", ".join(f"{name} {n:,}" for name, n in Counter(unknown).most_common() if n)
    return [f"Lines without a vector, whose nearest means nothing: {named}."] if named else []


def clamped_note(clamped: int) -> list[str]:
    """Say how many neighbourhoods of the ratio were raised."""
    return [f"{clamped:,} neighbourhoods near zero, raised to 1e-6."] if clamped else []
