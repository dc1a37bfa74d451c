"""Filters and orders against the slow and obvious way, on pairs with everything in them."""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.toys.opened import opened_run
from xmine.browsing.cuts import Cuts
from xmine.browsing.opened import Opened
from xmine.browsing.opening import open_pairs
from xmine.browsing.query import ORDERS, PairQuery, counted, meets, select, spans_of, with_clause
from xmine.browsing.view import View
from xmine.browsing.where import _FUNCTIONS, _WORDS, COLUMNS, read_filter, suggestion
from xmine.errors import OptionError
from xmine.judging.judgements import Judgements
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair

WORDS = ["Ferry", "ferry 12", "[/b]", "学校", "a.c", "abc", "École", "ÉCOLE", "x\u2028y", "kept"]
JUDGED = {2: "accept", 5: "reject", 9: "unsure"}


def drawn(seed: int = 3, count: int = 60) -> list[Pair]:
    random = np.random.default_rng(seed)
    pairs = []
    for _ in range(count):
        source, target = (" ".join(random.choice(WORDS, 2)) for _ in "st")
        score = None if random.random() < 0.1 else float(np.float32(random.integers(8, 16) / 8))
        flags = ",".join(x for x in ("copy", "near-copy", "number") if random.random() < 0.3)
        line, other, prob = random.integers(1, 99, 3).tolist()
        margin = None if random.random() < 0.5 else prob / 50
        figures = {"prob": prob / 100, "flags": flags, "margin": margin}
        pairs.append(Pair(source, target, score, line, other, **figures))
    return pairs


PAIRS = drawn()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    return opened_of(PAIRS, tmp_path_factory.mktemp("pairs"))


def opened_of(pairs: list[Pair], folder: Path) -> Opened:
    write_pairs(pairs, str(folder / "pairs.jsonl"))
    return open_pairs(folder / "pairs.jsonl")


@pytest.fixture(scope="module")
def judgements(opened: Opened) -> Judgements:
    ann, bob = (Judgements.open(opened, name) for name in ("ann", "Bob B"))
    for row, verdict in JUDGED.items():
        ann.judge(row, verdict)
    bob.judge_all([2, 7], "reject")
    ann.refresh()
    return ann


def has(*names: str) -> Callable[[int, Any], bool]:
    return lambda _, pair: bool({*(pair.flags or "none").split(",")} & {*names})


def said(pattern: str) -> Callable[[int, Any], bool]:
    return lambda _, p: any(re.search(pattern, side, re.I) for side in (p.source, p.target))


FILTERS: dict[str, Callable[[int, Any], object]] = {
    "": lambda _, p: True,
    "kept": lambda _, p: True,
    "NOT kept": lambda _, p: False,
    "Kept and PROB < .5": lambda _, p: p.prob < 0.5,
    # Texts, regular expressions, lines.
    "ferry": said("ferry"),
    " ÉCOLE ": said("école"),
    "a.c": said(r"a\.c"),
    "[/b]": said(r"\[/b\]"),
    "/a.c/": said("a.c"),
    "/^ferry [0-9]+/": said("^ferry [0-9]+"),
    "/kept/": said("kept"),
    "/": said("/"),
    "true": said("true"),
    "source or prob": said("source or prob"),
    "flag in hand": said("flag in hand"),
    ":12": lambda _, p: 12 in (p.source_line, p.target_line),
    # Conditions.
    "score < 1.3 AND flags LIKE '%number%'": lambda _, p: (p.score or 9) < 1.3 and "num" in p.flags,
    "score IS NULL": lambda _, p: p.score is None,
    "prob BETWEEN 0.6 AND 0.85": lambda _, p: 0.6 <= p.prob <= 0.85,
    "margin IS NULL OR score > margin": lambda _, p: not p.margin or (p.score or 0) > p.margin,
    "source ILIKE '%FERRY%'": lambda _, p: "ferry" in p.source.lower(),
    "regexp_like(source, '[0-9]{2}')": lambda _, p: "12" in p.source,
    "length(target) * 2 < length(source)": lambda _, p: len(p.target) * 2 < len(p.source),
    "target_line - source_line = 1": lambda _, p: p.target_line - p.source_line == 1,
    "source_line IN (1, 7)": lambda _, p: p.source_line in (1, 7),
    "source_offset IS NOT NULL": lambda _, p: False,  # a file's pairs are looked up by line
    "prob = max(prob)": lambda _, p: p.prob == max(pair.prob or 0 for pair in PAIRS),
    # Several flags of a pair, one of which is asked for.
    "flag = 'copy'": has("copy"),
    "flag = 'none'": has("none"),
    "flag IN ('copy', 'number')": has("copy", "number"),
    "NOT flag = 'copy'": lambda row, p: not has("copy")(row, p),
    "flag <> 'copy' and prob>=.5": lambda row, p: not has("copy")(row, p) and p.prob >= 0.5,
    "flag = 'copy' AND flag = 'number'": lambda _, p: {"copy", "number"} <= {*p.flags.split(",")},
    # What is nearly SQL.
    "prob<0,5": lambda _, p: p.prob < 0.5,
    "flags = near-copy": has("near-copy"),
    'flag = "number" or flag IS NULL': has("number", "none"),
    "flag LIKE '%copy'": lambda _, p: p.flags.endswith("copy"),
    # What people say, in the eyes of ann.
    "verdict=accept": lambda row, _: row == 2,
    "verdict = 'reject'": lambda row, _: row in (5, 7),
    "verdict NOT IN (accept, unjudged)": lambda row, _: row in (5, 7, 9),
    "verdict IS NULL": lambda row, _: row not in (2, 5, 7, 9),
    "verdict = conflict": lambda row, _: row == 2,
    "judge = ann": lambda row, _: row in JUDGED,
    "judge = 'Bob B' AND NOT judge = 'ann: accept'": lambda row, _: row == 7,
    "judge = nobody AND kept": lambda row, _: row not in (2, 5, 7, 9),
}


@pytest.mark.parametrize("where", FILTERS)
def test_a_filter_finds_what_looking_at_each_pair_finds(
    opened: Opened, judgements: Judgements, where: str
) -> None:
    found = [row for row, pair in enumerate(PAIRS) if FILTERS[where](row, pair)]
    assert select(opened, PairQuery(where), said=judgements.said).tolist() == found
    if "judge" not in where and "verdict" not in where:
        assert select(opened, PairQuery(where)).tolist() == found


@pytest.mark.parametrize(
    ("where", "said"),
    [
        *((each, "is no column") for each in ("nope > 1", "prb < .9", "kept AND prbo = 1")),
        ("flag:number", "':' is not allowed"),
        ("score <", "unable to parse"),
        ("score < '1.3'", "cannot compare"),
        ("source > 1", "cannot compare"),
        ("score = 1 + 1 OR score", "filter"),
        ("score IN (1) AND source", "filter"),
        ("flag = numbr", "'numbr' is no flag"),
        ("verdict = 'good'", "'good' is no verdict"),
        ("verdict LIKE 'acc%'", "verdict is compared with ="),
        ("since >= '2026-01-01'", "is no run"),
        ("change = new", "is no comparison"),
        ("cosine > .5", "has no cosine"),
        ("/(/", "unclosed group"),
        ("regexp_like(source, '(')", "unclosed group"),
        ("source LIKE 'number", "is not allowed"),
        ("score < 1 -- for ever", "is not allowed"),
        ("score < 1 /* for ever */", "is not allowed"),
        ("score < 1; score > 1", "is not allowed"),
        ("source = '\\' OR true OR ''", "is not allowed"),
        ("score = \x00", "is not allowed"),
        ("score > 0" + "+1" * 20_000, "40,009 characters"),  # which would end the process
        ("(" * 900 + "score > 1" + ")" * 900, "the filter"),
    ],
)
def test_what_looks_like_a_condition_and_is_none_is_told(
    opened: Opened, where: str, said: str
) -> None:
    with pytest.raises(OptionError, match=re.escape(said)) as error:
        select(opened, PairQuery(where))
    assert "\n" not in error.value.message


@pytest.mark.parametrize("word", sorted({*COLUMNS, *_WORDS, *_FUNCTIONS}))
def test_each_word_may_be_typed_key_by_key(opened: Opened, word: str) -> None:
    for end in range(1, len(word) + 1):
        with suppress(OptionError):
            select(opened, PairQuery(word[:end]))


def test_a_filter_reads_no_file(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("hidden\n1.5\n")
    # polars itself reads the file, so no such text may come to polars.
    reads = f"score IN (SELECT score FROM read_csv('{secret}'))"
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="hidden"):
        pl.DataFrame({"score": [1.5]}).filter(pl.sql_expr(reads))
    monkeypatch.setattr(pl, "sql_expr", lambda where: pytest.fail(where))
    for where in (
        reads,
        reads.lower(),
        f"score > 1 AND EXISTS (FROM read_csv('{secret}'))",
        f"score IN (TABLE '{secret}')",
        f"score IN (VALUES (1)) OR scan_csv('{secret}')",
        f"flag = \"' OR {reads} OR flag = '\" OR {reads}",
        f"flag = '\\' OR {reads} OR flag = '",
        f"score > 1 -- ' \n OR {reads} -- '",
        f"score > 1 /* ' */ OR {reads} /* ' */",
        f"source = '\\' OR {reads} OR source = '",
        f"source = E'\\' OR {reads} OR source = '",
        f"source = $$'$$ OR {reads} OR source = $$'$$",
        f'source = "\'" OR {reads} OR source = "\'"',
        f"source = `'` OR {reads} OR source = `'`",
    ):
        with pytest.raises(OptionError, match="filter"):
            select(opened, PairQuery(where))


def test_a_text_is_looked_for_among_the_kept_pairs_of_a_run() -> None:
    run = opened_run(200)
    assert select(run, PairQuery("a")).tolist() == select(run, PairQuery("kept")).tolist()
    assert 0 < len(select(run, PairQuery("a"))) < meets(run, "a")[0].sum() == 200


def test_what_may_be_added_to_a_filter_is_counted(opened: Opened, judgements: Judgements) -> None:
    counts = dict(counted(opened, "flag = 'copy' AND prob < .5", said=judgements.said))
    for clause, number in counts.items():
        rest, line = with_clause(opened, "flag = 'copy' AND prob < .5", clause)
        assert line == ("prob < .5" if clause == "flag = 'copy'" else f"{rest} AND {clause}")
        both = f"{rest} AND {clause}"
        assert number == len(select(opened, PairQuery(both), said=judgements.said)) > 0
    assert counts["flag = 'copy'"] == len(select(opened, PairQuery("flag = 'copy' AND prob < .5")))
    run = opened_run(20)
    for where, clause, expected in (
        ("kept", "NOT kept", "NOT kept"),
        ("kept", "kept", ""),
        ("kept and prob < .5", "NOT kept", "prob < .5 AND NOT kept"),
        ("a text", "kept", "kept"),
        ("prob <", "kept", "kept"),
        ("prob < .5 or kept", "kept", "(prob < .5 or kept) AND kept"),
        ("kept AND verdict = 'accept'", "verdict = 'reject'", "kept AND verdict = 'reject'"),
        ("prob BETWEEN .1 AND .5", "flag = 'hub'", "prob BETWEEN .1 AND .5 AND flag = 'hub'"),
    ):
        assert with_clause(run, where, clause)[1] == expected


def test_who_finds_no_text_is_told_which_filter_that_may_be() -> None:
    said = {"below": "NOT kept", "flag:number": "flag = 'number'"}
    said |= {"is:accept": "verdict = 'accept'"}
    for text, meant in {**said, "97": ":97"}.items():
        assert suggestion(text) == f"; {meant} asks for such pairs"
    assert suggestion("a bank") == ""


@pytest.mark.parametrize("text", ["ß", "İ", "ς", "ﬁ", "\u0301", "\x00", "s ("])
def test_a_text_of_any_character_is_found_in_itself(text: str) -> None:
    texts = pl.DataFrame(
        {name: ["", f"before {text} after", "no"] for name in ("source", "target")}
    )
    asked = read_filter(text)
    assert texts.select(asked.expression).to_series().to_list() == [False, True, False]
    assert [*spans_of(asked.pattern, f"a {text} b")] == [(2, 2 + len(text))]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("order", ["score", "source", "flags", "unsure", "verdict"])
def test_pairs_are_sorted_and_those_without_a_key_are_last(
    opened: Opened, judgements: Judgements, order: str, descending: bool
) -> None:
    every: dict[str, list[Any]] = {
        "score": [p.score for p in PAIRS],
        "source": [p.source_line for p in PAIRS],
        "flags": [p.flags or None for p in PAIRS],
        "unsure": [abs((p.prob or 0) - 0.5) for p in PAIRS],
        "verdict": [{**JUDGED, 7: "reject"}.get(row) for row in range(len(PAIRS))],
    }
    values = every[order]
    places = {value: at for at, value in enumerate(sorted({*values} - {None}))}
    sign = -1 if descending else 1
    expected = sorted(
        range(len(PAIRS)),
        key=lambda row: sign * places[values[row]] if values[row] in places else 1e9,
    )
    query = PairQuery("", order, descending)
    assert select(opened, query, said=judgements.said).tolist() == expected


def test_orders_that_a_file_lacks_are_errors(tmp_path: Path) -> None:
    opened = opened_of([Pair("a", "b")], tmp_path)
    figures = ("score", "prob", "cosine", "margin", "unsure")
    for order in ORDERS:
        if order not in figures:
            assert select(opened, PairQuery(order=order)).tolist() == [0]
            continue
        with pytest.raises(OptionError, match="has no "):
            select(opened, PairQuery(order=order))
    with pytest.raises(OptionError, match="--sort is 'size'"):
        PairQuery(order="size")


def test_figures_are_found_as_they_are_printed(tmp_path: Path) -> None:
    printed = np.random.default_rng(4).normal(0, 8, 50).round(4).tolist()
    opened = opened_of(
        [Pair("a", "b", score, cosine=score / 100, margin=score) for score in printed], tmp_path
    )
    cuts = Cuts(opened)
    for row, score in enumerate(printed):
        where = f"score >= {score} AND score <= {score}"
        assert select(opened, PairQuery(where)).tolist() == [row], score
        assert select(opened, PairQuery(f"margin = {score}")).tolist() == [row]
        assert cuts.kept_by(score) == opened.kept(score).sum() == sum(x >= score for x in printed)
        assert opened.rank(row) == score
    run = opened_run(1).with_columns(score=pl.Series([-1.00004], dtype=pl.Float32))
    assert select(run, PairQuery("score >= -1")).tolist() == [0]  # printed as -1.0000


def test_a_view_shows_what_it_was_asked_for_until_that_fails(opened: Opened) -> None:
    view = View(opened)
    wanted = view.want(PairQuery("score > 1"))
    rows = view.find(wanted)
    assert view.counts() == (60, 60, 60)
    assert view.take(wanted, rows)
    assert view.rows is rows and view.query.where == "score > 1"
    with pytest.raises(OptionError):
        view.find(wrong := view.want(PairQuery("/(/")))
    assert not view.give_up(wrong)
    assert view.rows is rows and view.wanted == wanted


def test_a_query_and_a_cut_asked_for_one_after_the_other_are_taken_together(opened: Opened) -> None:
    view = View(opened)
    first, before = view.want(PairQuery(order="length")), view.rows
    second = view.want(cut=1.5)
    assert not view.take(first, view.find(first))
    assert view.rows is before and view.cut is None
    assert view.take(second, view.find(second))
    assert view.query == PairQuery(order="length") and view.wanted.cut == 1.5
    wrong = view.want(PairQuery("/(/", order="prob"), 1.25)
    assert view.give_up(wrong)  # the cut is still to be looked for
    assert view.want().cut == 1.25 and view.want().query == PairQuery(order="length")


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        *((r"\bno\b", "nothing, no, NO", ["no", "NO"]), (r"\p{Han}{2}", "a机器翻b", ["机器"])),
        *(("a|(b)c", "bca", ["bc", "a"]), ("x*", "axxb", ["xx"]), ("(", "a(b", []), ("", "ab", [])),
        *((r"(\w+\s?)+;;", "word " * 400, []), ("b", "a\x02b", [])),
    ],
)
def test_what_the_engine_of_the_search_finds_is_marked(
    pattern: str, text: str, found: list[str]
) -> None:
    begun = time.monotonic()
    assert [text[start:end] for start, end in spans_of(pattern, text)] == found
    assert time.monotonic() - begun < 5
