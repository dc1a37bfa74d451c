"""What both sides of a pair have, found whatever it looks like."""

import pytest

from xmine.browsing.shared_spans import shared_parts

PAIRS = [
    ("twenty-one of them", "他们中的二十一人", "twenty-one", "二十一"),
    ("21 of them", "他们中的二十一人", "21", "二十一"),
    ("twenty-one", "２１", "twenty-one", "２１"),
    ("paid 1,200 dollars", "付了1200美元", "1,200", "1200"),
    ("5.3 million people", "530万人", "5.3 million", "530万"),
    ("some 150 million of them", "其中约1亿5千万", "150 million", "1亿5千万"),
    ("fifteen percent, 15 percent", "百分之十五", "fifteen|15 percent", "百分之十五"),
    ("in September 1998", "一九九八年九月", "September|1998", "一九九八年|九月"),
    ("the 90s", "90年代", "90s", "90年代"),
    ("Zhang Wei said", "Zhang Wei说", "Zhang|Wei", "Zhang|Wei"),
    (
        "Windows and COVID-19",
        "ＷＩＮＤＯＷＳ与Covid-19",
        "Windows|COVID-19",
        "ＷＩＮＤＯＷＳ|Covid-19",
    ),
    (
        "see https://a.org/b?c=1.",
        "见https://a.org/b?c=1。",
        "https://a.org/b?c=1",
        "https://a.org/b?c=1",
    ),
    ("vitamin A, a day", "维生素A", "A", "A"),
    ("the sign 机器 means", "机器", "机器", "机器"),
    ("a half of one", "一样的一半", "", ""),
    ("12 and 13", "14", "", ""),
    ("", "", "", ""),
]


@pytest.mark.parametrize(("source", "target", "ours", "theirs"), PAIRS)
def test_what_both_sides_have_is_found(source: str, target: str, ours: str, theirs: str) -> None:
    shared = shared_parts(source, target, ("en", "zh"))
    assert "|".join(source[start:end] for start, end in shared.sources) == ours
    assert "|".join(target[start:end] for start, end in shared.targets) == theirs
    turned = shared_parts(target, source, ("zh", "en"))
    assert (turned.sources, turned.targets) == (shared.targets, shared.sources)


def test_languages_that_are_not_read_share_digits_and_words() -> None:
    shared = shared_parts(
        "Das kostet 1.200 Euro bei Zeiss", "ça coûte 1200 euros à Zeiss", ("de", "fr")
    )
    assert shared.sources == [(11, 16), (26, 31)]
    assert shared.targets == [(9, 13), (22, 27)]


@pytest.mark.parametrize(
    ("languages", "source", "target", "shared"),
    [
        (("ru", "uk"), "лодка Марты Воль", "човен Марти Воль", "Воль"),
        (("en", "vi"), "in Đà Nẵng", "ở Đà Nẵng", "Đà|Nẵng"),
        (("en", "tr"), "in Istanbul", "İSTANBUL", "Istanbul"),
        (("hi", "hi"), "नाव और दिल्ली", "दिल्ली से", "दिल्ली"),
        (("en", "hi"), "41 boats", "४१ नावें", "41"),
        (("en", "ko"), "30,000 boats", "배 3만 척", "30,000"),
        (("en", "ja"), "13,200 yen", "1万3200円", "13,200"),
        (("ja", "zh"), "港の船ははやい", "船很快", ""),
    ],
)
def test_words_of_every_script_are_shared(
    languages: tuple[str, str], source: str, target: str, shared: str
) -> None:
    found = shared_parts(source, target, languages).sources
    assert "|".join(source[start:end] for start, end in found) == shared
