"""Retrieval from a multilingual pool: are the right candidates among the nearest 20, and on top?

LAReQA (Roy et al., 2020): questions, and the sentences of eleven languages that answer them.
Mewsli-X (Ruder et al., 2021): mentions in news, and descriptions of a million entities.
"""

from collections.abc import Collection, Sequence

import numpy as np

from papers import answer_files as files
from papers.answer_files import read_lareqa, read_mewsli_x
from xmine.encoders.pair import Encoders
from xmine.evaluation.data import DataFolder
from xmine.evaluation.options import EvaluationOptions
from xmine.evaluation.result import Metric, Result, Row, mean_row
from xmine.files import scratch
from xmine.knn.cosines import Vectors
from xmine.knn.exact import search_exact
from xmine.progress import Report, silent

DEPTH = 20

_LAREQA = ("lareqa/xquad-r", "xquad-r", "lareqa")
_MEWSLI_X = ("mewsli-x", "mewsli_x/output/dataset", "mewslix")
_WHAT = f"LAReQA's xquad-r/*.json, or Mewsli-X's {files.CANDIDATES} and {files.MENTIONS}"


def average_precision(ranking: Sequence[int], gold: Collection[int], depth: int = DEPTH) -> float:
    """Average the precision at each right candidate among the first of a ranking, best first.

    Divided by how many of them could be right, `min(len(gold), depth)`, so that a perfect ranking
    has 1 (scikit-learn's has no depth). With one right candidate it is the reciprocal of its rank.
    """
    hits, total = 0, 0.0
    for rank, candidate in enumerate(ranking[:depth], start=1):
        if candidate in gold:
            hits += 1
            total += hits / rank
    return total / min(len(gold), depth)


def evaluate_retrieval(
    encoder: Encoders, data: DataFolder, options: EvaluationOptions, report: Report = silent
) -> Result:
    """Measure the mean average precision of each language on LAReQA and Mewsli-X."""
    tasks = []
    if folder := data.find("??.json", _LAREQA):
        tasks.append(read_lareqa(folder))
    if folder := data.find(files.CANDIDATES, _MEWSLI_X):
        tasks.append(read_mewsli_x(folder))
    if not tasks:
        raise data.missing(_WHAT)
    rows, means = [], []
    for task in tasks:
        texts = [text for queries in task.queries.values() for text, _ in queries]
        languages = [language for language, queries in task.queries.items() for _ in queries]
        vectors = _encoded(encoder, texts, languages, options, report)
        with scratch.temporary_folder() as folder, scratch.scratch_in(folder):  # for a million
            every = _encoded(encoder, task.candidates, task.languages, options, report)
            found = search_exact(vectors, every, DEPTH)
        rankings, measured = iter(found.targets.tolist()), []
        for language, queries in task.queries.items():
            each = [average_precision(next(rankings), gold) for _, gold in queries]
            figures = {"map": float(np.mean(each))}
            measured.append(Row(f"{task.name} {language}", len(each), figures))
        rows += measured
        means.append(mean_row(f"{task.name}, mean of {len(measured)}", measured))
    return Result(
        benchmark="retrieval",
        protocol=f"mAP@{DEPTH} of the candidates of all languages, ranked by dot product; "
        + "; ".join(task.protocol for task in tasks),
        split=", ".join(f"{task.name} ({len(task.candidates):,} candidates)" for task in tasks),
        metrics=(
            Metric("map", f"mAP@{DEPTH}", "mean over the queries of their average precision"),
        ),
        rows=[*rows, *means],
        headline=(means[0].name, "map"),
        settings={"depth": DEPTH, "similarity": "dot product of unit vectors", "trained": False},
        unit="queries",
        notes=[note for task in tasks for note in task.notes],
    )


def _encoded(
    encoder: Encoders,
    texts: Sequence[str],
    languages: Sequence[str],
    options: EvaluationOptions,
    report: Report,
) -> Vectors:
    readers = [encoder.reading(language) for language in languages]
    vectors: Vectors = scratch.empty((len(texts), readers[0].dim), np.float16)
    for reader in dict.fromkeys(readers):
        rows = [row for row, each in enumerate(readers) if each is reader]
        some = [texts[row] for row in rows]
        vectors[rows] = reader.encode_half(some, report, options.prompt)
    return vectors
