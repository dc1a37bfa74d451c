"""A typed line says which pairs are shown, and what is looked for among them."""

from pathlib import Path

import numpy as np
import pytest

from xmine.browsing.opening import open_pairs
from xmine.browsing.query import USUAL, PairQuery
from xmine.browsing.typed import Sought, line_of, read_line
from xmine.errors import OptionError
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair


@pytest.mark.parametrize(
    ("line", "query", "sought"),
    [
        ("", PairQuery(kept="kept"), ""),
        ("central  bank", PairQuery(kept="kept"), "central  bank"),
        (
            "of score<1.3 is:kept the  bank in:both",
            PairQuery(kept="kept", where="score < 1.3", side="both"),
            "of the  bank",
        ),
        ("flag:number", PairQuery(kept="kept", flags=("number",)), ""),
        (
            "flag:number,none flag:hub x",
            PairQuery(kept="kept", flags=("number", "none", "hub")),
            "x",
        ),
        ("score<1.3", PairQuery(kept="kept", where="score < 1.3"), ""),
        ("score>=1.2 score<=-1", PairQuery(kept="kept", where="score >= 1.2 AND score <= -1"), ""),
        ("prob>0.5 cosine=1", PairQuery(kept="kept", where="prob > 0.5 AND cosine = 1"), ""),
        (
            'where:"prob > 0.9 or kept" margin>1.4',
            PairQuery(kept="kept", where="(prob > 0.9 or kept) AND margin > 1.4"),
            "",
        ),
        ('where:"prob > cosine"', PairQuery(kept="kept", where="prob > cosine"), ""),
        ("is:below 经济", PairQuery(kept="below"), "经济"),
        ("is:all is:unjudged", PairQuery(kept="all", verdict="unjudged"), ""),
        ('text:"a b" in:source', PairQuery(kept="kept", text="a b", side="source"), ""),
        ("text:/a|b/ :12", PairQuery(kept="kept", text="a|b", regex=True), ":12"),
        (
            'where:"prob > 0.9 AND NOT kept"',
            PairQuery(kept="kept", where="prob > 0.9 AND NOT kept"),
            "",
        ),
        ("xflag:number a=b", PairQuery(kept="kept"), "xflag:number a=b"),
        (
            'text:"he said ""yes""" x',
            PairQuery(kept="kept", text='he said "yes"'),
            "x",
        ),
        ('text:"tom', PairQuery(kept="kept", text='"tom'), ""),
        (
            'where:"source LIKE \'%""%\'"',
            PairQuery(kept="kept", where="source LIKE '%\"%'"),
            "",
        ),
    ],
)
def test_a_line_is_read(line: str, query: PairQuery, sought: str) -> None:
    assert read_line(line, USUAL) == (query, Sought(sought))
    # What is shown can be typed again.
    assert read_line(line_of(query), USUAL) == (query, Sought())
    ordered = PairQuery(order="prob", descending=True)
    assert read_line(line, ordered)[0].order == "prob" and read_line(line, ordered)[0].descending


@pytest.mark.parametrize("line", ["flag:nu", "is:good", "in:both-sides", "score<x"])
def test_a_term_that_is_none_is_told(line: str) -> None:
    with pytest.raises(OptionError):
        read_line(line, USUAL)


def test_texts_regular_expressions_and_lines_are_found(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    texts = (("The War of 1917", "x"), ("a", "war"), ("Wars (1)", "y"), ("b", "c"))
    pairs = [Pair(*text, 1.0, n, 10 - n) for n, text in enumerate(texts, 1)]
    write_pairs(pairs, str(path))
    opened = open_pairs(path)
    for text, rows in (
        ("war", [0, 1, 2]),
        ("/wars|c/", [2, 3]),
        ("s (", [2]),
        (":2", [1]),
        (":8", [1]),
        (":6", [3]),
        (":99", []),
        ("/", []),
    ):
        assert np.flatnonzero(Sought(text).hits(opened)).tolist() == rows, text
    with pytest.raises(OptionError, match="no regular expression"):
        Sought("/(/").hits(opened)
    assert [Sought(each).pattern for each in ("s (", "/a|b/", ":9")] == [r"s\ \(", "a|b", ""]
