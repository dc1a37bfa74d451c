"""BUCC: mine two files, compare with gold pairs, and find the threshold that would be best.

Protocol `msimcse`: the sample split, ratio margin, k = 4, `max` retrieval, and the oracle
threshold, chosen on the gold pairs it is measured on. Not comparable with F1 on the test set.
"""

from dataclasses import dataclass
from pathlib import Path

from xmine.encoder import SentenceEncoder
from xmine.evaluation.agreement import Agreement, Oracle, agreement, best_threshold, read_id_pairs
from xmine.mining import cut, score_pairs
from xmine.options import MiningOptions
from xmine.progress import Report, silent
from xmine.sentences import sentence_table


@dataclass(frozen=True, slots=True)
class BuccScores:
    """What mining a BUCC split gave.

    Attributes:
        oracle: the best cut, with its agreement.
        auto_threshold: the cut that `--threshold auto` chooses.
        auto: the agreement there.
        sources, targets: sentences a side.
    """

    oracle: Oracle
    auto_threshold: float
    auto: Agreement
    sources: int
    targets: int


def evaluate_bucc(
    encoder: SentenceEncoder, folder: Path, name: str = "zh-en.dev", report: Report = silent
) -> BuccScores:
    """Mine a BUCC split with the default options and compare with its gold pairs.

    Args:
        encoder: the encoder to measure.
        folder: holds `NAME.<lang>` files (`id<TAB>text`) and `NAME.gold` (`id<TAB>id`).
        name: language pair and split; the first language is the source.
        report: called while encoding and searching.

    Raises:
        FileError: a file is missing or a line has no tab.
    """
    ids, tables = [], []
    for language in name.split(".")[0].split("-"):
        rows = read_id_pairs(folder / f"{name}.{language}")
        ids.append([identity for identity, _ in rows])
        tables.append(sentence_table(f"{name}.{language}", [text for _, text in rows]))
    gold = read_id_pairs(folder / f"{name}.gold")
    scored = score_pairs(tables[0], tables[1], encoder, MiningOptions(), report)
    _, every = cut(scored, float("-inf"))
    pairs = [
        (ids[0][source - 1], ids[1][target - 1])
        for source, target in zip(
            every.source_lines.tolist(), every.target_lines.tolist(), strict=True
        )
    ]
    threshold, kept = cut(scored, "auto")
    return BuccScores(
        oracle=best_threshold(every.scores.tolist(), pairs, gold),
        auto_threshold=threshold.value,
        auto=agreement(pairs[: len(kept)], gold),
        sources=len(tables[0]),
        targets=len(tables[1]),
    )
