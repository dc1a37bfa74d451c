"""xmine pairs list: the pairs that the filter of the app shows, in its order, as TSV and JSON."""

import json
from pathlib import Path

import pytest

from tests.toys.command import Command
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair

PAIRS = [
    Pair("The ferry", "渡轮", 1.5, 4, 9, flags="number"),
    Pair("A school", "学校", 1.2, 7, 2, flags=""),
    Pair("12 ferries", "12渡轮", 1.2, 1, 5, flags="hub,number"),
    Pair("Rain", "雨", None, 3, 3, flags=""),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_pairs(PAIRS, str(tmp_path / "pairs.jsonl"))
    return tmp_path / "pairs.jsonl"


def test_filters_and_orders_are_those_of_the_app(command: Command, file: Path) -> None:
    for lines, verdict in (((4, 9), "accept"), ((1, 5), "reject")):
        assert command("pairs", "judge", "pairs.jsonl", *lines, verdict).code == 0
    for words, expected in {
        (): [4, 7, 1, 3],
        ("--where", ""): [4, 7, 1, 3],
        ("--where", "NOT kept"): [],
        ("--where", "FERR"): [4, 1],
        ("--where", ":9"): [4],
        ("--where", "flag IN (hub, none)"): [7, 1, 3],
        ("--where", "score < 1.3 AND flag = 'number'"): [1],
        ("--where", "verdict = 'accept' OR verdict IS NULL"): [4, 7, 3],
        ("--sort", "target"): [7, 3, 1, 4],
        ("--sort", "score", "--descending", "-n", 2): [4, 7],
    }.items():
        ended = command("pairs", "list", "pairs.jsonl", *words, "--json")
        assert ended.code == 0 and not ended.touched, ended.err
        assert [json.loads(row)["source_line"] for row in ended.out.splitlines()] == expected
    assert command("pairs", "list", "pairs.jsonl", "-n", 1).rows[0][1:3] == ["The ferry", "渡轮"]


def test_where_nothing_is_found_it_is_told_what_may_be_meant(command: Command, file: Path) -> None:
    for where, told in (
        ("gigantic", ""),
        ("duplicate", "; flag = 'duplicate' asks for such pairs"),
    ):
        ended = command("pairs", "list", "pairs.jsonl", "--where", where)
        assert ended.err == f"xmine: none of 4 pairs matches{told}\n"
        assert ended.out == "source\ttarget\n"


def test_what_cannot_be_asked_is_an_error(command: Command, file: Path) -> None:
    for words, said in (
        (("pairs.jsonl", "--where", "verdict = good"), "'good' is no verdict"),
        (("pairs.jsonl", "--where", "/(/"), "unclosed group"),
        (("pairs.jsonl", "--where", "scores > 1"), "hint: columns: kept, score, prob"),
        (("none.jsonl",), "none.jsonl"),
    ):
        ended = command("pairs", "list", *words)
        assert ended.code in (1, 2) and said in ended.err and not ended.out
