"""Words and their counterparts: what the embedded encoder finds in sentences of our own."""

from pathlib import Path

import pytest

from xmine.browsing.opening import open_pairs
from xmine.browsing.word_alignment import WEAK, Aligner, Word, WordAlignment, align_words, words_of
from xmine.encoders.encoder import SentenceEncoder
from xmine.encoders.pair import as_pair
from xmine.encoders.spans import Span
from xmine.encoders.token_files import tokens_of
from xmine.errors import EncoderError
from xmine.pairs.io import write_pairs
from xmine.pairs.pair import Pair
from xmine.scoring.alignment import counterparts_of


def said(text: str, spans: list[Span]) -> list[str]:
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("text", "tokens", "words"),
    [
        ("", [], []),
        ("two words", [(0, 3), (4, 6), (6, 9)], ["two", "words"]),
        ("don't, she’s", [], ["don't", ",", "she’s"]),
        ("'tis o'", [], ["'", "tis", "o", "'"]),
        ("他们在河边", [(0, 2), (3, 5)], ["他们", "在", "河边"]),
        ("用Rust写", [(0, 1), (1, 5), (5, 6)], ["用", "Rust", "写"]),
        ("cafe\u0301\tnoir", [], ["cafe\u0301", "noir"]),
        ("हिन्दी में", [], ["हिन्दी", "में"]),
        ("go 😀!", [], ["go", "😀!"]),
    ],
)
def test_a_text_is_cut_into_words(text: str, tokens: list[Span], words: list[str]) -> None:
    assert said(text, words_of(text, tokens)) == words


PAIRS = [
    ("The museum bought three paintings yesterday.", "博物馆昨天买了三幅画。"),
    ("Cafe\u0301 owners\tsell 3 ㎢ 😀 of farmland?", "咖啡館老闆賣３平方公里的農田"),
    ("", "画"),
    ("☃", "画"),
    ("word " * 3000, "词" * 300),
]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_word_has_the_best_cosine_of_its_tokens(source: str, target: str) -> None:
    encoder = SentenceEncoder.load()
    found = align_words(as_pair(encoder), source, target)
    texts = source[:10_000], target[:10_000]
    tokens = [tokens_of(encoder, [text]) for text in texts]
    spans = [encoder.body.spans(text) for text in texts]
    cosines = [best for best, _ in counterparts_of(tokens[0], tokens[1], 0, 0)]
    for side, words in enumerate(found.words):
        covered = {place for word in words for place in range(word.start, word.end)}
        assert covered == {at for at, letter in enumerate(texts[side]) if not letter.isspace()}
        for word in words[:200]:
            own = [
                float(cosine)
                for (start, end), cosine in zip(spans[side], cosines[side], strict=True)
                if start < word.end and word.start < end
            ]
            assert word.cosine == max(own, default=0.0)
            assert (word.partner is None) == (word.cosine == 0)
            if word.partner:
                assert word.partner in [other[:2] for other in found.words[1 - side]]


def test_what_is_missing_on_the_other_side_has_no_counterpart() -> None:
    source = "The museum bought three paintings, and farmers planted rice beside the railway."
    target = "博物馆买了三幅画。"
    found = align_words(as_pair(SentenceEncoder.load()), source, target)
    assert found.looser == 0
    lost = source[slice(*found.loosest[0])]
    assert "farmers planted rice beside the railway" in lost and "museum" not in lost
    unmatched = " ".join(said(source, found.unmatched(0)))
    assert "farmers" in unmatched and "museum" not in unmatched
    matched = {source[a:b]: partner for a, b, _, partner in found.words[0]}
    assert matched["museum"] == (0, 3)


def test_a_shared_part_is_not_without_a_counterpart() -> None:
    weak = [Word(start, start + 4, 0.1, (0, 1)) for start in (0, 5, 10)]
    words = [weak[0], weak[1], Word(9, 10, WEAK, (0, 1)), weak[2]]
    found = WordAlignment((words, []), ((0, 0), (0, 0)), 0)
    assert found.unmatched(0) == [(0, 9), (10, 14)]
    assert found.unmatched(0, [(6, 7)]) == [(0, 4), (10, 14)]
    assert found.unmatched(1) == []


def test_a_file_in_other_languages_than_the_encoder_s_is_refused(tmp_path: Path) -> None:
    catalan = "L'home que era aquí no n'havia vist cap, però els coneixia prou bé a tots."
    georgian = "დიდი ხანია იცოდა, მაგრამ არავისთვის უთქვამს."
    write_pairs([Pair(catalan, georgian)] * 9, str(tmp_path / "a.tsv"))
    aligner = Aligner(open_pairs(tmp_path / "a.tsv"))
    with pytest.raises(EncoderError, match="--model") as first:
        aligner.align(catalan, georgian)
    with pytest.raises(EncoderError) as second:  # and no encoder is loaded again for each pair
        aligner.align(catalan, georgian)
    assert first.value is second.value
