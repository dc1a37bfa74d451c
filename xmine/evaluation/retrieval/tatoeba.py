"""Tatoeba: up to 1,000 sentences of 112 languages against their English translations.

LASER's test set (Artetxe & Schwenk, 2019), files `tatoeba.xxx-eng.xxx` and `tatoeba.xxx-eng.eng`.
Averages over 14 and 36 languages are those of mSimCSE and XTREME; Emma-X averages over all 112.
Where two languages translate the same English sentence, they translate each other: so directions
without English are measured.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xmine.encoders.metadata import EncoderFacts
from xmine.encoders.pair import Encoders
from xmine.errors import FileError
from xmine.evaluation import result
from xmine.evaluation.data import DataFolder, read_aligned
from xmine.evaluation.languages import ALL, chosen_languages, left_out_note, short_code
from xmine.evaluation.options import TatoebaOptions
from xmine.evaluation.result import Groups, Metric, Result, Row
from xmine.evaluation.retrieval import aligned
from xmine.evaluation.retrieval.aligned import check_known, hits_of, hits_row, nearest_lines
from xmine.evaluation.retrieval.reranked import line_reranker, ours, reranked_note
from xmine.knn.cosines import Rows
from xmine.progress import Report, silent

ENGLISH = "eng"
FOURTEEN = tuple("ara bul cmn deu ell fra hin rus spa swh tha tur urd vie".split())
THIRTY_SIX = tuple(
    "afr ara ben bul cmn deu ell est eus fin fra heb hin hun ind ita jav jpn kat kaz kor".split()
    + "mal mar nld pes por rus spa swh tam tel tgl tha tur urd vie".split()
)
_MEANS = {"mean of 14": FOURTEEN, "mean of 36": THIRTY_SIX}
_WHAT = "LASER's Tatoeba test set, tatoeba.xxx-eng.xxx and tatoeba.xxx-eng.eng"


# Texts of two languages, which need not be equally many; and int64 twice, the lines that translate
# each other, None where line N does line N.
_Pair = tuple[tuple[list[str], list[str]], tuple[Rows, Rows] | None]


def evaluate_tatoeba(
    encoder: Encoders, data: DataFolder, options: TatoebaOptions, report: Report = silent
) -> Result:
    """Measure retrieval accuracy between each language and English, or the pivot."""
    folder = data.holding("tatoeba.*-eng.*", ("tatoeba", "data/tatoeba/v1"), _WHAT)
    groups = result.read_groups(options.groups)
    found = sorted({path.name.split(".")[1][:-4] for path in folder.glob("tatoeba.*-eng.*")})
    lacking = f"{folder}: no tatoeba.{{}}-eng.{{}}"
    languages = chosen_languages(options.language, found, encoder.facts, lacking)
    pivot = ENGLISH
    if options.pivot and short_code(options.pivot) != "en":
        pivot = chosen_languages([options.pivot], found, EncoderFacts(), lacking)[0]
    pairs = _pairs(folder, [each for each in languages if each != pivot], pivot)
    rows, reranked, unknown = [], list[Row](), {}
    reranker = line_reranker(encoder, options.rerank)
    metrics, to, other = ("to_english", "from_english"), "English", "en"
    split = "LASER's Tatoeba v1, each language against English"
    if pivot != ENGLISH:  # rows are named by both
        groups = {name: [f"{code}-{pivot}" for code in codes] for name, codes in groups.items()}
        metrics, to, other = ("to_pivot", "from_pivot"), pivot, pivot
        split += f", and so against {pivot}: lines of the same English text, among all lines"
    for language, (texts, lines) in pairs.items():
        name = language if pivot == ENGLISH else f"{language}-{pivot}"
        same = texts if options.textual else None
        one, two = (
            encoder.reading(code).encode_half(side, report, options.prompt)
            for code, side in zip((language, pivot), texts, strict=True)
        )
        check_known(f"tatoeba.{language}-{ENGLISH}", (one, two))
        unknown[language] = aligned.unknown_rows(one)
        rows.append(hits_row(name, hits_of(nearest_lines(one, two), same, lines), *metrics))
        if reranker:
            best = reranker(texts, (one, two), report)
            reranked.append(hits_row(name, hits_of(best, same, lines), *metrics))
    notes = aligned.unknown_note(unknown) + left_out_note(languages, found, options.language)
    if few := [each for each in languages if each != pivot and each not in pairs]:
        notes.append(
            f"Left out, with fewer than two lines in common with {pivot}: {', '.join(few)}."
        )
    if ALL in options.language and pivot == ENGLISH:
        notes += result.paper_means(_MEANS, rows)[1]
    rows += _averages(groups, rows)
    reranked += _averages(groups, reranked)
    return Result(
        benchmark="tatoeba",
        protocol=aligned.PROTOCOL + (aligned.TEXTUAL if options.textual else ""),
        split=split,
        metrics=(
            Metric(
                metrics[0], f"xx→{other}", f"share of sentences with the right nearest {to} one"
            ),
            Metric(metrics[1], f"{other}→xx", "the same the other way"),
            aligned.BOTH_WAYS[-1],
        ),
        rows=[*rows, *ours(reranked)],
        headline=(rows[-1].name, "mean"),
        settings={"textual": options.textual},
        unit="pairs",
        notes=[*notes, *reranked_note(reranked)],
    )


def _pairs(folder: Path, languages: Sequence[str], pivot: str) -> dict[str, _Pair]:
    """Read each language beside the pivot; one with fewer than two common lines is left out."""

    def read(language: str) -> tuple[list[str], list[str]]:
        pair = f"tatoeba.{language}-{ENGLISH}"
        own, english = read_aligned(folder / f"{pair}.{language}", folder / f"{pair}.{ENGLISH}")
        return own, english

    if pivot == ENGLISH:
        return {each: (read(each), None) for each in languages}
    own, keys = read(pivot)
    places = {text: row for row, text in reversed(list(enumerate(keys)))}
    found: dict[str, _Pair] = {}
    for each in languages:
        texts, english = read(each)
        rows = [(row, places[text]) for row, text in enumerate(english) if text in places]
        if len(rows) > 1:
            both = np.array(rows).T
            found[each] = (texts, own), (both[0], both[1])
    if not found:
        raise FileError(f"{folder}: no two lines of {pivot} and others have the same English text")
    return found


def _averages(groups: Groups, rows: Sequence[Row]) -> list[Row]:
    """Average over groups, over the languages of papers, and all."""
    averages = result.group_rows(groups, rows) + result.paper_means(_MEANS, rows)[0]
    return averages + result.mean_of_all("mean of all {}", rows)
