"""Tatoeba: up to 1,000 sentences of 112 languages against their English translations.

LASER's test set (Artetxe & Schwenk, 2019), files `tatoeba.xxx-eng.xxx` and `tatoeba.xxx-eng.eng`.
Averages over 14 and 36 languages are those of mSimCSE and XTREME; Emma-X averages over all 112.
"""

from collections.abc import Sequence

from xmine.encoders.pair import Encoders
from xmine.evaluation import result
from xmine.evaluation.data import DataFolder, read_aligned
from xmine.evaluation.languages import ALL, chosen_languages, left_out_note
from xmine.evaluation.options import TatoebaOptions
from xmine.evaluation.result import Metric, Result, Row
from xmine.evaluation.retrieval import aligned
from xmine.evaluation.retrieval.aligned import check_known, hits_of, hits_row, nearest_lines
from xmine.evaluation.retrieval.reranked import line_reranker, ours, reranked_note
from xmine.progress import Report, silent

FOURTEEN = tuple("ara bul cmn deu ell fra hin rus spa swh tha tur urd vie".split())
THIRTY_SIX = tuple(
    "afr ara ben bul cmn deu ell est eus fin fra heb hin hun ind ita jav jpn kat kaz kor".split()
    + "mal mar nld pes por rus spa swh tam tel tgl tha tur urd vie".split()
)
_MEANS = {"mean of 14": FOURTEEN, "mean of 36": THIRTY_SIX}
_WHAT = "LASER's Tatoeba test set, tatoeba.xxx-eng.xxx and tatoeba.xxx-eng.eng"


def evaluate_tatoeba(
    encoder: Encoders, data: DataFolder, options: TatoebaOptions, report: Report = silent
) -> Result:
    """Measure retrieval accuracy between each language and English."""
    folder = data.holding("tatoeba.*-eng.*", ("tatoeba", "data/tatoeba/v1"), _WHAT)
    found = sorted({path.name.split(".")[1][:-4] for path in folder.glob("tatoeba.*-eng.*")})
    lacking = f"{folder}: no tatoeba.{{}}-eng.{{}}"
    languages = chosen_languages(options.language, found, encoder.facts, lacking)
    rows, reranked, unknown = [], list[Row](), {}
    reranker = line_reranker(encoder, options.rerank)
    metrics = ("to_english", "from_english")
    for language in languages:
        stem = f"tatoeba.{language}-eng"
        own, english = read_aligned(folder / f"{stem}.{language}", folder / f"{stem}.eng")
        texts, codes = (own, english), (language, "eng")
        same = texts if options.textual else None
        one, two = (
            encoder.reading(code).encode_half(side, report, options.prompt)
            for code, side in zip(codes, texts, strict=True)
        )
        check_known(stem, (one, two))
        unknown[language] = aligned.unknown_rows(one)
        rows.append(hits_row(language, hits_of(nearest_lines(one, two), same), *metrics))
        if reranker:
            best = reranker(texts, (one, two), codes, report)
            reranked.append(hits_row(language, hits_of(best, same), *metrics))
    notes = aligned.unknown_note(unknown) + left_out_note(languages, found, options.language)
    if ALL in options.language:
        notes += result.paper_means(_MEANS, rows)[1]
    rows += _averages(rows)
    reranked += _averages(reranked)
    return Result(
        benchmark="tatoeba",
        protocol=aligned.PROTOCOL + (aligned.TEXTUAL if options.textual else ""),
        split="LASER's Tatoeba v1, each language against English",
        metrics=(
            Metric(metrics[0], "xx→en", "share of sentences whose nearest English one is right"),
            Metric(metrics[1], "en→xx", "the same the other way"),
            aligned.BOTH_WAYS[-1],
        ),
        rows=[*rows, *ours(reranked)],
        headline=(rows[-1].name, "mean"),
        settings={"textual": options.textual},
        unit="pairs",
        notes=[*notes, *reranked_note(reranked)],
    )


def _averages(rows: Sequence[Row]) -> list[Row]:
    """Average over the languages of papers, and all."""
    return result.paper_means(_MEANS, rows)[0] + result.mean_of_all("mean of all {}", rows)
