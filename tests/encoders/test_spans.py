"""Characters of a text that a token stands for, whatever the normalisers do to the text."""

import unicodedata
from random import Random

import pytest

from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.spans import nfkc_spans
from xmine.text.folding import nfkc
from xmine.trainer.data.vocabulary import train_vocabulary

TEXTS = [
    *("", " ", "Plain words, and a comma.", "cafe\u0301s, nai\u0308ve; e\u0316\u0301 twice"),
    *("３ ㎢ of ﬁne １㍿", "國際貿易與軟體", "tabs\tand  many   spaces ", "😀 faces 👩‍👧 between"),
    *("\u1112\u1161\u11ab글 joined", "İstanbul ẞ", "ｶﾞ half", "𝒳 math, ⅓"),
    "f&uuml;r <b>2,970</b> &amp;amp; 使用 Python3 编程 ， 好",
]


@pytest.mark.parametrize("text", TEXTS)
def test_every_normalised_character_stands_for_the_part_that_becomes_it(text: str) -> None:
    spans = nfkc_spans(text)
    assert len(spans) == len(nfkc(text))
    parts = list(dict.fromkeys(spans))
    assert [start for start, _ in parts] == [0, *(end for _, end in parts)][: len(parts)]
    assert sum(end - start for start, end in parts) == len(text)
    assert "".join(unicodedata.normalize("NFKC", text[a:b]) for a, b in parts) == nfkc(text)


@pytest.mark.parametrize("text", TEXTS)
def test_the_tokens_of_a_text_have_spans_in_order_without_white_space(text: str) -> None:
    body = SentenceEncoder.load().body
    spans = body.spans(text)
    assert len(spans) == body.tokens([text])[1][0]
    assert spans == sorted(spans)
    for start, end in spans:
        assert 0 <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()


def test_a_token_stands_for_what_was_written() -> None:
    spans = SentenceEncoder.load().body.spans
    for text, word in (
        ("a cafe\u0301 there", "cafe\u0301"),
        ("the 國際貿易 there", "國際貿易"),
        ("at ３ there", "３"),
    ):
        at = text.index(word)
        inside = [span for span in spans(text) if at <= span[0] < at + len(word)]
        assert (inside[0][0], inside[-1][1]) == (at, at + len(word))


def test_a_letter_that_becomes_two_tokens_is_the_span_of_both() -> None:
    """A capital sharp s becomes ss; the first s is joined with the space before the letter."""
    words, random = "s a sa se si so us as is".split(), Random(1)
    texts = [" ".join(random.choices(words, k=6)) for _ in range(300)]
    vocabulary = train_vocabulary(texts, texts, 16, sample=600, seed=1)
    assert len(vocabulary.ids(["a ẞ"])[0]) == 3
    assert vocabulary.spans("a ẞ") == [(0, 1), (2, 3), (2, 3)]
