"""Held-out translations -> how good `--threshold auto`, `--precision` and the estimate are.

    python bench/threshold.py EVAL [--model FOLDER] [--sizes 500,1000] [--draws 10]
        [--judged 10,25,50,100] [--json OUT.json]

EVAL is the folder `eval/` that bench/mixtures.py reads. Every set is ranked by tokens and by the
margin. Regret is the F1 of the best cut in hindsight, through the pairs by probability or by score,
minus the F1 at the chosen one. `auto N` is the F1 at the cut of `auto` once the N pairs around it
were judged.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from mixtures import SIZES, Corpus, Mixture, mixtures, read_corpus
from numpy.typing import NDArray

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.encoders.reranking import RerankingWeights
from xmine.encoders.token_files import compared, texts_read
from xmine.encoders.tokens import TokenVectors
from xmine.evaluation.reports.record import record, write_record
from xmine.flags.line_features import last_mark
from xmine.flags.near_copies import same_texts
from xmine.flags.reading import other_numbers
from xmine.knn.exact import search_exact
from xmine.knn.neighbours import Neighbours
from xmine.mining.kin import MANY, Kin
from xmine.mining.reranking import are_single_words, weights_of
from xmine.scoring.calibration import calibrate, corrected
from xmine.scoring.late_interaction import match_pairs
from xmine.scoring.margin import margin_scores
from xmine.scoring.probability import NEIGHBOURS, Confidence, Floats, estimate
from xmine.scoring.reranking import RERANKED, Reranker, TokenMatches
from xmine.scoring.retrieval import ChosenPairs, choose_pairs
from xmine.scoring.threshold import choose_threshold
from xmine.text.sentences import sentence_table

# What ranks; the first is the default of `xmine mine`.
SETTINGS = ("reranked", "ratio")
K = 4
PRECISIONS = (0.90, 0.99)
SHOWN = "sets,kept,best F1,regret,worst,error,p0.9 true,p0.9 recall,p0.99 true,p0.99 recall".split(
    ","
)
GROUPS = {
    "300 pairs or more": (300, 10**9),
    "50 to 299": (50, 300),
    "fewer than 50": (1, 50),
    "no translation": (0, 1),
}


Rows = NDArray[np.int64]
Tokens = tuple[TokenVectors, TokenVectors]


class Outcome(NamedTuple):
    """What one set gave in one setting."""

    mixture: Mixture  # the set
    gold: int  # its parallel pairs
    best: float  # F1 of the best cut in hindsight, by probability or by score
    auto: float  # F1 at the chosen cut
    judged: dict[int, float]  # F1 at the cut of `auto` after so many pairs were judged
    kept: float  # pairs that it keeps, per 100 lines of a side
    error: float  # expected less true precision at the chosen cut; NaN if nothing is kept
    # for each wanted precision, the true one, NaN if nothing is kept, and the recall
    reached: dict[str, tuple[float, float]]


def measure(
    corpus: Corpus,
    mixture: Mixture,
    neighbours: Neighbours,
    tokens: Tokens,
    kin: Kin,
    ranks: str,
    weights: RerankingWeights,
    options: argparse.Namespace,
) -> Outcome:
    """Mine a set as `xmine mine` does, and compare with the truth."""
    few = neighbours.first(K)
    reranked = rerank(corpus, mixture, few, tokens, weights) if ranks == "reranked" else None
    pairs = reranked or choose_pairs(few, margin_scores(few))
    copies = same_texts(
        [corpus.english[row] for row in mixture.english[pairs.sources].tolist()],
        [corpus.chinese[row] for row in corpus.chinese_rows(mixture)[pairs.targets].tolist()],
    )
    labels = np.where(copies, 0, -1).astype(np.int8)
    near_copies = kin if kin.share(pairs, neighbours) >= MANY else None
    estimated = estimate(pairs, neighbours, labels, near_copies)
    if estimated is None:
        raise RuntimeError(f"too few lines: {mixture[:4]}")
    if reranked:
        estimated = calibrate(pairs.scores, estimated, labels, weights)
    left = np.flatnonzero(labels != 0)  # copies are dropped
    order = left[np.lexsort((-pairs.scores[left], -estimated.probs[left]))]
    pairs, confidence = pairs.take(order), estimated.of(order)
    right = mixture.english[pairs.sources] == mixture.chinese[pairs.targets]  # [pairs]
    f1 = _f1(confidence.probs, right, mixture.gold)
    by_score = np.argsort(-pairs.scores, kind="stable")
    f1_by_score = _f1(pairs.scores[by_score].astype(np.float64), right[by_score], mixture.gold)
    chosen = choose_threshold(pairs.scores, confidence).kept
    true = float(right[: chosen.pairs].mean()) if chosen.pairs else np.nan
    reached = {}
    for wanted in PRECISIONS:
        found = choose_threshold(pairs.scores, confidence, precision=wanted).kept.pairs
        reached[f"p{wanted:g}"] = (
            float(right[:found].mean()) if found else np.nan,
            float(right[:found].sum()) / max(mixture.gold, 1),
        )
    return Outcome(
        mixture=mixture,
        gold=mixture.gold,
        best=max(float(f1.max()), float(f1_by_score.max())),
        auto=float(f1[chosen.pairs]),
        judged={
            number: _f1_judged(confidence, right, mixture.gold, chosen.pairs, number)
            for number in options.judged
        },
        kept=100 * chosen.pairs / mixture.size,
        error=np.nan if chosen.precision is None else chosen.precision - true,
        reached=reached,
    )


def rerank(
    corpus: Corpus,
    mixture: Mixture,
    neighbours: Neighbours,
    tokens: Tokens,
    weights: RerankingWeights,
) -> ChosenPairs | None:
    """Choose pairs by their tokens, and weigh their numbers; None for single words."""
    margins = margin_scores(neighbours).first(RERANKED)
    neighbours = neighbours.first(RERANKED)
    rows = mixture.english, corpus.chinese_rows(mixture)

    def match(x: Rows, y: Rows) -> NDArray[np.float32]:
        x, y = np.broadcast_arrays(x, y)
        found = match_pairs(*tokens, rows[0][x.ravel()], rows[1][y.ravel()])
        return found.reshape(*x.shape, -1).astype(np.float32)

    left, right = (
        each.lengths[at].astype(np.float32) for each, at in zip(tokens, rows, strict=True)
    )
    matches = TokenMatches(
        match(np.arange(len(rows[0]))[:, None], neighbours.targets),
        match(neighbours.sources, np.arange(len(rows[1]))[:, None]),
        left,
        right,
    )
    if are_single_words(matches):
        return None
    reranker = Reranker(neighbours, matches, margins, weights)
    pairs = choose_pairs(neighbours, reranker.candidates())
    texts = (
        [corpus.english[row] for row in rows[0][pairs.sources].tolist()],
        [corpus.chinese[row] for row in rows[1][pairs.targets].tolist()],
    )
    less = weights.other_numbers * other_numbers(texts, ("en", corpus.language))
    marks = (np.array([last_mark(text) for text in side]) for side in texts)
    less += weights.other_mark * (next(marks) != next(marks))
    return replace(pairs, scores=(pairs.scores - less).astype(np.float32))


def _f1(ranks: Floats, right: NDArray[np.bool_], gold: int) -> Floats:
    """Follow the F1 of keeping the best 0, 1, ... pairs; 0 where that would part equal ones."""
    kept = np.arange(1, len(ranks) + 1)
    last = np.append(ranks[1:] != ranks[:-1], True)
    return np.concatenate([[0.0], np.where(last, 2 * right.cumsum() / (kept + gold), 0)])


def _f1_judged(
    confidence: Confidence, right: NDArray[np.bool_], gold: int, cut: int, number: int
) -> float:
    """Judge as many pairs above the cut as below it, and give the F1 at the cut of `auto` then."""
    labels = np.full(len(right), -1, dtype=np.int8)
    around = slice(max(0, cut - number // 2), cut + number // 2)
    labels[around] = right[around]
    found = corrected(confidence, labels)
    order = np.argsort(-found.probs, kind="stable")
    found = found.of(order)
    kept = choose_threshold(found.probs.astype(np.float32), found).kept.pairs
    return float(_f1(found.probs, right[order], gold)[kept])


def summary(group: Sequence[Outcome]) -> dict[str, float]:
    """Sum up a group of outcomes; shares, not percent."""
    regret = np.array([each.best - each.auto for each in group])
    error = np.abs([each.error for each in group if np.isfinite(each.error)])
    row = {
        "sets": len(group),
        "kept": float(np.mean([each.kept for each in group])),
        "best F1": float(np.mean([each.best for each in group])),
        "regret": float(regret.mean()),
        "worst": float(regret.max()),
        "error": float(error.mean()) if len(error) else np.nan,
    }
    for number in group[0].judged:
        row[f"auto {number}"] = float(np.mean([each.judged[number] for each in group]))
    for name in group[0].reached:
        true, recall = zip(*(each.reached[name] for each in group), strict=True)
        some = [each for each in true if np.isfinite(each)]
        row |= {f"{name} true": float(np.mean(some)) if some else np.nan}
        row |= {f"{name} recall": float(np.mean(recall))}
    return {name: round(value, 4) for name, value in row.items()}


def tables(outcomes: list[Outcome]) -> dict[str, dict[str, float]]:
    """Sum up by parallel pairs, share, size and source."""
    groups = {
        name: [each for each in outcomes if low <= each.gold < high]
        for name, (low, high) in GROUPS.items()
    }
    for share in sorted({each.mixture.share for each in outcomes}):
        groups[f"share {share}"] = [each for each in outcomes if each.mixture.share == share]
    groups["all"] = outcomes
    return {name: summary(group) for name, group in groups.items() if group}


def mine_all(
    corpus: Corpus, encoder: SentenceEncoder, options: argparse.Namespace
) -> dict[str, list[Outcome]]:
    """Mine every set in every setting."""
    found, weights = defaultdict(list), weights_of(encoder)
    corpus = replace(corpus, shares=(0.0, *corpus.shares))
    english, chinese = (encoder.encode_half(each) for each in (corpus.english, corpus.chinese))
    first, second = (texts_read(encoder, each) for each in (corpus.english, corpus.chinese))
    tokens = compared(encoder.body, first, second)
    for mixture in mixtures(corpus, options.sizes, options.draws, options.seed):
        target = chinese[corpus.chinese_rows(mixture)]
        # The encoder may know no piece of a short line.
        sides = english[mixture.english].any(axis=1), target.any(axis=1)
        mixture = mixture._replace(
            english=mixture.english[sides[0]], chinese=mixture.chinese[sides[1]]
        )
        sides_used = english[mixture.english], target[sides[1]]
        neighbours = search_exact(*sides_used, NEIGHBOURS)
        texts = (
            [corpus.english[row] for row in mixture.english.tolist()],
            [corpus.chinese[row] for row in corpus.chinese_rows(mixture).tolist()],
        )
        left, right = (sentence_table("", each, dedup=False) for each in texts)
        kin = Kin.of(((left, sides_used[0]), (right, sides_used[1])))
        for ranks in SETTINGS:
            found[f"{ranks}, k = {K}"].append(
                measure(corpus, mixture, neighbours, tokens, kin, ranks, weights, options)
            )
    return found


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", type=Path, default=EMBEDDED)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--judged", type=_numbers, default=(10, 25, 50, 100))
    parser.add_argument("--sizes", type=_numbers, default=SIZES)
    options = parser.parse_args()
    found = mine_all(read_corpus(options.data), SentenceEncoder.load(options.model), options)
    results = {}
    for setting, outcomes in found.items():
        table = tables(outcomes)
        results[setting] = {"table": table}
        print(f"\n{setting:20}" + "".join(f"{name:>12}" for name in SHOWN))
        for name, row in table.items():
            print(f"{name:20}" + "".join(f"{row.get(each, np.nan):12g}" for each in SHOWN))
    if options.json:
        settings = {
            key: value.name if isinstance(value, Path) else value
            for key, value in vars(options).items()
        }
        write_record(options.json, record({"settings": settings, "results": results}))


if __name__ == "__main__":
    main()
