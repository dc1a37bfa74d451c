"""Conditions of SQL against the slow and obvious way, and all that is no condition."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from xmine.browsing.opened import Opened
from xmine.browsing.opening import open_pairs
from xmine.browsing.query import PairQuery, select
from xmine.browsing.where import _FUNCTIONS, _WORDS, COLUMNS
from xmine.errors import OptionError
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair

PAIRS = [
    Pair("Two ferries wait.", "两艘渡轮在等。", 1.5, 3, 4, 0.9, prob=0.98, flags=""),
    Pair("The tea is 30 degrees.", "茶有三十度。", 1.25, 1, 9, 0.8, prob=0.6, flags="number"),
    Pair("It's late.", "晚了", 1.0, 2, 2, 0.5, flags="hub,number", margin=0.75),
    Pair("Snow fell.", "雪", None, 7, 1, 0.7, 0, 12, margin=1.125),
]


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    write_pairs(PAIRS, str(tmp_path / "pairs.jsonl"))
    return open_pairs(tmp_path / "pairs.jsonl")


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ("score < 1.3 AND flags LIKE '%number%'", lambda p: (p.score or 9) < 1.3 and p.flags),
        ("score = 1.25", lambda p: p.score == 1.25),
        ("score IS NULL", lambda p: p.score is None),
        ("prob >= .6", lambda p: (p.prob or 0) >= 0.6),
        ("cosine BETWEEN 0.6 AND 0.85", lambda p: 0.6 <= p.cosine <= 0.85),
        ("margin > 1.1", lambda p: (p.margin or 0) > 1.1),
        ("margin IS NULL OR score > margin", lambda p: not p.margin or (p.score or 0) > p.margin),
        ("flags = '' or flags = 'number'", lambda p: p.flags in (None, "", "number")),
        ("source ILIKE '%THE%'", lambda p: "the" in p.source.lower()),
        ("source = 'It''s late.'", lambda p: p.source == "It's late."),
        ("regexp_like(source, '[0-9]{2}')", lambda p: "30" in p.source),
        ("target LIKE '%三十%'", lambda p: "三十" in p.target),
        ("length(target) * 5 < length(source)", lambda p: len(p.target) * 5 < len(p.source)),
        ("target_line - source_line = 1", lambda p: p.target_line - p.source_line == 1),
        ("source_line IN (1, 7)", lambda p: p.source_line in (1, 7)),
        ("NOT kept", lambda p: False),
        ("source_offset IS NOT NULL", lambda p: False),  # a file's pairs are looked up by line
        ("true", lambda p: True),
    ],
)
def test_a_condition_finds_what_looking_at_each_pair_finds(
    opened: Opened, where: str, holds: Callable[[Pair], object]
) -> None:
    expected = [row for row, pair in enumerate(PAIRS) if holds(pair)]
    assert select(opened, PairQuery(where=where)).tolist() == expected


@pytest.mark.parametrize(
    "where",
    [
        "nope > 1",
        "NOT",
        "kept or round",
        "Score > 1",
        "score <",
        "score",
        "score + 1",
        "source > 1",
        "score < '1.3'",
        "flags LIKE number",
        'flags LIKE "number"',
        "flags LIKE 'number",
        "score < 1 -- for ever",
        "score < 1 /* for ever */",
        "score < 1; score > 1",
        "regexp_like(source, '(')",
        "source = '\\' OR true OR ''",
        "kept AND \x00",
        "sum(score) OVER ()",
        "(" * 900 + "kept" + ")" * 900,
        " ",
    ],
)
def test_a_wrong_condition_is_an_error_that_names_the_columns(opened: Opened, where: str) -> None:
    with pytest.raises(OptionError) as error:
        select(opened, PairQuery(where=where))
    assert error.value.message.startswith(f"--where {where!r}: ")
    assert "\n" not in error.value.message
    assert all(name in error.value.hint for name in COLUMNS)


@pytest.mark.parametrize("word", sorted({*COLUMNS, *_WORDS, *_FUNCTIONS}))
def test_each_word_may_be_typed_key_by_key(opened: Opened, word: str) -> None:
    for end in range(1, len(word) + 1):
        with suppress(OptionError):
            select(opened, PairQuery(where=word[:end]))


def test_a_condition_that_could_end_the_process_is_refused(opened: Opened) -> None:
    with pytest.raises(OptionError, match="40,009 characters"):
        select(opened, PairQuery(where="score > 0" + "+1" * 20_000))
    long, short = (PairQuery(where="score > 0" + "+0" * times) for times in (995, 0))
    assert np.array_equal(select(opened, long), select(opened, short))


def test_a_condition_reads_no_file(
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
        f"EXISTS (FROM read_csv('{secret}'))",
        f"read_parquet('{secret}')",
        f"score IN (TABLE '{secret}')",
        f"score IN (VALUES (1)) OR scan_csv('{secret}')",
        f"score > 1 -- ' \n OR {reads} -- '",
        f"score > 1 /* ' */ OR {reads} /* ' */",
        f"source = '\\' OR {reads} OR source = '",
        f"source = E'\\' OR {reads} OR source = '",
        f"source = $$'$$ OR {reads} OR source = $$'$$",
        f'source = "\'" OR {reads} OR source = "\'"',
        f"source = `'` OR {reads} OR source = `'`",
    ):
        with pytest.raises(OptionError, match="--where"):
            select(opened, PairQuery(where=where))
