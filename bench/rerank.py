"""Held-out translations -> what each part of reranking is worth, and what trials were.

    python bench/rerank.py EVAL TRAIN [--parts margin,leads] [--draws 3] [--json OUT.json]

EVAL and TRAIN are the folders `eval/` and `train/` that bench/mixtures.py reads. A row of the table
is a set of figures of a candidate. Their weights are fitted on mixtures of the pairs of TRAIN that
were held out of the training of the embedded encoder, in all its languages, and measured on sets of
EVAL in Chinese, of which no weight knows. F1 is that of the best cut in hindsight through
one-to-one pairs; retrieval, among the ten nearest lines, is given from English and to English. For
PAWS-X a sentence has two candidates, its translation and that of a sentence of the same words and
another meaning.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from candidates import CandidateSet, Floats, Pool, Rows
from lexical import Direction, learn
from numpy.typing import NDArray
from rerank_sets import (
    DOMAINS,
    SHARES,
    bucc_pool,
    fit_pools,
    mixed_pool,
    paws_pool,
    read_held_out,
    tatoeba_pool,
)
from trial_figures import (
    add_cosine,
    add_counterparts,
    add_dimensions,
    add_latin,
    add_lengths,
    add_lexical,
    add_numbers,
    add_rarity,
    add_tokens,
    spread,
)

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.modules.static import StaticEmbedding
from xmine.encoders.reranking import RerankingWeights
from xmine.encoders.tokens import TOKEN_DIM
from xmine.evaluation.reports.record import record, write_record
from xmine.scoring.reranking_fit import logistic_regression
from xmine.vectors.tokens import tokens_of

LEAST_TOKENS = 5  # of the shorter side of a pair to fit on, as in `xmine train`
LEXICAL_PAIRS = 300_000
DIMENSIONS = (64, 96, 448)
OF_ALL = f"{TOKEN_DIM} dimensions of all"

LOOK = ("log_margin", "missing")
ORDER = (*LOOK, "order")
LEADS = (*ORDER, "match_lead", "margin_lead")
BEFORE = ("log_margin", "lower", "log tokens", "order", "match_lead", "margin_lead")
_OF_MATCHES = ("missing", "order", "match_lead")
_LEXICAL = tuple(
    f"{which} {what}" for which in ("lower", "mean") for what in ("likelihood", "explained")
)


def _in_place(name: str) -> tuple[str, ...]:
    """Take another token look in place of the one of xmine."""
    return tuple(f"{name}: {each}" if each in _OF_MATCHES else each for each in LEADS)


def _of_all(figures: tuple[str, ...]) -> tuple[str, ...]:
    """Take the matches in which every counterpart counts."""
    return tuple("all: " * (each in {"lower", "match_lead"}) + each for each in figures)


@dataclass(frozen=True, slots=True)
class Part:
    """A row of the table.

    Attributes:
        figures: that are weighed.
        fit: the pairs that weights are fitted on: `sentences`, or `all` held-out pairs.
        then: the last figure has no part in the choice of pairs, only in their order.
    """

    figures: tuple[str, ...]
    fit: str = "sentences"
    then: bool = False


PARTS = {
    "margin": Part(("log_margin",)),
    "cosine": Part(("cosine",)),
    "missing": Part(LOOK),
    "order": Part(ORDER),
    "leads": Part(LEADS),
    **{f"without {gone}": Part(tuple(each for each in LEADS if each != gone)) for gone in LEADS},
    "before": Part(_of_all(BEFORE)),
    "before but mutual": Part(BEFORE),
    "all counterparts": Part(_of_all(LEADS)),
    "+ lower": Part((*LEADS, "lower")),
    "+ tokens": Part((*LEADS, "log tokens")),
    "numbers": Part((*LEADS, "numbers")),
    "then numbers": Part((*LEADS, "numbers"), then=True),
    "+ cosine": Part((*LEADS, "cosine")),
    "+ match": Part((*LEADS, "match")),
    "lexical table": Part((*LEADS, *_LEXICAL)),
    "lexical alone": Part(("log_margin", "log tokens", "margin_lead", *_LEXICAL)),
    "rarity": Part(_in_place("rarity")),
    **{f"{each} dimensions": Part(_in_place(f"{each} dimensions")) for each in DIMENSIONS},
    OF_ALL: Part(_in_place(OF_ALL)),
    "Latin words": Part((*LEADS, "Latin words")),
    "length ratio": Part((*LEADS, "length ratio")),
    "short pairs too": Part(LEADS, fit="all"),
}
SHIPPED = "weights as shipped"


def add_figures(
    pool: Pool, wanted: set[str], pieces: NDArray[np.float32], tables: Sequence[Direction]
) -> None:
    """Add the figures of xmine, and those of trials that are wanted."""
    x, y = pool.gather()
    matches = pool.look(x, y)
    pool.measure("", [matches[each.cells] for each in pool.sets])
    spread(pool, "match", matches[:, 0])
    trials: dict[str, Callable[[Pool, Rows, Rows], None]] = {
        "cosine": add_cosine,
        "log tokens": add_tokens,
        "numbers": add_numbers,
        "Latin words": add_latin,
        "length ratio": add_lengths,
    }
    for name, add in trials.items():
        if name in wanted:
            add(pool, x, y)
    if wanted & {"lower", "all: lower", "all: match_lead"}:
        add_counterparts(pool, x, y)
    if tables:
        add_lexical(pool, x, y, tables)
    for each in DIMENSIONS:
        if f"{each} dimensions: missing" in wanted:
            add_dimensions(pool, x, y, pieces, each)
    if f"{OF_ALL}: missing" in wanted:
        add_dimensions(pool, x, y, pieces, TOKEN_DIM, of_all=True)
    if "rarity: missing" in wanted:
        add_rarity(pool)


def _matrix(each: CandidateSet, figures: Sequence[str]) -> Floats:
    return np.stack([each.figures[name] for name in figures], axis=1)  # [cells, figures]


def fit(part: Part, sets: Sequence[CandidateSet]) -> tuple[Callable[[Floats], Floats], Floats]:
    """Fit a part; give a function of figures [cells, figures], and weights, the bias last."""
    given = np.concatenate([_matrix(each, part.figures) for each in sets])
    right = np.concatenate([each.right() for each in sets])
    weights, bias = logistic_regression(given, right)
    return lambda figures: figures @ weights + bias, np.append(weights, bias)


Scores = Callable[[CandidateSet], Floats]


def measure(
    sets: Sequence[CandidateSet], scores: Scores, chosen_by: Scores | None = None
) -> dict[str, float]:
    """Measure a score on sets of EVAL: columns of the table."""
    found: dict[str, list[float]] = {}
    for each in sets:
        values, choosing = scores(each), chosen_by and chosen_by(each)
        if each.kind.startswith("retrieval") or each.kind in {"Tatoeba", "PAWS-X"}:
            name = each.kind.removeprefix("retrieval ")
            both = each.found(values if choosing is None else choosing)
            found[f"{name} from en"], found[f"{name} to en"] = ([one] for one in both)
            continue
        of = "" if each.kind == "BUCC" else f" {each.share:.0%}"
        found.setdefault(each.kind + of, []).append(each.oracle(values, choosing))
    row = {name: float(np.mean(values)) for name, values in found.items()}
    for share in SHARES:
        names = (f"{name} {share:.0%}" for name in DOMAINS)
        row[f"domains {share:.0%}"] = float(np.mean([row[name] for name in names]))
    return {name: round(value, 4) for name, value in row.items()}


@dataclass(frozen=True, slots=True)
class Pools:
    """Everything that parts are fitted and measured on."""

    sentences: tuple[Pool, ...]
    all_pairs: tuple[Pool, ...]
    measured: tuple[Pool, ...]

    def row(self, name: str) -> tuple[dict[str, float], dict[str, float]]:
        """Fit and measure a part: columns; and weights, and the scores of translations."""
        part = PARTS[name]
        pools = self.sentences if part.fit == "sentences" else self.all_pairs
        fitted = [each for pool in pools for each in pool.sets]
        judge, weights = fit(part, fitted)

        def score(each: CandidateSet) -> Floats:
            return judge(_matrix(each, part.figures))

        def choosing(each: CandidateSet) -> Floats:
            last: Floats = weights[-2] * each.figures[part.figures[-1]]
            return score(each) - last

        sets = [each for pool in self.measured for each in pool.sets]
        columns = measure(sets, score, choosing if part.then else None)
        right = np.concatenate([score(each)[each.right()] for each in fitted])
        known = dict(zip((*part.figures, "bias"), weights.tolist(), strict=False))
        known |= {"right mean": float(right.mean()), "right deviation": float(right.std())}
        return columns, {name: round(value, 3) for name, value in known.items()}

    def shipped(self, weights: RerankingWeights) -> dict[str, float]:
        """Measure the weights of the encoder."""

        def choosing(each: CandidateSet) -> Floats:
            columns = (getattr(weights, name) * each.figures[name] for name in LEADS)
            return sum(columns, np.full(len(each.cells), weights.bias))

        def score(each: CandidateSet) -> Floats:
            return choosing(each) - weights.other_numbers * each.figures["numbers"]

        sets = [each for pool in self.measured for each in pool.sets]
        return measure(sets, score, choosing)


def make_pools(options: argparse.Namespace, encoder: SentenceEncoder) -> Pools:
    """Read and mix everything, and add the figures that the parts ask for."""
    trained, held = read_held_out(options.train)
    wanted = {"numbers", *(figure for name in options.parts for figure in PARTS[name].figures)}
    tables: Sequence[Direction] = ()
    if wanted & set(_LEXICAL):
        drawn = np.sort(np.random.default_rng(3).permutation(len(trained))[:LEXICAL_PAIRS])
        some = trained.take(drawn)
        sides = [tokens_of(encoder, each) for each in (some.sources, some.targets)]
        tables = learn(sides[0], sides[1], len(sides[0].table))
        entries = ", ".join(f"{len(each.probs):,}" for each in tables)
        print(f"lexical table of {len(some):,} pairs: {entries} entries")
    sentences = fit_pools(encoder, held, LEAST_TOKENS, options.draws)
    short = fit_pools(encoder, held, 1, options.draws)
    readers = (bucc_pool, tatoeba_pool, paws_pool)
    measured = (
        mixed_pool(encoder, options.eval, options.draws),
        *(read(encoder, options.eval) for read in readers),
    )
    body = encoder.body
    assert isinstance(body, StaticEmbedding)
    for pool in (*sentences, *measured):
        add_figures(pool, wanted, body.vectors, tables)
    for pool in short:
        add_figures(pool, set(), body.vectors, ())
    return Pools(sentences, short, measured)


COLUMNS = (
    "BUCC",
    *(f"{name} {share:.0%}" for name in ("all", "domains") for share in SHARES),
    *(f"Tatoeba {way} en" for way in ("from", "to")),
    *(f"PAWS-X {way} en" for way in ("from", "to")),
    *(f"{name} {way} en" for name in DOMAINS for way in ("from", "to")),
)


def _show(name: str, row: dict[str, float]) -> None:
    print(
        f"{name:22}" + " ".join(f"{row[each]:.3f}".rjust(len(each)) for each in COLUMNS), flush=True
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("eval", type=Path)
    parser.add_argument("train", type=Path)
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS))
    parser.add_argument("--draws", type=int, default=3, help="mixtures of each kind")
    parser.add_argument("--nearest", type=int, default=Pool.nearest, help="candidates of a line")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    Pool.nearest = options.nearest
    encoder = SentenceEncoder.load()
    pools = make_pools(options, encoder)
    print(" " * 22 + " ".join(COLUMNS))
    results: dict[str, dict[str, object]] = {}
    shipped = pools.shipped(encoder.reranking or RerankingWeights())
    _show(SHIPPED, shipped)
    results[SHIPPED] = {"table": shipped}
    for name in options.parts:
        row, weights = pools.row(name)
        _show(name, row)
        results[name] = {"table": row, "weights": weights}
    if options.json:
        settings = {"parts": options.parts, "draws": options.draws, "least_tokens": LEAST_TOKENS}
        settings["nearest"] = options.nearest
        write_record(options.json, record({"settings": settings, "results": results}))


if __name__ == "__main__":
    main()
