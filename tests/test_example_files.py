"""The example files are what examples/README.md says, trap by trap."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import chain, combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import describe
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

LINES: dict[str, list[str]] = {
    name: describe.read_lines(EXAMPLES / name) for name in describe.FILES
}
EN, ZH = LINES["en.txt"], LINES["zh.txt"]
GOLD: list[tuple[int, int]] = describe.read_pairs()
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")
GOLD_DE = EXAMPLES / "gold-de.tsv"


class Trap:
    """One row of the trap table: groups of line numbers per file, and lines they resemble."""

    def __init__(self, english: str, chinese: str) -> None:
        self.groups = [self.numbers(cell) for cell in (english, chinese)]
        self.others = [[int(n) for n in re.findall(r"\((\d+)\)", c)] for c in (english, chinese)]
        self.lines = [sorted(chain.from_iterable(groups)) for groups in self.groups]

    @staticmethod
    def numbers(cell: str) -> list[list[int]]:
        """The line numbers of a cell, by group, without what stands in brackets."""
        groups = re.sub(r"\(\d+\)|–", "", cell).split(";")
        found = [[int(number) for number in re.findall(r"\d+", group)] for group in groups]
        return [group for group in found if group]


def read_traps() -> dict[str, Trap]:
    """The trap table of the README, by name."""
    section = README.split("\n## Traps\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return {row[0].strip(): Trap(row[1], row[2]) for row in rows[2:]}


TRAPS = read_traps()


NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def test_there_are_enough_lines_and_about_half_have_a_translation() -> None:
    for side, lines in enumerate((EN, ZH)):
        translated = {lines[pair[side] - 1] for pair in GOLD}
        share = sum(line in translated for line in lines) / len(lines)
        assert len(lines) >= 300
        assert 0.4 <= share <= 0.6


def test_gold_names_each_line_once_and_its_first_occurrence() -> None:
    german = describe.read_lines(EXAMPLES / "de.txt")
    of_german = [tuple(map(int, row.split("\t"))) for row in describe.read_lines(GOLD_DE)]
    assert len(of_german) > 0.6 * len(german)
    for gold, sides in ((GOLD, (EN, ZH)), (of_german, (EN, german))):
        assert sorted(gold) == gold
        for side, lines in enumerate(sides):
            numbers = [pair[side] for pair in gold]
            assert len(set(numbers)) == len(numbers)
            assert all(lines[number - 1].strip() for number in numbers)
            assert all(lines.index(lines[number - 1]) == number - 1 for number in numbers)


def test_the_order_of_one_file_tells_nothing_about_the_other() -> None:
    chinese = [pair[1] for pair in GOLD]
    rising = sum(one < other for one, other in pairwise(chinese))
    assert 0.35 < rising / (len(chinese) - 1) < 0.65


def test_every_line_has_one_topic_and_translations_the_same() -> None:
    rows = [row.split("\t") for row in describe.read_lines(EXAMPLES / "topics.tsv")]
    expected = [(name, n) for name in describe.FILES for n in range(1, len(LINES[name]) + 1)]
    assert [(name, int(number)) for name, number, _ in rows] == expected
    for name, number, topic in rows:
        assert (topic == "blank") == (not LINES[name][int(number) - 1].strip())
    topics = {(name, int(number)): topic for name, number, topic in rows}
    assert all(topics["en.txt", one] == topics["zh.txt", other] for one, other in GOLD)


def test_readme_counts_are_current() -> None:
    assert f"{len(EN)} lines of English" in README
    assert f"{len(ZH)} lines of Chinese" in README
    assert f"the {len(GOLD)} true pairs" in README


def is_repeats(trap: Trap) -> bool:
    """All repeated lines of both files are named, some of them with a translation, some not."""
    translated = [{pair[side] for pair in GOLD} for side in range(2)]
    for side, lines in enumerate((EN, ZH)):
        where: dict[str, list[int]] = defaultdict(list)
        for number, line in enumerate(lines, 1):
            where[line].append(number)
        expected = [found for line, found in where.items() if line.strip() and len(found) > 1]
        paired = [group[0] in translated[side] for group in trap.groups[side]]
        if sorted(expected) != trap.groups[side] or all(paired) or not any(paired):
            return False
    return True


def is_number_groups(trap: Trap) -> bool:
    """Inside a group only one number differs, and gold joins the lines with equal numbers."""
    if not len(trap.groups[0]) == len(trap.groups[1]) >= 4:
        return False
    gold = dict(GOLD)
    for english, chinese in zip(*trap.groups, strict=True):
        for numbers, lines in ((english, EN), (chinese, ZH)):
            texts = [lines[number - 1] for number in numbers]
            if (
                len(numbers) < 2
                or len(set(texts)) < len(texts)
                or len({NUMBER.sub("#", text) for text in texts}) > 1
            ):
                return False
            for one, other in combinations(map(NUMBER.findall, texts), 2):
                if sum(x != y for x, y in zip(one, other, strict=True)) != 1:
                    return False
        joined = [number for number in english if number in gold]
        if len(joined) < 2 or any(gold[number] not in chinese for number in joined):
            return False
        for number in joined:
            if NUMBER.findall(EN[number - 1]) != NUMBER.findall(ZH[gold[number] - 1]):
                return False
    return True


def is_near_misses(side: int) -> Callable[[Trap], bool]:
    """Lines of one file without a translation, each naming a line of the other file."""

    def check(trap: Trap) -> bool:
        numbers, others = [*chain(*trap.groups[side])], trap.others[side]
        paired = {pair[side] for pair in GOLD}, {pair[1 - side] for pair in GOLD}
        return (
            len(numbers) == len(others) >= 20
            and not paired[0] & set(numbers)
            and len(paired[1] & set(others)) >= 0.9 * len(others)
        )

    return check


def is_copies(trap: Trap) -> bool:
    """Lines of zh.txt that equal the named English line, in no true pair."""
    numbers = [*chain(*trap.groups[1])]
    same = [ZH[n - 1] == EN[other - 1] for n, other in zip(numbers, trap.others[1], strict=True)]
    latin = [n for n, line in enumerate(ZH, 1) if line.strip() and not describe.HAN.search(line)]
    return all(same) and sorted(numbers) == latin and not {pair[1] for pair in GOLD} & set(numbers)


def is_traditional(trap: Trap) -> bool:
    """All traditional lines are named, at least twelve, most of them with a translation."""
    found = [n for n, line in enumerate(ZH, 1) if describe.script(line) == "traditional Han"]
    paired = {pair[1] for pair in GOLD} & set(found)
    return trap.lines[1] == found and len(found) >= 12 and 2 * len(paired) > len(found)


def is_short(trap: Trap) -> bool:
    """All lines of 1 to 10 characters of English, of 1 to 4 of Chinese."""
    found = [
        [n for n, line in enumerate(lines, 1) if line.strip() and len(line) <= most]
        for lines, most in ((EN, 10), (ZH, 4))
    ]
    return trap.lines == found and all(len(numbers) >= 5 for numbers in found)


def is_long(trap: Trap) -> bool:
    """All lines over 400 and 120 characters, and a pair over 600 on both sides."""
    found = [
        [n for n, line in enumerate(lines, 1) if len(line) > least]
        for lines, least in ((EN, 400), (ZH, 120))
    ]
    longest = [min(len(EN[one - 1]), len(ZH[other - 1])) for one, other in GOLD]
    return trap.lines == found and max(longest) > 600


def all_lines(test: Callable[[str], object]) -> Callable[[Trap], bool]:
    """The row names exactly the lines that pass a test, and at least one on each side."""

    def check(trap: Trap) -> bool:
        found = [[n for n, line in enumerate(lines, 1) if test(line)] for lines in (EN, ZH)]
        return trap.lines == found and all(found)

    return check


CHECKS: dict[str, Callable[[Trap], bool]] = {
    "repeated lines": is_repeats,
    "one number differs": is_number_groups,
    "near misses, English": is_near_misses(0),
    "near misses, Chinese": is_near_misses(1),
    "English in zh.txt": is_copies,
    "traditional characters": is_traditional,
    "very short": is_short,
    "very long": is_long,
    "blank": all_lines(lambda line: line == ""),
    "only spaces": all_lines(lambda line: line and not line.strip(" ")),
    "HTML tags": all_lines(lambda line: re.search(r"<(\w+)[^>]*>.*</\1>", line)),
    "bracket markup": all_lines(lambda line: re.search(r"\[(\w+)\].*\[/\1\]", line)),
    "Markdown": all_lines(lambda line: re.search(r"^(#+|>|- \[ \]) |\*\*.+\*\*", line)),
    "character entities": all_lines(lambda line: re.search(r"&(gt|amp|quot);", line)),
    "escape code": all_lines(lambda line: "\x1b[31m" in line),
    "URL": all_lines(lambda line: "https://" in line),
    "emoji": all_lines(lambda line: re.search("[\U0001f300-\U0001faff]", line)),
    "full-width letters and digits": all_lines(
        lambda line: re.search("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]", line)
    ),
    "tab inside": all_lines(lambda line: "\t" in line),
    "U+2028 inside": all_lines(lambda line: re.search("\\S\u2028\\S", line)),
    "opening quote": all_lines(lambda line: line.startswith(("“", '"', "「"))),
    "unbalanced quote": all_lines(lambda line: line.count("“") != line.count("”")),
}


def test_every_trap_has_a_check() -> None:
    assert list(TRAPS) == list(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_trap_is_at_the_named_lines(name: str) -> None:
    assert CHECKS[name](TRAPS[name])
