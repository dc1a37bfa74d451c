"""Tatoeba: up to 1,000 sentences of 112 languages against their English translations.

LASER's test set (Artetxe & Schwenk, 2019), files `tatoeba.xxx-eng.xxx` and `tatoeba.xxx-eng.eng`.
Averages over 14 and 36 languages are those of mSimCSE and XTREME; Emma-X averages over all 112.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import EncoderPair
from xmine.evaluation.data import DataFolder, choose, read_aligned
from xmine.evaluation.options import TatoebaOptions
from xmine.evaluation.result import (
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
from xmine.evaluation.retrieval.aligned import (
    BOTH_WAYS,
    PROTOCOL,
    TEXTUAL,
    accuracy_of,
    check_known,
    hits_of,
    retrieval_hits,
    unknown_note,
    unknown_rows,
)
from xmine.evaluation.retrieval.reranked import line_reranker, ours, reranked_note
from xmine.knn.cosines import Vectors
from xmine.progress import Report, silent

FOURTEEN = tuple("ara bul cmn deu ell fra hin rus spa swh tha tur urd vie".split())
THIRTY_SIX = FOURTEEN + tuple(
    "afr ben est eus fin heb hun ind ita jav jpn".split()
    + "kat kaz kor mal mar nld pes por tam tel tgl".split()
)
_MEANS = {"mean of 14": FOURTEEN, "mean of 36": THIRTY_SIX}
# ISO 639-1 -> the codes of the files, for the languages that an encoder says it was made for.
CODES = dict(
    pair.split(":")
    for pair in (
        "af:afr am:amh ar:ara az:aze be:bel bg:bul bn:ben br:bre bs:bos ca:cat ch:cha cs:ces "
        "cy:cym da:dan de:deu el:ell eo:epo es:spa et:est eu:eus fa:pes fi:fin fo:fao fr:fra "
        "fy:fry ga:gle gd:gla gl:glg he:heb hi:hin hr:hrv hu:hun hy:hye ia:ina id:ind ie:ile "
        "io:ido is:isl it:ita ja:jpn jv:jav ka:kat kk:kaz km:khm ko:kor ku:kur kw:cor la:lat "
        "lt:lit lv:lvs mk:mkd ml:mal mn:mon mr:mar ms:zsm nb:nob nl:nld nn:nno oc:oci pl:pol "
        "pt:por ro:ron ru:rus sk:slk sl:slv sq:sqi sr:srp sv:swe sw:swh ta:tam te:tel th:tha "
        "tk:tuk tl:tgl tr:tur tt:tat ug:uig uk:ukr ur:urd uz:uzb vi:vie xh:xho yi:yid zh:cmn"
    ).split()
)
_FEW = 3  # languages that the name of a mean lists
_WHAT = "LASER's Tatoeba test set, tatoeba.xxx-eng.xxx and tatoeba.xxx-eng.eng"


def evaluate_tatoeba(
    encoder: SentenceEncoder, data: DataFolder, options: TatoebaOptions, report: Report = silent
) -> Result:
    """Measure retrieval accuracy between each language and English."""
    folder = tatoeba_folder(data)
    groups = read_groups(options.groups)
    found = tatoeba_languages(folder)
    wanted = [each if each in found else CODES.get(each, each) for each in options.language]
    languages = choose(wanted, found, f"{folder}: no tatoeba.{{}}-eng.{{}}")
    rows, reranked, unknown, both = [], list[Row](), {}, EncoderPair(encoder, encoder)
    reranker = line_reranker(encoder, options.rerank)
    for each in languages:
        texts, sides = tatoeba_sides(both, folder, each, options, report)
        same = texts if options.textual else None
        hits, unknown[each] = retrieval_hits(*sides, same), unknown_rows(sides[0])
        rows.append(accuracy_of(hits).row(each, "to_english", "from_english"))
        if reranker:
            hits = hits_of(reranker.best_lines(texts, sides, report), same)
            reranked.append(accuracy_of(hits).row(each, "to_english", "from_english"))
    check_groups(groups, languages)
    notes = [*group_rows(groups, rows)[1], *unknown_note(unknown)]
    for name, members in _MEANS.items():
        if not set(members) <= set(languages) and not options.language:
            lacking = ", ".join(sorted(set(members) - set(languages)))
            notes.append(f"No {name}: {lacking} missing.")
    known = codes_of(encoder.facts.languages)
    rows += _averages(groups, rows, known)
    reranked += _averages(groups, reranked, known)
    return Result(
        benchmark="tatoeba",
        protocol=PROTOCOL + (TEXTUAL if options.textual else ""),
        split="LASER's Tatoeba v1, each language against English",
        metrics=(
            Metric("to_english", "xx→en", "share of sentences whose nearest English one is right"),
            Metric("from_english", "en→xx", "the same from English"),
            BOTH_WAYS[-1],
        ),
        rows=[*rows, *ours(reranked)],
        headline=(rows[-1].name, "mean"),
        settings={"textual": options.textual},
        unit="pairs",
        notes=[*notes, *reranked_note(reranked)],
    )


def _averages(groups: Groups, rows: Sequence[Row], known: set[str]) -> list[Row]:
    """Average over groups, over the languages of papers, all, and those the encoder knows."""
    averages, languages = group_rows(groups, rows)[0], {row.name for row in rows}
    for name, members in _MEANS.items():
        if set(members) <= languages:
            averages.append(mean_row(name, [row for row in rows if row.name in members]))
    averages += mean_of_all("mean of all {}", rows)
    own = [row for row in rows if row.name in known]
    if own and len(own) < len(rows):
        names = ", ".join(row.name for row in own) if len(own) <= _FEW else str(len(own))
        averages.append(mean_row(f"the encoder's own ({names})", own))
    return averages


def tatoeba_folder(data: DataFolder) -> Path:
    """Find the files."""
    return data.holding("tatoeba.*-eng.*", ("tatoeba", "data/tatoeba/v1"), _WHAT)


def codes_of(languages: Iterable[str]) -> set[str]:
    """Give languages the codes that they have in the names of the files."""
    return {CODES.get(code, code) for code in languages}


def tatoeba_languages(folder: Path) -> list[str]:
    """List the languages there are files of, by their code."""
    return sorted({path.name.split(".")[1][:-4] for path in folder.glob("tatoeba.*-eng.*")})


def tatoeba_sides(
    encoders: EncoderPair, folder: Path, language: str, options: TatoebaOptions, report: Report
) -> tuple[tuple[list[str], list[str]], tuple[Vectors, Vectors]]:
    """Read the sentences of a language and the English ones, and encode both: [pairs, dim]."""
    pair = f"tatoeba.{language}-eng"
    own, english = read_aligned(folder / f"{pair}.{language}", folder / f"{pair}.eng")
    sides = (
        encoders.source.encode_half(own, report, options.prompt),
        encoders.target.encode_half(english, report, options.prompt),
    )
    check_known(pair, sides)
    return (own, english), sides
