"""Held-out translations -> how good `--threshold auto`, `--precision` and the estimate are.

    python bench/threshold.py EVAL [--model FOLDER] [--sizes 500,1000] [--draws 10] [--seeds 0.2]
        [--language de] [--judged 10,25,50,100] [--json OUT.json]
    python bench/threshold.py TRAIN --short [--draws 10] [--json OUT.json]

EVAL and TRAIN are the folders `eval/` and `train/` that bench/mixtures.py reads, TRAIN for sets of
short lines. Every mining set is mined with several margins and neighbourhoods. Regret is the F1 of
the best cut in hindsight, through the pairs by probability or by score, minus the F1 at the chosen
one. What is called `others` bounds what can be asked for: the regret of the median best cut of the
other draws of the same kind of set, and for a wanted precision the lowest cut that reaches it on
all of them together. Both know the truth of other files, and nothing of these.

`auto N` is the F1 at the cut of `auto` once the N pairs around it were judged, `lost N` the most
that judging cost a set.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from mixtures import (
    SHORT_SIZES,
    SHORT_SOURCES,
    SIZES,
    Corpus,
    Mixture,
    mixtures,
    read_corpus,
    read_short,
)
from numpy.typing import NDArray
from reranked import Tokens, rerank

from xmine.encoders.encoder import EMBEDDED, SentenceEncoder
from xmine.encoders.reranking import RerankingWeights
from xmine.evaluation.reports.record import record, write_record
from xmine.flags.near_copies import same_texts
from xmine.knn.exact import search_exact
from xmine.knn.neighbours import Neighbours
from xmine.pairs.known import LabelledPair, labels_of
from xmine.scoring.calibration import calibrate, corrected
from xmine.scoring.margin import margin_scores
from xmine.scoring.probability import NEIGHBOURS, Confidence, Floats, estimate
from xmine.scoring.retrieval import choose_pairs
from xmine.scoring.threshold import choose_threshold
from xmine.vectors.tokens import tokens_of

# What ranks, and the neighbourhood; the first is the default of `xmine mine`, others are margins.
RERANKED = "reranked"
SETTINGS = (
    *((RERANKED, 4), ("ratio", 4), ("ratio", 2), ("ratio", 8)),
    *(("distance", 4), ("absolute", 4)),
)
FIXED = (1.04, 1.06, 1.1, 1.2, 1.3)  # for the ratio margin
PRECISIONS = (0.80, 0.90, 0.95, 0.99)
SLACK = 0.03  # that a true precision may fall short of the wanted one
ENOUGH = 0.9  # of the pairs in the largest prefix that has the wanted precision
SHOWN = (
    "sets,kept,best F1,regret,worst,others,1.06,1.2,1.3,error,inside,p0.9 true,p0.9 recall,"
    "p0.99 true,p0.99 recall"
).split(",")
GROUPS = {
    "300 pairs or more": (300, 10**9),
    "50 to 299": (50, 300),
    "fewer than 50": (1, 50),
    "no translation": (0, 1),
}


class Outcome(NamedTuple):
    """What one set gave in one setting.

    Attributes:
        mixture: the set.
        gold: its parallel pairs.
        best: F1 of the best cut in hindsight, by probability or by score.
        by_score: that of the best cut by score.
        best_cut: the best probability to cut at.
        auto: F1 at the chosen cut.
        judged: F1 at the cut of `auto` after so many pairs were judged.
        kept: pairs that it keeps, per 100 lines of a side.
        regrets: of each fixed cut, and of `others`.
        expected, true: precision at the chosen cut; NaN if nothing is kept.
        inside: whether the true precision lies in the interval.
        asked: for each wanted precision, and that of `others`, whether the true one is at most
            SLACK lower, and whether moreover ENOUGH pairs are kept.
        reached: for each wanted precision, the true one, NaN if nothing is kept, and the recall.
        ranks, right: float64, bool [pairs], probabilities, best first: all pairs, for the others.
    """

    mixture: Mixture
    gold: int
    best: float
    by_score: float
    best_cut: float
    auto: float
    judged: dict[int, float]
    kept: float
    regrets: dict[str, float]
    expected: float
    true: float
    inside: bool
    asked: dict[str, tuple[bool, bool]]
    reached: dict[str, tuple[float, float]]
    ranks: Floats
    right: NDArray[np.bool_]


def measure(
    corpus: Corpus,
    mixture: Mixture,
    neighbours: Neighbours,
    tokens: Tokens,
    setting: tuple[str, int],
    options: argparse.Namespace,
) -> Outcome:
    """Mine a set as `xmine mine` does, some pairs known, and compare with the truth."""
    margin, k = setting
    few, weights = neighbours.first(k), RerankingWeights()
    reranked = rerank(corpus, mixture, few, tokens, weights) if margin == RERANKED else None
    by_margin = "ratio" if margin == RERANKED else margin
    pairs = reranked or choose_pairs(few, margin_scores(few, by_margin))
    copies = same_texts(
        [corpus.english[row] for row in mixture.english[pairs.sources].tolist()],
        [corpus.chinese[row] for row in corpus.chinese_rows(mixture)[pairs.targets].tolist()],
    )
    known = _seeds(mixture, options.seeds)
    labels = labels_of(known, mixture.english[pairs.sources], mixture.chinese[pairs.targets])
    labels[copies & (labels == -1)] = 0
    estimated = estimate(pairs, neighbours, labels)
    if estimated is None:
        raise RuntimeError(f"too few lines: {mixture[:4]}")
    if reranked:
        estimated = calibrate(pairs.scores, estimated, labels, weights)
    left = np.flatnonzero(labels != 0)  # copies and what is known to be wrong are dropped
    order = left[np.lexsort((-pairs.scores[left], -estimated.probs[left]))]
    pairs, confidence = pairs.take(order), estimated.of(order)
    right = mixture.english[pairs.sources] == mixture.chinese[pairs.targets]  # [pairs]
    f1 = _f1(confidence.probs, right, mixture.gold)
    best = int(f1.argmax())
    by_score = np.argsort(-pairs.scores, kind="stable")
    scores = pairs.scores[by_score].astype(np.float64)
    f1_by_score = _f1(scores, right[by_score], mixture.gold)
    highest = max(float(f1[best]), float(f1_by_score.max()))
    chosen = choose_threshold(pairs.scores, confidence).kept
    cuts = FIXED if margin == "ratio" else ()
    low, high = chosen.interval or (np.nan, np.nan)
    true = float(right[: chosen.pairs].mean()) if chosen.pairs else np.nan
    asked, reached = {}, {}
    for wanted in PRECISIONS:
        found = choose_threshold(pairs.scores, confidence, precision=wanted).kept.pairs
        asked[f"p{wanted:g}"] = _asked(confidence.probs, right, found, wanted)
        reached[f"p{wanted:g}"] = (
            float(right[:found].mean()) if found else np.nan,
            float(right[:found].sum()) / max(mixture.gold, 1),
        )
    return Outcome(
        mixture=mixture,
        gold=mixture.gold,
        best=highest,
        by_score=float(f1_by_score.max()),
        best_cut=float(confidence.probs[best - 1]) if best else np.inf,
        auto=float(f1[chosen.pairs]),
        judged={
            number: _f1_judged(confidence, right, mixture.gold, chosen.pairs, number)
            for number in options.judged
        },
        kept=100 * chosen.pairs / mixture.size,
        regrets={f"{cut:g}": highest - float(f1_by_score[_above(scores, cut)]) for cut in cuts},
        expected=np.nan if chosen.precision is None else chosen.precision,
        true=true,
        inside=bool(low <= true <= high),
        asked=asked,
        reached=reached,
        ranks=confidence.probs,
        right=right,
    )


def _seeds(mixture: Mixture, share: float) -> list[LabelledPair]:
    """Draw some of the parallel pairs, named by the numbers of their texts."""
    pairs = np.intersect1d(mixture.english, mixture.chinese)
    drawn = np.random.default_rng(mixture.draw).permutation(pairs)[: round(share * len(pairs))]
    return [LabelledPair(number, number) for number in drawn.tolist()]


def _f1(ranks: Floats, right: NDArray[np.bool_], gold: int) -> Floats:
    """Follow the F1 of keeping the best 0, 1, ... pairs; 0 where that would part equal ones."""
    kept = np.arange(1, len(ranks) + 1)
    f1 = np.where(_last(ranks), 2 * right.cumsum() / (kept + gold), 0)
    return np.concatenate([[0.0], f1])


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


def _last(ranks: Floats) -> NDArray[np.bool_]:
    """Mark the last one of equal ranks."""
    return np.append(ranks[1:] != ranks[:-1], True)


def _above(ranks: Floats, cut: float) -> int:
    return int((ranks >= cut).sum())


def _asked(ranks: Floats, right: NDArray[np.bool_], found: int, wanted: float) -> tuple[bool, bool]:
    """Tell whether so many pairs are as precise as wanted, and moreover enough of them.

    An empty answer is right where fewer than ten pairs could be given.
    """
    kept = np.arange(1, len(ranks) + 1)
    reaching = kept[_last(ranks) & (right.cumsum() >= wanted * kept)]
    largest = int(reaching[-1]) if len(reaching) else 0
    if not found:
        return largest < 10, largest < 10
    precise = bool(right[:found].mean() >= wanted - SLACK)
    return precise, precise and found >= ENOUGH * largest


def learn_from_others(outcomes: list[Outcome]) -> None:
    """Add what is known from the truth of the other draws of each kind of set."""
    kinds = defaultdict(list)
    for each in outcomes:
        kinds[each.mixture[:3]].append(each)
    for draws in kinds.values():
        for number, each in enumerate(draws):
            others = draws[:number] + draws[number + 1 :]
            if not others:
                continue
            cut = float(np.median([other.best_cut for other in others]))
            f1 = _f1(each.ranks, each.right, each.gold)
            each.regrets["others"] = each.best - float(f1[_above(each.ranks, cut)])
            ranks = np.concatenate([other.ranks for other in others])
            order = np.argsort(-ranks, kind="stable")
            ranks = ranks[order]
            right = np.concatenate([other.right for other in others])[order]
            share = right.cumsum() / np.arange(1, len(right) + 1)
            for wanted in PRECISIONS:
                reaching = np.flatnonzero(_last(ranks) & (share >= wanted))
                found = _above(each.ranks, ranks[reaching[-1]]) if len(reaching) else 0
                each.asked[f"others p{wanted:g}"] = _asked(each.ranks, each.right, found, wanted)


def summary(group: Sequence[Outcome]) -> dict[str, float]:
    """Sum up a group of outcomes; shares, not percent."""
    regret = np.array([each.best - each.auto for each in group])
    error = np.array([each.expected - each.true for each in group])
    kept = np.isfinite(error)
    inside = [each.inside for each, some in zip(group, kept, strict=True) if some]
    row = {
        "sets": len(group),
        "kept": float(np.mean([each.kept for each in group])),
        "best F1": float(np.mean([each.best for each in group])),
        "by score": float(np.mean([each.by_score for each in group])),
        "regret": float(regret.mean()),
        "worst": float(regret.max()),
        "empty": sum(each.auto == 0 and each.best > 0.3 for each in group),
        "too sure": float(error[kept].mean()) if kept.any() else np.nan,
        "error": float(np.abs(error[kept]).mean()) if kept.any() else np.nan,
        "inside": float(np.mean(inside)) if inside else np.nan,
    }
    for number in group[0].judged:
        gains = [each.judged[number] - each.auto for each in group]
        row[f"auto {number}"] = float(np.mean([each.judged[number] for each in group]))
        row[f"lost {number}"] = max(0.0, -min(gains))
    for name in group[0].regrets:
        row[name] = float(np.mean([each.regrets[name] for each in group]))
    for name in group[0].reached:
        true, recall = zip(*(each.reached[name] for each in group), strict=True)
        some = [each for each in true if np.isfinite(each)]
        row |= {f"{name} true": float(np.mean(some)) if some else np.nan}
        row |= {f"{name} recall": float(np.mean(recall))}
    fixed = [f"{cut:g}" for cut in FIXED if f"{cut:g}" in group[0].regrets]
    if fixed:
        behind = [each.best - each.auto - min(each.regrets[cut] for cut in fixed) for each in group]
        row["behind best fixed"] = max(behind)
    for name in group[0].asked:
        precise, enough = np.mean([each.asked[name] for each in group], axis=0).tolist()
        row |= {f"{name} precise": precise, f"{name} enough": enough}
    return {name: round(value, 4) for name, value in row.items()}


def worst(outcomes: Iterable[Outcome], fewest: int, most: int) -> list[dict[str, object]]:
    """Name the sets of the largest regret."""
    some = [each for each in outcomes if each.gold >= fewest]
    some.sort(key=lambda each: each.auto - each.best)
    return [
        {
            **{name: getattr(each.mixture, name) for name in ("source", "size", "share", "draw")},
            "gold": each.gold,
            **{
                name: round(getattr(each, name), 4) for name in ("best", "auto", "expected", "true")
            },
        }
        for each in some[:most]
    ]


def tables(outcomes: list[Outcome]) -> dict[str, dict[str, float]]:
    """Sum up by parallel pairs, share, size and source."""
    groups = {
        name: [each for each in outcomes if low <= each.gold < high]
        for name, (low, high) in GROUPS.items()
    }
    known = [each for each in outcomes if each.mixture.source.endswith(" zh")]
    if known:  # short lines, of which the encoder knows those in Chinese
        groups |= {
            f"zh, {name}": [each for each in known if low <= each.gold < high]
            for name, (low, high) in GROUPS.items()
        }
    for kind in sorted(
        {each.mixture.source.split()[0] for each in outcomes} & SHORT_SOURCES.keys()
    ):
        groups[kind] = [each for each in outcomes if each.mixture.source.startswith(kind)]
    for field in ("share", "size", "source"):
        values = sorted({getattr(each.mixture, field) for each in outcomes})
        groups |= {
            f"{field} {value}": [each for each in outcomes if getattr(each.mixture, field) == value]
            for value in values
        }
    groups["all"] = outcomes
    return {name: summary(group) for name, group in groups.items() if group}


def mine_all(
    corpora: Iterable[Corpus], encoder: SentenceEncoder, options: argparse.Namespace
) -> dict[str, list[Outcome]]:
    """Mine every set in every setting."""
    found = defaultdict(list)
    for corpus in corpora:
        corpus = replace(corpus, shares=(0.0, *corpus.shares))
        english, chinese = (encoder.encode_half(each) for each in (corpus.english, corpus.chinese))
        tokens = tokens_of(encoder, corpus.english), tokens_of(encoder, corpus.chinese)
        for mixture in mixtures(corpus, options.sizes, options.draws, options.seed):
            target = chinese[corpus.chinese_rows(mixture)]
            # The encoder may know no piece of a short line.
            sides = english[mixture.english].any(axis=1), target.any(axis=1)
            mixture = mixture._replace(
                english=mixture.english[sides[0]], chinese=mixture.chinese[sides[1]]
            )
            sides_used = english[mixture.english], target[sides[1]]
            neighbours = search_exact(*sides_used, max(8, NEIGHBOURS))
            for setting in SETTINGS[: 2 if options.short else None]:
                found["{}, k = {}".format(*setting)].append(
                    measure(corpus, mixture, neighbours, tokens, setting, options)
                )
    for outcomes in found.values():
        learn_from_others(outcomes)
    return found


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--short", action="store_true", help="short lines of train/")
    parser.add_argument("--language", default="zh", help="of eval/, beside English")
    parser.add_argument("--model", type=Path, default=EMBEDDED)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=float, default=0.0, help="share of the pairs that is known")
    parser.add_argument("--judged", type=_numbers, default=(10, 25, 50, 100))
    parser.add_argument("--sizes", type=_numbers)
    options = parser.parse_args()
    options.sizes = options.sizes or (SHORT_SIZES if options.short else SIZES)
    corpora = (
        read_short(options.data) if options.short else [read_corpus(options.data, options.language)]
    )
    found = mine_all(corpora, SentenceEncoder.load(options.model), options)
    results = {}
    for setting, outcomes in found.items():
        table = tables(outcomes)
        results[setting] = {
            "table": table,
            "worst": worst(outcomes, 300, 5) + worst(outcomes, 50, 5),
        }
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
