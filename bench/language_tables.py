"""The figures of the embedded encoder by language, beside those of others -> rows of the docs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from xmine.text.languages import ISO_639_3

# Tatoeba to English, from the publications of two encoders, and what these take on disk.
PEERS = {
    "static-similarity-mrl-multilingual-v1": (
        "433 MB",
        {"de": 96.5, "fr": 90.8, "ru": 91.8, "es": 94.7}
        | {"ja": 89.8, "ko": 68.9, "ar": 85.9, "zh": 92.3},
    ),
    "LaBSE": (
        "1.8 GB",
        {"de": 99.4, "fr": 96.0, "ru": 95.3, "es": 98.8}
        | {"ja": 96.5, "ko": 92.9, "ar": 91.1, "zh": 96.3},
    ),
}
TATOEBA = f"| Tatoeba, to / from English | vectors | reranked | {' | '.join(PEERS)} |"
MINING = (
    "| | news, to / from English | reranked | pseudo-BUCC, F1 in hindsight / auto | reranked | "
    "difference |"
)
WITHOUT_ENGLISH = "| set | pairs of languages | vectors | reranked |"
_NONE = "–"
_MEAN = re.compile(r"bitext ([^,]+), (mean of \d+) without eng? forward")
_BOTH_WAYS = ("forward", "backward")

Figures = Mapping[str, float]


def language_tables(figures: Figures, speed: int) -> dict[str, list[str]]:
    """Write the rows of each table that there are figures for, by its head.

    Args:
        figures: of the encoder, by benchmark, row and metric.
        speed: lines per CPU-second.
    """
    languages = [code for code in ISO_639_3 if f"tatoeba {ISO_639_3[code]} to_english" in figures]
    tables = {
        TATOEBA: _tatoeba(figures, languages, speed),
        MINING: _mining(figures, languages),
        WITHOUT_ENGLISH: _without_english(figures),
    }
    return {head: rows for head, rows in tables.items() if rows}


def percent(figures: Iterable[float | None], digits: int = 1) -> str:
    """Write shares times 100 with slashes between; a dash where there are none."""
    found = [f"{100 * each:.{digits}f}" for each in figures if each is not None]
    return " / ".join(found) or _NONE


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _tatoeba(figures: Figures, languages: Sequence[str], speed: int) -> list[str]:
    """Write a row for each language, means, sizes and speeds."""

    def both(codes: Sequence[str], which: str) -> str:
        ways = ("to_english", "from_english")
        return percent(
            fmean(figures[f"tatoeba {ISO_639_3[code]}{which} {way}"] for code in codes)
            for way in ways
        )

    def row(name: str, codes: Sequence[str]) -> str:
        theirs = (
            f"{fmean(known[code] for code in codes):.1f}" if known.keys() >= set(codes) else _NONE
            for _, known in PEERS.values()
        )
        return _row(name, both(codes, ""), both(codes, ", reranked"), *theirs)

    rows = [row(code, [code]) for code in languages]
    known = [code for code in languages if all(code in of for _, of in PEERS.values())]
    means = [known, languages] if known != languages else [languages]
    rows += [row(f"mean of {len(codes)}", codes) for codes in means if len(codes) > 1]
    size = f"{figures['megabytes']:.0f} MB"
    rows.append(_row("size", size, size, *(size for size, _ in PEERS.values())))
    rows.append(_row("lines per CPU-second", f"{speed:,}", _NONE, *(_NONE for _ in PEERS)))
    return rows


def _mining(figures: Figures, languages: Sequence[str]) -> list[str]:
    """Write a row for each language with news or pseudo-BUCC, and the mean of the latter."""
    rows = []
    for code in languages:
        named = f"bitext newstest {code}-en"
        news = named if f"{named} forward" in figures else f"bitext newstest2019 {code}-en"
        rows.append(_mining_row(figures, code, news, f"pseudo-bucc {code}-en"))
    means = {name.rpartition(" ")[0] for name in figures if name.startswith("pseudo-bucc mean of")}
    for mean in sorted(each for each in means if not each.endswith("reranked")):
        news = f"bitext newstest, {mean.removeprefix('pseudo-bucc ')}"
        rows.append(_mining_row(figures, mean.removeprefix("pseudo-bucc "), news, mean))
    return [row for row in rows if row.count(_NONE) < 5]


def _mining_row(figures: Figures, name: str, news: str, mined: str) -> str:
    kinds = ("", ", reranked")
    aligned = [percent(figures.get(f"{news}{kind} {way}") for way in _BOTH_WAYS) for kind in kinds]
    cuts = [[figures.get(f"{mined}{kind} {cut}") for cut in ("oracle", "auto")] for kind in kinds]
    oracle, auto = cuts[1]
    behind = _NONE if oracle is None or auto is None else f"{100 * (auto - oracle):+.1f}"
    return _row(name, *aligned, *map(percent, cuts), behind)


def _without_english(figures: Figures) -> list[str]:
    """Write a row for each set with pairs of languages without English: their mean."""
    rows = []
    for name in figures:
        if found := _MEAN.fullmatch(name):
            row = name.removesuffix(" forward")
            shares = (
                percent(figures.get(f"{row}{kind} {way}") for way in _BOTH_WAYS)
                for kind in ("", ", reranked")
            )
            rows.append(_row(found[1], found[2], *shares))
    return sorted(rows)
