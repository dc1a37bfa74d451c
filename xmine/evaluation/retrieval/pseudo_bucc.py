"""Pseudo-BUCC: mining as BUCC asks for it, in languages that BUCC does not have.

Translations of news, hidden among other lines of the same news: files in BUCC's format, made for
measuring xmine. They are far smaller than BUCC's, and no published figure stands beside them.
"""

from xmine.encoders.pair import Encoders
from xmine.evaluation.data import DataFolder
from xmine.evaluation.languages import left_out_note
from xmine.evaluation.options import PairOptions
from xmine.evaluation.readers.bucc import find_pseudo_bucc
from xmine.evaluation.result import Metric, Result, Row, mean_of_all
from xmine.evaluation.retrieval.bucc import MinedSplit, Protocol, mine_pair
from xmine.evaluation.retrieval.reranked import ours, reranked_note
from xmine.progress import Report, silent

PROTOCOL = Protocol(threshold_from="oracle", split="sample")
_METRICS = (
    Metric("oracle", "oracle F1", "F1 at the threshold that is best for the gold pairs"),
    Metric("auto", "auto F1", "F1 at the threshold of `xmine mine`, which knows no gold pair"),
    Metric("difference", "difference", "auto less oracle"),
    Metric("precision", "precision", "share of the pairs kept at auto that are gold pairs"),
    Metric("recall", "recall", "share of the gold pairs that are kept at auto"),
)


def evaluate_pseudo_bucc(
    encoder: Encoders, data: DataFolder, options: PairOptions, report: Report = silent
) -> Result:
    """Mine each language pair; compare the threshold that is chosen with the best one."""
    folder = find_pseudo_bucc(data, options.pair, encoder.facts)
    mined = {
        pair: mine_pair(encoder, folder, pair, PROTOCOL, options, report) for pair in folder.pairs
    }
    rows = [_row(pair, by_margin) for pair, (by_margin, _) in mined.items()]
    rows += mean_of_all("mean of {}", rows)
    left = [pair for pair, (_, again) in mined.items() if not again]
    reranked = []
    if len(left) < len(mined):  # what mining cannot rerank it ranks by the margin
        reranked = [_row(pair, again or first) for pair, (first, again) in mined.items()]
        reranked += mean_of_all("mean of {}", reranked)
    return Result(
        benchmark="pseudo-bucc",
        protocol="F1 of all pairs mined; ratio margin, k = 4, max retrieval, repeated lines folded "
        "to the first",
        split=f"pseudo-BUCC, {', '.join(folder.pairs)}",
        metrics=_METRICS,
        rows=[*rows, *ours(reranked)],
        headline=(rows[-1].name, "auto"),
        settings={
            "gold pairs": ", ".join(
                f"{pair} {len(by_margin.split.gold)}" for pair, (by_margin, _) in mined.items()
            )
        },
        unit="kept",
        notes=[
            *left_out_note(folder.pairs, folder.there, options.pair, "pair"),
            *reranked_note(reranked),
            *([f"By the margin among them: {', '.join(left)}."] if left and reranked else []),
        ],
    )


def _row(pair: str, mined: MinedSplit) -> Row:
    threshold, found = mined.cuts["oracle"]
    best, kept = found.at(threshold).f1, mined.auto[1]
    shares = {"precision": kept.precision, "recall": kept.recall}
    figures = {"oracle": best, "auto": kept.f1, "difference": kept.f1 - best, **shares}
    return Row(pair, kept.mined, figures)
