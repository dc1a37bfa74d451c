"""No two lines of an example file share a template, apart from those that differ in a number."""

import re
from collections import defaultdict
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import combinations

import describe
import pytest

# What stays when a line is reduced to its frame: function words, and one name for words that
# take each other's place, such as the pronouns.
CLASSES = """
a an the|he she it they we you i|his her its their our your my him them us me|this that these those
is are was were|has have had|do does did|will would should can could may might must
in|on|at|of|to|for|from|by|with|and|or|but|nor|as|than|which|who|whose|what|when|where|why|how|if
because|since|until|before|after|while|though|be|been|not|no|never|there|so|too|every each|all any
some|one two both either|into|out|up|down|over|under|about|only just|more most|less least
"""
ENGLISH_FRAME = {
    word: group.split()[0] for group in re.split(r"[|\n]", CLASSES) for word in group.split()
}
CHINESE = "的了是在和不也就都把被从到对给让又还才没有很着过而但却要会能可以与这那你我他她它吗呢吧"
CHINESE_FRAME = {character: character for character in CHINESE}


NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def masked(text: str) -> str:
    """A line with every number replaced by #."""
    return NUMBER.sub("#", text)


def english_words(text: str) -> list[str]:
    """The words of an English line, lower-cased, numbers as #."""
    return re.findall(r"[a-z']+|#", masked(text.lower().replace("’", "'")))


def four_grams(text: str) -> set[str]:
    """The character 4-grams of a Chinese line without punctuation, numbers as #."""
    bare = re.sub(r"[^\w#]", "", masked(text))
    return {bare[start : start + 4] for start in range(len(bare) - 3)}


def frame(text: str) -> tuple[str, ...]:
    """A line with each stretch of content replaced by one _; empty if little else is left."""
    if describe.HAN.search(text):
        units, keep, least = re.findall(r"\w|[，。：；？！]", text), CHINESE_FRAME, 3
    else:
        units, keep, least = english_words(text), ENGLISH_FRAME, 2
    kept = [keep.get(unit, "_" if unit.isalnum() else unit) for unit in units]
    shape = [unit for unit, last in zip(kept, ["", *kept], strict=False) if unit + last != "__"]
    return tuple(shape) if sum(unit in keep for unit in shape) >= least else ()


def longest_shared_run(one: list[str], other: list[str]) -> int:
    """The number of words in the longest run that two lines share."""
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.find_longest_match(0, len(one), 0, len(other)).size


def share_template(one: str, other: str) -> bool:
    """Whether two lines share a template.

    Numbers count as equal. Two lines share a template if their frames are equal (what is left
    when every stretch of content words becomes one blank); or, in English, if a run of at least
    four words covers more than a third of the shorter line; or, in Chinese, if more than a
    quarter of the 4-grams of the shorter line also stand in the other.
    """
    if frame(one) and frame(one) == frame(other):
        return True
    if describe.HAN.search(one) and describe.HAN.search(other):
        grams = four_grams(one), four_grams(other)
        return len(grams[0] & grams[1]) * 4 > min(map(len, grams))
    words = english_words(one), english_words(other)
    run = longest_shared_run(*words)
    return run >= 4 and run * 3 > min(map(len, words))


def keys(text: str) -> set[object]:
    """Something of which two lines with one template have at least one in common."""
    words = english_words(text)
    runs = {tuple(words[start : start + 4]) for start in range(len(words) - 3)}
    found: set[object] = {*runs, *four_grams(text), frame(text)}
    return found - {()}


def template_pairs(lines: Iterable[str]) -> set[frozenset[str]]:
    """The pairs of distinct lines that share a template."""
    holders: dict[object, set[str]] = defaultdict(set)
    for line in set(lines):
        for key in keys(line):
            holders[key].add(line)
    candidates = {frozenset(pair) for held in holders.values() for pair in combinations(held, 2)}
    return {pair for pair in candidates if share_template(*sorted(pair))}


@pytest.mark.parametrize("side", [0, 1])
def test_no_two_lines_share_a_template(side: int) -> None:
    readme = (describe.HERE / "README.md").read_text(encoding="utf-8")
    row = re.search(r"^\| one number differs \|(.*?)\|(.*?)\|", readme, re.MULTILINE)
    assert row is not None
    lines = describe.read_lines(describe.HERE / describe.FILES[side])
    allowed = {
        frozenset((lines[int(one) - 1], lines[int(other) - 1]))
        for group in row[side + 1].split(";")
        for one, other in combinations(re.findall(r"\d+", group), 2)
    }
    assert template_pairs(lines) == allowed


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The capital of Norway is Oslo.", "The price of bread is outrageous."),
        ("Platform 4 has been moved to the north hall.", "Gate 17 has been moved to the west."),
        (
            "Every morning she walks her dog by the sea.",
            "Every summer he paints his boat by a lake.",
        ),
        ("这本书的作者是一位医生。", "那座桥的作者是一位医生。"),
        ("我把钥匙放在桌上了。", "我把雨伞忘在车里了。"),
        ("会议改到周三下午三点。", "会议改到周五下午四点。"),
    ],
)
def test_a_shared_template_is_noticed(one: str, other: str) -> None:
    assert template_pairs([one, other, "Nothing to see here.", "此处无事。"]) == {
        frozenset((one, other))
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The kettle is on.", "Someone has moved my bicycle again, and I know who."),
        ("水开了。", "又有人动了我的自行车，我知道是谁。"),
    ],
)
def test_lines_worded_on_their_own_pass(one: str, other: str) -> None:
    assert not template_pairs([one, other])
