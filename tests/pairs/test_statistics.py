"""The survey of pairs against a slow and obvious twin; samples that are drawn evenly."""

import random
import statistics
from collections import Counter

import pytest

from xmine.pairs.pair import Pair
from xmine.pairs.statistics import sample, survey


def test_a_survey_is_that_of_its_slow_twin() -> None:
    draw = random.Random(5)
    texts = ["", " ", "a", "A ", "bb", "一", "word " * 9]
    pairs = [
        Pair(draw.choice(texts), draw.choice(texts), draw.choice([None, 0.5, 1.25, float("inf")]))
        for _ in range(301)
    ]
    found = survey(iter(pairs))
    assert found["pairs"] == 301
    assert found["repeated_pairs"] == sum((c - 1) for c in Counter(p[:2] for p in pairs).values())
    assert found["repeated_sources"] == 301 - len(texts) == found["repeated_targets"]
    assert found["empty_sources"] == sum(pair.source in ("", " ") for pair in pairs)
    assert found["empty_targets"] == sum(pair.target in ("", " ") for pair in pairs)
    full = [pair for pair in pairs if pair.source.strip() and pair.target.strip()]
    assert found["copies"] == sum(
        pair.source.strip().lower() == pair.target.strip().lower() for pair in full
    )
    for spread, values in (
        (found["source_length"], [len(pair.source) for pair in pairs]),
        (found["target_length"], [len(pair.target) for pair in pairs]),
        (found["length_ratio"], [len(pair.target) / len(pair.source) for pair in full]),
        (found["score"], [pair.score for pair in pairs if pair.score in (0.5, 1.25)]),
    ):
        quarters = statistics.quantiles(values, n=4, method="inclusive")
        assert spread == pytest.approx([min(values), *quarters, max(values)])
    assert (found["cosine"], found["prob"], found["flags"], found["margin"]) == (None,) * 4
    shares = [draw.choice([None, 0.25, 0.5, 1.0]) for _ in pairs]
    raised = [draw.choice([None, "", "copy", "hub,copy", "number"]) for _ in pairs]
    judged = [
        pair._replace(prob=prob, flags=flags)
        for pair, prob, flags in zip(pairs, shares, raised, strict=True)
    ]
    judged[0] = judged[0]._replace(margin=1.5)
    judged[-1] = judged[-1]._replace(margin=1.0)
    found = survey(iter(judged))
    assert found["margin"] == [1.0, 1.125, 1.25, 1.375, 1.5]
    quarters = statistics.quantiles([each for each in shares if each], n=4, method="inclusive")
    assert found["prob"] == pytest.approx([0.25, *quarters, 1.0])
    counts = {
        "copy": raised.count("copy") + raised.count("hub,copy"),
        "hub": raised.count("hub,copy"),
        "number": raised.count("number"),
    }
    assert found["flags"] == counts
    assert list(found["flags"]) == sorted(counts, key=lambda name: -counts[name])
    assert survey([Pair("a", "b", flags="")])["flags"] == {}


def test_no_pairs_have_no_spread() -> None:
    found = survey([])
    assert (found["pairs"], found["source_length"], found["length_ratio"]) == (0, None, None)


def test_every_pair_is_as_likely_to_be_drawn() -> None:
    pairs = [Pair(str(number), "") for number in range(10)]
    drawn = Counter(pair for seed in range(3000) for pair in sample(iter(pairs), 3, seed))
    # 900 of each are expected; five standard deviations are 125
    assert all(abs(drawn[pair] - 900) < 125 for pair in pairs)
    assert sample(pairs, 20, 1) == pairs
