"""Boilerplate has many variants in its file, and other lines have few."""

from xmine.boilerplate import boilerplate, variants
from xmine.copies import letters_of

NAMES = [a + b + c for a in "abcde" for b in ("na", "rek", "il", "v") for c in "aeuso"]
OTHERS = [f"{number:b}".translate({48: "o", 49: "x"}) for number in range(2**14, 2**15)]


def marked(letters: list[str]) -> int:
    return int(boilerplate(letters, variants(letters), None).sum())


def test_thirty_lines_with_the_same_letters_are_boilerplate() -> None:
    assert marked(["page"] * 30 + OTHERS[::1000]) == 30
    assert marked(["page"] * 29 + OTHERS[::1000]) == 0
    assert marked(["page"] * 30 + OTHERS) == 0  # not two in a thousand
    assert marked(["page"] * 40 + OTHERS) == 40


def test_lines_of_few_letters_are_no_variants_of_each_other() -> None:
    assert variants(["page", "", "b", "page", "", "年月日", "年月日"]).tolist() == [
        0,
        1,
        2,
        0,
        3,
        4,
        5,
    ]


def test_a_hundred_lines_that_share_their_ends_are_boilerplate() -> None:
    for line in ("Dear {}, thank you for your letter", "Tide times for the port of {}"):
        lines = [letters_of(line.format(name)) for name in NAMES]
        assert marked(lines) == 100
        assert marked(lines[1:]) == 0
        assert marked(lines + OTHERS[:6000]) == 100
        assert marked(lines + OTHERS[:7000]) == 0  # less than three in two hundred


def test_sixteen_latin_letters_or_six_others_make_an_end() -> None:
    both = [
        letters_of(f"你好{a}{b}，请您登录后再看。")
        for a in "船港河鱼风云山海鸟石"
        for b in "一二三四五六七八九十"
    ]
    assert marked(both) == 100
    assert marked([letters_of(f"The boats of {name}") for name in NAMES]) == 0
    assert marked(NAMES) == 0
