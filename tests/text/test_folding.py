"""Texts that readers take for the same fold to the same; texts that they tell apart do not."""

import random
import re
import unicodedata

import pytest

from xmine.encoders.spans import folded_spans
from xmine.text.folded_blocks import fold_all
from xmine.text.folding import CHARACTERS, PATTERNS, fold, nfkc
from xmine.trainer.data.vocabulary import folding_table

# What is written, and what a reader takes it for.
SAME = [
    # markup
    ("It&#39;s &quot;fine&quot;", 'It\'s "fine"'),
    ("It &apos;s a &#91;test&#93; &bar; x", "It 's a [test] | x"),
    ("f&uuml;r gr&ouml;&szlig;ere&nbsp;St&auml;dte", "für größere Städte"),
    ("&amp;quot;twice&amp;quot; &#x4e2d;", '"twice" 中'),
    ('<p class="x">A <b>b</b>ig <a href="u?a=1">dog</a><br/>ran</p>', " A big dog ran "),
    ('Press <g id="1">OK</g><x id="2"/><!-- note -->', "Press OK "),
    # numbers
    ("价格是2970美元。", "价格是 2970美元。"),
    ("価格は2970ドルです。", "価格は 2970ドルです。"),
    ("가격은 2970달러", "가격은 2970 달러"),
    ("5km of MP3", "5 km of MP 3"),
    ("2,970.12 and 1.234.567 and 10 000", "2970.12 and 1234567 and 10000"),
    ("$29", "$ 29"),
    # spaces
    ("我 昨天 买 了 一 本 书 。", "我昨天买了一本书。"),
    ("東京 タワー に 行く", "東京タワーに行く"),
    ("使用Python编程", "使用 Python 编程"),
    ("a well @-@ known man", "a well-known man"),
    ('It &apos;s ( he said ) " new " , see !', 'It\'s (he said) "new", see!'),
    ("l’eau qu’ il boit", "l'eau qu'il boit"),
    ("М’янма, п'ять", "Мянма пять".replace(" ", ", ")),
    ("м’ята, п'ять", "мята пять".replace(" ", ", ")),
    ("học_sinh giỏi", "học sinh giỏi"),
    # letters
    ("мале́нькой дере́вне, сло́ва", "маленькой деревне, слова"),
    ("её ёлка", "ее елка"),
    ("فی کتابة على مدرسة", "في كتابه علي مدرسه"),
    ("ﺍﻟﻜﺘﺎﺏ", "الكتاب"),
    ("أَحْمَد، إبراهيم؛ كـــتاب؟", "احمد, ابراهيم; كتاب?"),
    ("葛\ufe00城 Ⓐ\ufe0e", "葛城 A"),
    ("हूँ ज़रा", "हूं जरा"),
    ("œuvre d’art", "oeuvre d'art"),
    ("„Ja“ – «nein» ‘so’", '"Ja" - "nein" \'so\''),
    ("İSTANBUL ISPARTA", "istanbul ısparta"),
    ("Straße", "STRASSE"),
    ("١٢٣ ۴۵ १२३", "123 45 123"),
    ("ﾃｽﾄ", "テスト"),
    ("한국", "한국"),
    ("Việt naïve\u00a0café", "Vie\u0323\u0302t NAI\u0308VE CAFE\u0301"),
    ("這個", "这个"),
]
# Comparisons, generics and placeholders are no tags, and an ampersand alone is no entity; a year
# before a number is no thousand.
APART = [
    "if a < b and c > d: AT&T &unknown; &copyright;",
    "List<String> of <file> in <your-name>",
    "café",
]


def folded(text: str) -> str:
    """Fold as an encoder does, with the characters that its vocabulary folds."""
    return " ".join(fold(text).translate(folding_table()).split())


@pytest.mark.parametrize(("written", "read"), SAME)
def test_what_is_written_in_two_ways_is_one_text(written: str, read: str) -> None:
    assert folded(written) == folded(read)


@pytest.mark.parametrize("written", [written for written, _ in SAME])
def test_every_character_of_a_folded_text_has_a_place_in_the_text(written: str) -> None:
    text, spans = folded_spans(written)
    assert text == fold(written)
    assert len(spans) == len(text)
    places = [span for span, character in zip(spans, text, strict=True) if character != " "]
    assert places == sorted(places)
    assert all(0 <= start < end <= len(written) for start, end in places)
    for (start, end), character in zip(spans, text, strict=True):
        if character.isalnum() and end - start == 1:
            assert nfkc(written[start:end]) == character


def test_many_texts_fold_as_each_of_them_does() -> None:
    drawn = random.Random(1)
    parts = [
        *"1234a Б'яє中か, .\t’_-\"é&;ン・\u3000\x0b\n\ud800𠀀",
        " @-@ ",
        "<b>",
        "&#10;",
        "1,234",
    ]
    for most in (3, 9, 30):
        texts = ["".join(drawn.choices(parts, k=drawn.randrange(most))) for _ in range(3000)]
        assert fold_all(texts) == [fold(text) for text in texts]
        assert fold_all(texts, spaced=False) == [fold(text, spaced=False) for text in texts]
    texts = [written for pair in SAME for written in pair]
    for more in ("", "\0"):  # a character that parts the texts
        assert fold_all([*texts, more]) == [fold(text) for text in [*texts, more]]


@pytest.mark.parametrize("text", APART)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert folded(text).replace(" ", "") == text.casefold().replace(" ", "")


def test_every_folding_is_tested() -> None:
    written = [fold(each).lower() for pair in SAME for each in pair]
    found = {CHARACTERS[ord(each)] for text in written for each in text if ord(each) in CHARACTERS}
    assert found == set(CHARACTERS.values())
    for _, pattern, _ in PATTERNS:
        assert any(re.search(pattern, nfkc(each)) for each, _ in SAME)


@pytest.mark.slow
def test_the_normal_form_is_that_of_python() -> None:
    for start in range(0, 0x110000, 0x1000):
        for text in (chr(each) for each in range(start, start + 0x1000)):
            assert nfkc(text) == unicodedata.normalize("NFKC", text)
            accented = f"e{text}\u0301"
            assert nfkc(accented) == unicodedata.normalize("NFKC", accented)
