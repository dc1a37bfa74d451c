"""Settled pairs keep their probability, and say nothing of that of others."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.toys.mined import mined, sides
from tests.toys.sentences import toy_sentences
from xmine.browsing.opening import open_pairs
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.reranking import RerankingWeights
from xmine.mining.candidates import Candidates, Estimated, estimate_probabilities
from xmine.mining.options import MiningOptions
from xmine.mining.pipeline import mine
from xmine.pairs.known import LabelledPair, LabelledPairs, SettledPairs
from xmine.scoring.margin import margin_scores
from xmine.text.sentences import sentence_table

PAIRS = 300
Bools = NDArray[np.bool_]


def candidates(weights: RerankingWeights | None) -> Candidates:
    """400 x 400 sentences, 300 of them translations; reranked scores are log-odds."""
    chosen, neighbours = mined(*sides(400, 400, PAIRS, seed=3))
    if weights:
        chosen = replace(chosen, scores=(60 * (chosen.scores - 1.15)).astype(np.float32))
    source, target = (sentence_table(name, [f"{name}{row}" for row in range(400)]) for name in "ab")
    scores = margin_scores(neighbours, "ratio")
    return Candidates(chosen, neighbours, scores, source, target, weights)


def settled_among(some: Candidates, probs: float) -> tuple[SettledPairs, Bools]:
    """Every other translation of the candidates, and which pairs these are."""
    x, y = some.lines()
    rows = (x == y) & (x % 2 == 0) & (x <= PAIRS)
    pairs = np.stack([x, y], axis=1)[rows]
    return SettledPairs(pairs, np.full(len(pairs), probs)), rows


def places(settled: SettledPairs) -> list[tuple[int, int]]:
    return [(x, y) for x, y in settled.lines.tolist()]


def moved(some: Candidates, rows: Bools) -> Candidates:
    """Put the settled pairs as far out as a pair can be."""
    chosen = some.chosen
    scores = np.where(rows, chosen.scores + 40, chosen.scores).astype(np.float32)
    cosines = np.where(rows, 1, chosen.cosines).astype(np.float32)
    return replace(some, chosen=replace(chosen, scores=scores, cosines=cosines))


def probs_of(found: Estimated) -> dict[tuple[int, int], float]:
    assert found.confidence is not None
    x, y = found.candidates.lines()
    lines = zip(x.tolist(), y.tolist(), strict=True)
    return dict(zip(lines, found.confidence.probs.tolist(), strict=True))


WEIGHTS = [None, RerankingWeights()]


@pytest.mark.parametrize("weights", WEIGHTS, ids=["margins", "reranked"])
def test_what_is_settled_stays_and_moves_no_other_pair(weights: RerankingWeights | None) -> None:
    some = candidates(weights)
    settled, rows = settled_among(some, 0.9321)
    assert len(settled.probs) > 100
    found = estimate_probabilities(some, settled=settled)
    probs = probs_of(found)
    keys = set(places(settled))
    assert {probs[each] for each in keys} == {0.9321}
    assert probs_of(estimate_probabilities(moved(some, rows), settled=settled)) == probs
    out = LabelledPairs("", [LabelledPair(x, y, False) for x, y in sorted(keys)])
    without = probs_of(estimate_probabilities(some, out))
    assert {key: prob for key, prob in probs.items() if key not in keys} == {
        key: prob for key, prob in without.items() if key not in keys
    }
    assert found.confidence and found.confidence.translations == pytest.approx(PAIRS, rel=0.1)
    far = estimate_probabilities(moved(some, rows)).confidence
    assert far and far.probs[~rows].tolist() != [probs[each] for each in probs if each not in keys]


def test_others_keep_their_probability_where_nothing_tells_translations_among_them() -> None:
    some = candidates(None)
    x, y = some.lines()
    right = (x == y) & (x <= PAIRS)
    left = right & (np.cumsum(right) > PAIRS - 20)  # too few for an estimate
    lines = np.stack([x, y], axis=1)
    few = SettledPairs(lines[left], np.linspace(0.3, 0.8, left.sum()))
    settled = SettledPairs(lines[right & ~left], np.full((right & ~left).sum(), 0.95))
    blurred = replace(some, neighbours=some.neighbours.first(2))
    told = np.array([left.sum(), 0.0])
    for number, others in enumerate((None, few)):
        given = replace(settled, others=others)
        near = moved(blurred, np.zeros(len(x), dtype=bool))
        cosines = np.where(left, near.chosen.cosines - 0.5, near.chosen.cosines)
        hidden = replace(near, chosen=replace(near.chosen, cosines=cosines.astype(np.float32)))
        probs = probs_of(estimate_probabilities(hidden, settled=given))
        found = np.array([probs[x, y] for x, y in few.lines.tolist()])
        told[number] = found.sum()
    assert told[0] < 1
    assert told[1] == pytest.approx(few.probs.sum(), abs=1e-3)
    # Where translations stand out among the others, what they were before counts for nothing.
    half, _ = settled_among(some, 0.93)
    plain = probs_of(estimate_probabilities(some, settled=half))
    assert probs_of(estimate_probabilities(some, settled=replace(half, others=few))) == plain


def test_verdicts_correct_the_others_alone_and_are_obeyed() -> None:
    some = candidates(None)
    settled, _ = settled_among(some, 0.93)
    plain = probs_of(estimate_probabilities(some, settled=settled))
    keys = places(settled)
    unsure = sorted((prob, key) for key, prob in plain.items() if 0.1 < prob < 0.92)
    wrong = {key for _, key in unsure[-3:]} | {keys[0]}
    pairs = [LabelledPair(x, y, False) for x, y in wrong] + [LabelledPair(*keys[1])]
    judged = LabelledPairs("", pairs)
    found = probs_of(estimate_probabilities(some, judged, settled))
    assert {found[each] for each in wrong} == {0.0} and found[keys[1]] == 1.0
    assert {found[each] for each in keys[2:]} == {0.93}
    left = [key for _, key in unsure[:-3]]
    assert left and all(found[each] < plain[each] for each in left)


def test_a_run_takes_other_settled_pairs(toy_encoder: SentenceEncoder, tmp_path: Path) -> None:
    english, chinese, _ = toy_sentences(80, seed=2)
    files = tmp_path / "en.txt", tmp_path / "zh.txt"
    for path, lines in zip(files, (english, chinese), strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    both = np.array([[1, 1], [2, 2]])

    def again(settled: SettledPairs) -> None:
        options = MiningOptions(min_prob=0.0)
        mine(*files, toy_encoder, options, settled=settled, run=tmp_path / "run")

    again(SettledPairs(both, np.array([0.91, 0.92])))
    assert _probs(tmp_path / "run")[1, 1] == 0.91
    again(SettledPairs(both, np.array([0.91, 0.93])))
    assert _probs(tmp_path / "run")[2, 2] == 0.93


def _probs(run: Path) -> dict[tuple[int | None, int | None], float]:
    opened = open_pairs(run)
    pairs = map(opened.pair, range(len(opened)))
    return {(each.source_line, each.target_line): round(each.prob or 0, 4) for each in pairs}
