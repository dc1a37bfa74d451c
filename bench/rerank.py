"""Held-out translations -> what each feature of reranking is worth.

    python bench/rerank.py EVAL TRAIN [--draws 3] [--nearest 2] [--json OUT.json]

EVAL and TRAIN are the folders `eval/` and `train/` that bench/mixtures.py reads. A row of the table
is a set of features. Their weights are fitted on mixtures of the pairs of TRAIN that were held out
of the training of the embedded encoder, in all its languages, and measured on sets of EVAL in
Chinese, of which no weight knows. F1 is that of the best cut in hindsight through one-to-one pairs;
retrieval, among the ten nearest lines, is given from English and to English. For PAWS-X a sentence
has two candidates, its translation and that of a sentence of the same words and another meaning.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from candidates import CandidateSet, Floats, Pool
from rerank_sets import SHARES, bucc_pool, fit_pools, mixed_pool, paws_pool, tatoeba_pool

from xmine.encoders.encoder import SentenceEncoder
from xmine.evaluation.reports.record import record, write_record
from xmine.scoring.reranking_fit import logistic_regression

LOOK = ("log_margin", "missing")
ORDER = (*LOOK, "order")
LEADS = (*ORDER, "match_lead", "margin_lead")
LENGTHS = (*LEADS, "covered", "length")
NUMBERS = (*LENGTHS, "numbers")  # have no part in the choice of pairs, only in their order
PARTS = {
    "margin alone": ("log_margin",),
    "+ missing": LOOK,
    "+ order": ORDER,
    "+ both leads": LEADS,
    "+ length and covered": LENGTHS,
    "+ other numbers": NUMBERS,
    "without missing": tuple(name for name in LEADS if name != "missing"),
    "without order": tuple(name for name in LEADS if name != "order"),
}
COLUMNS = (
    "BUCC",
    *(f"all {share:.0%}" for share in SHARES),
    *(f"{name} {way} en" for name in ("Tatoeba", "PAWS-X") for way in ("from", "to")),
)
Scores = Callable[[CandidateSet], Floats]


def scores_of(names: Sequence[str], weights: Sequence[float], bias: float) -> Scores:
    """Make the score of cells that weighs some features."""

    def score(each: CandidateSet) -> Floats:
        columns = (weight * each.figures[name] for name, weight in zip(names, weights, strict=True))
        return sum(columns, np.full(len(each.cells), bias))

    return score


def fitted(names: Sequence[str], sets: Sequence[CandidateSet]) -> tuple[Floats, float]:
    """Fit the weights of features, and the bias."""
    given = np.concatenate([np.stack([each.figures[name] for name in names], 1) for each in sets])
    return logistic_regression(given, np.concatenate([each.right() for each in sets]))


def measure(pools: Sequence[Pool], scores: Scores, chosen_by: Scores) -> dict[str, float]:
    """Measure a score on sets of EVAL: columns of the table."""
    found: dict[str, list[float]] = {}
    for each in (each for pool in pools for each in pool.sets):
        if each.kind in {"Tatoeba", "PAWS-X"}:
            both = each.found(chosen_by(each))
            found[f"{each.kind} from en"], found[f"{each.kind} to en"] = ([one] for one in both)
        else:
            of = "" if each.kind == "BUCC" else f" {each.share:.0%}"
            found.setdefault(each.kind + of, []).append(each.oracle(scores(each), chosen_by(each)))
    return {name: round(float(np.mean(values)), 4) for name, values in found.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("eval", type=Path)
    parser.add_argument("train", type=Path)
    parser.add_argument("--draws", type=int, default=3, help="mixtures of each kind")
    parser.add_argument("--nearest", type=int, default=Pool.nearest, help="candidates of a line")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    Pool.nearest = options.nearest
    encoder = SentenceEncoder.load()
    learnt = fit_pools(encoder, options.train, options.draws)
    readers = (bucc_pool, tatoeba_pool, paws_pool)
    measured = [read(encoder, options.eval) for read in readers]
    measured.append(mixed_pool(encoder, options.eval, options.draws))
    for pool in (*learnt, *measured):
        pool.add_figures()
    chosen = scores_of(("score",), (1.0,), 0.0)
    shipped = scores_of(("score", "numbers"), (1.0, -measured[0].weights.other_numbers), 0.0)
    results: dict[str, dict[str, object]] = {
        "as shipped": {"table": measure(measured, shipped, chosen)}
    }
    print(" " * 18 + " ".join(COLUMNS))
    for name, features in PARTS.items():
        values, bias = fitted(features, [each for pool in learnt for each in pool.sets])
        score = chosen = scores_of(features, values.tolist(), bias)
        if features is NUMBERS:
            chosen = scores_of(LENGTHS, values[:-1].tolist(), bias)
        results[name] = {
            "table": measure(measured, score, chosen),
            "weights": dict(
                zip((*features, "bias"), [*values.round(3), round(bias, 3)], strict=True)
            ),
        }
    for name, result in results.items():
        row: dict[str, float] = result["table"]  # type: ignore[assignment]
        print(f"{name:18}" + " ".join(f"{row[each]:.3f}".rjust(len(each)) for each in COLUMNS))
    if options.json:
        settings = {"draws": options.draws, "nearest": options.nearest}
        write_record(options.json, record({"settings": settings, "results": results}))


if __name__ == "__main__":
    main()
