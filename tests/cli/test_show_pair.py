"""`xmine pairs show`: one pair and everything that is known of it."""

import json
from pathlib import Path

from tests.toys.command import Command
from xmine.browsing.opening import open_pairs
from xmine.judging.judgements import Judgements
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair

PAIRS = [
    Pair("He paid 12 dollars", "他付了12美元", 1.25, 3, 7, 0.75, prob=0.9, flags=""),
    Pair("In 1998, 15", "1998年，16", 1.125, 1, 2, 0.5, prob=0.2, flags="number"),
]


def test_a_pair_is_printed_with_reasons_and_what_its_sides_share(
    command: Command, tmp_path: Path
) -> None:
    write_pairs(PAIRS, str(tmp_path / "a.jsonl"), ("en", "zh"))
    opened = open_pairs(tmp_path / "a.jsonl")
    Judgements.open(opened, "ann").judge(1, "reject")
    ended = command("pairs", "show", "a.jsonl", 1, 2)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "score 1.1250  cosine 0.5000  prob 0.2000  lines 1, 2",
        "number: 15 on the source side only, 16 on the target side only",
        *("judged by ann: reject", "", "In 1998, 15", "1998年，16", "", "no counterpart: In | "),
        *("shared: 1998 | 1998", ""),
    ]


def test_a_margin_is_a_figure(command: Command, tmp_path: Path) -> None:
    write_pairs([PAIRS[0]._replace(score=-10.5, margin=1.125)], str(tmp_path / "a.tsv"))
    ended = command("pairs", "show", "a.tsv", 3, 7)
    assert ended.out.splitlines()[0] == (
        "score -10.5000  cosine 0.7500  prob 0.9000  margin 1.1250  lines 3, 7"
    )
    assert json.loads(command("pairs", "show", "a.tsv", 3, 7, "--json").out)["margin"] == 1.125


def test_a_pair_of_standard_input_is_shown(command: Command) -> None:
    rows = b"score\tsource\ttarget\tcosine\n1.5\ta\tb\t0.5\n1.2\tc\td\t0.5\n"
    ended = command("pairs", "show", "-", 2, 2, stdin=rows)
    assert (ended.code, ended.out.splitlines()[0]) == (0, "score 1.2000  cosine 0.5000  lines 2, 2")


def test_with_json_it_is_an_object(command: Command, tmp_path: Path) -> None:
    write_pairs(PAIRS, str(tmp_path / "a.jsonl"), ("en", "zh"))
    found = json.loads(command("pairs", "show", "a.jsonl", 3, 7, "--json").out)
    words = found.pop("words")
    assert [word["text"] for word in words["source"]] == ["He", "paid", "12", "dollars"]
    assert words["source"][2]["counterpart"] == {"start": 3, "end": 5, "text": "12"}
    assert found == {
        "source": "He paid 12 dollars",
        "target": "他付了12美元",
        "score": 1.25,
        "source_line": 3,
        "target_line": 7,
        "cosine": 0.75,
        "prob": 0.9,
        "flags": "",
        "standing": None,
        "reasons": {},
        "shared": {
            "source": [{"start": 8, "end": 10, "text": "12"}],
            "target": [{"start": 3, "end": 5, "text": "12"}],
        },
        "neighbours": None,
        "judgements": {},
    }


def test_lines_that_are_no_pair_are_refused(command: Command, tmp_path: Path) -> None:
    write_pairs(PAIRS, str(tmp_path / "a.jsonl"))
    ended = command("pairs", "show", "a.jsonl", 3, 2)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "xmine: a.jsonl: no pair of line 3 and line 2\n"
        "hint: xmine browse a.jsonl shows which there are\n"
    )
