"""Filters and orders against the slow and obvious way, on pairs with everything in them."""

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.toys.opened import opened_run
from xmine.browsing.cuts import Cuts
from xmine.browsing.judgements import CODES
from xmine.browsing.opened import Opened, TextColumn
from xmine.browsing.opening import open_pairs
from xmine.browsing.query import ORDERS, PairQuery, matches, select, spans_of
from xmine.browsing.view import View
from xmine.errors import OptionError
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair

WORDS = [
    "Ferry",
    "ferry 12",
    "[/b]",
    "学校",
    "a.c",
    "abc",
    "École",
    "ÉCOLE",
    "İstanbul",
    "x\u2028y",
]


def drawn(seed: int, count: int = 60) -> list[Pair]:
    random = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        source, target = (" ".join(random.choice(WORDS, 2)) for _ in "st")
        score = None if random.random() < 0.1 else float(np.float32(random.integers(8, 16) / 8))
        flags = ",".join(x for x in ("hub", "length", "number") if random.random() < 0.3)
        line, other, prob = random.integers(1, 99, 3).tolist()
        pairs.append(Pair(source, target, score, line, other, prob=prob / 100, flags=flags))
    return pairs


def opened_of(pairs: list[Pair], folder: Path) -> Opened:
    write_pairs(pairs, str(folder / "pairs.jsonl"))
    return open_pairs(folder / "pairs.jsonl")


QUERIES = [
    PairQuery(),
    PairQuery(text="ferry"),
    PairQuery(text="FERRY", side="source"),
    PairQuery(text="学", side="target"),
    PairQuery(text="ferry", side="both"),
    PairQuery(text="a.c"),
    PairQuery(text="a.c", regex=True),
    PairQuery(text="^ferry [0-9]+", regex=True, side="either"),
    PairQuery(text="[/b]"),
    PairQuery(text="école"),
    PairQuery(flags=("hub",)),
    PairQuery(flags=("length", "none")),
    PairQuery(where="score >= 1.25"),
    PairQuery(where="score >= 1.25 AND score <= 1.5", text="ferry", flags=("number",)),
    *(
        PairQuery(order=order, descending=way)
        for order in ("score", "source", "flags", "unsure")
        for way in (False, True)
    ),
]


def wanted(pair: Pair, query: PairQuery) -> bool:
    text = query.text if query.regex else re.escape(query.text)
    hits = [bool(re.search(text, side, re.IGNORECASE)) for side in (pair.source, pair.target)]
    by_text = {"either": any(hits), "source": hits[0], "target": hits[1], "both": all(hits)}
    flags = set((pair.flags or "").split(",")) - {""} or {"none"}
    inside = not query.where or (pair.score is not None and pair.score >= 1.25)
    if "<=" in query.where:
        inside = inside and pair.score is not None and pair.score <= 1.5
    return by_text[query.side] and (not query.flags or bool(flags & set(query.flags))) and inside


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_finds_what_looking_at_each_pair_finds(query: PairQuery, tmp_path: Path) -> None:
    pairs = drawn(seed=3)
    found = [row for row, pair in enumerate(pairs) if wanted(pair, query)]
    if query.order != "rank":
        sign = -1 if query.descending else 1
        every: dict[str, list[Any]] = {
            "score": [p.score for p in pairs],
            "source": [p.source_line for p in pairs],
            "flags": [p.flags or None for p in pairs],
            "unsure": [None if p.prob is None else abs(p.prob - 0.5) for p in pairs],
        }
        values = every[query.order]
        places = {value: at for at, value in enumerate(sorted({*values} - {None}))}
        found.sort(key=lambda row: sign * places[values[row]] if values[row] in places else 1e9)
    assert select(opened_of(pairs, tmp_path), query).tolist() == found


@pytest.mark.parametrize("text", ["ß", "İ", "ς", "ﬁ", "\u0301", "\x00"])
def test_a_text_of_any_character_is_found_in_itself(text: str) -> None:
    texts = TextColumn(pl.Series(["", f"before {text} after", "neither"]))
    assert matches(texts, text).to_list() == [False, True, False]


def test_pairs_are_found_by_what_people_say_of_them(tmp_path: Path) -> None:
    opened = opened_of(drawn(3), tmp_path)
    codes = np.zeros(len(opened), dtype=np.int8)
    codes[[4, 7]], codes[9], codes[11] = CODES["accept"], CODES["reject"], CODES["unsure"]
    expected = {"accept": [4, 7], "reject": [9], "unsure": [11], "judged": [4, 7, 9, 11]}
    for verdict, rows in expected.items():
        assert select(opened, PairQuery(verdict=verdict), codes=codes).tolist() == rows
        assert not len(select(opened, PairQuery(verdict=verdict)))
    in_turn = select(opened, PairQuery(order="verdict"), codes=codes).tolist()
    assert in_turn[:5] == [4, 7, 9, 11, 0]
    shuffled = select(opened, PairQuery(order="shuffled")).tolist()
    assert sorted(shuffled) == list(range(len(opened))) != shuffled
    unjudged = select(opened, PairQuery(verdict="unjudged"), codes=codes).tolist()
    assert sorted(unjudged + expected["judged"]) == list(range(len(opened)))
    assert len(select(opened, PairQuery(), codes=codes)) == len(opened)


def test_what_is_wrong_is_named() -> None:
    for values, said in (
        ({"side": "left"}, "--side is 'left'"),
        ({"flags": ("huge",)}, "--flag is 'huge'"),
        ({"order": "size"}, "--sort is 'size'"),
        ({"kept": "no"}, "--kept is 'no'"),
        ({"verdict": "yes"}, "--verdict is 'yes'"),
    ):
        with pytest.raises(OptionError, match=said):
            PairQuery(**values)


def test_a_wrong_expression_and_missing_columns_are_errors(tmp_path: Path) -> None:
    opened = opened_of([Pair("a", "b")], tmp_path)
    with pytest.raises(OptionError, match="is no regular expression"):
        select(opened, PairQuery(text="(", regex=True))
    figures = ("score", "prob", "cosine", "margin", "unsure")
    for query in (PairQuery(where="score >= 1"), *(PairQuery(order=name) for name in figures)):
        with pytest.raises(OptionError, match="has no "):
            select(opened, query)
    for order in set(ORDERS) - {*figures}:
        assert select(opened, PairQuery(order=order)).tolist() == [0]


def test_figures_are_found_as_they_are_printed(tmp_path: Path) -> None:
    printed = np.random.default_rng(4).normal(0, 8, 50).round(4).tolist()
    opened = opened_of(
        [Pair("a", "b", score, cosine=score / 100, margin=score) for score in printed], tmp_path
    )
    cuts = Cuts(opened)
    for row, score in enumerate(printed):
        found = select(opened, PairQuery(where=f"score >= {score} AND score <= {score}"))
        assert found.tolist() == [row], score
        assert select(opened, PairQuery(where=f"margin = {score}")).tolist() == [row]
        assert cuts.kept_by(score) == opened.kept(score).sum() == sum(x >= score for x in printed)
        assert opened.rank(row) == score
    run = replace(opened_run(1), scores=np.array([-1.00004], dtype=np.float32))
    assert select(run, PairQuery(where="score >= -1")).tolist() == [0]  # printed as -1.0000


def test_a_view_shows_what_it_was_asked_for_until_that_fails(tmp_path: Path) -> None:
    view = View(opened_of(drawn(3), tmp_path))
    assert view.counts() == (60, 60, 60)
    wanted = view.want(PairQuery(text="ferry"))
    rows = view.find(wanted)
    assert view.counts() == (60, 60, 60)
    assert view.take(wanted, rows)
    assert view.rows is rows and view.query.text == "ferry"
    with pytest.raises(OptionError):
        view.find(wrong := view.want(PairQuery(text="(", regex=True)))
    assert not view.give_up(wrong)
    assert view.rows is rows and view.wanted == wanted


def test_a_query_and_a_cut_asked_for_one_after_the_other_are_taken_together(tmp_path: Path) -> None:
    view = View(opened_of(drawn(3), tmp_path))
    first, before = view.want(PairQuery(order="length")), view.rows
    second = view.want(cut=1.5)
    assert not view.take(first, view.find(first))
    assert view.rows is before and view.cut is None
    assert view.take(second, view.find(second))
    assert view.query == PairQuery(order="length") and view.wanted.cut == 1.5
    wrong = view.want(PairQuery(order="prob", text="("), 1.25)
    assert view.give_up(wrong)  # the cut is still to be looked for
    assert view.want().cut == 1.25 and view.want().query == PairQuery(order="length")


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"\bno\b", "nothing, no, NO", ["no", "NO"]),
        (r"\p{Han}{2}", "a机器翻b", ["机器"]),
        ("a|(b)c", "bca", ["bc", "a"]),
        ("x*", "axxb", ["xx"]),
        (r"\.", "a.b", ["."]),
        ("(", "a(b", []),
        ("", "ab", []),
        (r"(\w+\s?)+;;", "word " * 400, []),
        ("b", "a\x02b", []),
    ],
)
def test_what_the_engine_of_the_search_finds_is_marked(
    pattern: str, text: str, found: list[str]
) -> None:
    begun = time.monotonic()
    assert [text[start:end] for start, end in spans_of(pattern, text)] == found
    assert time.monotonic() - begun < 5
