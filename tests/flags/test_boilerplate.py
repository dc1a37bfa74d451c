"""Boilerplate has many variants in its file, and other lines have few."""

from bisect import bisect_left
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from xmine.flags.boilerplate import boilerplate, ends_of, variants
from xmine.flags.near_copies import letters_of
from xmine.text.hashing import hashes_of

NAMES = [a + b + c for a in "abcde" for b in ("na", "rek", "il", "v") for c in "aeuso"]
OTHERS = [f"{number:b}".translate({48: "o", 49: "x"}) for number in range(2**14, 2**15)]


def groups(letters: list[str]) -> NDArray[np.int64]:
    return variants(hashes_of(letters), np.array(list(map(len, letters)), dtype=np.int32))


def marked(letters: list[str]) -> int:
    return int(boilerplate(ends_of(letters), groups(letters), None).sum())


def test_thirty_lines_with_the_same_letters_are_boilerplate() -> None:
    assert marked(["page"] * 30 + OTHERS[::1000]) == 30
    assert marked(["page"] * 29 + OTHERS[::1000]) == 0
    assert marked(["page"] * 30 + OTHERS) == 0  # not two in a thousand
    assert marked(["page"] * 40 + OTHERS) == 40


def test_lines_of_few_letters_are_no_variants_of_each_other() -> None:
    lines = ["page", "", "b", "page", "", "年月日", "年月日", "年月日年", "page", "年月日年"]
    assert groups(lines).tolist() == [0, 1, 2, 0, 4, 5, 6, 7, 0, 7]
    assert groups([]).tolist() == []


def test_a_hundred_lines_that_share_their_ends_are_boilerplate() -> None:
    for line in ("Dear {}, thank you for your letter", "Tide times for the port of {}"):
        lines = [letters_of(line.format(name)) for name in NAMES]
        assert marked(lines) == 100
        assert marked(lines[1:]) == 0
        assert marked(lines + OTHERS[:6000]) == 100
        assert marked(lines + OTHERS[:7000]) == 0  # less than three in two hundred


def test_sixteen_letters_or_six_syllables_make_an_end() -> None:
    both = [
        letters_of(f"你好{a}{b}，请您登录后再看。")
        for a in "船港河鱼风云山海鸟石"
        for b in "一二三四五六七八九十"
    ]
    assert marked(both) == 100
    assert (
        marked(
            [
                letters_of(f"안녕하세요 여러분{a}{b}")
                for a in "가나다라마바사아자차"
                for b in "강남동서북상하중전후"
            ]
        )
        == 100
    )
    assert marked([letters_of(f"The boats of {name}") for name in NAMES]) == 0
    assert marked([letters_of(f"Bötchen {name}") for name in NAMES]) == 0
    assert marked([letters_of(f"Почему {name}") for name in NAMES]) == 0
    assert marked(NAMES) == 0


def slowly_marked(letters: list[str], occurrences: list[int]) -> list[bool]:
    """Count the letters themselves, and the ends themselves."""
    lengths = [round(6 * 1.2**step) for step in range(26)]

    def ends(line: str) -> list[tuple[str, str]]:
        place = bisect_left(lengths, max(len(line) / 2, 16 if line.isascii() else 6))
        if place == len(lengths) or lengths[place] > len(line):
            return []
        size, half = lengths[place], lengths[place] // 2
        return [(line[:size], ""), ("", line[-size:]), (line[:half], line[-half:])]

    lines = Counter[str]()
    for line, times in zip(letters, occurrences, strict=True):
        lines[line] += times
    alike = Counter(end for line in letters for end in ends(line))
    variants_of = [
        lines[line] if len(line) >= 4 else times
        for line, times in zip(letters, occurrences, strict=True)
    ]
    return [
        count >= max(30, 0.002 * sum(occurrences))
        or any(alike[end] >= max(100, 0.015 * len(letters)) for end in ends(line))
        for line, count in zip(letters, variants_of, strict=True)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_hashes_find_what_counting_the_texts_finds(seed: int) -> None:
    random = np.random.default_rng(seed)
    heads = ["", "dearmadamorsirand", "第几届会议关于海港的", "page", "日"]
    tails = ["", "yourstrulythemaster", "年十二月于海港办公室", "oftides"]
    letters = [
        heads[head] + OTHERS[row][:size] + tails[tail]
        for row, head, size, tail in zip(
            random.integers(0, 2000, 3000),
            random.choice(len(heads), 3000, p=[0.8, 0.06, 0.05, 0.05, 0.04]),
            random.integers(0, 15, 3000),
            random.choice(len(tails), 3000, p=[0.85, 0.05, 0.05, 0.05]),
            strict=True,
        )
    ]
    occurrences = random.integers(1, 4, 3000)
    found = boilerplate(ends_of(letters), groups(letters), occurrences)
    assert 100 < found.sum() < 2000
    assert found.tolist() == slowly_marked(letters, occurrences.tolist())


def test_hashes_are_the_same_on_every_machine() -> None:
    assert hashes_of(["page", "", "页", "\ud800", "page"]).tolist() == [
        *(2133315022587658555, -5426141060434712860, -6641102981156407727, 7497787021708494914),
        2133315022587658555,
    ]
    assert hashes_of([]).tolist() == []
