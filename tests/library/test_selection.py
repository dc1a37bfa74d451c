"""What is dropped above the cut: too high a score, a flag, and what is beyond the best N."""

import dataclasses

import numpy as np
import pytest
from mined_toys import unit

from xmine.candidates import Scored, score_vectors
from xmine.confidence import Confidence
from xmine.options import FLAGS, MiningOptions
from xmine.selection import Selection, select
from xmine.sentences import sentence_table

# Line 3 is copied, lines 5 and 6 have other numbers, the last but one repeats an earlier one
# but for its marks.
ENGLISH = [
    "the ferry leaves at noon",
    "our lamp is broken again",
    "see http://example.org for more",
    "she paints doors and walls",
    "it costs 40 crowns a day",
    "the bridge is 250 metres long",
    "nobody saw the fox",
    "a storm is coming up",
    "the ferry leaves at noon!",
    "their shop sells old maps",
]
CHINESE = [
    "渡轮中午开船",
    "我们的灯又坏了",
    "see http://example.org for more",
    "她给门和墙刷漆",
    "每天要花90克朗",
    "那座桥长700米",
    "没有人看见那只狐狸",
    "暴风雨就要来了",
    "渡船正午出发吧",
    "他们的店卖旧地图",
]


@pytest.fixture(scope="module")
def scored() -> Scored:
    """Ten pairs, each line with its like; the first pair is the best one."""
    rng = np.random.default_rng(1)
    source = rng.normal(size=(10, 32))
    noise = np.linspace(0.1, 0.7, 10)[:, None]
    sides = unit(source), unit(source + noise * rng.normal(size=(10, 32)))
    tables = sentence_table("en", ENGLISH), sentence_table("zh", CHINESE)
    found = score_vectors(
        (tables[0], sides[0].astype(np.float16)),
        (tables[1], sides[1].astype(np.float16)),
        MiningOptions(),
    )
    assert (found.chosen.sources == found.chosen.targets).all() and len(found.chosen) == 10
    return found


def chosen(scored: Scored, above: int = 10, **options: object) -> tuple[Selection, list[int]]:
    """Select, and give the numbers of the source lines that are kept, best first."""
    judged = Confidence(np.full(10, 0.9), 10.0, 1.0)
    found = select(scored, judged, above, MiningOptions(**options), ("en", "zh"))  # type: ignore[arg-type]
    assert len(found.flags) == len(found.rows)
    assert (np.diff(found.rows) > 0).all()
    return found, scored.lines()[0][found.rows].tolist()


def order(scored: Scored) -> list[int]:
    return scored.lines()[0].tolist()


def test_without_options_all_above_the_cut_stay(scored: Scored) -> None:
    for above in (10, 4, 1, 0):
        found, lines = chosen(scored, above)
        assert lines == order(scored)[:above]
        assert found.dropped == {}
    found, lines = chosen(scored)
    flags = dict(zip(lines, found.flags, strict=True))
    assert flags[3] == "copy,script"
    assert flags[5] == flags[6] == "number"
    assert flags[1] == flags[2] == flags[7] == ""
    assert all(set(each.split(",")) <= {*FLAGS, ""} for each in found.flags)


def test_flags_are_dropped_and_counted(scored: Scored) -> None:
    every, lines = chosen(scored)
    flags = dict(zip(lines, every.flags, strict=True))
    for drop in ("copy", "number", "copy,number", " number , copy ", "hub", "duplicate,number"):
        names = {name.strip() for name in drop.split(",")}
        found, kept = chosen(scored, drop=drop)
        assert kept == [line for line in lines if not names & set(flags[line].split(","))]
        assert found.flags == [flags[line] for line in kept]
        assert found.dropped == {
            name: sum(name in each.split(",") for each in every.flags) for name in names
        }
    assert chosen(scored, drop="number")[0].dropped == {"number": 2}


def test_a_pair_with_two_reasons_counts_for_both(scored: Scored) -> None:
    every, lines = chosen(scored)
    both = [each for each in every.flags if "," in each]
    assert both, "a pair with two flags is needed"
    names = both[0].split(",")
    found, kept = chosen(scored, drop=",".join(names))
    assert all(found.dropped[name] >= 1 for name in names)
    assert len(lines) - len(kept) < sum(found.dropped.values())


def test_scores_that_are_too_high_are_dropped_and_counted(scored: Scored) -> None:
    scores = scored.chosen.scores
    for highest in (float(scores[0]), float(scores[3]), 1.0, 0.0):
        found, kept = chosen(scored, score_max=highest)
        stay = [line for line, score in zip(order(scored), scores, strict=True) if score <= highest]
        assert kept == stay
        assert found.dropped == {"score": 10 - len(stay)}
    # Of those above the cut.
    found, kept = chosen(scored, 6, score_max=float(scores[2]))
    assert (kept, found.dropped) == (order(scored)[2:6], {"score": 2})


def test_the_best_stay(scored: Scored) -> None:
    for top in (1, 4, 10, 99):
        found, kept = chosen(scored, top=top)
        assert kept == order(scored)[:top] and found.dropped == {}
    assert chosen(scored, 3, top=7)[1] == order(scored)[:3]


def test_the_best_are_taken_of_those_that_are_left(scored: Scored) -> None:
    every, lines = chosen(scored)
    flags = dict(zip(lines, every.flags, strict=True))
    highest = float(scored.chosen.scores[1])
    left = [line for line in lines[1:] if not {"copy", "number"} & set(flags[line].split(","))]
    for top in (1, 3, 5):
        found, kept = chosen(scored, score_max=highest, drop="copy,number", top=top)
        assert kept == left[:top]
        # A score that is dropped is not counted again for its flags.
        assert found.dropped["score"] == 1
        assert found.dropped["number"] == sum(
            "number" in flags[line].split(",") for line in lines[1:]
        )


def test_without_an_estimate_no_pair_is_confident(scored: Scored) -> None:
    found = select(scored, None, 10, MiningOptions(), ("en", "zh"))
    assert len(found.rows) == 10 and "number" in ",".join(found.flags)


def test_nothing_above_the_cut(scored: Scored) -> None:
    for options in ({}, {"top": 3}, {"drop": "copy", "score_max": 1.0}):
        found, kept = chosen(scored, 0, **options)
        assert (kept, found.flags, set(found.dropped.values()) - {0}) == ([], [], set())


def test_neighbourhoods_of_the_margin_decide_on_hubs(scored: Scored) -> None:
    """More neighbours than the margin uses, as the estimate needs, are not looked at."""
    cut = dataclasses.replace(scored, neighbours=scored.neighbours.first(2))
    options = MiningOptions(neighborhood=2)
    languages = ("en", "zh")
    assert (
        select(scored, None, 10, options, languages).flags
        == select(cut, None, 10, options, languages).flags
    )
