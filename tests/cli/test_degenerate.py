"""Files out of which no cut can be found as usual: a sane answer in words, whatever they are.

The sentences are those of examples/, which were written for this project.
"""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from tests.toys.command import Command

Sides = tuple[list[str], list[str]]

EXAMPLES = Path(__file__).parents[2] / "examples"


def _lines(name: str) -> list[str]:
    # Not `splitlines`: U+2028 ends no line.
    return (EXAMPLES / name).read_text(encoding="utf-8").split("\n")[:-1]


def _true_pairs() -> list[tuple[str, str, str]]:
    """List source, target and topic of the true pairs, without tabs inside, which TSV cannot hold.

    Groups of lines that differ in a number are left out: they are nearly parallel to one another.
    """
    english, chinese = _lines("en.txt"), _lines("zh.txt")
    rows = [row.split("\t") for row in _lines("topics.tsv")]
    topics = {int(line): topic for file, line, topic in rows if file == "en.txt"}
    pairs = []
    for row in _lines("gold.tsv"):
        left, right = map(int, row.split("\t"))
        source, target = english[left - 1], chinese[right - 1]
        if "\t" not in source + target and not re.search(r"\d", source + target):
            pairs.append((source, target, topics[left]))
    return pairs


PAIRS = _true_pairs()
TOPICS = sorted({topic for _, _, topic in PAIRS})
SAME: Sides = (["The lift is out of order."] * 200, ["电梯坏了，请走楼梯。"] * 200)
# No topic is on both sides, so that no line is even close to a translation.
NONE: Sides = (
    [source for source, _, topic in PAIRS if topic in TOPICS[::2]],
    [target for _, target, topic in PAIRS if topic in TOPICS[1::2]],
)


def _first(count: int | None) -> Sides:
    return [source for source, _, _ in PAIRS[:count]], [target for _, target, _ in PAIRS[:count]]


# Name -> both sides, how many pairs are sane, and words of the answer.
CASES: dict[str, tuple[Sides, int, int, str]] = {
    "ten lines": (_first(10), 9, 10, "about 10 translations"),
    "one line": (_first(1), 1, 1, "too few lines to compare"),
    "all lines identical": (SAME, 1, 1, "too few lines to compare"),
    "no parallel line": (NONE, 0, len(NONE[0]) // 20, ""),
    "every line parallel": (_first(None), int(0.95 * len(PAIRS)), len(PAIRS), "translations"),
}


@pytest.fixture
def files(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Sides]:
    """Write both sides of a case, the targets in reverse."""
    (source, target), *_ = CASES[request.param]
    sides = (source, target[::-1])
    for name, texts in zip(("en.txt", "zh.txt"), sides, strict=True):
        tmp_path.joinpath(name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return request.param, sides


def strict_json(text: str) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def scores_of(tsv: str, sides: Sides) -> list[float]:
    """Check every row of TSV against the files it was made of, and give the scores."""
    _, *rows = [row.split("\t") for row in tsv.removesuffix("\n").split("\n")]
    for _, source, target, source_line, target_line, cosine, *_ in rows:
        assert source == sides[0][int(source_line) - 1]
        assert target == sides[1][int(target_line) - 1]
        assert -1.001 <= float(cosine) <= 1.001
    scores = [float(row[0]) for row in rows]
    assert all(map(math.isfinite, scores))
    assert scores == sorted(scores, reverse=True)
    return scores


# A case, and what is asked of mining: every margin, every way of retrieval, every kind of cut.
ASKED = [
    ("ten lines", "--margin distance"),
    ("one line", "--retrieval fwd --margin absolute"),
    ("all lines identical", ""),
    ("no parallel line", "--retrieval bwd"),
    ("every line parallel", "--retrieval intersect --margin distance"),
    ("ten lines", "--precision 0.95 --plot -"),
    ("one line", "--top 1000"),
    ("all lines identical", "--threshold inf --plot -"),
    ("no parallel line", "--precision 1 --retrieval fwd"),
    ("every line parallel", "--threshold -inf --drop hub,copy --plot -"),
]


@pytest.mark.parametrize(("files", "options"), ASKED, indirect=["files"])
def test_a_sane_answer_in_words(
    command: Command, tmp_path: Path, files: tuple[str, Sides], options: str
) -> None:
    name, sides = files
    _, fewest, most, words = CASES[name]
    mine = ["mine", "en.txt", "zh.txt", *options.split()]
    ended = command(*mine)
    assert ended.code == 0
    assert re.search(r"\b(nan|None|Traceback|warning)\b", ended.err) is None
    scores = scores_of(ended.out, sides)
    said = re.search(r"^xmine: ([\d,]+) pairs? from ", ended.err, re.MULTILINE)
    assert said is not None and int(said[1].replace(",", "")) == len(scores)

    as_json = command(*mine, "--json", "-o", "pairs.tsv")
    assert (as_json.code, as_json.err) == (0, "")
    facts = strict_json(as_json.out)
    assert (facts["pairs"], facts["warnings"]) == (len(scores), [])
    assert (tmp_path / "pairs.tsv").read_bytes() == ended.out.encode()
    if facts["precision"] is not None:
        low, high = facts["precision_interval"]
        assert 0 <= low <= facts["precision"] <= high <= 1
    assert len(scores) <= most or "-inf" in options
    if options.startswith(("--precision", "--top", "--threshold")):
        assert scores == [] or "--threshold inf" not in options
        assert 0.9 * fewest <= len(scores) or "--precision 0.95" not in options
        return
    assert fewest <= len(scores)
    assert words in ended.err
    assert math.isfinite(facts["cut"]) and facts["cut_how"]
    option = "--min-prob" if "probability at least" in ended.err else "--threshold"
    again = command(*mine, f"{option}={facts['cut']}")
    assert (again.code, again.out) == (0, ended.out)


def test_one_line_against_many(command: Command, tmp_path: Path) -> None:
    sides = ([PAIRS[3][0]], [target for _, target, _ in PAIRS])
    for name, texts in zip(("en.txt", "zh.txt"), sides, strict=True):
        tmp_path.joinpath(name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    for first, second in (("en.txt", "zh.txt"), ("zh.txt", "en.txt")):
        ended = command("mine", first, second, "--json", "-o", "pairs.tsv", "--force")
        assert (ended.code, ended.err) == (0, "")
        facts = strict_json(ended.out)
        assert facts["pairs"] <= 1
        assert facts["warnings"] == []
