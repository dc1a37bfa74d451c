"""xmine pairs list: the pairs that the filter of the app shows, in its order, as TSV and JSON."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.toys.command import Ended
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair

Command = Callable[..., Ended]
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


def listed(command: Command, *words: object) -> list[int]:
    """Source lines of the pairs that are printed."""
    ended = command("pairs", "list", "pairs.jsonl", *words, "--json")
    assert ended.code == 0 and not ended.touched, ended.err
    return [json.loads(row)["source_line"] for row in ended.out.splitlines()]


def test_filters_and_orders_are_those_of_the_app(command: Command, file: Path) -> None:
    for words, lines in {
        (): [4, 7, 1, 3],
        ("--text", "FERR"): [4, 1],
        ("--text", "^[0-9]", "--regex", "--side", "both"): [1],
        ("--flag", "hub", "--flag", "none"): [7, 1, 3],
        ("--flag", "hub,none"): [7, 1, 3],
        ("--score-min", 1.2, "--score-max", 1.3): [7, 1],
        ("--sort", "target"): [7, 3, 1, 4],
        ("--sort", "score", "--descending", "-n", 2): [4, 7],
        ("--kept", "below"): [],
        ("--where", "score < 1.3 AND flags LIKE '%number%'"): [1],
        ("--where", "length(source) > 8", "--sort", "source"): [1, 4],
    }.items():
        assert listed(command, *words) == lines
    ended = command("pairs", "list", "pairs.jsonl", "-n", 1)
    assert ended.rows[0][1:3] == ["The ferry", "渡轮"]


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ("kept", "none of 4 pairs matches\n"),
        ("below", "none of 0 pairs below the cut matches; --kept all looks at all 4\n"),
        ("all", "none of 4 pairs matches\n"),
    ],
)
def test_where_nothing_is_found_it_is_told_what_was_looked_at(
    command: Command, file: Path, kept: str, told: str
) -> None:
    ended = command("pairs", "list", "pairs.jsonl", "--text", "gigantic", "--kept", kept)
    assert (ended.err, ended.out) == (f"xmine: {told}", "source\ttarget\n")


def test_pairs_are_listed_by_verdict(command: Command, file: Path) -> None:
    for lines, verdict in (((4, 9), "accept"), ((1, 5), "reject"), ((3, 3), "accept")):
        assert command("pairs", "judge", "pairs.jsonl", *lines, verdict).code == 0
    for verdict, said in {
        "accept": [4, 3],
        "reject": [1],
        "unsure": [],
        "judged": [4, 1, 3],
    }.items():
        assert listed(command, "--verdict", verdict) == said
    assert listed(command, "--verdict", "unjudged") == [7]
    assert listed(command, "--verdict", "accept", "--text", "rain") == [3]
    assert listed(command, "--where", "verdict = 'accept' OR verdict IS NULL") == [4, 7, 3]


def test_what_cannot_be_asked_is_an_error(command: Command, file: Path) -> None:
    for words, said in (
        (("pairs.jsonl", "--verdict", "good"), "--verdict is 'good'"),
        (("pairs.jsonl", "--kept", "no"), "--kept is 'no'"),
        (("pairs.jsonl", "--text", "(", "--regex"), "is no regular expression"),
        (("pairs.jsonl", "--where", "scores > 1"), "hint: columns: source, target, score, prob"),
        (("none.jsonl",), "none.jsonl"),
    ):
        ended = command("pairs", "list", *words)
        assert ended.code in (1, 2) and said in ended.err and not ended.out


@pytest.mark.parametrize("alone", [["--regex"], ["--side", "source"]])
def test_how_text_is_looked_for_needs_a_text(
    command: Command, file: Path, alone: list[str]
) -> None:
    ended = command("pairs", "list", "pairs.jsonl", *alone)
    assert ended.err.startswith("xmine: --regex and --side say how --text is looked for\n")
    assert ended.code == 2
