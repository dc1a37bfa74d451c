"""Figures of bench/results -> the rows of README, docs and card that show them.

    python bench/shown.py

rewrites the rows; a test holds them. Tables of languages are written as a whole, below their heads.
"""

import json
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from language_tables import language_tables
from loop_tables import loop_tables
from threshold_tables import threshold_tables

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
BEST = "BUCC zh-en sample, F1 at the best threshold in hindsight"
EVALUATION = (
    "`bucc` | zh-en sample, F1: threshold from the other half of the ids / in hindsight / auto",
    "| at the fixed thresholds 1.04 / 1.06 / 1.2",
)
NAMES = dict(
    each.split(" ")
    for each in (
        "ar Arabic, cs Czech, de German, es Spanish, fr French, hi Hindi, id Indonesian, "
        "it Italian, ja Japanese, ko Korean, nl Dutch, pl Polish, pt Portuguese, ru Russian, "
        "tr Turkish, uk Ukrainian, vi Vietnamese, zh Chinese"
    ).split(", ")
)

# Set of English and Chinese -> its file of a small transformer, its row, and metrics from and to
# English.
SETS = {
    "Tatoeba cmn-eng": ("tatoeba", "tatoeba cmn", ("from_english", "to_english")),
    "newstest2019": ("newstest2019", "bitext newstest2019 zh-en", ("backward", "forward")),
}

# Row of docs/explanation/reranking.md -> part of bench/rerank.py.
PARTS = {
    "margin alone": "margin",
    "+ missing": "missing",
    "+ order": "order",
    "+ both leads": "leads",
    "+ other numbers": "then numbers",
    "**as shipped**": "weights as shipped",
    "the five features": "leads",
    "without missing": "without missing",
    "without order": "without order",
    "without the lead of the match": "without match_lead",
    "every counterpart counts in the match": "all counterparts",
    "lower of A and B, tokens, in place of missing": "before but mutual",
    "the same, every counterpart counts": "before",
    "+ lower of A and B": "+ lower",
    "+ log of the tokens": "+ tokens",
    "+ cosine": "+ cosine",
    "+ match": "+ match",
    "+ lexical table": "lexical table",
    "lexical table in place of tokens": "lexical alone",
    "+ rarity of tokens in the files": "rarity",
    "128 dimensions of the whole vocabulary": "128 dimensions of all",
    "96 dimensions": "96 dimensions",
    "64 dimensions": "64 dimensions",
    "all 448 dimensions": "448 dimensions",
    "+ Latin words": "Latin words",
    "+ length ratio": "length ratio",
    "short pairs in the fit": "short pairs too",
}
# Order of hits in bench/hits.py -> row of the same page.
HITS = {
    "off": "cosine, `--rerank off`",
    "tokens": "**cosine + order / 10 - 4 × missing**",
    "cosine - 4 missing": "cosine - 4 × missing",
    "cosine + match": "cosine + match",
    "features of mining": "features of mining",
}
FEW_PAIRS = (
    "| pairs | from | Tatoeba en→zh / zh→en | BUCC zh-en, best F1 | at `--threshold auto` | "
    "minutes of a core |"
)
CAPTIONS = "| pairs of captions | best F1 | at `--threshold auto` |"
HIT_SETS = ("Tatoeba", "newstest", "un", "flores")
SHARES = ("2%", "10%", "30%", "60%")


def main() -> None:
    """Rewrite the documents."""
    for name in {**shown(), **tables()}:
        text = (ROOT / name).read_text(encoding="utf-8")
        (ROOT / name).write_text(as_shown(name, text), encoding="utf-8")


def as_shown(name: str, text: str) -> str:
    """Put the figures into the text of a document."""
    text = rewritten(text, shown().get(name, {}))
    for head, rows in tables().get(name, {}).items():
        text = with_table(text, head, rows)
    return text


def rewritten(text: str, rows: dict[str, list[str]]) -> str:
    """Put other cells behind the first one of some rows; further ones stay as they are."""
    lines = text.split("\n")
    for first, cells in rows.items():
        start = f"| {first} |"
        found = [at for at, line in enumerate(lines) if line.startswith(start)]
        if len(found) != 1:
            raise SystemExit(f"{len(found)} rows begin with {start}; there should be one")
        rest = lines[found[0]].removeprefix(start).split("|")[len(cells) :]
        lines[found[0]] = "|".join([start[:-1], *(f" {cell} " for cell in cells), *rest])
    return "\n".join(lines)


def with_table(text: str, head: str, rows: Sequence[str]) -> str:
    """Put rows in the place of those below the head of a table and its rule."""
    lines = text.split("\n")
    if lines.count(head) != 1:
        raise SystemExit(f"{lines.count(head)} tables begin with this row, not one:\n{head}")
    start = lines.index(head) + 2
    end = next(at for at in range(start, len(lines) + 1) if not "".join(lines[at : at + 1]))
    return "\n".join([*lines[:start], *rows, *lines[end:]])


def shown() -> dict[str, dict[str, list[str]]]:
    """Write the cells of every document's rows, by the text of their first cells."""
    embedded = _read("embedded")
    now = embedded["shipped"]
    small = {set_: _read(f"small-{set_}") for set_ in ("tatoeba", "newstest2019", "bucc")}
    bucc, examples = _read("mining-bucc"), _read("mining-examples")
    measured = {name: each["rows"] for name, each in _read("embedded-eval")["results"].items()}
    f1 = {row["name"]: row["figures"]["f1"] for row in measured["bucc"]}
    small_f1 = {row["name"]: row["figures"]["f1"] for row in small["bucc"]["rows"]}
    readme, card, encoders = {}, {}, {}
    for title, (name, row, metrics) in SETS.items():
        ways = [f"{row} {metric}" for metric in metrics]
        ours = _both(now[way] for way in ways)
        reranked = _both(now[f"{row}, reranked {metric}"] for metric in metrics)
        readme[f"{title}, en→zh / zh→en"] = [ours, reranked]
        theirs = _both((small[name]["en_zh"], small[name]["zh_en"]))
        encoders[f"{title}, en→zh / zh→en"] = [ours, theirs]
        for way, arrow in zip(ways, ("en→zh", "zh→en"), strict=True):
            card[f"{title}, {arrow}"] = _seeds(embedded, way)
    best = rounded(now["bucc zh-en oracle f1"])
    readme[BEST] = [best, rounded(now["bucc zh-en oracle, reranked f1"])]
    encoders[BEST] = [best, rounded(small_f1["zh-en oracle"])]
    card["BUCC zh-en sample, F1, oracle threshold"] = _seeds(embedded, "bucc zh-en oracle f1")
    card["BUCC zh-en sample, F1, `--threshold auto`"] = _seeds(embedded, "bucc zh-en auto f1")
    both = [rounded(now[f"bucc zh-en auto{name} f1"]) for name in ("", ", reranked")]
    readme["the same at `--threshold auto`"] = both
    speed = f"{_read('encoding')['lines_per_cpu_second']:,}"
    readme["encoding newstest2019, lines per CPU-second"] = [speed, ""]
    cost = f"{rounded(bucc['seconds'], 1)} s, {bucc['peak_megabytes']} MB"
    readme["mining BUCC, 8,624 × 13,589 lines, two cores"] = ["", cost]
    fast = f"{rounded(examples['seconds'], 1)} s"
    readme["mining the example files, from start to pairs"] = ["", fast]
    chosen, fixed = ("held-out", "oracle", "auto"), ("at 1.04", "at 1.06", "at 1.2")
    found = (
        " / ".join(rounded(100 * f1[f"zh-en {each}"], 1) for each in names)
        for names in (chosen, fixed)
    )
    evaluation = dict(zip(EVALUATION, ([each] for each in found), strict=True))
    return {
        "README.md": readme,
        "xmine/embedded/README.md": card,
        "docs/how-to/encoders.md": encoders,
        "docs/how-to/evaluate.md": evaluation,
        "docs/explanation/reranking.md": reranking(),
        "docs/explanation/flags.md": language_flags(),
        "docs/reference/files.md": segments(),
    }


def language_flags() -> dict[str, list[str]]:
    """Write the cells of what the flags of single pairs say in each language."""
    return {
        NAMES[code]: [
            each["set"],
            f"{each['number']:g}",
            f"{each['digit changed, found']:g}" if each["with digits"] >= 100 else "–",
            *(f"{each[f'{line}, found']:g}" for line in ("English", "in English")),
        ]
        for code, each in _read("language-flags")["languages"].items()
    }


def segments() -> dict[str, list[str]]:
    """Write the cells of how the text of each language is cut."""
    return {
        NAMES[code]: [
            each["set"],
            *(rounded(100 * each[f], 1) for f in ("line_ends_found", "cuts_at_line_ends")),
        ]
        for code, each in _read("segments")["languages"].items()
        if code != "zh"
    }


def tables() -> dict[str, dict[str, list[str]]]:
    """Write the tables of languages of every document: the rows below each head and its rule."""
    now, speed = _read("embedded")["shipped"], _read("encoding")["lines_per_cpu_second"]
    return {
        "docs/how-to/encoders.md": language_tables(now, speed),
        "docs/how-to/train.md": {FEW_PAIRS: few_pairs(), CAPTIONS: captions()},
        "docs/explanation/threshold.md": threshold_tables(
            *(_read(f"threshold{kind}-reranked")["results"] for kind in ("", "-short"))
        ),
        "docs/how-to/adapt.md": loop_tables(
            *(_read(f"loop-{kind}")["figures"] for kind in ("domain", "language"))
        ),
    }


def captions() -> list[str]:
    """Write the rows of training on few pairs of a domain."""
    found = _read("few-of-domain")["pairs"].items()
    return [
        f"| {int(pairs):,} | {rounded(each['best_f1'])} | {rounded(each['auto_f1'])} |"
        for pairs, each in found
    ]


def few_pairs() -> list[str]:
    """Write the rows of training on few pairs, from scratch and from the embedded encoder."""
    rows = []
    for name, each in _read("few-pairs")["pairs"].items():
        pairs, encoder = name.split()
        tatoeba = (each[f"tatoeba cmn {way}"] for way in ("from_english", "to_english"))
        kinds = (f"bucc zh-en {cut}" for cut in ("oracle", "auto"))
        f1 = (rounded(each.get(f"{kind}, reranked f1", each[f"{kind} f1"])) for kind in kinds)
        minutes = rounded(each.get("processor_seconds", 0) / 60, 1)
        cells = [f"{int(pairs):,}", encoder, _both(tatoeba), *f1, minutes]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def reranking() -> dict[str, list[str]]:
    """Write the cells of the parts of reranking, and of hits of a search, in percent."""
    rows, results = {}, _read("rerank")["results"]
    for label, part in PARTS.items():
        table = {name: rounded(100 * each, 1) for name, each in results[part]["table"].items()}
        cells = [table["BUCC"]]
        cells.append(" / ".join(table[f"all {each}"] for each in SHARES))
        for name in ("Tatoeba", "PAWS-X"):
            cells.append(" / ".join(table[f"{name} {way} en"] for way in ("from", "to")))
        rows[label] = cells
    hits = _read("hits")["results"]
    for order, row in HITS.items():
        first = {name: rounded(100 * each, 1) for name, each in hits[order].items()}
        both = [
            " / ".join(first[f"{name} {way} en"] for way in ("from", "to")) for name in HIT_SETS
        ]
        rows[row] = both
    return rows


def rounded(figure: float, digits: int = 3) -> str:
    """Write a figure with some digits; a half goes up."""
    return str(Decimal(str(figure)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def _seeds(embedded: dict[str, Any], name: str) -> list[str]:
    """Write a figure of what ships, of each seed, and the mean of the seeds."""
    every = (embedded["shipped"], *embedded["seeds"].values(), embedded["mean"])
    return [rounded(each[name], 4) for each in every]


def _both(figures: Iterable[float]) -> str:
    return " / ".join(map(rounded, figures))


def _read(name: str) -> Any:  # noqa: ANN401 - what JSON holds
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
