"""Quality estimation: does the cosine of a sentence and its translation tell how good that is?

Pearson's correlation with direct assessments by people: WMT21's first task, as in Emma-X, and
MLQE-PE (Fomicheva et al., 2020), whose test20 and dev sets belong to the same language pairs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from papers.correlations import correlate_sets, pearson
from papers.headed import read_headed
from xmine.encoders.pair import Encoders
from xmine.errors import FileError
from xmine.evaluation.data import DataFolder, finite_number, incomplete, read_aligned
from xmine.evaluation.options import EvaluationOptions
from xmine.evaluation.readers.scored_pairs import ScoredPairs
from xmine.evaluation.result import Metric, Result, mean_row, paper_means
from xmine.evaluation.similarity.correlation import UNTRAINED, blank_note
from xmine.progress import Report, silent

SEVEN = ("en-de", "en-zh", "et-en", "ne-en", "ro-en", "ru-en", "si-en")
ELEVEN = (*SEVEN, "en-cs", "en-ja", "km-en", "ps-en")  # those of WMT21 without training data

_REPOSITORY = ("mlqe-pe/data", "mlqe-pe", "data", ".")
_WHAT = (
    "test21_goldlabels/en-de-test21/{test21.src,test21.mt,goldlabels/test21.da} and so on, or "
    "direct-assessments/test/en-de-test/test20.ende.df.short.tsv, of mlqe-pe, unpacked"
)


def evaluate_qe(
    encoder: Encoders, data: DataFolder, options: EvaluationOptions, report: Report = silent
) -> Result:
    """Measure Pearson's correlation of cosines with assessments for each language pair."""
    sets = {
        "WMT21": read_wmt21(data),
        "test20": read_assessments(data, "test", "test20"),
        "dev": read_assessments(data, "dev", "dev"),
    }
    if not any(sets.values()):
        raise data.missing(_WHAT)
    rows, means, blank = [], [], 0
    for name, pairs in sets.items():
        measured, without = correlate_sets(pearson, encoder, pairs, report, options.prompt)
        of_papers = {f"{name}, mean of {len(each)}": each for each in (ELEVEN, SEVEN)}
        averages, _ = paper_means(of_papers, measured)
        if measured and not averages:
            there = ", ".join(row.name for row in measured)
            averages = [mean_row(f"{name}, mean of {there}", measured)]
        means += averages
        rows += [replace(row, name=f"{name} {row.name}") for row in measured]
        blank += without
    return Result(
        benchmark="qe",
        protocol="Pearson of the cosine of sentence and translation against direct assessments "
        "(z-standardised), no training",
        split=", ".join(filter(sets.get, sets)),
        metrics=(Metric("pearson", "Pearson", "correlation of cosine and assessment"),),
        rows=[*rows, *means],
        headline=(means[0].name, "pearson"),
        settings={**UNTRAINED, "correlation": "pearson"},
        unit="sentences",
        notes=blank_note(blank),
    )


def read_wmt21(data: DataFolder) -> dict[str, ScoredPairs]:
    """Read WMT21's test set with its gold labels: language pair -> sentences."""
    places = [f"{place}/test21_goldlabels" for place in _REPOSITORY]
    folder = data.find("*-test21/goldlabels", places)
    found = {}
    for pattern in ("*-test21", "zero-shot/*-test21"):
        for inside in sorted(folder.glob(pattern)) if folder else ():
            files = ["test21.src", "test21.mt", "goldlabels/test21.da"]
            incomplete(inside, files, "WMT21's test set with gold labels, for each pair,")
            lines = zip(*read_aligned(*(inside / name for name in files)), strict=True)
            wheres = (f"{inside / files[-1]}:{at}" for at in count(1))
            one, other, _ = inside.name.split("-")
            found[f"{one}-{other}"] = _scored(zip(wheres, lines, strict=False), (one, other))
    return found


def read_assessments(data: DataFolder, split: str, stem: str) -> dict[str, ScoredPairs]:
    """Read MLQE-PE's direct assessments of a split: language pair -> sentences."""
    places = [f"{place}/direct-assessments/{split}" for place in _REPOSITORY]
    pattern = f"*/{stem}.*.df.short.tsv"
    folder = data.find(pattern, places)
    found = {}
    for path in sorted(folder.glob(pattern)) if folder else ():
        letters = path.name.split(".")[1]
        head = ("original", "translation", "z_mean")
        rows = ((where, [line[name] for name in head]) for where, line in read_headed(path, head))
        pair = letters[:2], letters[2:]
        found["-".join(pair)] = _scored(rows, pair)
    return found


def _scored(rows: Iterable[tuple[str, Sequence[str]]], languages: tuple[str, str]) -> ScoredPairs:
    """Gather `file:line` with sentence, translation and assessment."""
    name = "-".join(languages)
    found = [(x, y, finite_number(z, where, "assessment")) for where, (x, y, z) in rows]
    if not found:
        raise FileError(f"{name}: no sentences below the head")
    sources, translations, gold = zip(*found, strict=True)
    return ScoredPairs(name, list(sources), list(translations), np.array(gold), languages)
